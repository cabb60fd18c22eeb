"""Decisions of a conversation on Redis whose skills come from PostgreSQL: they are there, and `why` finds them."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def woven(cli: Any, small: Path, redis_url: str, postgres_tables_url: str) -> str:
    """What `weave` says at the end of a turn of conversation c1."""
    assert cli("store", "put", small, "--store", postgres_tables_url).code == 0
    done = cli("weave", "tea", "--conversation", "c1", "--ledger", redis_url, "--skills", postgres_tables_url)
    assert done.code == 0
    return " ".join(done.out.split())


def test_the_decisions_are_found_where_both_are_named(
    cli: Any, woven: str, redis_url: str, postgres_tables_url: str
) -> None:
    answer = cli("why", "c1", "--ledger", redis_url, "--skills", postgres_tables_url, "--json").data
    assert [one["decision"]["skill_id"] for one in answer["decisions"]] == ["tea"]


def test_without_the_skills_it_is_said_where_they_may_be(cli: Any, woven: str, redis_url: str) -> None:
    done = cli("why", "c1", "--ledger", redis_url)
    assert (done.code, done.err) == (
        0,
        "skillweave: beside skills in a database, decisions are kept there; add its URL: --skills URL\n",
    )


def test_a_turn_says_the_command_that_finds_them(woven: str, redis_url: str, postgres_tables_url: str) -> None:
    shown = postgres_tables_url.replace("postgres@", "***@")
    assert f"skillweave why c1 --ledger {redis_url} --skills '{shown}'" in woven


def test_what_is_unknown_stays_a_mistake(cli: Any, woven: str, redis_url: str, postgres_tables_url: str) -> None:
    done = cli("why", "c2", "--ledger", redis_url, "--skills", postgres_tables_url)
    assert (done.code, "nothing is kept about conversation 'c2'" in done.err) == (1, True)
