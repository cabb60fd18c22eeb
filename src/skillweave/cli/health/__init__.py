"""What `doctor` looks at, one finding for each thing; each look is on its own, and none stops the others."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypedDict

from skillweave.redaction import without_secrets


class Level(StrEnum):
    """Whether it is well, good to know, not there and need not be, risky, or wrong."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"
    WARNING = "warning"
    PROBLEM = "problem"


class FindingShown(TypedDict):
    """What was looked at, how it is, and what to do about it where something can be done."""

    section: str
    subject: str
    level: Literal["ok", "note", "missing", "warning", "problem"]
    message: str
    fix: str | None


class ValueShown(TypedDict):
    """The value of an option, and where it comes from; `place` is null for a default."""

    key: str
    value: str | int | float | bool | list[str] | None
    origin: Literal["default", "file", "environment", "flag"]
    place: str | None


class ConfigurationShown(TypedDict):
    """What is configured; `file` is null where there is none."""

    file: str | None
    values: list[ValueShown]


class HealthShown(TypedDict):
    """What `doctor` found; `ok` is false for a problem, and neither for a warning nor for what may be missing."""

    ok: bool
    problems: int
    warnings: int
    missing: int
    findings: list[FindingShown]
    configuration: ConfigurationShown


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do about it where something can be done.

    `unreachable` marks a ledger or a source that does not answer, which has an exit code of its own.
    """

    section: str
    subject: str
    level: Level
    message: str
    fix: str | None = None
    unreachable: bool = False

    def to_dict(self) -> FindingShown:
        """The JSON form, without passwords."""
        return {
            "section": self.section,
            "subject": without_secrets(self.subject),
            "level": self.level.value,
            "message": without_secrets(self.message),
            "fix": None if self.fix is None else without_secrets(self.fix),
        }
