"""A moment of a conversation, the step that a graph takes there, and the position afterwards (spec 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.codec import Portable
from skillweave.conversation import Message, ToolResult
from skillweave.decisions import Evidence
from skillweave.frozen import EMPTY

LONGEST_TRAIL = 100
"""So many of the latest steps are remembered; visits count all."""


@dataclass(frozen=True, slots=True)
class MoveContext(Portable):
    """One moment of a conversation: the words of the `user`, the current skill, tools and picks since the last move.

    `iteration` counts the model's calls since, from 1. `between` two calls only picks are judged.
    """

    user: str = ""
    iteration: int = 1
    history: tuple[Message, ...] = ()
    current: str | None = None
    tools: tuple[ToolResult, ...] = ()
    picks: tuple[str, ...] = ()
    visits: Mapping[str, int] = field(default=EMPTY, hash=False)
    trail: tuple[str, ...] = ()
    between: bool = False


@dataclass(frozen=True, slots=True)
class PredicateContext(Portable):
    """What a host's own condition is called with: the moment, and the tool result that is judged, None without one."""

    context: MoveContext
    result: ToolResult | None = None


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
    """Where the conversation stands now (`to`; None: nothing begun), and why; never what somebody said."""

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


@dataclass(frozen=True, slots=True)
class Cursor(Portable):
    """Where a conversation is in a graph, and how it came there; `last_move` is repeated for the turn `last_turn`."""

    skill: str
    visits: Mapping[str, int] = field(default=EMPTY, hash=False)
    trail: tuple[str, ...] = ()
    digest: str = ""
    last_turn: str = ""
    last_move: Move | None = None
