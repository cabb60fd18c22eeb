"""The stored form of a State and of a decision: JSON with a version, read back equal."""

import json
from dataclasses import replace
from typing import Any, NoReturn

from skillweave.decisions import Decision
from skillweave.errors import SkillweaveError, StoreUnavailable, UnreadableState
from skillweave.state.state import State

FORMAT = 1
"""The version of the document; a reader refuses a newer one instead of losing what it cannot read."""
LARGEST_NUMBER = 2**53
"""What a clock, a counter or a place never goes beyond; a larger number is damage, and overflows where it is used."""

_COMPACT = json.JSONEncoder(separators=(",", ":"))


def state_to_json(state: State) -> str:
    """The State as one compact JSON text."""
    return _COMPACT.encode({"v": FORMAT, **state.to_dict()})


def state_from_json(text: str) -> State:
    """The State that `state_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        data = _data(text)
        if data["v"] != FORMAT:
            raise ValueError(f"format {data['v']!r:.40}, this version reads {FORMAT}")
        return State.from_dict(data)
    except (*_UNREADABLE, KeyError, TypeError, AttributeError, SkillweaveError) as error:
        raise StoreUnavailable(
            f"a stored conversation cannot be read ({type(error).__name__}: {error!s:.500}); "
            "remove it with `skillweave ledger clear CONVERSATION`, or use the version that wrote it"
        ) from error


def stored_state(text: str, revision: int) -> State:
    """The State in a document that a store keeps with its revision, which counts whatever the document says.

    Raises UnreadableState.
    """
    try:
        return replace(state_from_json(text), revision=revision)
    except StoreUnavailable as error:
        raise UnreadableState(str(error), revision) from error


def decision_to_json(decision: Decision) -> str:
    """One decision as JSON text."""
    return _COMPACT.encode(decision.to_dict())


def decision_from_json(text: str) -> Decision:
    """The decision that `decision_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        return Decision.from_dict(_data(text))
    except (*_UNREADABLE, TypeError) as error:
        raise StoreUnavailable(
            f"a stored decision cannot be read ({type(error).__name__}: {error!s:.500}); "
            "use the version that wrote it, or name another ledger"
        ) from error


_UNREADABLE = (ValueError, RecursionError)
"""What a reader of JSON meets in damaged text; of decisions our own error is a ValueError too."""


def _data(text: str) -> Any:  # noqa: ANN401
    return json.loads(text, parse_constant=_refused, parse_float=_float, parse_int=_int)


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that was written here")


def _int(digits: str) -> int:
    number = int(digits)
    return number if -LARGEST_NUMBER <= number <= LARGEST_NUMBER else _refused(f"{digits:.20}")


def _float(digits: str) -> float:
    number = float(digits)
    return number if -LARGEST_NUMBER <= number <= LARGEST_NUMBER else _refused(f"{digits:.20}")
