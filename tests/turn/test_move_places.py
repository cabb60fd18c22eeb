"""A skill graph beside the skills that are loaded: places, and whose the tools are."""

from skillweave import Injection, Registry, Skill, ToolRules, Weaver
from skillweave.graph import Entry, Route
from skillweave.select.index import build_index
from skillweave.turn import move as wiring
from skillweave.turn.move import GraphBinding, bind
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

GRAPH = graph_of("a", "b", entries=[Entry("a", on("go"))], routes=[Route("a", "b", on("on"))])


def using(skill_id: str, *tools: str) -> Skill:
    return make_skill(skill_id, tools=ToolRules(allowed=tools))


def wired(*skills: Skill) -> GraphBinding:
    registry = Registry()
    for skill in skills:
        registry.register(skill)
    return bind(GRAPH, build_index(registry.snapshot))


def begun(*skills: Skill) -> tuple[Weaver, Injection]:
    weaver = weaver_over(GRAPH, skills)
    return weaver, weaver.sync.weave("go", conversation="c")


def test_only_so_many_places_are_remembered() -> None:
    found = wired(make_skill("a"), make_skill("b"))
    for number in range(3 * wiring.MOST_PLACES):
        found.here(f"skill-{number}")
    assert len(found._places) <= wiring.MOST_PLACES


def test_tools_that_a_skill_elsewhere_lists_by_a_pattern_of_names_are_not_offered() -> None:
    weaver, injection = begun(make_skill("a"), using("b", "mcp__db__*"))
    assert injection.tools.offers(["mcp__db__query", "other"]) == ("other",)
    assert "belongs to `b`" in injection.tools.authorize("mcp__db__query").message
    there = weaver.sync.weave("on", conversation="c")
    assert there.tools.offers(["mcp__db__query"]) == ("mcp__db__query",)


def test_of_a_pattern_what_a_skill_at_the_cursor_lists_too_is_offered() -> None:
    _, injection = begun(using("a", "mcp__db__query"), using("b", "mcp__db__*"))
    assert injection.tools.offers(["mcp__db__query", "mcp__db__drop"]) == ("mcp__db__query",)


def test_of_a_pattern_what_skills_outside_the_graph_list_too_is_offered() -> None:
    _, injection = begun(make_skill("a"), using("b", "mcp__db__*"), using("x", "mcp__db__query"))
    assert injection.tools.offers(["mcp__db__query", "mcp__db__drop"]) == ("mcp__db__query",)


def test_a_pattern_of_a_skill_outside_the_graph_shares_all_that_it_covers() -> None:
    _, injection = begun(make_skill("a"), using("b", "mcp__db__query", "mcp__db__admin_*"), using("x", "mcp__db__*"))
    names = ["mcp__db__query", "mcp__db__admin_drop"]
    assert list(injection.tools.offers(names)) == names
