"""One step of a conversation in its graph, with what speaks for it and what lost (spec 3.2)."""

from dataclasses import dataclass
from enum import StrEnum

from skillweave.codec import Portable
from skillweave.decisions import Evidence


class By(StrEnum):
    """What decided a move: `none` while no skill is begun, `stopped` where a limit ends the run."""

    ENTRY = "entry"
    SCORER = "scorer"
    ROUTE = "route"
    PICK = "pick"
    STAY = "stay"
    NONE = "none"
    STOPPED = "stopped"


class Why(StrEnum):
    """Why something that asked for another skill did not get it."""

    LATER = "later"
    OVERRULED = "overruled"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Loser(Portable):
    """What would have led elsewhere: `by` says what it was, `reason` in a sentence why it lost."""

    to: str
    by: By
    why: Why
    reason: str


@dataclass(frozen=True, slots=True)
class ClosedGuard(Portable):
    """A guard that kept a route from firing, everything else of which held; never what the tool answered."""

    from_: str
    to: str
    guard: str
    reason: str


@dataclass(frozen=True, slots=True)
class Move(Portable):
    """Where the conversation stands from now on, and why; `to` None while nothing is begun.

    The evidence holds what was declared (words, expressions, comparisons) and places in the message, never what
    somebody said or a tool answered, so that a move may be kept.
    """

    to: str | None
    from_: str | None
    by: By
    evidence: tuple[Evidence, ...] = ()
    losers: tuple[Loser, ...] = ()
    guards_closed: tuple[ClosedGuard, ...] = ()
    reason: str = ""

    @property
    def moved(self) -> bool:
        """Whether the cursor took a step; a loop back to the same skill is one."""
        return self.by in (By.ENTRY, By.SCORER, By.ROUTE, By.PICK)
