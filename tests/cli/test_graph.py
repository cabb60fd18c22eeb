"""`skillweave graph next`, `reachable` and `check`."""

import json
from pathlib import Path
from typing import Any

import pytest

from skillweave.graph import SkillGraph

GRAPH = """
entries:
  - {skill: triage, match: {keywords: [refund, charge]}}
routes:
  - {from: triage, to: refund, on_tool: lookup_order, on_status: success}
  - from: triage
    to: escalate
    guard: {risk: {gte: high}}
    priority: 10
  - {from: triage, to: faq}
scales: {risk: [low, medium, high]}
"""
TREE = "tree: {if: {keywords: [refund]}, then: refund, else: faq}"
PACK = """
pack: {name: desk}
graph:
  entries: [{skill: triage, match: {keywords: [refund]}}]
  routes: [{from: triage, to: refund, on_tool: lookup_order}]
skills:
  - {id: triage, description: Finds out what is wanted., x-skillweave: {tools: {allowed: [lookup_order]}}}
  - {id: refund, description: Gives money back.}
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return written(tmp_path, "graph.yaml", GRAPH)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_next_prints_the_move_as_json(cli: Any, graph: Path) -> None:
    done = cli("graph", "next", graph, "--ctx", '{"user": "a refund please"}', "--json")
    assert (done.code, done.err) == (0, "")
    assert done.data == {
        "to": "triage",
        "from": None,
        "by": "entry",
        "evidence": [{"kind": "keyword", "text": "refund", "start": 2, "end": 8}],
        "losers": [],
        "guards_closed": [],
        "reason": "'triage' is the first entry whose condition holds",
    }


def test_next_without_a_context_is_the_first_moment(cli: Any, graph: Path) -> None:
    move = cli("graph", "next", graph, "--json").data
    assert (move["to"], move["by"]) == (None, "none")


def test_next_reads_every_key_of_a_context(cli: Any, graph: Path) -> None:
    ctx = {
        "user": "x",
        "iteration": 2,
        "history": ["x"],
        "current": "triage",
        "last_tool": {"tool": "lookup_order", "result": {"risk": "medium"}},
        "pick": "faq",
        "visits": {"triage": 1},
        "trail": ["triage"],
    }
    move = cli("graph", "next", graph, "--ctx", json.dumps(ctx), "--json").data
    assert (move["to"], move["from"], move["by"]) == ("refund", "triage", "route")
    assert [loser["to"] for loser in move["losers"]] == ["faq"]
    assert [closed["to"] for closed in move["guards_closed"]] == ["escalate"]


def test_next_reads_a_context_from_a_file(cli: Any, graph: Path, tmp_path: Path) -> None:
    as_json = written(tmp_path, "ctx.json", '{"user": "refund"}')
    as_yaml = written(tmp_path, "ctx.yaml", "current: triage\nlast_tool: {tool: t, result: {risk: high}}")
    assert cli("graph", "next", graph, "--ctx", f"@{as_json}", "--json").data["to"] == "triage"
    assert cli("graph", "next", graph, "--ctx", f"@{as_yaml}", "--json").data["to"] == "escalate"


def test_next_of_a_tree_prints_its_leaf_too(cli: Any, tmp_path: Path) -> None:
    tree = written(tmp_path, "tree.yaml", TREE)
    move = cli("graph", "next", tree, "--ctx", '{"user": "a refund"}', "--json").data
    assert (move["to"], move["by"], move["leaf"]) == (None, "none", "refund")
    assert cli("graph", "next", tree).out.startswith("leaf             faq\n")


def test_next_scores_the_entries_where_a_scorer_chooses(cli: Any, tmp_path: Path) -> None:
    text = """
