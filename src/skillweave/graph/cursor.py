"""The position of a conversation in a skill graph, as it is stored (spec 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.codec import Portable
from skillweave.frozen import EMPTY
from skillweave.graph.move import Move

LONGEST_TRAIL = 100
"""So many of the latest steps are remembered; visits count all."""


@dataclass(frozen=True, slots=True)
class Cursor(Portable):
    """The current skill, how often each was visited, the way here, and the digest of the graph that it belongs to.

    `last_move` is what the turn `last_turn` did: the same turn again does the same.
    """

    skill: str
    visits: Mapping[str, int] = field(default=EMPTY, hash=False)
    trail: tuple[str, ...] = ()
    digest: str = ""
    last_turn: str = ""
    last_move: Move | None = None
