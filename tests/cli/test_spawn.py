from pathlib import Path
from typing import Any

import pytest

PAIR = ("specification-engine", "opencode-implementer")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_plan_is_printed_with_exit_code_0(cli: Any) -> None:
    done = cli("compose", *PAIR, "--spawn", "Add a form", "--pack", "coding", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.data.keys() == {
        "state",
        "conversation",
        "request",
        "skills",
        "composition",
        "policy",
        "tools",
        "limits",
        "text",
        "warnings",
    }
    assert done.data["state"] == "validated"
    assert done.data["conversation"].startswith("/")
    assert done.data["tools"] == ["specKit", "opencode-executor"]
    assert done.data["request"] == {"task": "Add a form", "skills": list(PAIR)}


def test_a_rejection_is_exit_code_1_with_the_structured_errors_on_stdout(cli: Any) -> None:
    done = cli("compose", PAIR[0], "--spawn", "Add a form", "--pack", "coding", "--json")
    assert (done.code, done.err) == (1, "")
    assert done.data["state"] == "rejected"
    (error,) = done.data["errors"]
    assert (error["code"], error["rule"], error["skill"]) == ("MISSING_REQUIRED", "V002", PAIR[0])
    assert done.data["completion"]["skills"] == list(PAIR)
    assert done.data["fix"] == "ask for `specification-engine`, `opencode-implementer` together"


def test_people_are_told_the_errors_and_what_to_ask_for(cli: Any) -> None:
    done = cli("compose", PAIR[0], "--spawn", "x", "--pack", "coding")
    assert done.code == 1
    assert done.out.startswith("rejected         the sub-agent may not be started as it is asked for\nV002 error ")
    assert "instead          ask for `specification-engine`, `opencode-implementer` together" in done.out
    assert "companion        opencode-implementer: `specification-engine` requires" in done.out


def test_people_see_what_it_starts_with(cli: Any) -> None:
    text = cli("compose", *PAIR, "--spawn", "x", "--pack", "coding", "--tool", "specKit").out
    assert text.startswith("ready            in conversation /")
    assert "\nskills           specification-engine, opencode-" in text
    assert "allowed          specKit\nforbidden        write, edit\nwarning          `opencode-implementer`" in text
    assert "| ## Protocol\n  | 1. analyze-task" in text


def test_no_skills_named_is_no_restriction(cli: Any) -> None:
    free = cli("compose", "--spawn", "x", "--pack", "coding", "--json").data
    assert (free["tools"], free["request"]) == (None, {"task": "x"})
    assert "any tool: nothing restricts it" in cli("compose", "--spawn", "x", "--pack", "coding").out


def test_a_task_without_a_word_is_one_line(cli: Any) -> None:
    done = cli("compose", "--pack", "coding", "--spawn", " ")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


@pytest.mark.parametrize("words", [(), ("--validate",), (PAIR[0], "--validate", "--spawn", "x")])
def test_what_is_asked_of_which_skills_must_be_plain(cli: Any, words: tuple[str, ...]) -> None:
    done = cli("compose", "--pack", "coding", *words)
    assert (done.code, done.out) == (1, "")
    assert "name the skills, and one of --validate and --spawn at most" in done.err


def test_a_parent_bounds_the_sub_agent(cli: Any) -> None:
    cli("weave", "--pack", "coding", "--coding", "--conversation", "c1", "zzz")
    answer = cli("compose", "--spawn", "x", "--pack", "coding", "--parent", "c1", "--tool", "specKit", "--json").data
    assert answer["tools"] == ["specKit"]
    assert answer["policy"]["forbidden_tools"] == ["write", "edit"]
    assert answer["conversation"].startswith("c1/")


@pytest.mark.parametrize("parent", ["nobody", "c1/s1"])
def test_an_unknown_parent_is_the_users_mistake(cli: Any, parent: str) -> None:
    cli("weave", "--pack", "coding", "--coding", "--conversation", "c1", "zzz")
    done = cli("compose", "--spawn", "x", "--pack", "coding", "--parent", parent, "--json")
    assert done.code == 1
    assert f"nothing is kept about conversation '{parent}'" in done.data["error"]["message"]
