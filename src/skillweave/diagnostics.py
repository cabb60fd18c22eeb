"""What skillweave says about something that somebody wrote: a skill file, a pack, a pattern."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from skillweave.codec import Portable


class Severity(StrEnum):
    """How much was lost: `error` a skill or a rule, `warning` nothing but attention is due, `info` nothing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Location(Portable):
    """A place in a file or other origin; `line` counts from 1, None when the whole thing is meant."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic(Portable):
    """One finding: a stable `code`, the skill and place it is about, what is wrong and how to correct it."""

    json_keys: ClassVar[tuple[str, ...]] = ("code", "severity", "skill", "path", "line", "message", "fix")

    code: str
    severity: Severity
    message: str
    fix: str
    skill: str | None = None
    location: Location | None = None

    @property
    def path(self) -> str | None:
        """The file or other origin, None where the finding has no place."""
        return self.location.path if self.location else None

    @property
    def line(self) -> int | None:
        """The line in it, counted from 1, None where the whole is meant."""
        return self.location.line if self.location else None

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data with the place as one value."""
        path = data.get("path")
        return {**data, "location": None if path is None else {"path": path, "line": data.get("line")}}

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity.value}: {self.message} [{self.code}]. {self.fix}"


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any finding is of level error."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
