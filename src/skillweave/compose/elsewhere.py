"""Tools that belong to places of a skill graph: only while one of their skills is engaged they may be called."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from skillweave.codec import Portable
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.relations.wording import name_shown

_NAMED = 3


@dataclass(frozen=True, slots=True)
class ToolOwners(Portable):
    """By tool, the wired skills that it belongs to; a name that ends in `*` stands for all tools that begin so.

    `shared` are the names of the tools that skills outside the graph list too: these belong to no place.
    """

    by_name: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)
    starred: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()
    shared_stems: tuple[str, ...] = ()

    @classmethod
    def among(cls, wired: Iterable[tuple[str, str]], shared: Iterable[str]) -> "ToolOwners":
        """The owners, from pairs of a tool and a wired skill that lists it; `shared` are the tools of other skills."""
        common = frozenset(shared)
        stems = tuple(name[:-1] for name in common if name.endswith("*"))
        owners: dict[str, dict[str, None]] = {}
        for tool, skill_id in wired:
            if tool not in common and not tool.removesuffix("*").startswith(stems):
                owners.setdefault(tool, {})[skill_id] = None
        by_name = FrozenDict((tool, tuple(skills)) for tool, skills in owners.items())
        return cls(by_name, tuple(tool for tool in by_name if tool.endswith("*")), common, stems)

    def of(self, tool: str) -> tuple[str, ...]:
        """The skills that the tool belongs to, empty for one that belongs to no place."""
        exact = self.by_name.get(tool, ())
        if not self.starred or tool in self.shared or tool.startswith(self.shared_stems):
            return exact
        return tuple(dict.fromkeys((*exact, *self._by_stem(tool))))

    def _by_stem(self, tool: str) -> Iterator[str]:
        for starred in self.starred:
            if tool.startswith(starred[:-1]):
                yield from self.by_name[starred]


NO_OWNERS = ToolOwners()


@dataclass(frozen=True, slots=True)
class ToolsElsewhere(Portable):
    """Whose the tools are; which skills are engaged, and where the conversation is in words.

    A tool that belongs to skills is denied while none of them is engaged (spec 3.2).
    """

    owners: ToolOwners = NO_OWNERS
    engaged: frozenset[str] = frozenset()
    where: str = ""

    def denies(self, tool: str) -> bool:
        """Whether the tool belongs to other places only."""
        owners = self.owners.of(tool)
        return bool(owners) and self.engaged.isdisjoint(owners)

    def reason(self, tool: str) -> str:
        """Why a denied tool is."""
        owners = self.owners.of(tool)
        more = f" and {len(owners) - _NAMED} more" if owners[_NAMED:] else ""
        return (
            f"it belongs to {', '.join(map(name_shown, owners[:_NAMED]))}{more}, and the conversation is {self.where}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All denied tools; a pattern as it stands, though a tool that it covers may be of a skill that is engaged."""
        return tuple(tool for tool in self.owners.by_name if self.denies(tool))


NOTHING_ELSEWHERE = ToolsElsewhere()
