"""A skill graph beside the skills that are loaded: which one counts, and what there is to say about it."""

from typing import Any

import pytest

import skillweave
from skillweave import Diagnostic, MemoryStore, Registry, Severity, Skill, Status, ToolRules, Weaver
from skillweave.graph import SkillGraph
from skillweave.graph.findings import graph_findings, graph_in
from skillweave.registry import Loaded, Snapshot
from skillweave.skills import SkillText
from skillweave.values import Location
from skillweave_testing import WordCounter

PLACE = Location("pack.yaml", 7)
GRAPH = {
    "entries": [{"skill": "triage"}],
    "routes": [
        {"from": "triage", "to": "refund", "on_tool": "lookup"},
        {"from": "refund", "to": "triage", "on_tool": "pay"},
    ],
}


def skill(skill_id: str, *tools: str, status: Status = Status.ACTIVE, body: str = "Do it.") -> Skill:
    return Skill(skill_id, skill_id, "x", status=status, text=SkillText(instructions=body), tools=ToolRules(tools))


def snapshot(*skills: Skill, graph: Any = GRAPH) -> Snapshot:
    return Snapshot({one.id: one for one in skills}, graph=graph, graph_location=PLACE)


TRIAGE, REFUND = skill("triage", "lookup"), skill("refund", "pay")


def codes(findings: tuple[Diagnostic, ...]) -> list[tuple[str, str | None]]:
    return [(one.code, one.skill) for one in findings]


def test_a_graph_that_fits_the_loaded_skills_has_no_findings() -> None:
    assert graph_findings(snapshot(TRIAGE, REFUND)) == ()


def test_without_a_graph_there_is_nothing_to_say() -> None:
    assert graph_findings(snapshot(TRIAGE, graph=None)) == ()
    assert graph_in(snapshot(TRIAGE, graph=None)) is None


def test_a_skill_that_is_not_loaded_is_unknown_wherever_the_graph_names_it() -> None:
    found = graph_findings(snapshot(TRIAGE))
    unknown = [one for one in found if one.code == "unknown-skill"]
    assert codes(tuple(unknown)) == [("unknown-skill", "refund")] * 2
    assert {one.severity for one in unknown} == {Severity.ERROR}
    assert {one.location for one in unknown} == {PLACE}


def test_a_skill_that_the_graph_lists_itself_is_unknown_too_while_none_is_loaded() -> None:
    listed = {**GRAPH, "skills": ["triage", {"id": "refund", "description": "Pays back."}]}
    assert ("unknown-skill", "refund") in codes(graph_findings(snapshot(TRIAGE, graph=listed)))


def test_the_nearest_loaded_skill_is_offered_for_a_misspelt_one() -> None:
    misspelt = {"entries": [{"skill": "triag"}]}
    (unknown, *_) = graph_findings(snapshot(TRIAGE, REFUND, graph=misspelt))
    assert unknown.fix == "did you mean 'triage'? else load a skill of that id, or take it out of the graph"


@pytest.mark.parametrize("status", [Status.DRAFT, Status.DISABLED])
def test_a_wired_skill_that_is_not_active_is_told(status: Status) -> None:
    found = graph_findings(snapshot(TRIAGE, skill("refund", "pay", status=status)))
    assert codes(found) == [("inactive-skill", "refund")]
    assert (found[0].severity, found[0].location) == (Severity.WARNING, PLACE)
    assert status.value in found[0].message


def test_a_deprecated_skill_may_still_be_led_to() -> None:
    assert graph_findings(snapshot(TRIAGE, skill("refund", "pay", status=Status.DEPRECATED))) == ()


def test_tools_and_texts_are_those_of_the_loaded_skills() -> None:
    found = graph_findings(snapshot(skill("triage", "search"), skill("refund", "pay", body="Call lookup_all() first.")))
    assert ("unknown-tool", None) in codes(found)
    assert ("body-unknown-tool", "refund") in codes(found)


def test_a_skill_beside_the_graph_is_no_business_of_the_graph() -> None:
    assert graph_findings(snapshot(TRIAGE, REFUND, skill("other", "any"))) == ()


def test_the_hosts_own_graph_is_judged_in_place_of_a_packs_and_has_no_place() -> None:
    own = SkillGraph.from_dict({"entries": [{"skill": "nobody"}]})
    found = graph_findings(snapshot(TRIAGE, REFUND), own)
    assert codes(found) == [("unknown-skill", "nobody")]
    assert found[0].location is None


def test_what_is_suppressed_with_a_reason_is_not_told() -> None:
    loop = {"entries": [{"skill": "triage"}], "routes": [{"from": "triage", "to": "triage", "on_tool": "lookup"}]}
    assert "self-loop" in dict(codes(graph_findings(snapshot(TRIAGE, graph=loop))))
    quiet = {**loop, "suppress": {"self-loop": "it asks again", "dead-end": "it is the last"}}
    assert graph_findings(snapshot(TRIAGE, graph=quiet)) == ()


def test_a_graph_that_no_source_should_give_is_told_and_left_out() -> None:
    broken = snapshot(TRIAGE, graph={"entries": 5})
    assert graph_in(broken) is None
    (finding,) = graph_findings(broken)
    assert (finding.code, finding.severity, finding.location) == ("bad-graph", Severity.ERROR, PLACE)
    assert "entries" in finding.message


class Given:
    """A source with a graph as data."""

    name = "given"

    def __init__(self, graph: Any, *skills: Skill) -> None:
        self._loaded = Loaded(skills, graph=graph, graph_location=PLACE)

    async def load(self, previous: Loaded | None) -> Loaded:
        return self._loaded

    async def read(self, one: Skill, artifact: str) -> bytes:
        raise NotImplementedError


async def test_a_weaver_tells_what_the_checkup_of_a_packs_graph_finds() -> None:
    weaver = skillweave.open(Given(GRAPH, TRIAGE), counter=WordCounter())
    found = await weaver.skills.diagnostics()
    assert ("unknown-skill", "refund") in codes(found)


async def test_a_weaver_judges_the_graph_that_it_was_given() -> None:
    own = SkillGraph.from_dict({"entries": [{"skill": "nobody"}]})
    weaver = Weaver(Registry([Given(GRAPH, TRIAGE, REFUND)]), MemoryStore(), counter=WordCounter(), graph=own)
    assert codes(await weaver.skills.diagnostics()) == [("unknown-skill", "nobody")]


async def test_turns_go_on_without_a_graph_that_cannot_be_read() -> None:
    weaver = skillweave.open(Given({"entries": 5}, TRIAGE), counter=WordCounter())
    injection = await weaver.weave("hello", conversation="c")
    assert injection.move is None
    assert codes(await weaver.skills.diagnostics()) == [("bad-graph", None)]
