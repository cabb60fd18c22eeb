"""The built-in packs that bring a skill graph: their skills, their checkup, and the scripts beside them."""

from importlib.resources import files
from typing import Any

import pytest

import skillweave
from skillweave import Skill, Status, Weaver
from skillweave.frontmatter.documents import read_yaml
from skillweave.graph import SkillGraph
from skillweave.sources.named import pack_names, pack_of
from skillweave_testing import WordCounter

PACKS = ("support-triage", "coding-pipeline")
BESIDE = {"texas-rrc-rule37": ("texas-rrc",)}
"""Packs of nothing but a graph, each with the packs whose skills it wires."""
SKILLS = {
    "support-triage": [
        "support-voice",
        "ticket-triage",
        "refund-request",
        "technical-issue",
        "product-faq",
        "human-handover",
        "ticket-follow-up",
    ],
    "coding-pipeline": [
        "pipeline-specify",
        "pipeline-plan",
        "pipeline-implement",
        "pipeline-review",
        "pipeline-test",
        "pipeline-release",
    ],
}

each_pack = pytest.mark.parametrize("pack", PACKS)
each_graph = pytest.mark.parametrize("pack", [*PACKS, *BESIDE])


def weaver(pack: str) -> Weaver:
    return skillweave.open(packs=[*BESIDE.get(pack, ()), pack], counter=WordCounter())


async def skills_of(pack: str) -> list[Skill]:
    return list((await weaver(pack).skills.snapshot()).values())


async def graph_of(pack: str) -> SkillGraph:
    """The graph with its skills as they are loaded; raises for any error of the checkup."""
    snapshot = await weaver(pack).skills.snapshot()
    assert snapshot.graph is not None
    return SkillGraph.from_dict(snapshot.graph).with_skills(snapshot.skills)


SCRIPTS = {"texas-rrc-rule37": files("skillweave_texas_rrc") / "rule37_filing.script.yaml"}


def script_of(pack: str) -> Any:
    path = SCRIPTS.get(pack, files("skillweave.packs") / f"{pack.replace('-', '_')}.script.yaml")
    document = read_yaml(path.read_text(encoding="utf-8"), path=path.name)
    assert document.diagnostics == ()
    return document.data


@each_pack
async def test_the_pack_is_found_by_its_name_and_nothing_is_wrong_with_it(pack: str) -> None:
    assert pack in pack_names()
    loaded = await pack_of(pack).load(None)
    assert [skill.id for skill in loaded.skills] == SKILLS[pack]
    assert loaded.diagnostics == ()
    assert pack_of(pack).name == pack


@each_pack
async def test_nothing_is_to_be_said_about_its_skills_and_its_graph(pack: str) -> None:
    assert await weaver(pack).skills.diagnostics() == ()


@pytest.mark.parametrize("pack", [*BESIDE])
async def test_nothing_is_to_be_said_about_a_graph_beside_the_skills_of_other_packs(pack: str) -> None:
    beside = weaver(pack)
    place = (await beside.skills.snapshot()).graph_location
    assert place is not None
    assert [one for one in await beside.skills.diagnostics() if one.location and one.location.path == place.path] == []
    loaded = await pack_of(pack).load(None)
    assert (loaded.skills, loaded.diagnostics) == ((), ())


@pytest.mark.parametrize("pack", [*BESIDE])
async def test_a_graph_without_the_packs_that_it_stands_beside_says_which_skills_it_lacks(pack: str) -> None:
    alone = await skillweave.open(packs=[pack], counter=WordCounter()).skills.diagnostics()
    assert {one.skill for one in alone if one.code == "unknown-skill"} == set((await graph_of(pack)).compiled.wired)


@each_graph
async def test_the_checkup_of_its_graph_suppresses_nothing(pack: str) -> None:
    graph = await graph_of(pack)
    assert graph.checkup().problems == ()
    assert graph.declared.suppress == {}


@each_pack
async def test_its_skills_may_be_used_together(pack: str) -> None:
    result = await weaver(pack).composition.validate(SKILLS[pack])
    assert (result.valid, result.errors, result.warnings) == (True, (), ())


@each_pack
async def test_every_skill_is_active_described_and_has_a_text_of_8_to_20_lines(pack: str) -> None:
    for skill in await skills_of(pack):
        lines = (skill.text.instructions or "").strip().splitlines()
        assert skill.status is Status.ACTIVE, skill.id
        assert skill.description.endswith("."), skill.id
        assert skill.version == "1.0.0", skill.id
        assert 8 <= len(lines) <= 20, (skill.id, len(lines))


@each_pack
async def test_every_skill_of_the_pack_stands_in_its_graph(pack: str) -> None:
    graph = await graph_of(pack)
    assert sorted(graph.compiled.wired) == sorted(SKILLS[pack])


@each_pack
async def test_every_tool_that_a_text_names_is_one_that_the_skill_may_use(pack: str) -> None:
    skills = await skills_of(pack)
    tools = {tool for skill in skills for tool in (skill.tools and skill.tools.allowed) or ()}
    for skill in skills:
        allowed = (skill.tools and skill.tools.allowed) or ()
        text = skill.text.instructions or ""
        assert {tool for tool in tools if f"`{tool}`" in text} <= set(allowed), skill.id


@each_graph
async def test_every_route_that_waits_for_a_tool_waits_for_one_of_its_own_skill(pack: str) -> None:
    skills = {skill.id: skill for skill in await skills_of(pack)}
    for route in (await graph_of(pack)).declared.routes:
        if isinstance(route.on_tool, str):
            rules = skills[route.from_].tools
            assert route.on_tool in (HOST_TOOLS[pack] if rules is None else rules.allowed or ()), route


HOST_TOOLS = {"texas-rrc-rule37": ("record_review",)}
"""Tools that only the host has, for skills that state none."""


@each_graph
async def test_the_script_beside_it_goes_as_it_expects(pack: str) -> None:
    simulation = await (await graph_of(pack)).simulate(script_of(pack))
    wrong = [(number, step.move.to_dict()) for number, step in enumerate(simulation) if not step.held]
    assert wrong == []


@each_graph
async def test_the_script_expects_something_of_every_step_and_takes_every_route(pack: str) -> None:
    graph = await graph_of(pack)
    simulation = await graph.simulate(script_of(pack))
    assert all(step.expect is not None for step in simulation)
    taken = {(step.move.from_, step.move.to) for step in simulation if step.move.moved}
    declared = {(route.from_, route.to) for route in graph.declared.routes}
    assert {(from_, to) for from_, to in declared if from_ != "*"} - taken == PICKED_OTHERWISE[pack]


PICKED_OTHERWISE = {
    "support-triage": {("product-faq", "technical-issue")},
    "coding-pipeline": set(),
    "texas-rrc-rule37": set(),
}
"""Ways that only the model takes, where the script picks something else."""


@each_pack
async def test_what_is_wrong_with_the_graph_of_a_pack_is_told_with_its_place(pack: str) -> None:
    other, gone = weaver(pack), SKILLS[pack][-1]
    place = (await other.skills.snapshot()).graph_location
    other.skills.registry.remove(gone)
    found = [one for one in await other.skills.diagnostics() if one.code == "unknown-skill"]
    assert {(one.skill, one.location) for one in found} == {(gone, place)}
    assert place is not None
    assert place.line is not None
