import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def ledger(cli: Any, small: Path, tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    cli("weave", "--skills", small, "--ledger", path, "--conversation", "c1", "Some tea")
    return path


def test_show_has_the_whole_state(cli: Any, ledger: Path) -> None:
    answer = cli("ledger", "show", "c1", "--ledger", ledger, "--json").data
    assert answer["checkpoints"] is None
    answer = answer["state"]
    assert answer["revision"] == 1
    assert [(record["key"], record["state"]) for record in answer["records"]] == [("skill:tea", "given")]
    assert [entry["skill"] for entry in answer["engaged"]] == ["tea"]


def test_show_has_one_record_when_asked_for_it(cli: Any, ledger: Path) -> None:
    answer = cli("ledger", "show", "c1", "tea", "--ledger", ledger, "--json").data
    assert answer["key"] == "skill:tea"
    assert "given            skill:tea (full, " in cli("ledger", "show", "c1", "skill:tea", "--ledger", ledger).out


def test_an_evicted_skill_is_given_again(cli: Any, ledger: Path, small: Path) -> None:
    answer = cli("ledger", "evict", "c1", "tea", "--ledger", ledger, "--json").data
    assert (answer["key"], answer["evicted"]) == ("skill:tea", ["skill:tea"])
    again = cli("weave", "--skills", small, "--ledger", ledger, "--conversation", "c1", "Go on", "--json").data
    assert [decision["outcome"] for decision in again["decisions"]] == ["injected"]


def test_what_was_not_given_cannot_be_evicted(cli: Any, ledger: Path) -> None:
    done = cli("ledger", "evict", "c1", "coffee", "--ledger", ledger)
    assert done.code == 1
    assert done.err == "skillweave: conversation 'c1' was not given 'coffee'; what it was given: skill:tea\n"


def test_clear_forgets_the_conversation_but_not_its_decisions(cli: Any, ledger: Path) -> None:
    assert cli("ledger", "clear", "c1", "--ledger", ledger, "--json").data["revision"] == 0
    assert cli("ledger", "show", "c1", "--ledger", ledger, "--json").data["state"]["records"] == []
    assert cli("why", "c1", "--ledger", ledger).code == 0


@pytest.mark.parametrize("words", [("show", "c2"), ("evict", "c2", "tea"), ("clear", "c2")])
def test_an_unknown_conversation_is_a_mistake(cli: Any, ledger: Path, words: tuple[str, ...]) -> None:
    done = cli("ledger", *words, "--ledger", ledger)
    assert done.code == 1
    assert done.err.startswith("skillweave: nothing is kept about conversation 'c2' in ")


def test_a_conversation_that_cannot_be_read_can_be_cleared(cli: Any, ledger: Path) -> None:
    connection = sqlite3.connect(ledger)
    with connection:
        connection.execute("UPDATE states SET document = '{}'")
    connection.close()
    shown = cli("ledger", "show", "c1", "--ledger", ledger)
    assert shown.code == 3
    assert "`skillweave ledger clear CONVERSATION`" in shown.err
    assert cli("ledger", "clear", "c1", "--ledger", ledger).code == 0
    assert cli("ledger", "show", "c1", "--ledger", ledger).code == 0


def test_what_a_hand_has_damaged_is_named_with_the_remedy(cli: Any, ledger: Path) -> None:
    connection = sqlite3.connect(ledger, isolation_level=None)
    connection.execute("UPDATE states SET document = ?", ("[" * 100_000,))
    connection.execute("UPDATE decisions SET document = ?", ("[" * 100_000,))
    connection.close()
    shown, why = (cli(*command, "c1", "--ledger", ledger) for command in (("ledger", "show"), ("why",)))
    assert (shown.code, why.code) == (3, 3)
    assert "a stored conversation cannot be read (RecursionError" in shown.err
    assert "a stored decision cannot be read (RecursionError" in why.err


@pytest.mark.parametrize("at", [-9e15, 9e15])
def test_a_verdict_of_a_year_that_no_calendar_has_is_shown_by_its_seconds(cli: Any, ledger: Path, at: float) -> None:
    approval = {"skill": "tea", "checkpoint": "review", "digest": "d", "verdict": "approved", "by": "Ann", "at": at}
    connection = sqlite3.connect(ledger, isolation_level=None)
    connection.execute(
        "UPDATE states SET document = json_set(document, '$.approvals', json(?))", (json.dumps([approval]),)
    )
    connection.close()
    shown = cli("ledger", "show", "c1", "--ledger", ledger)
    assert (shown.code, f"by Ann, second {at:g}" in shown.out) == (0, True)


def test_the_list_has_every_conversation_with_the_skills_that_apply(cli: Any, ledger: Path, small: Path) -> None:
    cli("weave", "--skills", small, "--ledger", ledger, "--conversation", "c2", "The weather")
    done = cli("ledger", "list", "--ledger", ledger, "--json")
    assert (done.code, done.data["total"]) == (0, 2)
    assert {name: len(state["records"]) for name, state in done.data["conversations"].items()} == {"c1": 1, "c2": 0}


def test_people_read_a_line_for_each_conversation(cli: Any, ledger: Path) -> None:
    assert cli("ledger", "list", "--ledger", ledger).out == "c1  tea; 1 text given\n\n1 conversation.\n"


def test_there_is_no_list_without_a_ledger(cli: Any, tmp_path: Path) -> None:
    done = cli("ledger", "list", "--ledger", tmp_path / "none.db")
    assert done.code == 1
    assert "there is no ledger" in done.err
