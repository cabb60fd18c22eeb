"""The error that a skill's own event was refused."""

from skillweave.diagnostics import Diagnostic
from skillweave.errors import SkillweaveError


class EventRefused(SkillweaveError, ValueError):
    """An event that this skill may not announce here, or a payload that does not fit it.

    `findings` say what does not fit the declared schema, each with its place in the payload.
    """

    def __init__(self, message: str, findings: tuple[Diagnostic, ...] = ()) -> None:
        self.findings = findings
        super().__init__(message)
