"""Scoring: which entry fits the user's words best, judged outside the pure core and handed in (spec 3.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Protocol

from skillweave.codec import Portable
from skillweave.errors import InvalidGraph


@dataclass(frozen=True, slots=True)
class ScoreCandidate(Portable):
    """Something to be scored against the user's message: `texts` say what it is about, the most telling first."""

    id: str
    texts: tuple[str, ...]


class Scorer(Protocol):
    """The port through which entries and intents are judged; `skillweave_testing` has the contract as tests."""

    @property
    def name(self) -> str:
        """What moves and scorings call it."""
        ...

    @property
    def policy(self) -> "ScorePolicy":
        """How its scores become a choice."""
        ...

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        """A score for each candidate, by id, the higher the better; exactly these ids."""
        ...


@dataclass(frozen=True, slots=True)
class ScorePolicy(Portable):
    """How scores become a choice: relevance is their softmax at `temperature`.

    Nothing is chosen where the best score is below `min_score`, or leads the second by less than `margin`; None for
    both means that somebody always wins. Raises InvalidGraph for a temperature that is not above 0, a margin below 0,
    and for what is not a finite number.
    """

    temperature: float = 1.0
    min_score: float | None = None
    margin: float | None = None

    def __post_init__(self) -> None:
        _require(self.temperature, "temperature", "a number above 0, 1 by default", above=0.0)
        if self.min_score is not None:
            _require(self.min_score, "min_score", "a number, or nothing so that somebody always wins")
        if self.margin is not None:
            _require(self.margin, "margin", "0 or a number above it, or nothing", least=0.0)


@dataclass(frozen=True, slots=True)
class RankedEntry(Portable):
    """A scored entry; `relevance` are shares that add up to 1 over all that were scored."""

    skill: str
    score: float
    relevance: float


@dataclass(frozen=True, slots=True)
class EntryScoring(Portable):
    """What a scorer said to one message: `chosen` None where it abstains, `ranked` in the order of declaration.

    `intent` is the intent that it heard, of those that could count now; None for none.
    """

    scorer: str
    chosen: str | None
    ranked: tuple[RankedEntry, ...] = ()
    intent: str | None = None


def _require(value: object, key: str, fix: str, *, above: float = -inf, least: float = -inf) -> None:
    number = _finite(value)
    if number is None or not least <= number > above:
        found = (
            "huge" if isinstance(value, int) and number is None and not isinstance(value, bool) else repr(value)[:60]
        )
        raise InvalidGraph(f"the {key} of a scorer is {found}; give {fix}")


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:  # a whole number beyond all floats
        return None
