"""The answer to one tool call: may it run, must a person be asked, or not (spec 4.3)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from skillweave.codec import Portable


class Ruling(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Refusal(StrEnum):
    """Why a call is denied: the error codes of rule V004."""

    FORBIDDEN = "TOOL_FORBIDDEN"
    NOT_ALLOWED = "TOOL_NOT_ALLOWED"


@dataclass(frozen=True, slots=True)
class Verdict(Portable):
    """The ruling on one call; `message` is written for the model to read, `code` says why a call is denied.

    `checkpoints` are the names that a person must approve first; `preapproved` says that consent covers the call, so
    that the host need not ask on its own account.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("ruling", "tool", "message", "code", "rule", "...")

    ruling: Ruling
    tool: str
    message: str
    code: Refusal | None = None
    checkpoints: tuple[str, ...] = ()
    preapproved: bool = False

    @property
    def rule(self) -> str | None:
        """V004 for a denied call (seed 002), else None."""
        return None if self.code is None else "V004"
