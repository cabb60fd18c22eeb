"""The skill graph as the service lists it, and a script that is to be played through it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.errors import InvalidGraph

CURRENT = "current"
"""What the graph that is in use can be called in place of its digest."""
MOST_STEPS = 1_000
"""Steps of a script that the service plays."""


@dataclass(frozen=True, slots=True)
class GraphListed(Portable):
    """A graph in a list; its `id` is the digest of its wiring, which every change makes another one."""

    id: str
    skills: int
    edges: int


@dataclass(frozen=True, slots=True)
class GraphPage(Portable):
    """The graph that conversations move in, or nothing; `next` is None, as there is at most one."""

    items: tuple[GraphListed, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class SimulationRequest(Portable):
    """A script for a graph, at most 1,000 steps.

    A step is what the user says as a text, or an object `{user: TEXT}`, `{tool: NAME, result: ...}`, `{pick: ID}`;
    with `expect` it is a test. Raises InvalidGraph for a longer script.
    """

    json_exact: ClassVar[bool] = True

    steps: tuple[str | Mapping[str, object], ...] = field(hash=False)

    def __post_init__(self) -> None:
        if len(self.steps) > MOST_STEPS:
            raise InvalidGraph(f"the script has {len(self.steps):,} steps; play at most {MOST_STEPS:,}, in several")
