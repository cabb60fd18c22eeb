"""`skillweave graph show` and `draw`."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from skillweave.frontmatter.documents import read_yaml
from skillweave.graph import Overlay, SkillGraph
from tests.cli.test_graph import GRAPH, TREE, written


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return written(tmp_path, "graph.yaml", GRAPH)


@pytest.fixture
def same() -> SkillGraph:
    data = read_yaml(GRAPH, path="graph.yaml").data
    assert data is not None
    return SkillGraph.from_dict(data, check="off")


def test_draw_prints_mermaid(cli: Any, graph: Path, same: SkillGraph) -> None:
    assert cli("graph", "draw", graph).out == f"{same.to_mermaid()}\n"
    assert cli("graph", "draw", graph, "--json").data == {"drawing": same.to_mermaid(), "output": None}


def test_a_run_is_drawn_on_top_with_what_it_can_reach(cli: Any, graph: Path, same: SkillGraph) -> None:
    overlay = Overlay(("triage", "faq"), "triage", same.reachable_skills("triage"))
    options = ("--visited", "triage, faq", "--current", "triage")
    assert cli("graph", "draw", graph, *options).out == f"{same.to_mermaid(overlay)}\n"
    apart = ("--visited", "triage", "--visited", "faq", "--current", "triage")
    assert cli("graph", "draw", graph, *apart).out == f"{same.to_mermaid(overlay)}\n"


def test_an_id_with_a_comma_is_one_id(cli: Any, tmp_path: Path) -> None:
    odd = written(tmp_path, "odd.yaml", 'entries: [{skill: "a, b"}]')
    assert cli("graph", "draw", odd, "--visited", "a, b").code == 0


@pytest.mark.parametrize("option", ["--visited", "--current"])
def test_a_run_of_unknown_skills_is_refused(cli: Any, graph: Path, option: str) -> None:
    done = cli("graph", "draw", graph, option, "triag")
    assert (done.code, done.out) == (2, "")
    assert f"'{option}': 'triag' is no skill of this graph; did you mean 'triage'?" in done.err
    assert f"`skillweave graph show {graph}` lists them" in cli("graph", "draw", graph, option, "zzz").err


def test_a_drawing_is_written_to_a_file_in_the_form_that_its_name_says(
    cli: Any, graph: Path, same: SkillGraph, tmp_path: Path
) -> None:
    picture, text = tmp_path / "graph.svg", tmp_path / "graph.mmd"
    done = cli("graph", "draw", graph, "--output", picture, "--json")
    assert done.data == {"drawing": same.to_svg(), "output": str(picture)}
    assert ET.parse(picture).getroot().tag.endswith("svg")
    assert cli("graph", "draw", graph, "--output", text).out.startswith("written ")
    assert text.read_text(encoding="utf-8").startswith("flowchart TD\n")


def test_a_file_that_cannot_be_written_is_one_line(cli: Any, graph: Path, tmp_path: Path) -> None:
    done = cli("graph", "draw", graph, "--output", tmp_path / "nowhere" / "graph.svg")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_show_prints_each_skill_with_what_begins_it_and_where_it_leads(cli: Any, graph: Path) -> None:
    assert cli("graph", "show", graph).out.startswith(
        "triage\n"
        "  begins         says “refund”, “charge”\n"
        "  leads to       refund: on lookup_order: success\n"
        "  leads to       escalate: risk ≥ high (priority 10)\n"
        "  leads to       faq: where the model asks for it\n"
        "\n"
        "refund\n"
    )


def test_show_of_a_tree_prints_its_decisions_and_leaves(cli: Any, tmp_path: Path) -> None:
    tree = written(tmp_path, "tree.yaml", TREE)
    assert cli("graph", "show", tree).out.startswith(
        "says “refund”?\n"
        "  begins         in every turn\n"
        "  leads to       refund: yes\n"
        "  leads to       faq: no\n"
        "\n"
        "refund\n"
    )


def test_show_names_routes_from_any_skill(cli: Any, tmp_path: Path) -> None:
    anywhere = written(tmp_path, "graph.yaml", 'entries: [{skill: a}]\nroutes: [{from: "*", to: b, on_tool: t}]')
    assert "\nany skill\n  leads to       b: on t\n" in cli("graph", "show", anywhere).out


def test_the_json_of_show_is_what_the_graph_has(cli: Any, graph: Path, same: SkillGraph) -> None:
    data = cli("graph", "show", graph, "--json").data
    assert data["digest"] == same.digest
    assert [node["id"] for node in data["nodes"]] == [node.id for node in same.nodes]
    assert [(edge["from"], edge["to"]) for edge in data["edges"]] == [(edge.from_, edge.to) for edge in same.edges]
    (triage, *_) = data["skills"]
    assert triage == {
        "id": "triage",
        "description": "",
        "base": False,
        "triggers": [{"from": None, "to": "triage", "kind": "entry", "label": "says “refund”, “charge”"}],
    }


def test_what_a_graph_says_cannot_control_the_terminal(cli: Any, tmp_path: Path) -> None:
    odd = written(
        tmp_path, "graph.yaml", 'skills: [{id: a, description: "\\e[2J"}]\nentries: [{skill: a, label: "\\e[2J"}]'
    )
    for command in ("show", "check", "next", "reachable"):
        assert "\x1b" not in cli("graph", command, odd).out
