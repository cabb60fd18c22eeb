"""What a checkup finds: problems with their place and remedy, and notes (spec 3.5)."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """An `error` makes the graph unusable as it is declared, a `warning` only wants attention."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding; `skill`, `from_` and `to` say where, as far as they apply, and `fix` what to do."""

    code: str
    level: Level
    message: str
    skill: str | None = None
    from_: str | None = None
    to: str | None = None
    fix: str = ""

    def to_dict(self) -> dict[str, str | None]:
        """The JSON form `{code, level, message, skill, from, to, fix}`."""
        return {
            "code": self.code,
            "level": self.level.value,
            "message": self.message,
            "skill": self.skill,
            "from": self.from_,
            "to": self.to,
            "fix": self.fix,
        }


@dataclass(frozen=True, slots=True)
class Checkup:
    """The whole report; `notes` say what it does not prove, and what was suppressed for which reason."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return all(problem.level is not Level.ERROR for problem in self.problems)

    def to_dict(self) -> dict[str, object]:
        """The JSON form `{ok, problems, notes}`."""
        return {"ok": self.ok, "problems": [problem.to_dict() for problem in self.problems], "notes": list(self.notes)}

    def __str__(self) -> str:
        lines = [f"{one.level.value}: {one.message} {one.fix} [{one.code}]" for one in self.problems]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) or "nothing is wrong with the graph"
