"""Commands on conversations that are kept on PostgreSQL; a password is never printed."""

from pathlib import Path
from typing import Any

import pytest

from skillweave_testing.servers import HOST, free_port


@pytest.fixture
def ledger(postgres_tables_url: str) -> str:
    """The URL of an empty ledger, with a password."""
    return postgres_tables_url.replace("postgres@", "postgres:s3cret@")


@pytest.fixture
def woven(cli: Any, small: Path, ledger: str) -> str:
    """A ledger with one turn of conversation c1."""
    done = cli("weave", "--skills", small, "--ledger", ledger, "--conversation", "c1", "Some tea")
    assert (done.code, "s3cret" in done.out + done.err) == (0, False)
    return ledger


def test_a_turn_of_another_command_is_known(cli: Any, small: Path, woven: str) -> None:
    again = cli("weave", "--skills", small, "--ledger", woven, "--conversation", "c1", "More tea", "--json").data
    assert [decision["outcome"] for decision in again["decisions"]] == ["already-present"]


def test_conversations_are_listed_and_shown(cli: Any, woven: str) -> None:
    listed = cli("ledger", "list", "--ledger", woven, "--json").data
    assert list(listed["conversations"]) == ["c1"]
    shown = cli("ledger", "show", "c1", "--ledger", woven, "--json").data
    assert [(record["key"], record["state"]) for record in shown["state"]["records"]] == [("skill:tea", "given")]


def test_an_evicted_skill_is_given_again(cli: Any, small: Path, woven: str) -> None:
    assert cli("ledger", "evict", "c1", "tea", "--ledger", woven).code == 0
    again = cli("weave", "--skills", small, "--ledger", woven, "--conversation", "c1", "Go on", "--json").data
    assert [decision["outcome"] for decision in again["decisions"]] == ["injected"]


def test_a_cleared_conversation_keeps_its_decisions(cli: Any, woven: str) -> None:
    assert cli("ledger", "clear", "c1", "--ledger", woven).code == 0
    assert cli("ledger", "show", "c1", "--ledger", woven, "--json").data["state"]["records"] == []
    (logged,) = cli("why", "c1", "--ledger", woven, "--json").data["decisions"]
    assert (logged["decision"]["skill_id"], logged["decision"]["outcome"]) == ("tea", "injected")


@pytest.mark.parametrize(
    "words", [("ledger", "show", "c2"), ("ledger", "evict", "c2", "tea"), ("ledger", "clear", "c2"), ("why", "c2")]
)
def test_an_unknown_conversation_is_a_mistake_that_names_the_ledger_without_its_password(
    cli: Any, woven: str, words: tuple[str, ...]
) -> None:
    done = cli(*words, "--ledger", woven)
    assert (done.code, "conversation 'c2'" in done.err, HOST in done.err) == (1, True, True)
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize("json", [(), ("--json",)])
@pytest.mark.parametrize("words", [("ledger", "list"), ("ledger", "show", "c1"), ("why", "c1")])
def test_a_server_that_is_down_is_named_with_the_remedy(cli: Any, words: tuple[str, ...], json: tuple[str]) -> None:
    port = free_port()
    done = cli(*words, "--ledger", f"postgresql://ann:s3cret@{HOST}:{port}/agents", *json)
    said = done.out + done.err
    assert done.code == 3
    assert f"PostgreSQL at {HOST}:{port}/agents does not answer" in said
    assert "check that it runs and can be reached" in said
    assert "s3cret" not in said


def test_a_turn_without_its_server_goes_on_and_says_so(cli: Any, small: Path) -> None:
    name = f"postgresql://ann:s3cret@{HOST}:{free_port()}/agents"
    done = cli("weave", "--skills", small, "--ledger", name, "--conversation", "c1", "Some tea", "--json")
    assert [one["outcome"] for one in done.data["decisions"]] == ["injected"]
    assert "ledger-unavailable" in done.out
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize("name", ["postgresql://ann:s3cret@[::1/agents", "postgresql://ann:s3cret@host/d?timeout=soon"])
def test_a_url_that_cannot_be_read_is_a_mistake_without_the_password(cli: Any, name: str) -> None:
    done = cli("ledger", "list", "--ledger", name)
    assert done.code == 1
    assert "s3cret" not in done.out + done.err
