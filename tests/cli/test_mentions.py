"""Mentions and host keys on the command line."""

from pathlib import Path
from typing import Any

import pytest

CLOSED = "disable-model-invocation: true"
NO_MENTION = "user-invocable: false"


@pytest.fixture
def keyed(tmp_path: Path, write: Any) -> Path:
    """A skill for each host key, and one without any."""
    folder = tmp_path / "skills"
    write(folder, "deploy", "Deploys.", CLOSED, "Deploy to $ARGUMENTS.")
    write(folder, "house-style", "The style of the house.", f"{NO_MENTION}\nwhen_to_use: Before anything is printed")
    write(folder, "host-only", "For the host.", f"{CLOSED}\n{NO_MENTION}")
    write(folder, "plain", "Plain.")
    return folder


def test_weave_takes_mentions_where_it_is_told_to(cli: Any, keyed: Path) -> None:
    assert cli("weave", "--skills", keyed, "/deploy prod", "--json").data["messages"] == []
    (message,) = cli("weave", "--skills", keyed, "/deploy prod", "--mention", "--json").data["messages"]
    assert message["content"].endswith("Deploy to prod.")


def test_match_takes_mentions_where_it_is_told_to(cli: Any, keyed: Path) -> None:
    answer = cli("match", "--skills", keyed, "$deploy prod", "--mention", "--json").data
    assert answer["chosen"] == [
        {
            "skill_id": "deploy",
            "score": 1.0,
            "matcher": "mention",
            "evidence": [{"kind": "mention", "text": "deploy", "start": 0, "end": 7}],
            "arguments": "prod",
            "together": [],
            "probability": None,
        }
    ]


def test_match_says_why_a_mention_is_refused(cli: Any, keyed: Path) -> None:
    (rejected,) = cli("match", "--skills", keyed, "/house-style", "--mention", "--json").data["rejected"]
    assert rejected["reason"].startswith("its `user-invocable` is false")


def test_mentions_join_the_matchers_that_are_named(cli: Any, keyed: Path) -> None:
    answer = cli("match", "--skills", keyed, "/deploy plain", "--mention", "--matcher", "triggers", "--json").data
    assert [each["matcher"] for each in answer["chosen"]] == ["mention", "triggers"]
    alone = cli("match", "--skills", keyed, "/deploy plain", "--matcher", "mention", "--json").data
    assert [each["skill_id"] for each in alone["chosen"]] == ["deploy"]


@pytest.mark.parametrize("command", ["weave", "match"])
def test_the_help_tells_of_mentions(cli: Any, command: str) -> None:
    words = " ".join(cli(command, "--help").out.split())
    assert "--mention" in words
    assert "/<id> or $<id>" in words


def test_show_tells_who_may_select_a_skill_and_what_it_takes(cli: Any, keyed: Path) -> None:
    words = " ".join(cli("show", "deploy", "--skills", keyed).out.split())
    assert "selection only a user who mentions it as /deploy, or the host, selects it" in words
    assert "arguments what a user writes after /deploy takes the place of $ARGUMENTS" in words
    words = " ".join(cli("show", "house-style", "--skills", keyed).out.split())
    assert "selection the model or the host selects it, no mention" in words
    assert "when to use Before anything is printed" in words
    plain = cli("show", "plain", "--skills", keyed).out
    assert not any(label in plain for label in ("selection", "when to use", "arguments"))


def test_the_json_of_show_has_the_host_keys(cli: Any, keyed: Path) -> None:
    answer = cli("show", "deploy", "--skills", keyed, "--json").data
    assert answer["skill"]["extra"]["disable-model-invocation"] == "true"
    assert answer["block"].endswith("Deploy to .")


def test_check_tells_in_which_skills_the_host_keys_are_at_work(cli: Any, keyed: Path) -> None:
    done = cli("check", "--skills", keyed, "--json")
    assert done.data["host_keys"] == {
        "disable-model-invocation": ["deploy", "host-only"],
        "user-invocable": ["host-only", "house-style"],
        "when_to_use": ["house-style"],
        "$ARGUMENTS": ["deploy"],
    }
    text = cli("check", "--skills", keyed).out
    assert "nothing is wrong.\n" in text
    assert "disable-model-invocation: the model never selects deploy, host-only." in text
    assert "user-invocable: no mention selects host-only, house-style." in text


def test_check_finds_a_value_that_means_nothing(cli: Any, tmp_path: Path, write: Any) -> None:
    path = write(tmp_path, "odd", "Odd.", "disable-model-invocation: maybe")
    done = cli("check", "--skills", tmp_path)
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        f"{path}:4: warning: `disable-model-invocation` is 'maybe', neither true nor false; read as true: "
        "the model does not select the skill [host-key]; write true or false"
    )


def test_check_still_says_that_a_command_never_runs(cli: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "odd", "Odd.", body="Now: !`date $ARGUMENTS`")
    assert "[command-in-body]" in cli("check", "--skills", tmp_path).out


def test_the_catalog_leaves_out_what_is_closed_to_the_model_and_says_so(cli: Any, keyed: Path) -> None:
    done = cli("show", "--skills", keyed)
    assert "- deploy:" not in done.out
    assert "2 skills; the catalog takes" in done.out
    assert "2 more skills the model never selects." in done.out
    shown = cli("show", "--skills", keyed, "--json").data["shown"]
    assert ("deploy" in shown, "plain" in shown) == (False, True)


@pytest.mark.soak
def test_every_real_skill_is_shown_and_checked(cli: Any, skills_sample: Path) -> None:
    found = cli("check", "--skills", skills_sample, "--json").data["host_keys"]
    assert {key: len(ids) for key, ids in found.items()} == {
        "disable-model-invocation": 3,
        "user-invocable": 21,
        "when_to_use": 7,
        "$ARGUMENTS": 21,  # of 25, some are shadowed by skills of the same id
    }
    for ids in found.values():
        assert cli("show", ids[0], "--skills", skills_sample).code == 0


def test_what_is_closed_to_the_model_does_not_count_as_loaded_otherwise(cli: Any, keyed: Path) -> None:
    assert "loading all 2 skills would take" in cli("weave", "--skills", keyed, "/deploy prod", "--mention").out
    closed = cli("weave", "--skills", keyed / "deploy", "hello").out
    assert "No skill is loaded that a message selects." in closed
