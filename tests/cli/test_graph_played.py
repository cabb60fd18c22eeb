"""`skillweave graph simulate`."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_graph import GRAPH, TREE, written

SCRIPT = """
- user: a refund please
  expect: triage
- {tool: lookup_order, result: {risk: medium}, expect: {to: refund, by: route}}
- pick: faq
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return written(tmp_path, "graph.yaml", GRAPH)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return written(tmp_path, "script.yaml", SCRIPT)


def test_simulate_prints_each_move_as_json(cli: Any, graph: Path, script: Path) -> None:
    done = cli("graph", "simulate", graph, script, "--json")
    assert (done.code, done.data["ok"]) == (0, True)
    moves = done.data["moves"]
    assert [(move["to"], move["by"], move["held"]) for move in moves] == [
        ("triage", "entry", True),
        ("refund", "route", True),
        ("refund", "stay", None),
    ]
    assert moves[2]["losers"][0]["to"] == "faq"


def test_simulate_ends_with_1_when_an_expectation_fails(cli: Any, graph: Path, tmp_path: Path) -> None:
    script = written(tmp_path, "script.yaml", "- {user: hello, expect: triage}")
    done = cli("graph", "simulate", graph, script, "--json")
    assert (done.code, done.data["ok"], done.data["moves"][0]["held"]) == (1, False, False)


def test_people_read_what_happened_where_it_led_and_what_was_expected(cli: Any, graph: Path, script: Path) -> None:
    assert cli("graph", "simulate", graph, script).out == (
        "1                user says 'a refund please'\n"
        "                 -> triage, by entry: 'triage' is the first entry whose\n"
        "                 condition holds\n"
        "  as expected    triage\n"
        """2                lookup_order answers '{"risk": "medium"}' (success)\n"""
        "                 -> refund, by route: the route from 'triage' to 'refund' fires\n"
        "  as expected    refund by route\n"
        "3                model picks faq\n"
        "                 -> refund, by stay: nothing leads away from 'refund' now\n"
        "\n"
        "3 steps, 2 expectations: all as expected.\n"
    )


def test_what_is_not_as_expected_stands_out(cli: Any, graph: Path, tmp_path: Path) -> None:
    script = written(tmp_path, "script.yaml", "- {user: hello, expect: {to: triage, by: entry}}\n- {}")
    assert cli("graph", "simulate", graph, script).out == (
        "1                user says 'hello'\n"
        "                 -> nowhere yet, by none: no entry's condition holds\n"
        "  not as expected triage by entry\n"
        "2                another call of the model\n"
        "                 -> nowhere yet, by none: no entry's condition holds\n"
        "\n"
        "2 steps, 1 expectation: 1 not as expected.\n"
    )


def test_of_a_tree_the_leaf_is_printed(cli: Any, tmp_path: Path) -> None:
    tree = written(tmp_path, "tree.yaml", TREE)
    script = written(tmp_path, "script.yaml", "- {user: a refund, expect: refund}\n- hello")
    assert cli("graph", "simulate", tree, script).out == (
        "1                user says 'a refund'\n"
        "                 -> refund\n"
        "  as expected    refund\n"
        "2                user says 'hello'\n"
        "                 -> faq\n"
        "\n"
        "2 steps, 1 expectation: all as expected.\n"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script.yaml", "- user: refund"),
        ("script.yaml", "# a test\n---\n# of a graph\n- user: refund\n"),
        ("script.yaml", "\r\n---\r\n- user: refund\r\n"),
        ("script.yaml", "[{user: refund}]"),
        ("script.yaml", "# a test\n[\n{user: refund, expect: triage},\n]\n"),
        ("script.yaml", "steps:\n- user: refund"),
        ("script.json", '[{"user": "refund"}]'),
        ("script.json", '{"steps": [{"user": "refund"}]}'),
    ],
)
def test_a_script_is_a_list_or_stands_under_steps(cli: Any, graph: Path, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert [move["to"] for move in cli("graph", "simulate", graph, path, "--json").data["moves"]] == ["triage"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "- user: refund\n- {usr: x}",
            "script.yaml:2: steps[1]: the key 'usr' means nothing here; did you mean 'user'?",
        ),
        ("- user: refund\n- {}\n- {user: [}", "script.yaml:3: the YAML is not valid"),
        ("entries: []", "script.yaml: the script: the key 'entries' means nothing here"),
        ("hello", "keys with values are expected, but it holds a single value"),
        ("", "keys with values are expected, but it is empty"),
    ],
)
def test_a_script_that_cannot_be_read_is_one_line(cli: Any, graph: Path, tmp_path: Path, text: str, error: str) -> None:
    done = cli("graph", "simulate", graph, written(tmp_path, "script.yaml", text))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert error in done.err


def test_a_key_that_stands_twice_in_a_script_is_said(cli: Any, graph: Path, tmp_path: Path) -> None:
    script = written(tmp_path, "script.yaml", "- user: refund\n  user: hello\n")
    done = cli("graph", "simulate", graph, script, "--json")
    assert done.data["moves"][0]["to"] == "triage"
    assert f"{script}:2: key `user` appears twice; the one in line 1 counts" in done.err


def test_a_missing_script_is_named(cli: Any, graph: Path) -> None:
    done = cli("graph", "simulate", graph, "nowhere.yaml")
    assert done.err == "skillweave: script 'nowhere.yaml' does not exist; check the path\n"
