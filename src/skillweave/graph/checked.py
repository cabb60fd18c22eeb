"""What a checkup finds: problems with their place and remedy, and notes (spec 3.5)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from skillweave.codec import Portable


class Level(StrEnum):
    """An `error` makes the graph unusable as it is declared, a `warning` only wants attention."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem(Portable):
    """One finding; `skill`, `from_` and `to` say where, as far as they apply, and `fix` what to do."""

    code: str
    level: Level
    message: str
    skill: str | None = None
    from_: str | None = None
    to: str | None = None
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Checkup(Portable):
    """The whole report; `notes` say what it does not prove, and what was suppressed for which reason."""

    json_keys: ClassVar[tuple[str, ...]] = ("ok", "...")

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return all(problem.level is not Level.ERROR for problem in self.problems)

    def __str__(self) -> str:
        lines = [f"{one.level.value}: {one.message} {one.fix} [{one.code}]" for one in self.problems]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) or "nothing is wrong with the graph"
