"""The position of a conversation in a skill graph, as it is stored (spec 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Cursor:
    """The current skill, how often each was visited, the way here, and the digest of the graph that it belongs to."""

    skill: str
    visits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    trail: tuple[str, ...] = ()
    digest: str = ""
    last_turn: str = ""
