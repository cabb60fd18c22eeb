import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def ledger(cli: Any, small: Path, tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    for message in ("Some tea", "Tea and coffee"):
        cli("weave", "--skills", small, "--ledger", path, "--conversation", "c1", message)
    return path


def test_the_json_has_the_decisions_with_their_turns(cli: Any, ledger: Path) -> None:
    answer = cli("why", "c1", "--ledger", ledger, "--json").data
    assert answer["conversation"] == "c1"
    first, *second = answer["decisions"]
    assert first["turn_id"] != second[0]["turn_id"] == second[1]["turn_id"]
    outcomes = [(one["decision"]["skill_id"], one["decision"]["outcome"]) for one in (first, *second)]
    assert (outcomes[0], sorted(outcomes[1:])) == (
        ("tea", "injected"),
        [("coffee", "injected"), ("tea", "already-present")],
    )


def test_one_skill_can_be_asked_for(cli: Any, ledger: Path) -> None:
    answer = cli("why", "c1", "coffee", "--ledger", ledger, "--json").data
    assert [one["decision"]["skill_id"] for one in answer["decisions"]] == ["coffee"]


def test_people_read_outcome_skill_and_reason(cli: Any, ledger: Path) -> None:
    text = cli("why", "c1", "--ledger", ledger).out
    assert re.match("turn [0-9a-f]{32}, 20", text)
    assert "injected         tea, " in text
    assert "triggers: keyword 'tea'; given in full" in text


def test_an_unknown_conversation_is_a_mistake(cli: Any, ledger: Path) -> None:
    done = cli("why", "c2", "--ledger", ledger)
    assert done.code == 1
    assert done.err.startswith("skillweave: nothing is kept about conversation 'c2' in ")


def test_a_skill_that_was_never_considered_is_a_mistake(cli: Any, ledger: Path) -> None:
    done = cli("why", "c1", "water", "--ledger", ledger)
    assert done.code == 1
    assert "skill 'water' was never considered in conversation 'c1'; those considered are coffee, tea" in done.err


def test_a_missing_ledger_is_named_and_not_made(cli: Any, tmp_path: Path) -> None:
    done = cli("why", "c1", "--ledger", tmp_path / "none.db")
    assert done.code == 1
    assert "none.db'; name it with --ledger, or begin one: skillweave weave --conversation c1" in done.err
    assert not (tmp_path / "none.db").exists()


def test_a_conversation_id_that_cannot_be_is_refused(cli: Any, ledger: Path) -> None:
    done = cli("why", "c\x01", "--ledger", ledger)
    assert done.code == 1
    assert "holds an unprintable character; remove it" in done.err


def test_a_decision_that_cannot_be_read_is_a_trouble_of_the_store(cli: Any, ledger: Path) -> None:
    connection = sqlite3.connect(ledger)
    with connection:
        connection.execute("UPDATE decisions SET document = '[]'")
    connection.close()
    done = cli("why", "c1", "--ledger", ledger)
    assert done.code == 3
    assert "a stored decision cannot be read" in done.err
