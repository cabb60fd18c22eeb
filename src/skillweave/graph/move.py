"""One step of a conversation in its graph, with what speaks for it and what lost (spec 3.2)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
class Loser:
    """What would have led elsewhere: `by` says what it was, `reason` in a sentence why it lost."""

    to: str
    by: By
    why: Why
    reason: str

    def to_dict(self) -> dict[str, str]:
        """The JSON form `{to, by, why, reason}`."""
        return {"to": self.to, "by": self.by.value, "why": self.why.value, "reason": self.reason}

    @classmethod
    def from_dict(cls, data: dict[str, str]) -> "Loser":
        """The value that `to_dict` wrote."""
        return cls(data["to"], By(data["by"]), Why(data["why"]), data["reason"])


@dataclass(frozen=True, slots=True)
class ClosedGuard:
    """A guard that kept a route from firing, everything else of which held; never what the tool answered."""

    from_: str
    to: str
    guard: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """The JSON form `{from, to, guard, reason}`."""
        return {"from": self.from_, "to": self.to, "guard": self.guard, "reason": self.reason}

    @classmethod
    def from_dict(cls, data: dict[str, str]) -> "ClosedGuard":
        """The value that `to_dict` wrote."""
        return cls(data["from"], data["to"], data["guard"], data["reason"])


@dataclass(frozen=True, slots=True)
class Move:
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

    def to_dict(self) -> dict[str, Any]:
        """The JSON form `{to, from, by, evidence, losers, guards_closed, reason}`."""
        return {
            "to": self.to,
            "from": self.from_,
            "by": self.by.value,
            "evidence": [piece.to_dict() for piece in self.evidence],
            "losers": [loser.to_dict() for loser in self.losers],
            "guards_closed": [closed.to_dict() for closed in self.guards_closed],
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Move":
        """The value that `to_dict` wrote."""
        return cls(
            to=data["to"],
            from_=data["from"],
            by=By(data["by"]),
            evidence=tuple(Evidence.from_dict(piece) for piece in data["evidence"]),
            losers=tuple(Loser.from_dict(loser) for loser in data["losers"]),
            guards_closed=tuple(ClosedGuard.from_dict(closed) for closed in data["guards_closed"]),
            reason=data["reason"],
        )
