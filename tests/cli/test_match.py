from pathlib import Path
from typing import Any

import pytest

from skillweave.select.selection import MATCHERS


def test_the_json_is_what_the_matchers_say(cli: Any, small: Path) -> None:
    answer = cli("match", "--skills", small, "Some tea", "--json").data
    assert answer == {
        "chosen": [
            {
                "skill_id": "tea",
                "score": 0.8,
                "matcher": "triggers",
                "evidence": [{"kind": "keyword", "text": "tea", "start": 5, "end": 8}],
                "arguments": None,
                "together": [],
                "probability": None,
            }
        ],
        "rejected": [],
        "offered": [],
    }


def test_what_was_not_chosen_has_a_reason(cli: Any, small: Path) -> None:
    answer = cli("match", "--skills", small, "Tea and coffee", "--max-skills", 1, "--json").data
    assert len(answer["chosen"]) == 1
    (rejected,) = answer["rejected"]
    assert rejected.keys() == {"candidate", "outcome", "reason"}
    assert rejected["reason"].startswith("max_skills is 1")


def test_only_the_named_matchers_run(cli: Any, small: Path) -> None:
    silent = cli("match", "--skills", small, "Some tea", "--matcher", "explicit", "--json").data
    assert silent["chosen"] == []
    loud = cli("match", "--skills", small, "Some tea", "--matcher", "explicit", "--matcher", "triggers", "--json").data
    assert [candidate["matcher"] for candidate in loud["chosen"]] == ["triggers"]


def test_an_unknown_matcher_is_the_users_mistake(cli: Any, small: Path) -> None:
    done = cli("match", "--skills", small, "Some tea", "--matcher", "magic")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"skillweave: there is no matcher 'magic'; choose from {', '.join(MATCHERS)}\n"


def test_people_read_the_evidence(cli: Any, small: Path) -> None:
    assert cli("match", "--skills", small, "Some tea").out == (
        "chosen           tea (triggers 0.80)\n                 keyword 'tea'\n"
    )


@pytest.mark.parametrize("command", ["match", "weave"])
def test_a_message_that_was_not_matched_whole_is_said(cli: Any, small: Path, command: str) -> None:
    done = cli(command, "--skills", small, "Some tea" + " and so on" * 10_000)
    assert done.code == 0
    assert "only in the first and the last 32,768 of the message's 100,008 characters" in " ".join(done.err.split())
