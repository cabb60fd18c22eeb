"""The stored form of a State and of a decision: JSON with a version, read back equal."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from skillweave.decisions import Decision, Evidence, Outcome
from skillweave.disclose.block import rung_named
from skillweave.errors import StoreUnavailable
from skillweave.graph.cursor import Cursor
from skillweave.graph.move import Move
from skillweave.state.state import (
    Approval,
    ApprovalVerdict,
    Delivery,
    Engaged,
    Fragment,
    Lifecycle,
    Record,
    State,
    Superseded,
)

FORMAT = 1
"""The version of the document; a reader refuses a newer one instead of losing what it cannot read."""


def state_to_json(state: State) -> str:
    """The State as one compact JSON text."""
    return json.dumps(state_to_dict(state), ensure_ascii=True, separators=(",", ":"))


def state_from_json(text: str) -> State:
    """The State that `state_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        return _state(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreUnavailable(
            f"a stored conversation cannot be read ({type(error).__name__}: {error}); "
            "remove it with `skillweave ledger clear CONVERSATION`, or use the version that wrote it"
        ) from error


def state_to_dict(state: State) -> dict[str, Any]:
    """The State as JSON data."""
    return {
        "v": FORMAT,
        "revision": state.revision,
        "records": [_record_dict(record) for record in state.records],
        "superseded": [{"record": _record_dict(old.record), "by": old.by} for old in state.superseded],
        "engaged": [_engaged_dict(entry) for entry in state.engaged],
        "cursor": None if state.cursor is None else _cursor_dict(state.cursor),
        "approvals": [approval_to_dict(approval) for approval in state.approvals],
        "prefix": [[fragment.digest, fragment.tokens] for fragment in state.prefix],
        "last_turn": state.last_turn,
        **({} if state.in_call is None else {"in_call": list(state.in_call)}),
    }


def approval_to_dict(approval: Approval) -> dict[str, Any]:
    """One verdict as JSON data, as it stands in the State."""
    return {
        "skill": approval.skill_id,
        "checkpoint": approval.checkpoint,
        "digest": approval.digest,
        "verdict": approval.verdict.value,
        "by": approval.by,
        "at": approval.at,
        "note": approval.note,
        "before": list(approval.before),
        "shown": approval.shown,
    }


def decision_to_json(decision: Decision) -> str:
    """One decision as JSON text."""
    return json.dumps(decision.to_dict(), ensure_ascii=True, separators=(",", ":"))


def decision_from_json(text: str) -> Decision:
    """The decision that `decision_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        return _decision(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreUnavailable(
            f"a stored decision cannot be read ({type(error).__name__}: {error}); use the version that wrote it, "
            "or name another ledger"
        ) from error


def _decision(data: Mapping[str, Any]) -> Decision:
    return Decision(
        skill_id=data["skill_id"],
        outcome=Outcome(data["outcome"]),
        stage=data["stage"],
        reason=data["reason"],
        score=data["score"],
        matcher=data["matcher"],
        evidence=tuple(Evidence.from_dict(piece) for piece in data["evidence"]),
        tokens=data["tokens"],
    )


def _state(data: Mapping[str, Any]) -> State:
    if data["v"] != FORMAT:
        raise ValueError(f"format {data['v']!r}, this version reads {FORMAT}")
    return State(
        revision=data["revision"],
        records=tuple(_record(record) for record in data["records"]),
        superseded=tuple(Superseded(_record(old["record"]), old["by"]) for old in data["superseded"]),
        engaged=tuple(_engaged(entry) for entry in data["engaged"]),
        cursor=None if data["cursor"] is None else _cursor(data["cursor"]),
        approvals=tuple(_approval(approval) for approval in data["approvals"]),
        prefix=tuple(Fragment(digest, tokens) for digest, tokens in data["prefix"]),
        last_turn=data["last_turn"],
        in_call=None if data.get("in_call") is None else tuple(data["in_call"]),
    )


def _record_dict(record: Record) -> dict[str, Any]:
    data = {
        "key": record.key,
        "digest": record.digest,
        "rung": record.rung.label,
        "carrier": record.carrier,
        "tokens": record.tokens,
        "state": record.state.value,
        "holder": record.holder,
        "at": record.at,
        "until": record.until,
    }
    return {**data, "told": record.told} if record.told else data


def _record(data: Mapping[str, Any]) -> Record:
    return Record(
        key=data["key"],
        digest=data["digest"],
        rung=rung_named(data["rung"]),
        carrier=data["carrier"],
        tokens=data["tokens"],
        state=Delivery(data["state"]),
        holder=data["holder"],
        at=data["at"],
        until=data["until"],
        told=data.get("told", ""),
    )


def _engaged_dict(entry: Engaged) -> dict[str, Any]:
    data = {"skill": entry.skill_id, "by": entry.by, "since": entry.since, "idle": entry.idle}
    lifecycle = None if entry.lifecycle is None else entry.lifecycle.value
    return {**data, "lifecycle": lifecycle, "arguments": entry.arguments, "place": entry.place}


def _engaged(data: Mapping[str, Any]) -> Engaged:
    lifecycle = data.get("lifecycle")
    return Engaged(
        skill_id=data["skill"],
        by=data["by"],
        since=data["since"],
        idle=data["idle"],
        lifecycle=None if lifecycle is None else Lifecycle(lifecycle),
        arguments=data.get("arguments", ""),
        place=data.get("place", 0),
    )


def _approval(data: Mapping[str, Any]) -> Approval:
    return Approval(
        skill_id=data["skill"],
        checkpoint=data["checkpoint"],
        digest=data["digest"],
        verdict=ApprovalVerdict(data["verdict"]),
        by=data["by"],
        at=data["at"],
        note=data.get("note", ""),
        before=tuple(data.get("before", ())),
        shown=data.get("shown", ""),
    )


def _cursor_dict(cursor: Cursor) -> dict[str, Any]:
    return {
        "skill": cursor.skill,
        "visits": dict(cursor.visits),
        "trail": list(cursor.trail),
        "digest": cursor.digest,
        "last_turn": cursor.last_turn,
        "last_move": None if cursor.last_move is None else cursor.last_move.to_dict(),
    }


def _cursor(data: Mapping[str, Any]) -> Cursor:
    return Cursor(
        skill=data["skill"],
        visits=MappingProxyType(dict(data["visits"])),
        trail=tuple(data["trail"]),
        digest=data["digest"],
        last_turn=data["last_turn"],
        last_move=None if data.get("last_move") is None else Move.from_dict(data["last_move"]),
    )
