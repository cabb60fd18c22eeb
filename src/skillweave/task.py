"""What an agent is working on, and the rules that give it skills for that (spec 2.1, row `task`; seed 002)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from skillweave.codec import Portable
from skillweave.diagnostics import Location
from skillweave.errors import InvalidSkill, InvalidTurn

HOST = "the host"
"""The source of rules that come with the settings."""


class RiskLevel(StrEnum):
    """How much can go wrong with a task."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Task(Portable):
    """The work as a whole, of which a message is only a part; what no rule asks about is for people.

    `risk_level` is also taken as its text. Raises InvalidTurn for a value of another type.
    """

    description: str = ""
    risk_level: RiskLevel | None = None
    coding: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.description, str):
            raise InvalidTurn(f"Task(description=...) is a {type(self.description).__name__}; give a text")
        if not isinstance(self.coding, bool):
            raise InvalidTurn(f"Task(coding={self.coding!r}) is not a truth value; give True or False")
        if self.risk_level is not None:
            object.__setattr__(self, "risk_level", _risk_level(self.risk_level))


@dataclass(frozen=True, slots=True)
class When(Portable):
    """The conditions of a rule, all of which must hold; None and `()` ask nothing.

    `risk_levels` holds when the task has one of them.
    """

    coding: bool | None = None
    risk_levels: tuple[RiskLevel, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk_levels", tuple(map(_risk_level, self.risk_levels)))

    def holds(self, task: Task) -> bool:
        """Whether the task meets every condition."""
        if self.coding is not None and task.coding is not self.coding:
            return False
        return not self.risk_levels or task.risk_level in self.risk_levels

    def __str__(self) -> str:
        return ", ".join(self._conditions())

    def _conditions(self) -> Iterator[str]:
        if self.coding is not None:
            yield f"coding: {str(self.coding).lower()}"
        if self.risk_levels:
            yield f"risk_level: {' or '.join(self.risk_levels)}"


@dataclass(frozen=True, slots=True)
class TaskRule(Portable):
    """Skills that a kind of task calls for, all of them together or none.

    `source` says who brings the rule, `location` where it is written. Raises InvalidSkill for a rule that asks nothing
    of a task, which would fire for all, and for one that names no skill.
    """

    when: When
    skills: tuple[str, ...]
    source: str = HOST
    location: Location | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "skills", _ids(self.skills))
        if not str(self.when):
            raise InvalidSkill(f"a task rule for {', '.join(self.skills)} asks nothing of a task; say when it fires")
        if not self.skills:
            raise InvalidSkill(f"the task rule for {self.when} names no skill; name those that it gives")

    @property
    def name(self) -> str:
        """The rule as it is called in decisions: its conditions and who brings it."""
        return f"{self.when} ({self.source})"


def _ids(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(skill, str) for skill in value):
        return tuple(dict.fromkeys(value))
    raise InvalidSkill(f"the skills of a task rule are {str(value)[:60]!r}; write a list of ids, such as ('a', 'b')")


def _risk_level(value: str) -> RiskLevel:
    try:
        return RiskLevel(value)
    except ValueError:
        raise InvalidTurn(f"{value!r} is not a risk level; choose from {', '.join(RiskLevel)}") from None
