import json
from pathlib import Path
from typing import Any

import pytest

PAIR = ("specification-engine", "opencode-implementer")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_plan_is_printed_with_exit_code_0(cli: Any) -> None:
    done = cli("spawn", *PAIR, "--task", "Add a form", "--pack", "coding", "--spawn-id", "s1", "--json")
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
    assert (done.data["state"], done.data["conversation"]) == ("validated", "/s1")
    assert done.data["tools"] == ["specKit", "opencode-executor"]
    assert done.data["request"] == {"task": "Add a form", "skills": list(PAIR)}


def test_a_rejection_is_exit_code_1_with_the_structured_errors_on_stdout(cli: Any) -> None:
    done = cli("spawn", PAIR[0], "--task", "Add a form", "--pack", "coding", "--json")
    assert (done.code, done.err) == (1, "")
    assert done.data["state"] == "rejected"
    (error,) = done.data["errors"]
    assert (error["code"], error["rule"], error["skill"]) == ("MISSING_REQUIRED", "V002", PAIR[0])
    assert done.data["completion"]["skills"] == list(PAIR)
    assert done.data["fix"] == "ask for `specification-engine`, `opencode-implementer` together"


def test_people_are_told_the_errors_and_what_to_ask_for(cli: Any) -> None:
    done = cli("spawn", PAIR[0], "--task", "x", "--pack", "coding")
    assert done.code == 1
    assert done.out.startswith("rejected         the sub-agent may not be started as it is asked for\nV002 error ")
    assert "instead          ask for `specification-engine`, `opencode-implementer` together" in done.out
    assert "companion        opencode-implementer: `specification-engine` requires" in done.out


def test_people_see_what_it_starts_with(cli: Any) -> None:
    text = cli("spawn", *PAIR, "--task", "x", "--pack", "coding", "--spawn-id", "s1", "--tool", "specKit").out
    assert text.startswith("ready            in conversation /s1\nskills           specification-engine, opencode-")
    assert "allowed          specKit\nforbidden        write, edit\nwarning          `opencode-implementer`" in text
    assert "| ## Protocol\n  | 1. analyze-task" in text


def test_no_skills_named_is_no_restriction_and_no_skills_is_no_capability(cli: Any) -> None:
    free = cli("spawn", "--task", "x", "--pack", "coding", "--json").data
    assert (free["tools"], free["request"]) == (None, {"task": "x"})
    assert "any tool: nothing restricts it" in cli("spawn", "--task", "x", "--pack", "coding").out
    none = cli("spawn", "--no-skills", "--task", "x", "--pack", "coding", "--tool", "read", "--json").data
    assert (none["tools"], none["request"]["skills"]) == ([], [])


def test_skills_and_no_skills_exclude_each_other(cli: Any) -> None:
    done = cli("spawn", PAIR[0], "--no-skills", "--task", "x", "--pack", "coding")
    assert (done.code, done.err) == (
        1,
        "skillweave: --no-skills means none, but specification-engine is asked for; leave out one of the two\n",
    )


@pytest.mark.parametrize("words", [("--task", " "), ("--task", "x", "--spawn-id", "a/b")])
def test_a_request_that_cannot_be_is_one_line(cli: Any, words: tuple[str, ...]) -> None:
    done = cli("spawn", "--pack", "coding", *words)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_a_task_is_needed(cli: Any) -> None:
    assert cli("spawn", "--pack", "coding").code == 2


def test_a_parent_bounds_the_sub_agent(cli: Any) -> None:
    cli("weave", "--pack", "coding", "--coding", "--conversation", "c1", "zzz")
    answer = cli("spawn", "--task", "x", "--pack", "coding", "--parent", "c1", "--tool", "specKit", "--json").data
    assert answer["tools"] == ["specKit"]
    assert answer["policy"]["forbidden_tools"] == ["write", "edit"]
    assert answer["conversation"].startswith("c1/")


@pytest.mark.parametrize("parent", ["nobody", "c1/s1"])
def test_an_unknown_parent_is_the_users_mistake(cli: Any, parent: str) -> None:
    cli("weave", "--pack", "coding", "--coding", "--conversation", "c1", "zzz")
    done = cli("spawn", "--task", "x", "--pack", "coding", "--parent", parent, "--json")
    assert done.code == 1
    assert f"nothing is kept about conversation '{parent}'" in done.data["error"]["message"]


def test_what_the_host_needs_is_carried_along(cli: Any) -> None:
    words = ("--label", "coder", "--model", "m", "--thinking", "high")
    answer = cli("spawn", "--no-skills", "--task", "x", "--pack", "coding", *words, "--json").data
    assert answer["request"] == {"task": "x", "skills": [], "label": "coder", "model": "m", "thinking": "high"}
    assert json.dumps(answer)
