"""The event of a step in the skill graph."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class CursorMoved(BuiltIn):
    """The conversation is at another skill of its graph, or at the same one again by a loop.

    `from_skill` is None at the start; `by` is one of entry, scorer, route, pick; `visits` counts those of `to_skill`,
    this one too; `graph` is the digest of the graph.
    """

    event_type: ClassVar[str] = "cursor.moved"

    from_skill: str | None
    to_skill: str
    by: str
    reason: str
    visits: int
    graph: str