skills: [{id: refund, description: gives money back}, {id: faq, description: answers questions}]
entries: [{skill: faq}, {skill: refund}]
pick: lexical
"""
    scored = written(tmp_path, "graph.yaml", text)
    move = cli("graph", "next", scored, "--ctx", '{"user": "I want my money back"}', "--json").data
    assert (move["to"], move["by"]) == ("refund", "scorer")


def test_next_says_that_a_graph_that_picks_by_meaning_needs_an_embedder(cli: Any, tmp_path: Path) -> None:
    embedding = written(tmp_path, "graph.yaml", "entries: [{skill: a}, {skill: b}]\npick: embedding")
    done = cli("graph", "next", embedding, "--ctx", '{"user": "hi"}', "--json")
    assert done.code == 1
    assert done.data["error"]["type"] == "NoEmbedder"


def test_people_read_where_it_goes_and_why(cli: Any, graph: Path) -> None:
    ctx = '{"current": "triage", "last_tool": {"tool": "lookup_order", "result": {"risk": "low"}}, "pick": "faq"}'
    assert cli("graph", "next", graph, "--ctx", ctx).out == (
        "to               refund\n"
        "from             triage\n"
        "by               route: the route from 'triage' to 'refund' fires\n"
        "evidence         tool 'lookup_order', status 'success'\n"
        "not taken        to faq, by pick: the conversation goes to 'refund' first\n"
        "closed           triage -> escalate: risk ≥ high: it does not hold\n"
    )


def test_a_graph_with_errors_moves_and_says_so(cli: Any, tmp_path: Path) -> None:
    wrong = written(tmp_path, "graph.yaml", "skills: [a]\nentries: [{skill: a}, {skill: b}]")
    done = cli("graph", "next", wrong, "--json")
    assert done.data["to"] == "a"
    assert done.err == f"skillweave: the graph has 1 error; `skillweave graph check {wrong}` says which\n"


@pytest.mark.parametrize(
    ("ctx", "error"),
    [
        ("{", "the context cannot be read: --ctx:1: the JSON is not valid: "),
        ("[]", "the context cannot be read: --ctx: keys with values are expected, but it holds a list"),
        ("", "the context cannot be read: --ctx:1: the JSON is not valid: "),
        ('{"usr": 1}', "--ctx: the context: the key 'usr' means nothing here; did you mean 'user'?"),
        ('{"tools": [{}]}', "--ctx: tools[0]: the result has no `tool`; write {tool: NAME, result: ...}"),
        ("@nowhere.json", "context 'nowhere.json' does not exist; check the path"),
    ],
)
def test_a_context_that_cannot_be_read_is_one_line(cli: Any, graph: Path, ctx: str, error: str) -> None:
    done = cli("graph", "next", graph, "--ctx", ctx)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"skillweave: {error}")
    assert done.err.count("\n") == 1


def test_a_mistake_in_a_context_file_is_told_with_its_line(cli: Any, graph: Path, tmp_path: Path) -> None:
    ctx = written(tmp_path, "ctx.yaml", "user: hello\ntools:\n  - {result: x}\n")
    done = cli("graph", "next", graph, "--ctx", f"@{ctx}")
    assert done.err.startswith(f"skillweave: {ctx}:3: tools[0]: the result has no `tool`")


def test_a_key_that_stands_twice_in_a_context_is_said(cli: Any, graph: Path) -> None:
    done = cli("graph", "next", graph, "--ctx", '{"user": "refund", "user": "hello"}', "--json")
    assert done.data["to"] == "triage"
    assert done.err == "skillweave: --ctx: key `user` appears twice; the first one counts; remove one of them\n"


def test_reachable_prints_the_ids(cli: Any, graph: Path) -> None:
    assert cli("graph", "reachable", graph, "--json").data == {"reachable": ["triage"]}
    at_triage = cli("graph", "reachable", graph, "--current", "triage", "--json")
    assert at_triage.data == {"reachable": ["refund", "escalate", "faq"]}
    assert cli("graph", "reachable", graph, "--current", "triage").out == "refund\nescalate\nfaq\n"


def test_nothing_is_reachable_from_a_skill_that_the_graph_does_not_have(cli: Any, graph: Path) -> None:
    done = cli("graph", "reachable", graph, "--current", "triag")
    assert (done.code, done.out) == (2, "")
    assert "'--current': 'triag' is no skill of this graph; did you mean 'triage'?" in done.err


def test_nothing_reachable_is_said(cli: Any, tmp_path: Path) -> None:
    empty = written(tmp_path, "graph.yaml", "skills: [a]")
    assert cli("graph", "reachable", empty).out == "The graph has no entry.\n"
    assert cli("graph", "reachable", empty, "--json").data == {"reachable": []}


def test_a_skill_that_a_pack_only_names_is_not_counted(cli: Any, tmp_path: Path) -> None:
    pack = written(
        tmp_path,
        "pack.yaml",
        "pack: {name: p}\nskills: [{id: a, description: First}]\n"
        "graph: {entries: [{skill: a}], routes: [{from: a, to: gone, on_status: success}]}\n",
    )
    assert cli("graph", "check", pack).out.splitlines()[-1].startswith("1 skill, 1 entry, 1 route: 1 error")


def test_check_prints_the_report_as_json(cli: Any, graph: Path) -> None:
    done = cli("graph", "check", graph, "--json")
    assert done.code == 0
    assert done.data.keys() == {"ok", "problems", "notes"}
    assert done.data["ok"] is True
    assert done.data["problems"]
    for problem in done.data["problems"]:
        assert problem.keys() == {"code", "level", "message", "skill", "from", "to", "fix"}


def test_check_says_what_the_graph_itself_says(cli: Any, graph: Path) -> None:
    from skillweave.frontmatter.documents import read_yaml

    data = read_yaml(GRAPH, path="graph.yaml").data
    assert data is not None
    report = SkillGraph.from_dict(data, check="off").checkup()
    assert cli("graph", "check", graph, "--json").data == report.to_dict()


def test_check_ends_with_1_when_there_is_an_error(cli: Any, tmp_path: Path) -> None:
    wrong = written(tmp_path, "graph.yaml", "skills: [a]\nentries: [{skill: a}, {skill: b}]")
    done = cli("graph", "check", wrong, "--json")
    assert (done.code, done.data["ok"]) == (1, False)
    assert "unknown-skill" in [problem["code"] for problem in done.data["problems"]]


def test_people_read_each_problem_in_a_line_and_the_counts(cli: Any, graph: Path, tmp_path: Path) -> None:
    *problems, empty, summary = cli("graph", "check", graph).out.splitlines()
    assert all(line.startswith("warning: ") and line.endswith("]") for line in problems)
    assert (empty, summary) == ("", f"4 skills, 1 entry, 3 routes: {len(problems)} warnings.")
    tree = written(tmp_path, "tree.yaml", TREE)
    assert cli("graph", "check", tree).out.splitlines()[-1].startswith("2 skills, a decision tree: ")


def test_a_wrong_shape_is_the_usual_error_with_file_line_and_place(cli: Any, tmp_path: Path) -> None:
    wrong = written(tmp_path, "graph.yaml", "entries:\n- {skill: a}\nroutes:\n- {from: a, to: b, guard: {risk: 3}}\n")
    done = cli("graph", "check", wrong, "--json")
    assert done.code == 1
    assert done.data["error"]["type"] == "InvalidGraph"
    assert done.data["error"]["exit_code"] == 1
    expected = f"{wrong}:4: routes[0].guard.risk: it is the number 3, and a mapping is expected; write comparisons"
    assert done.data["error"]["message"].startswith(expected)
    assert done.err.startswith(f"skillweave: {expected}")


def test_several_mistakes_are_told_in_one_line(cli: Any, tmp_path: Path) -> None:
    wrong = written(tmp_path, "graph.yaml", "entries:\n- {label: x}\nroutes:\n- {from: a}\n")
    done = cli("graph", "check", wrong)
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"skillweave: 2 mistakes: (1) {wrong}:2: entries[0]: the entry has no `skill`; ")
    assert f"(2) {wrong}:4: routes[0]: the route has no `to`; " in done.err


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.yaml", b"", "keys with values are expected, but it is empty"),
        ("list.yaml", b"- a", "keys with values are expected, but it holds a list"),
        ("broken.yaml", b"entries:\n- [}", "broken.yaml:2: the YAML is not valid"),
        ("broken.json", b'{"entries":\n[', "broken.json:2: the JSON is not valid"),
        ("binary.yaml", b"\xff\xfe\x00", "is no UTF-8 text (byte 1); save it as UTF-8"),
        ("huge.yaml", b"#" * (16 * 1024 * 1024 + 1), "more than the limit of 16 MiB"),
        ("alias.yaml", b"entries: &a [*a]", "YAML anchor `&a` is refused"),
        ("nograph.yaml", b"pack: {name: x}\nskills: []", "holds no graph; write one under `graph:`"),
    ],
)
def test_a_file_that_is_no_graph_is_one_line(cli: Any, tmp_path: Path, name: str, content: bytes, error: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = cli("graph", "check", path)
    assert (done.code, done.out) == (1, "")
    assert error in done.err
    assert done.err.count("\n") == 1


def test_a_missing_file_a_folder_and_an_unknown_pack_are_told_apart(cli: Any, tmp_path: Path) -> None:
    missing, folder = tmp_path / "nowhere.yaml", tmp_path
    assert cli("graph", "check", missing).err == f"skillweave: graph '{missing}' does not exist; check the path\n"
    assert "it is a folder, not a regular file; name a YAML or JSON file" in cli("graph", "check", folder).err
    unknown = cli("graph", "check", "nowhere").err
    assert unknown.startswith(
        "skillweave: there is no file 'nowhere', and no installed pack of that name; the packs are:"
    )


def test_a_graph_in_json_is_read_like_one_in_yaml(cli: Any, tmp_path: Path) -> None:
    graph = written(tmp_path, "graph.json", '{"entries": [{"skill": "a"}]}')
    assert cli("graph", "next", graph, "--json").data["to"] == "a"


def test_the_graph_of_a_pack_file_knows_the_packs_skills(cli: Any, tmp_path: Path) -> None:
    pack = written(tmp_path, "desk.yaml", PACK)
    done = cli("graph", "check", pack, "--json")
    assert (done.code, done.data["ok"]) == (0, True)
    shown = cli("graph", "show", pack, "--json").data
    assert [skill["description"] for skill in shown["skills"]] == ["Finds out what is wanted.", "Gives money back."]


def test_a_skill_that_the_pack_does_not_hold_is_unknown(cli: Any, tmp_path: Path) -> None:
    pack = written(tmp_path, "desk.yaml", PACK.replace("to: refund", "to: refnd"))
    problems = cli("graph", "check", pack, "--json").data["problems"]
    assert ("unknown-skill", "refnd") in [(problem["code"], problem["skill"]) for problem in problems]


def test_a_wrong_shape_in_a_pack_is_named_with_its_line(cli: Any, tmp_path: Path) -> None:
    pack = written(tmp_path, "desk.yaml", PACK.replace("to: refund, ", ""))
    done = cli("graph", "check", pack, "--json")
    assert done.code == 1
    assert done.data["error"]["type"] == "InvalidGraph"
    assert done.data["error"]["message"].startswith(f"{pack}:5: graph.routes[0]: the route has no `to`; ")


@pytest.mark.parametrize("name", ["support-triage", "coding-pipeline"])
def test_an_installed_pack_is_named_without_a_path(cli: Any, name: str) -> None:
    done = cli("graph", "check", name, "--json")
    assert (done.code, done.data["ok"]) == (0, True)


def test_a_pack_without_a_graph_says_so(cli: Any) -> None:
    assert cli("graph", "check", "coding").err.startswith("skillweave: pack 'coding' holds no graph")


def test_a_file_goes_before_a_pack_of_the_same_name(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "coding", GRAPH)
    assert cli("graph", "reachable", "coding", "--json").data == {"reachable": ["triage"]}


def test_a_folder_does_not_hide_a_pack_of_its_name(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support-triage").mkdir()
    (tmp_path / "folder").mkdir()
    assert cli("graph", "check", "support-triage").code == 0
    assert "it is a folder" in cli("graph", "check", "folder").err


def test_a_key_that_stands_twice_is_said(cli: Any, tmp_path: Path) -> None:
    graph = written(tmp_path, "graph.yaml", "entries: [{skill: a}]\nentries: [{skill: b}]")
    done = cli("graph", "reachable", graph, "--json")
    assert done.data == {"reachable": ["a"]}
    assert f"{graph}:2: key `entries` appears twice; the one in line 1 counts" in done.err
