"""What skillweave says about something that somebody wrote: a skill file, a pack, a pattern."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much was lost: `error` a skill or a rule, `warning` nothing but attention is due, `info` nothing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file or other origin; `line` counts from 1, None when the whole thing is meant."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable `code`, the skill and place it is about, what is wrong and how to mend it."""

    code: str
    severity: Severity
    message: str
    fix: str
    skill: str | None = None
    location: Location | None = None

    def to_dict(self) -> dict[str, str | int | None]:
        """The JSON form `{code, severity, skill, path, line, message, fix}` of the CLI's `check`."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "skill": self.skill,
            "path": self.location.path if self.location else None,
            "line": self.location.line if self.location else None,
            "message": self.message,
            "fix": self.fix,
        }

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity.value}: {self.message} [{self.code}]. {self.fix}"


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any finding is of level error."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
