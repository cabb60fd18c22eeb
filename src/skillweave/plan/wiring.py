"""A skill graph beside the skills that are loaded: who may be engaged where the cursor stands (spec 3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skillweave.compose.elsewhere import ToolOwners
from skillweave.graph.compiled import Compiled
from skillweave.graph.graph import SkillGraph
from skillweave.graph.reachable import reachable_from
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.relations.tool_entry import Form, read_entry
from skillweave.select.kit import Kit
from skillweave.skill import Skill

MOST_PLACES = 256
"""So many places of the cursor are remembered: each has a set of nearly all skills."""


@dataclass(frozen=True, slots=True)
class Here:
    """What a place of the cursor allows: the ids that matchers may choose, and the wired ones that are held back.

    `reachable` are the skills that the model may go to from here, of those that can be given; base entries apply
    anyway.
    """

    within: frozenset[str]
    held_back: frozenset[str]
    reachable: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """A graph and one generation of skills; safe to share between threads.

    `free` are the skills that no cursor holds back: those outside the graph, and its base entries. `owners` are the
    tools that only wired skills list, by name, with these skills. `granted` are the ids that the agent may have, None
    for all.
    """

    graph: SkillGraph
    kit: Kit
    free: frozenset[str]
    owners: ToolOwners
    granted: frozenset[str] | None = None
    _places: dict[str | None, Here] = field(default_factory=dict, repr=False)

    @property
    def compiled(self) -> Compiled:
        """The graph's indexes."""
        return self.graph.compiled

    def grants(self, skill_id: str) -> bool:
        """Whether the agent may have the skill."""
        return self.granted is None or skill_id in self.granted

    def here(self, skill_id: str | None) -> Here:
        """What the cursor on that skill allows, None for nowhere: the skill, what it requires, and all that is free."""
        known = self._places.get(skill_id)
        if known is None:
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            known = self._places[skill_id] = self._look(skill_id)
        return known

    def _look(self, skill_id: str | None) -> Here:
        named = () if skill_id is None else (skill_id,)
        needed = (requirement.rule.skill for requirement in all_requirements(named, self.kit.snapshot))
        allowed = frozenset((*named, *needed))
        onward = (one for one in reachable_from(self.compiled, skill_id) if one not in (skill_id, *self.compiled.base))
        held_back = frozenset(self.compiled.wired).difference(allowed, self.compiled.base)
        return Here(self.free | allowed, held_back, tuple(filter(self._opens, onward)))

    def _opens(self, skill_id: str) -> bool:
        return skill_id in self.kit.positions and self.grants(skill_id)


def wire(graph: SkillGraph, kit: Kit, granted: frozenset[str] | None = None) -> Wiring:
    """The graph beside the skills of a kit, each known to the graph as it is loaded."""
    snapshot = kit.snapshot
    known = graph.with_skills(snapshot.skills)
    wired = known.compiled.wired
    free = frozenset(skill_id for skill_id in snapshot.skills if skill_id not in wired).union(known.compiled.base)
    return Wiring(known, kit, free, _owners(known, snapshot), granted)


def _owners(graph: SkillGraph, snapshot: Snapshot) -> ToolOwners:
    wired = graph.compiled.wired
    known = (snapshot.skills[skill_id] for skill_id in wired if skill_id in snapshot)
    shared = (tool for skill in snapshot.values() if skill.id not in wired for tool in _tools(skill))
    return ToolOwners.among(((tool, skill.id) for skill in known for tool in _tools(skill)), shared)


def _tools(skill: Skill) -> Iterator[str]:
    allowed = None if skill.tools is None else skill.tools.allowed
    for entry in map(read_entry, allowed or ()):
        if entry.form is not Form.BROKEN:
            yield entry.tool
