"""`--graph` and `--result`, and what commands say about where a conversation is in its skill graph."""

import json
from pathlib import Path
from typing import Any

import pytest

GRAPH = """\
entries:
  - {skill: tea, match: {keywords: [tea]}}
  - {skill: coffee, match: {keywords: [coffee]}}
routes:
  - {from: tea, to: coffee, on_tool: kettle, on_status: failure}
  - {from: coffee, to: tea, on_tool: kettle, guard: {beans: {lt: 1}}}
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "graph.yaml").write_text(GRAPH, encoding="utf-8")
    return tmp_path / "graph.yaml"


@pytest.fixture
def weave(cli: Any, small: Path, graph: Path, tmp_path: Path) -> Any:
    """A turn of one conversation in that graph."""

    def ran(*words: object) -> Any:
        kept = ("--conversation", "c1", "--ledger", tmp_path / "state.db")
        return cli("weave", "--skills", small, "--graph", graph, *kept, *words)

    return ran


def test_weave_moves_in_the_graph_of_a_file(weave: Any) -> None:
    answer = weave("Some tea", "--json").data
    assert (answer["move"]["by"], answer["move"]["from"], answer["move"]["to"]) == ("entry", None, "tea")
    assert answer["reachable"] == ["coffee"]


def test_the_text_says_first_where_the_conversation_is_and_where_it_may_go(weave: Any) -> None:
    lines = weave("Some tea").out.splitlines()
    assert lines[0] == "moved            start -> tea, by entry: 'tea' is the first entry whose"
    assert "reachable        coffee" in lines
    assert weave("And sugar?").out.startswith("stays            at tea: nothing leads away from 'tea' now\n")


def test_without_a_graph_nothing_is_said_about_one(cli: Any, small: Path) -> None:
    done = cli("weave", "--skills", small, "Some tea")
    assert "reachable" not in done.out
    assert cli("weave", "--skills", small, "Some tea", "--json").data["move"] is None


def test_a_tools_result_leads_on_without_a_message(weave: Any) -> None:
    weave("Some tea")
    answer = weave("--result", "kettle:failure={}", "--json").data
    assert (answer["move"]["by"], answer["move"]["to"]) == ("route", "coffee")


def test_results_are_judged_in_their_order_and_a_later_one_loses(weave: Any) -> None:
    weave("A coffee")
    stays = weave("--result", 'kettle={"beans": 2}').out
    assert stays.startswith("stays            at coffee")
    assert "closed           coffee -> tea: beans < 1: it does not hold" in stays
    answer = weave("--result", 'kettle={"beans": 2}', "--result", 'kettle={"beans": 0}', "--json").data
    assert answer["move"]["to"] == "tea"


def test_a_pick_that_is_refused_is_told(weave: Any) -> None:
    weave("Some tea")
    done = weave("SKILL_SELECT:milk", "--role", "assistant")
    assert "at tea" in done.out
    assert "unknown          milk" in done.out


def test_why_says_what_led_to_a_skill(weave: Any, cli: Any, tmp_path: Path) -> None:
    weave("Some tea")
    weave("--result", "kettle:failure={}")
    data = cli("why", "c1", "--ledger", tmp_path / "state.db", "--json").data
    given = [one["decision"] for one in data["decisions"] if one["decision"]["skill_id"] == "coffee"][-1]
    assert given["matcher"] == "graph"
    assert given["evidence"][0] == {
        "kind": "move",
        "text": "the route from 'tea' to 'coffee' fires",
        "start": None,
        "end": None,
    }
    text = cli("why", "c1", "--ledger", tmp_path / "state.db").out
    assert "route from 'tea' to 'coffee'" in " ".join(text.split())


def test_the_ledger_shows_where_the_conversation_is(weave: Any, cli: Any, tmp_path: Path) -> None:
    weave("Some tea")
    weave("--result", "kettle:failure={}")
    done = cli("ledger", "show", "c1", "--ledger", tmp_path / "state.db")
    assert "at               coffee in the skill graph; the way there: tea -> coffee\n" in done.out
    data = cli("ledger", "show", "c1", "--ledger", tmp_path / "state.db", "--json").data
    assert data["state"]["cursor"]["skill"] == "coffee"


def test_the_tools_of_the_other_skill_are_denied(weave: Any) -> None:
    assert weave("Some tea", "--json").data["tools"]["forbidden_tools"] == ["kettle"]
    assert weave("--result", "kettle:failure={}", "--json").data["tools"]["allowed_tools"] == ["kettle"]


@pytest.mark.parametrize(
    "command",
    [("weave", "Some tea"), ("match", "Some tea"), ("check",), ("chat", "--model", "nobody:none", "-m", "Tea")],
)
def test_a_key_that_stands_twice_in_the_graph_of_the_option_is_said(
    cli: Any, small: Path, graph: Path, command: tuple[str, ...]
) -> None:
    graph.write_text(f"{GRAPH}entries: [{{skill: coffee}}]\n", encoding="utf-8")
    done = cli(*command, "--skills", small, "--graph", graph)
    assert f"skillweave: {graph}:7: key `entries` appears twice; the one in line 1 counts" in done.err


def test_the_graph_of_the_option_goes_before_that_of_a_pack(cli: Any, graph: Path) -> None:
    pack = graph.with_name("pack.yaml")
    skills = "skills:\n  - {id: tea, description: x}\n  - {id: coffee, description: y}\n"
    pack.write_text(f"{skills}graph:\n  entries: [{{skill: coffee}}]\n", encoding="utf-8")
    of_pack = cli("weave", "--skills", pack, "Some tea", "--json").data
    of_file = cli("weave", "--skills", pack, "--graph", graph, "Some tea", "--json").data
    assert (of_pack["move"]["to"], of_file["move"]["to"]) == ("coffee", "tea")


def test_a_graph_may_stand_in_json(cli: Any, small: Path, tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text(json.dumps({"entries": [{"skill": "coffee"}]}), encoding="utf-8")
    answer = cli("weave", "--skills", small, "--graph", tmp_path / "graph.json", "Some tea", "--json").data
    assert answer["move"]["to"] == "coffee"


def test_a_graph_can_be_configured(cli: Any, small: Path, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(graph.parent)
    Path("skillweave.toml").write_text('graph = "graph.yaml"\n', encoding="utf-8")
    assert cli("weave", "--skills", small, "Some tea", "--json").data["move"]["to"] == "tea"
    monkeypatch.setenv("SKILLWEAVE_GRAPH", "nowhere.yaml")
    assert cli("weave", "--skills", small, "Some tea").code == 1


@pytest.mark.parametrize("command", ["weave", "match"])
def test_a_graph_that_is_not_there_is_the_users_mistake(cli: Any, small: Path, command: str) -> None:
    done = cli(command, "--skills", small, "--graph", "nowhere.yaml", "Some tea")
    assert (done.code, done.out) == (1, "")
    assert "nowhere.yaml" in done.err


def test_a_graph_that_cannot_be_read_is_told_with_its_place(cli: Any, small: Path, graph: Path) -> None:
    graph.write_text(GRAPH.replace("on_status", "on_statu"), encoding="utf-8")
    done = cli("weave", "--skills", small, "--graph", graph, "Some tea")
    assert (done.code, done.out) == (1, "")
    assert "routes[0]" in done.err


def test_match_takes_the_graph_into_account(cli: Any, small: Path, graph: Path) -> None:
    answer = cli("match", "--skills", small, "--graph", graph, "Some coffee", "--json").data
    assert [(one["skill_id"], one["matcher"]) for one in answer["chosen"]] == [("coffee", "graph")]


@pytest.mark.parametrize("command", ["weave", "match"])
def test_errors_of_the_graph_are_noted_beside_the_answer(cli: Any, small: Path, graph: Path, command: str) -> None:
    graph.write_text("entries: [{skill: te}, {skill: milk}]\n", encoding="utf-8")
    done = cli(command, "--skills", small, "--graph", graph, "Some tea")
    assert done.code == 0
    assert done.err == (
        "skillweave: the skill graph has 2 errors, and may lead to the wrong skill; "
        "`skillweave check` with the same --skills, --pack and --graph says why\n"
    )


def test_a_packs_graph_that_is_left_out_is_noted(cli: Any, graph: Path) -> None:
    pack = graph.with_name("pack.yaml")
    pack.write_text(
        "skills:\n  - {id: tea, description: x, instructions: Boil.}\ngraph: {entry: []}\n", encoding="utf-8"
    )
    done = cli("weave", "--skills", pack, "Some tea")
    assert done.code == 0
    assert done.err.startswith("skillweave: a skill graph is left out because of errors; ")


def test_a_broken_graph_costs_no_skill(cli: Any, graph: Path) -> None:
    pack = graph.with_name("pack.yaml")
    pack.write_text(
        "skills:\n  - {id: tea, description: x, instructions: Boil.}\ngraph: {entry: []}\n", encoding="utf-8"
    )
    done = cli("check", "--skills", pack, "--json")
    assert (done.code, done.data["loaded"], done.data["skipped"]) == (1, 1, 0)
    assert [(one["code"], one["line"]) for one in done.data["diagnostics"]] == [("bad-graph", 3)]


def test_check_tells_what_the_checkup_of_a_graph_finds(cli: Any, small: Path, graph: Path) -> None:
    assert cli("check", "--skills", small, "--graph", graph).code == 0
    graph.write_text("entries: [{skill: te}]\n", encoding="utf-8")
    done = cli("check", "--skills", small, "--graph", graph, "--json")
    (found,) = done.data["diagnostics"]
    assert (done.code, found["code"], found["severity"], found["skill"]) == (1, "unknown-skill", "error", "te")
    assert found["fix"].startswith("did you mean 'tea'?")


def test_check_tells_what_the_checkup_of_a_packs_graph_finds_at_its_line(cli: Any, graph: Path) -> None:
    pack = graph.with_name("pack.yaml")
    pack.write_text(
        "skills:\n  - {id: tea, description: x, instructions: Boil.}\ngraph:\n  entries: [{skill: te}]\n",
        encoding="utf-8",
    )
    done = cli("check", "--skills", pack, "--json")
    (found,) = done.data["diagnostics"]
    assert (done.code, found["code"], found["line"]) == (1, "unknown-skill", 3)


@pytest.mark.parametrize("pack", ["support-triage", "coding-pipeline"])
def test_nothing_is_wrong_with_the_built_in_packs(cli: Any, pack: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("check", "--pack", pack, "--json")
    assert (done.code, done.data["diagnostics"]) == (0, [])


@pytest.mark.parametrize("pack", ["support-triage", "coding-pipeline"])
def test_the_scripts_of_the_built_in_packs_are_played_by_their_names(cli: Any, pack: str) -> None:
    from skillweave import packs

    script = Path(packs.__file__).with_name(f"{pack.replace('-', '_')}.script.yaml")
    done = cli("graph", "simulate", pack, script, "--json")
    assert (done.code, done.data["ok"]) == (0, True)


def test_a_turn_needs_a_message_or_a_result(cli: Any, small: Path) -> None:
    done = cli("weave", "--skills", small)
    assert (done.code, done.err.startswith("skillweave: missing argument 'MESSAGE'; `skillweave weave --help`")) == (
        2,
        True,
    )


def test_a_result_that_is_none_is_a_usage_error(cli: Any, small: Path) -> None:
    done = cli("weave", "--skills", small, "--result", "kettle")
    assert done.code == 2
    assert "TOOL=JSON" in done.err


def test_a_result_may_come_with_a_message(weave: Any) -> None:
    weave("Some tea")
    answer = weave("And now?", "--result", "kettle:failure={}", "--json").data
    assert answer["move"]["to"] == "coffee"
