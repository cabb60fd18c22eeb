"""A person's verdict inside a host: the question and the reply as JSON, and the reply kept in the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillweave.adapters.chat import Call
from skillweave.errors import ApprovalNeeded, InvalidVerdict
from skillweave.injection import CurrentPolicy, Injection, PendingCheckpoint
from skillweave.state.state import ApprovalVerdict
from skillweave.weaver import Weaver
from skillweave.weaver.verdicts import Judgement

KIND = "skillweave.checkpoint"
"""What tells our questions from a host's own."""

_FORM = '{"verdict": "approved" | "rejected" | "modified", "by": "the person\'s name", "note": "optional"}'


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person said; `by` names the person, `note` is kept with the verdict."""

    verdict: ApprovalVerdict
    by: str
    note: str = ""


def question(
    conversation: str, pending: Sequence[PendingCheckpoint], call: Call | None = None, problem: str = ""
) -> dict[str, object]:
    """What a person is asked, as JSON data: the checkpoints, and the call that waits, if it is one.

    `problem` says what was wrong with an earlier reply.
    """
    asked: dict[str, object] = {
        "kind": KIND,
        "conversation": conversation,
        "checkpoints": to_data(pending),
        "reply": _FORM,
    }
    if call is not None:
        asked["call"] = {"id": call.id, "tool": call.name, "arguments": dict(call.arguments or {})}
    if problem:
        asked["problem"] = problem
    return asked


def read_question(asked: Mapping[str, Any]) -> tuple[str, tuple[PendingCheckpoint, ...]]:
    """The conversation and the checkpoints of a question that a host kept; raises InvalidVerdict for a damaged one."""
    try:
        return str(asked["conversation"]), from_data(asked["checkpoints"])
    except (KeyError, TypeError) as error:
        raise InvalidVerdict(f"this question is not as it was asked ({error}); keep it whole") from error


def read_reply(value: object) -> Reply:
    """The reply to a question, read; raises InvalidVerdict, naming the form, for any other value: no yes is guessed."""
    if isinstance(value, Reply):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("by"), str) or not str(value["by"]).strip():
        raise InvalidVerdict(f"a reply to a checkpoint says what and who: {_FORM}; got {str(value)[:60]!r}")
    unknown = sorted(str(key) for key in value.keys() - {"verdict", "by", "note"})
    if unknown:
        raise InvalidVerdict(f"a reply to a checkpoint has no {unknown[0][:40]!r}; give {_FORM}")
    try:
        verdict = ApprovalVerdict(str(value.get("verdict")))
    except ValueError:
        raise InvalidVerdict(f"verdict {str(value.get('verdict'))[:40]!r} is none; give {_FORM}") from None
    return Reply(verdict, value["by"], str(value.get("note") or ""))


async def record(
    weaver: Weaver, conversation: str, pending: Iterable[PendingCheckpoint], reply: Reply
) -> tuple[Judgement, ...]:
    """Keep the reply as the verdict on each of the checkpoints that the person was shown.

    Raises InvalidVerdict where a skill has changed since: the person saw another text.
    """
    return tuple(
        [
            await weaver.decide(
                conversation, one.skill_id, one.name, reply.verdict, by=reply.by, note=reply.note, digest=one.digest
            )
            for one in pending
        ]
    )


def to_data(checkpoints: Iterable[PendingCheckpoint]) -> list[dict[str, Any]]:
    """The checkpoints as JSON data, for a host's state."""
    return [one.to_dict() for one in checkpoints]


def from_data(kept: Iterable[Mapping[str, Any]]) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that `to_data` wrote into a host's state."""
    return tuple(PendingCheckpoint(**one) for one in kept)


def waiting(injection: Injection | CurrentPolicy) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that must be decided before the model acts at all."""
    return tuple(one for one in injection.checkpoints if one.blocking and one.before is None)


def require_decided(injection: Injection) -> None:
    """Raise ApprovalNeeded where such a checkpoint is open, for hosts that cannot pause between two model calls."""
    pending = waiting(injection)
    if pending:
        raise ApprovalNeeded(injection.conversation, [(one.skill_id, one.name) for one in pending])
