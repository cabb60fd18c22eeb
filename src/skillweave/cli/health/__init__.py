"""What `doctor` looks at, one finding for each thing; each look is on its own, and none stops the others."""

import re
from dataclasses import dataclass
from enum import StrEnum

_USER = re.compile(r"(?<=://)\S*@")
_PASSWORD = re.compile(r"(?i)\b(password|passwd|token|secret|key)=[^&\s]+")


class Level(StrEnum):
    """Whether it is well, is not there and need not be, or is wrong."""

    OK = "ok"
    MISSING = "missing"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do about it where something can be done.

    `unreachable` marks a ledger that does not answer, which has an exit code of its own.
    """

    section: str
    subject: str
    level: Level
    message: str
    fix: str | None = None
    unreachable: bool = False

    def to_dict(self) -> dict[str, object]:
        """`{section, subject, level, message, fix}`, without passwords."""
        return {
            "section": self.section,
            "subject": without_secrets(self.subject),
            "level": self.level.value,
            "message": without_secrets(self.message),
            "fix": None if self.fix is None else without_secrets(self.fix),
        }


def without_secrets(text: str) -> str:
    """The text with `***` for the user and password of a URL, and for what a query calls a password."""
    return _PASSWORD.sub(r"\1=***", _USER.sub("***@", text))
