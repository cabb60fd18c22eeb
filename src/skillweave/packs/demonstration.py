"""A conversation that shows what a pack does; `skillweave demo NAME` plays it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillweave.conversation import Role
from skillweave.extensions import Extensions
from skillweave.frozen import EMPTY, FrozenJson
from skillweave.knowledge.entity import EntityGraph
from skillweave.packs.tool import Tool


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that the model makes after a turn."""

    tool: str
    arguments: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn: who says what, what its outcome shows, and the calls that the model makes then."""

    text: str
    lesson: str
    role: Role = Role.USER
    calls: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A conversation over a pack and entities in a JSON file; `memory` is that of every turn."""

    about: str
    packs: tuple[str, ...]
    entities: Path
    tools: Callable[[EntityGraph], Sequence[Tool]]
    scenes: tuple[Scene, ...]
    memory: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)
    matchers: tuple[str, ...] = ("explicit",)


DEMOS: Extensions[Callable[[], Demonstration]] = Extensions(
    "demos", "demo", choice="choose from", satellites={"texas-rrc": "skillweave-texas-rrc"}
)
"""The value is a function without arguments that gives a Demonstration."""
