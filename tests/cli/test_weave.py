import json
from pathlib import Path
from typing import Any

import pytest

WEAVE_KEYS = {
    "turn_id",
    "conversation",
    "generation",
    "messages",
    "instructions",
    "catalog",
    "fallback",
    "decisions",
    "tools",
    "checkpoints",
    "tokens",
    "cache",
    "diagnostics",
}


@pytest.fixture
def bonjour(cli: Any, examples: Path) -> Any:
    return cli("weave", "--skills", examples, "Say bonjour to Alice", "--json").data


def test_the_json_has_what_is_promised(bonjour: Any) -> None:
    assert bonjour.keys() >= WEAVE_KEYS
    assert bonjour["skills"] == ["multilingual-greetings"]
    assert len(bonjour["turn_id"]) == 32
    assert bonjour["fallback"] is None
    assert bonjour["tools"].keys() == {"allowed_tools", "forbidden_tools", "preapproved_tools", "own_tools"}


def test_a_message_has_id_role_and_content(bonjour: Any) -> None:
    (message,) = bonjour["messages"]
    assert message.keys() == {"id", "role", "content"}
    assert message["role"] == "system"
    assert message["content"].startswith("=== Skill Activated: Multilingual Greetings ===\n## Description\n")


def test_a_decision_says_everything_about_one_skill(bonjour: Any) -> None:
    (decision,) = bonjour["decisions"]
    assert decision["skill_id"] == "multilingual-greetings"
    assert decision["outcome"] == "injected"
    assert set(decision) == {"skill_id", "outcome", "stage", "score", "matcher", "evidence", "tokens", "reason"}
    assert decision["evidence"] == [{"kind": "keyword", "text": "bonjour", "start": 4, "end": 11}]


def test_saved_percent_is_measured_against_everything(bonjour: Any) -> None:
    tokens = bonjour["tokens"]
    assert set(tokens) >= {"catalog", "injected", "by_tier", "by_skill", "left", "everything", "saved_percent"}
    spent = tokens["catalog"] + tokens["injected"]
    assert tokens["saved_percent"] == round(100 * (1 - spent / tokens["everything"]), 1)


def test_an_unrelated_message_gets_one_line_at_most(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "What is 2+2?", "--catalog", "fallback", "--json").data
    assert answer["messages"] == []
    assert answer["fallback"] == {"kind": "hint", "text": answer["tail"]}
    assert "\n" not in answer["tail"]


def test_an_unrelated_message_adds_nothing_to_a_catalog_that_fits(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "What is 2+2?", "--json").data
    assert (answer["messages"], answer["tail"], answer["fallback"]) == ([], "", None)
    assert answer["instructions"] == answer["catalog"]


def test_catalog_never_means_that_not_even_a_hint_is_given(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "What is 2+2?", "--catalog", "never", "--json").data
    assert answer["fallback"] is None
    assert answer["instructions"] == ""


def test_catalog_always_puts_the_list_into_the_instructions(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "What is 2+2?", "--catalog", "always", "--json").data
    assert "- tea: Makes tea." in answer["catalog"]
    assert answer["instructions"].startswith(answer["catalog"])


def test_call_placement_gives_instructions_in_place_of_messages(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "Some tea", "--placement", "call", "--json").data
    assert answer["messages"] == []
    assert "Boil water." in answer["instructions"]


def test_a_marker_of_the_assistant_picks_a_skill_and_its_rules(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "--role", "assistant", "SKILL_SELECT:coffee", "--json").data
    assert [decision["matcher"] for decision in answer["decisions"]] == ["explicit"]
    assert answer["tools"]["allowed_tools"] == ["kettle"]


def test_a_companion_says_which_skill_it_goes_with(cli: Any, examples: Path) -> None:
    words = ("weave", "--skills", examples, "--role", "assistant", "SKILL_SELECT:feature-build", "--json")
    reasons = {decision["skill_id"]: decision["reason"] for decision in cli(*words).data["decisions"]}
    assert reasons["feature-spec"] == "goes with feature-build; given in full"


def test_tools_that_the_host_offers_bound_what_is_allowed(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "Coffee", "--tool", "oven", "--tool", "kettle", "--json").data
    assert answer["tools"] == {
        "allowed_tools": ["kettle"],
        "forbidden_tools": ["oven"],
        "preapproved_tools": [],
        "grant": ["oven", "kettle"],
        "own_tools": [],
    }


