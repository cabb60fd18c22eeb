"""The conversation of a pack's demo, as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.compose.policy import Ruling
from skillweave.frozen import FrozenJson
from skillweave.injection import Injection


@dataclass(frozen=True, slots=True)
class CallShown(Portable):
    """A call of a tool: the ruling on it with its reason, and the answer, null where it was not allowed."""

    tool: str
    arguments: Mapping[str, FrozenJson]
    ruling: Ruling
    reason: str
    answer: Mapping[str, FrozenJson] | None


@dataclass(frozen=True, slots=True)
class SceneShown(Portable):
    """One turn: who said what, what it shows, what was given to the model for it, and what the model called then."""

    step: int
    role: str
    message: str
    lesson: str
    injection: Injection
    calls: tuple[CallShown, ...]


@dataclass(frozen=True, slots=True)
class RunShown(Portable):
    """The conversation once through; `tokens` are those of skills and entities that it added to the history."""

    steps: tuple[SceneShown, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class PackDemo(Portable):
    """A pack's demo: the conversation, and again where nothing is kept; `ledger` is where it is kept."""

    demo: str
    skills: int
    runs: tuple[RunShown, ...]
    ledger: str | None
