"""Everything in a graph that has conditions, in one form: entries, routes, decisions of the tree."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

from skillweave.graph.checkup.parts import Part, parts_of, parts_of_route
from skillweave.graph.checkup.wording import named, way
from skillweave.graph.declared import Decide, Entry, Route


class Spot(TypedDict, total=False):
    """The fields by which a problem says where it is."""

    skill: str
    from_: str
    to: str


@dataclass(frozen=True, eq=False)
class Declaration:
    """An entry, a route or a decision; it comes to pass where all its parts hold."""

    source: Entry | Route | Decide

    @property
    def called(self) -> str:
        """What it is called in a sentence."""
        match self.source:
            case Entry(skill):
                return f"the entry {named(skill)}"
            case Route():
                return way(self.source)
            case Decide(label=label):
                return f"the decision {named(label)}" if label else "a decision of the tree"

    @property
    def spot(self) -> Spot:
        """Where it is; of a decision the leaf that it leads to."""
        match self.source:
            case Entry(skill):
                return {"skill": skill}
            case Route(from_, to):
                return {"from_": from_, "to": to}
            case Decide(then=then):
                return {"skill": then} if isinstance(then, str) else {}

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What has to hold."""
        source = self.source
        return tuple(parts_of_route(source) if isinstance(source, Route) else parts_of(source.condition))
