"""The stored form of a State and of a decision: JSON with a version, read back equal."""

import json
from typing import Any

from skillweave.decisions import Decision
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.state.state import State

FORMAT = 1
"""The version of the document; a reader refuses a newer one instead of losing what it cannot read."""


def state_to_json(state: State) -> str:
    """The State as one compact JSON text."""
    return _text(state_to_dict(state))


def state_from_json(text: str) -> State:
    """The State that `state_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        data = json.loads(text)
        if data["v"] != FORMAT:
            raise ValueError(f"format {data['v']!r}, this version reads {FORMAT}")
        return State.from_dict(data)
    except (ValueError, KeyError, TypeError, AttributeError, SkillweaveError) as error:
        raise StoreUnavailable(
            f"a stored conversation cannot be read ({type(error).__name__}: {error}); "
            "remove it with `skillweave ledger clear CONVERSATION`, or use the version that wrote it"
        ) from error


def state_to_dict(state: State) -> dict[str, Any]:
    """The State as JSON data with the version of its form."""
    return {"v": FORMAT, **state.to_dict()}


def decision_to_json(decision: Decision) -> str:
    """One decision as JSON text."""
    return _text(decision.to_dict())


def decision_from_json(text: str) -> Decision:
    """The decision that `decision_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        return Decision.from_dict(json.loads(text))
    except ValueError as error:
        raise StoreUnavailable(
            f"a stored decision cannot be read ({type(error).__name__}: {error}); use the version that wrote it, "
            "or name another ledger"
        ) from error


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))
