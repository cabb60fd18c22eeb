"""Short ways to make skill graphs and Weavers over them for tests."""

from collections.abc import Iterable, Sequence

from skillweave import MemoryStore, Registry, Settings, Skill, Store, Weaver
from skillweave.graph import Declared, Entry, GraphSkill, Keywords, Route, SkillGraph
from skillweave_testing import WordCounter


def graph_of(
    *skills: str, entries: Iterable[Entry] = (), routes: Iterable[Route] = (), check: str = "off", **rest: object
) -> SkillGraph:
    """A graph over skills that are ids only."""
    declared = Declared(tuple(map(GraphSkill, skills)), tuple(entries), tuple(routes), **rest)  # type: ignore[arg-type]
    return SkillGraph.of(declared, check=check)


def on(*words: str) -> Keywords:
    """The user says one of the words."""
    return Keywords(words)


def weaver_over(
    graph: SkillGraph | None, skills: Sequence[Skill], store: Store | None = None, settings: Settings | None = None
) -> Weaver:
    """A Weaver over these skills and that graph."""
    registry = Registry()
    for skill in skills:
        registry.register(skill)
    return Weaver(registry, store or MemoryStore(), settings, graph=graph, counter=WordCounter())
