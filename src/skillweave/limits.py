"""What an agent's calls may never exceed, whatever its skills say: what a parent hands to the agents it spawns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from skillweave.checking import most
from skillweave.codec import Portable, read
from skillweave.errors import InvalidData, InvalidTurn
from skillweave.frozen import EMPTY

MOST_ENTRIES = 2_000
"""Tools, or entries about tools, that one list may have."""
MOST_SKILLS = 20_000
"""Skills that one list may name."""


@dataclass(frozen=True, slots=True)
class ToolLimits(Portable):
    """Bounds of a tool policy, in the entries of spec 4.3; `allowed` None bounds nothing, `()` leaves no tool.

    `asks` are tool entries with the checkpoints before them, `argument_names` the arguments that entries are matched
    with, by tool; both as in a ToolPolicy. `own_asks` are those checkpoints that a verdict in the agent's own
    conversation ends: they belong to its own skills, while those in `asks` belong to whoever spawned it.
    `rejected_calls` are those that a person refused, as in a ToolPolicy. `closed_skills` are the ids of skills that
    whoever spawned the agent may not open where it stands in its skill graph: the agent may not have them either.
    A turn or a question takes lists of at most 2,000 entries and 20,000 skills.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "rejected_calls?")
    json_exact: ClassVar[bool] = True

    allowed: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    forbidden: tuple[str, ...] = field(default=(), metadata=most(MOST_ENTRIES))
    asks: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False, metadata=most(MOST_ENTRIES))
    argument_names: Mapping[str, str] = field(default=EMPTY, hash=False, metadata=most(MOST_ENTRIES))
    own_asks: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False, metadata=most(MOST_ENTRIES))
    rejected_calls: Mapping[str, str] = field(default=EMPTY, hash=False, metadata=most(MOST_ENTRIES))
    closed_skills: tuple[str, ...] = field(default=(), metadata=most(MOST_SKILLS))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """The value that `to_dict` wrote; raises InvalidTurn for anything else, as a lost bound is a permission."""
        try:
            return read(data, cls)
        except InvalidData as error:
            raise InvalidTurn(f"{error}; hand on what to_dict() gave") from None
