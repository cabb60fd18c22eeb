"""What the service answers where it cannot do what was asked: a problem document (RFC 9457)."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.compose.spawn import SpawnRejected
from skillweave.diagnostics import Diagnostic

MEDIA_TYPE = "application/problem+json"
TYPES = "urn:skillweave:problem:"
"""What the `type` of every problem begins with."""


@dataclass(frozen=True, slots=True)
class Problem(Portable):
    """Why a request was not done: `type` tells programs what is wrong, `title` and `detail` tell people.

    `place` is where in the request's body something is wrong; `findings` say it one by one. `choices` are the ids of
    which one is to be named; `rejected` is the answer about a sub-agent that may not be started.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("type", "title", "status", "detail"),
        *("place?", "findings?", "choices?", "rejected?"),
    )

    type: str
    title: str
    status: int
    detail: str
    place: str = ""
    findings: tuple[Diagnostic, ...] = ()
    choices: tuple[str, ...] = ()
    rejected: SpawnRejected | None = None


def code_of(kind: type[Exception]) -> str:
    """What the type of the problem for such an exception ends with: `SkillNotFound` is `skill-not-found`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).lstrip("-")
