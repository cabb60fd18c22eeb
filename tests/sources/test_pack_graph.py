"""`graph:` of a pack: read as the data form says, or told where it is wrong, while the skills load."""

import json
from pathlib import Path

import pytest

from skillweave import Severity
from skillweave.graph import SkillGraph
from skillweave.registry import Loaded
from skillweave.sources import Pack
from skillweave.values import Location
from tests.skill_folders import found, ids

SKILLS = "skills:\n  - {id: triage, description: x}\n  - {id: refund, description: y}\n"
GRAPH = """\
graph:
  entries:
    - {skill: triage, match: {keywords: [refund]}, examples: [I want a refund]}
  routes:
    - from: triage
      to: refund
      on_tool: lookup_order
      guard: {risk: {gte: high}, amount: {lte: 50}}
  scales: {risk: [low, high]}
  limits: {visits: 3}
"""
DATA = {
    "entries": [{"skill": "triage", "match": {"keywords": ["refund"]}, "examples": ["I want a refund"]}],
    "routes": [
        {
            "from": "triage",
            "to": "refund",
            "on_tool": "lookup_order",
            "guard": {"risk": {"gte": "high"}, "amount": {"lte": 50}},
        }
    ],
    "scales": {"risk": ["low", "high"]},
    "limits": {"visits": 3},
}


async def load(tmp_path: Path, text: str, name: str = "pack.yaml") -> Loaded:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return await Pack(tmp_path / name).load()


def as_written(loaded: Loaded) -> dict[str, object]:
    assert loaded.graph is not None
    return SkillGraph.from_dict(loaded.graph, check="off").to_dict()


async def test_the_graph_of_a_pack_is_the_data_form_with_its_scalars_typed(tmp_path: Path) -> None:
    loaded = await load(tmp_path, SKILLS + GRAPH)
    assert as_written(loaded) == DATA
    assert loaded.diagnostics == ()
    assert loaded.graph_location == Location(f"{tmp_path}/pack.yaml", 4)


async def test_a_pack_in_json_brings_a_graph_too(tmp_path: Path) -> None:
    text = json.dumps({"skills": [{"id": "triage", "description": "x"}], "graph": DATA})
    loaded = await load(tmp_path, text, "pack.json")
    assert as_written(loaded) == DATA
    assert loaded.graph_location == Location(f"{tmp_path}/pack.json", None)


async def test_a_graph_may_list_its_skills_and_say_more_of_them(tmp_path: Path) -> None:
    loaded = await load(tmp_path, SKILLS + GRAPH + "  skills: [triage, {id: refund, tools: [pay], note: 1}]\n")
    assert as_written(loaded)["skills"] == ["triage", {"id": "refund", "tools": ["pay"], "note": 1}]


@pytest.mark.parametrize("nothing", ["", "graph:\n", "graph: {}\n", "graph: null\n", 'graph: ""\n'])
async def test_an_empty_graph_is_nothing(tmp_path: Path, nothing: str) -> None:
    loaded = await load(tmp_path, SKILLS + nothing)
    assert (loaded.graph, loaded.graph_location, loaded.diagnostics) == (None, None, ())


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "fix"),
    [
        ("gte: high", "gtr: high", 11, "graph.routes[0].guard.risk: ", "did you mean 'gt'?"),
        ("  scales: {risk: [low, high]}", "  scales: {risk: [low, low]}", 12, "graph.scales.risk: ", "keep it"),
        ("to: refund", "too: refund", 8, "graph.routes[0]: ", "did you mean 'to'?"),
        ("keywords: [refund]", 'regex: "("', 6, "graph.entries[0].match.regex: ", "correct it"),
        ("visits: 3", "visits: none", 13, "graph.limits.visits: ", "write a number"),
    ],
)
async def test_a_graph_of_a_wrong_shape_is_told_with_line_and_fix_and_left_out(
    tmp_path: Path, old: str, new: str, line: int, message: str, fix: str
) -> None:
    assert old in GRAPH
    loaded = await load(tmp_path, SKILLS + GRAPH.replace(old, new))
    (finding,) = found(loaded, "bad-graph")
    assert finding.severity is Severity.ERROR
    assert finding.location == Location(f"{tmp_path}/pack.yaml", line)
    assert finding.message.startswith(message)
    assert finding.fix.startswith(fix)
    assert finding.fix not in finding.message
    assert loaded.graph is None
    assert ids(loaded) == ["triage", "refund"]


@pytest.mark.parametrize("value", ["[]", "just text", "5", "[{skill: a}]"])
async def test_a_graph_that_is_no_mapping_is_told(tmp_path: Path, value: str) -> None:
    loaded = await load(tmp_path, f"{SKILLS}graph: {value}\n")
    (finding,) = found(loaded, "bad-graph")
    assert finding.location == Location(f"{tmp_path}/pack.yaml", 4)
    assert (loaded.graph, ids(loaded)) == (None, ["triage", "refund"])


async def test_several_mistakes_are_findings_of_their_own(tmp_path: Path) -> None:
    text = GRAPH.replace("skill: triage", "skil: triage").replace("visits: 3", "visit: 3")
    loaded = await load(tmp_path, SKILLS + text)
    lines = [finding.location.line for finding in found(loaded, "bad-graph") if finding.location]
    assert lines == [6, 13]


async def test_parts_that_exclude_each_other_are_told_at_the_graph(tmp_path: Path) -> None:
    loaded = await load(tmp_path, SKILLS + GRAPH + "  tree: triage\n")
    (finding,) = found(loaded, "bad-graph")
    assert finding.location == Location(f"{tmp_path}/pack.yaml", 4)
    assert "keep one of them" in finding.message


async def test_a_pack_with_a_graph_alone_is_no_empty_pack(tmp_path: Path) -> None:
    loaded = await load(tmp_path, GRAPH)
    assert (as_written(loaded), loaded.skills, loaded.diagnostics) == (DATA, (), ())


async def test_a_loaded_graph_cannot_be_changed(tmp_path: Path) -> None:
    loaded = await load(tmp_path, SKILLS + GRAPH)
    assert loaded.graph is not None
    with pytest.raises(TypeError):
        loaded.graph["entries"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        loaded.graph["entries"][0]["skill"] = "x"  # type: ignore[index]
