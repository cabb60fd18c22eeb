"""What `doctor` looks at: a table of probes, each of which yields findings; none of them stops the others."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from skillweave.cli.configuration import Origin
from skillweave.codec import Portable
from skillweave.frozen import FrozenJson
from skillweave.redaction import without_secrets


class Level(StrEnum):
    """Whether it is well, good to know, not there and need not be, risky, or wrong."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding(Portable):
    """What was looked at, how it is, and the fix; `unreachable` if a ledger or source does not answer."""

    section: str
    subject: str
    level: Level
    message: str
    fix: str | None = None
    unreachable: bool = False

    def without_secrets(self) -> "Finding":
        """Returns the finding without passwords."""
        fix = None if self.fix is None else without_secrets(self.fix)
        return replace(self, subject=without_secrets(self.subject), message=without_secrets(self.message), fix=fix)


@dataclass(frozen=True, slots=True)
class Value(Portable):
    """The value of an option, and where it comes from; `place` is null for a default."""

    key: str
    value: FrozenJson
    origin: Origin
    place: str | None


@dataclass(frozen=True, slots=True)
class Configured(Portable):
    """What is configured; `file` is null where there is none."""

    file: str | None
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Health(Portable):
    """What `doctor` found; `ok` is false for a problem, and neither for a warning nor for what may be missing."""

    json_keys: ClassVar[tuple[str, ...]] = ("ok", "problems", "warnings", "missing", "findings", "configuration")

    findings: tuple[Finding, ...]
    configuration: Configured

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def problems(self) -> int:
        """How many things are wrong."""
        return self._count(Level.PROBLEM)

    @property
    def warnings(self) -> int:
        """How many things are risky."""
        return self._count(Level.WARNING)

    @property
    def missing(self) -> int:
        """How many optional things are not there."""
        return self._count(Level.MISSING)

    def _count(self, level: Level) -> int:
        return sum(finding.level is level for finding in self.findings)
