"""Scripts played through a skill graph, and its edges that they take."""

from collections.abc import Mapping, Sequence
from typing import Any

from skillweave.graph import SkillGraph
from skillweave_eval.graph import GraphReport, play_scripts

DESK: Mapping[str, Any] = {
    "entries": [
        {"skill": "triage", "match": {"keywords": ["charge"]}},
        {"skill": "faq", "match": {"keywords": ["how"]}},
        {"skill": "voice", "base": True},
    ],
    "routes": [
        {"from": "triage", "to": "refund", "on_tool": "lookup", "on_status": "success"},
        {"from": "triage", "to": "human", "on_tool": "lookup", "on_status": "failure"},
        {"from": "triage", "to": "human", "when": {"keywords": ["angry"]}},
        {"from": "triage", "to": "faq"},
        {"from": "*", "to": "human", "when": {"keywords": ["person"]}},
    ],
}
TREE = {"tree": {"if": {"keywords": ["refund"]}, "then": "refund", "else": "faq"}}


async def played(graph: Mapping[str, Any], *scripts: Sequence[Any], wanted: float | None = None) -> GraphReport:
    named = {f"s{number}": script for number, script in enumerate(scripts)}
    return await play_scripts(SkillGraph.from_dict(graph), named, "scripts", wanted=wanted)


def taken(report: GraphReport) -> list[tuple[str | None, str, str]]:
    return [(edge.from_, edge.to, edge.label) for edge in report.edges if edge.taken]


async def test_edges_that_a_script_takes_are_counted() -> None:
    script = [{"user": "a charge"}, {"tool": "lookup", "status": "success"}, {"user": "a person please"}]
    report = await played(DESK, script, script)
    assert [(from_, to) for from_, to, _ in taken(report)] == [(None, "triage"), ("triage", "refund"), ("*", "human")]
    assert {edge.taken for edge in report.edges} == {0, 2}
    assert report.coverage == 3 / 7
    assert report.visits == {"triage": 2, "refund": 2, "human": 2}


async def test_routes_between_the_same_skills_are_told_apart_by_what_fired_them() -> None:
    failed = await played(DESK, [{"user": "a charge"}, {"tool": "lookup", "status": "failure"}])
    angry = await played(DESK, [{"user": "a charge"}, {"user": "I am angry"}])
    assert "lookup" in taken(failed)[-1][2]
    assert "angry" in taken(angry)[-1][2]


async def test_what_the_model_picks_takes_an_edge_without_a_condition() -> None:
    report = await played(DESK, [{"user": "a charge"}, {"pick": "faq"}])
    assert [(from_, to) for from_, to, _ in taken(report)] == [(None, "triage"), ("triage", "faq")]


async def test_base_skills_have_no_edge_to_be_taken() -> None:
    assert "voice" not in {edge.to for edge in (await played(DESK, [])).edges}


async def test_the_leaves_of_a_tree_are_its_edges() -> None:
    report = await played(TREE, [{"user": "a refund"}])
    assert {edge.to: edge.taken for edge in report.edges} == {"refund": 1, "faq": 0}


async def test_a_script_that_leads_elsewhere_says_at_which_step() -> None:
    report = await played(DESK, [{"user": "a charge", "expect": "triage"}, {"user": "angry", "expect": "faq"}])
    (script,) = report.scripts
    assert (script.ok, script.steps, script.expectations) == (False, 2, 2)
    assert script.problems == ("step 2 leads to human by route, not to faq",)
    assert not report.ok


async def test_a_coverage_can_be_wanted() -> None:
    script = [{"user": "a charge"}]
    assert (await played(DESK, script, wanted=0.1)).ok
    assert not (await played(DESK, script, wanted=0.2)).ok


async def test_a_report_travels() -> None:
    report = await played(DESK, [{"user": "a charge"}])
    assert GraphReport.from_dict(report.to_dict()) == report
