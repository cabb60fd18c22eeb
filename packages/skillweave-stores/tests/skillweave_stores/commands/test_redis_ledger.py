"""The commands on a ledger that is a Redis: what they say, how they end, and never a password."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from skillweave_testing.servers import RedisServer, free_port

SECRET = "s3cret"


@pytest.fixture
def ledger(redis_server: RedisServer) -> Iterator[str]:
    """The URL of an empty Redis, with a password."""
    redis_server.flush()
    with Redis.from_url(redis_server.url()) as admin:
        admin.acl_setuser("ann", enabled=True, passwords=[f"+{SECRET}"], commands=["+@all"], keys=["*"])
        yield redis_server.url().replace("redis://", f"redis://ann:{SECRET}@")
        admin.acl_deluser("ann")


@pytest.fixture
def kept(cli: Any, small: Path, ledger: str) -> Any:
    """Commands on the ledger, in which the conversation c1 was given the skill tea."""

    def ran(*words: object, code: int = 0) -> Any:
        done = cli(*words, "--ledger", ledger)
        assert SECRET not in done.out + done.err
        assert done.code == code, done.err
        return done

    ran("weave", "--skills", small, "--conversation", "c1", "Some tea")
    return ran


def test_what_was_given_is_listed_and_shown(kept: Any) -> None:
    assert kept("ledger", "list", "--json").data["total"] == 1
    shown = kept("ledger", "show", "c1", "--json").data
    assert [(one["key"], one["state"]) for one in shown["state"]["records"]] == [("skill:tea", "given")]


def test_a_command_says_where_it_kept_a_turn_without_the_password(kept: Any, small: Path) -> None:
    out = kept("weave", "--skills", small, "--conversation", "c1", "Some tea").out
    assert "kept conversation c1 in redis://***@127.0.0.1:" in " ".join(out.split())


def test_an_evicted_skill_is_given_again(kept: Any, small: Path) -> None:
    kept("ledger", "evict", "c1", "tea")
    again = kept("weave", "--skills", small, "--conversation", "c1", "Go on", "--json").data
    assert [one["outcome"] for one in again["decisions"]] == ["injected"]


def test_a_cleared_conversation_keeps_its_decisions(kept: Any) -> None:
    kept("ledger", "clear", "c1")
    assert kept("ledger", "show", "c1", "--json").data["state"]["records"] == []
    assert "tea" in kept("why", "c1").out


def test_a_skill_that_another_program_gave_is_shown_as_such(kept: Any, ledger: str) -> None:
    with Redis.from_url(ledger) as other:
        other.hset("skill:ledger:c1", "skill:coffee", "injected")
    shown = " ".join(kept("ledger", "show", "c1").out.split())
    assert "given skill:coffee (by another program, in words that nobody recorded)" in shown


@pytest.mark.parametrize("words", [("ledger", "show"), ("ledger", "clear"), ("why",)])
def test_an_unknown_conversation_is_a_mistake(kept: Any, words: tuple[str, ...]) -> None:
    assert "nothing is kept about conversation 'c2' in redis://***@127.0.0.1:" in kept(*words, "c2", code=1).err


@pytest.mark.parametrize(
    "words", [("ledger", "list"), ("ledger", "show", "c1"), ("ledger", "clear", "c1"), ("why", "c1"), ("doctor",)]
)
def test_a_server_that_is_down_ends_a_command_with_3(cli: Any, words: tuple[str, ...]) -> None:
    port = free_port()
    done = cli(*words, "--ledger", f"redis://ann:{SECRET}@127.0.0.1:{port}/0?retries=0")
    said = " ".join((done.out + done.err).split())
    assert done.code == 3
    assert f"the Redis at redis://127.0.0.1:{port}/0 refuses connections; start it, or check host and port" in said
    assert SECRET not in said


def test_a_turn_on_a_server_that_is_down_is_shown_and_ends_with_3(cli: Any, small: Path) -> None:
    url = f"redis://ann:{SECRET}@127.0.0.1:{free_port()}/0?retries=0"
    done = cli("weave", "--skills", small, "--conversation", "c1", "--ledger", url, "Some tea")
    assert done.code == 3
    assert "=== Skill Activated: Tea ===" in done.out
    assert "refuses connections" in done.err
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("rest", [f"ann:12/{SECRET}@host", f"ann:{SECRET}@host?conections=3"])
def test_a_url_with_a_fault_is_a_mistake(cli: Any, rest: str) -> None:
    done = cli("ledger", "list", "--ledger", f"redis://{rest}")
    assert done.code == 1
    assert SECRET not in done.out + done.err