def test_max_skills_and_budget_are_obeyed(cli: Any, small: Path) -> None:
    one = cli("weave", "--skills", small, "Tea or coffee", "--max-skills", 1, "--json").data
    assert [decision["outcome"] for decision in one["decisions"]] == ["injected", "over-limit"]
    none = cli("weave", "--skills", small, "Some tea", "--budget", 5, "--json").data
    assert [decision["outcome"] for decision in none["decisions"]] == ["over-budget"]


def test_only_the_named_matcher_runs(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "Some tea", "--matcher", "explicit", "--json").data
    assert answer["decisions"] == []


def test_a_turn_in_which_no_skill_was_considered_does_not_send_to_why(cli: Any, small: Path, tmp_path: Path) -> None:
    words = ("weave", "--skills", small, "--ledger", tmp_path / "l.db", "--conversation", "c1")
    done = cli(*words, "What is 2+2?")
    assert done.out.endswith("\nkept             nothing of this turn: no skill was considered in it\n")
    assert "skillweave why c1 --ledger" in cli(*words, "Some tea").out


def test_a_ledger_that_does_not_answer_is_not_said_to_keep_the_turn(cli: Any, small: Path, tmp_path: Path) -> None:
    done = cli("weave", "--skills", small, "--ledger", tmp_path, "--conversation", "c1", "Some tea")
    assert done.code == 3
    assert "not kept         conversation c1 in" in done.out
    assert "skillweave why" not in " ".join(done.out.split())


def test_without_a_conversation_nothing_is_kept(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("weave", "Some tea").code == 0, "./skills is the default"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["skills"]


def test_a_conversation_alone_is_kept_beside_the_work(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = cli("weave", "Some tea", "--conversation", "c1")
    assert "skillweave why c1\n" in first.out
    assert (tmp_path / ".skillweave" / "state.db").is_file()
    second = cli("weave", "More tea", "--conversation", "c1", "--json").data
    assert second["messages"] == []
    assert second["decisions"][0]["outcome"] == "already-present"


def test_what_left_the_transcript_is_given_again(cli: Any, small: Path, tmp_path: Path) -> None:
    turn = ("weave", "--skills", small, "--ledger", tmp_path / "state.db", "--conversation", "c1", "--json")
    given = cli(*turn, "Some tea").data["messages"]
    transcript = tmp_path / "chat.json"
    transcript.write_text(json.dumps(given), encoding="utf-8")
    assert cli(*turn, "Thanks", "--transcript", transcript).data["messages"] == []
    transcript.write_text("[]", encoding="utf-8")
    back = cli(*turn, "Go on", "--transcript", transcript).data["messages"]
    assert [message["content"] for message in back] == [message["content"] for message in given]


def test_a_sqlite_url_names_a_file(cli: Any, small: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'url.db'}"
    assert cli("weave", "--skills", small, "--ledger", url, "Some tea").code == 0
    assert (tmp_path / "url.db").is_file()


def test_people_read_what_is_given_what_it_costs_which_tools_and_why(cli: Any, small: Path) -> None:
    text = cli("weave", "--skills", small, "Coffee").out
    assert "injected         coffee, " in text
    assert "triggers: keyword 'Coffee'; given in full" in text
    assert "tools            any that the host offers, except oven" in text
    assert "% saved" in text
    assert "  | === Skill Activated: Coffee ===" in text


def test_the_text_of_a_skill_cannot_control_the_terminal(cli: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", "triggers: [tea]", "Red \x1b[31m text")
    text = cli("weave", "--skills", tmp_path, "Tea").out
    assert "\x1b" not in text
    assert "Red \\x1b[31m text" in text


def test_skill_files_left_out_are_mentioned_on_stderr(cli: Any, small: Path) -> None:
    (small / "bad").mkdir()
    (small / "bad" / "SKILL.md").write_text("no front matter", encoding="utf-8")
    done = cli("weave", "--skills", small, "Some tea", "--json")
    assert done.code == 0
    assert done.data["messages"]
    assert done.err.startswith("skillweave: 1 skill is left out because of errors; `skillweave check`")


def test_strict_loads_only_what_the_open_format_allows(cli: Any, small: Path) -> None:
    answer = cli("weave", "--skills", small, "Some tea", "--strict", "--json").data
    assert answer["messages"] == [], "`triggers` is no field of the open format"
