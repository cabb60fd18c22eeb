"""Commands over skills that are in a SQLite file or in PostgreSQL, and what they say where these do not answer."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skillweave
from skillweave_stores import SqlSource
from skillweave_testing.servers import HOST, free_port

WORDS = (
    ("show",),
    ("show", "spacing"),
    ("check",),
    ("match", "please check the spacing"),
)


@pytest.fixture
def empty(database_url: str) -> str:
    """The URL of a database in which nothing is yet, of each kind."""
    return database_url.replace("postgres@", "postgres:hush@")


@pytest.fixture
def filled(tables_url: str) -> str:
    """A database with one skill."""

    url = tables_url.replace("postgres@", "postgres:hush@")
    asyncio.run(_fill(url))
    return url


async def _made(url: str) -> None:
    async with SqlSource(url) as source:
        await source.put_agents([])


async def _fill(url: str) -> None:
    async with SqlSource(url) as source:
        definition = {"id": "spacing", "description": "Distances.", "triggers": ["spacing"], "steps": ["Measure."]}
        await source.publish(definition, {"rule-37.md": "The rule."})


@pytest.mark.parametrize("words", WORDS, ids=lambda words: str(words[0]))
def test_commands_read_skills_from_a_database(cli: Callable[..., Any], filled: str, words: tuple[str, ...]) -> None:
    done = cli(*words, "--skills", filled)
    assert done.code == 0, done.err
    assert "spacing" in done.out or "1 skill loaded" in done.out
    assert "hush" not in done.out + done.err


@pytest.mark.parametrize("words", [WORDS[0], WORDS[2], WORDS[3]], ids=lambda words: str(words[0]))
def test_an_empty_database_is_said_with_what_to_do(cli: Callable[..., Any], empty: str, words: tuple[str, ...]) -> None:
    asyncio.run(_made(empty))
    done = cli(*words, "--skills", empty)
    assert "holds no skill" in done.out + done.err
    assert "skillweave store put" in done.out + done.err
    assert "hush" not in done.out + done.err


@pytest.mark.parametrize("words", WORDS, ids=lambda words: str(words[0]))
def test_a_server_that_is_not_there_is_an_error_without_its_password(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    port = free_port()
    done = cli(*words, "--skills", f"postgresql://ann:hush@{HOST}:{port}/skills?timeout=2")
    assert done.code == 3
    assert f"PostgreSQL at {HOST}:{port}/skills does not answer" in done.err
    assert "hush" not in done.out + done.err


def test_a_database_that_is_not_there_is_named(cli: Callable[..., Any], postgres_url: str) -> None:
    done = cli("show", "--skills", f"{postgres_url.rpartition('/')[0]}/nowhere")
    assert done.code == 3
    assert "has no database of that name; create it, or correct the name" in done.err


async def test_open_weaves_over_skills_in_a_database(filled: str) -> None:
    weaver = skillweave.open(filled)
    try:
        injection = await weaver.weave("check the spacing", conversation="c1")
        assert injection.skills == ("spacing",)
        assert "Measure." in injection.messages[0].content
    finally:
        await weaver.close()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
async def test_both_names_of_postgresql_are_known(postgres_url: str, scheme: str) -> None:
    weaver = skillweave.open(f"{scheme}://{postgres_url.partition('://')[2]}")
    try:
        assert (await weaver.skills.snapshot()).skills == {}
    finally:
        await weaver.close()


def test_a_file_that_is_not_there_is_named_and_not_made(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (WORDS[0], WORDS[2], WORDS[3]):
        done = cli(*words, "--skills", "sqlite:///typo.db")
        assert "typo.db does not exist; correct the path" in (done.out + done.err).replace(" [no-skills];", ";")
    assert list(tmp_path.glob("typo*")) == []


@pytest.mark.parametrize("url", ["sqlite:///skills.db", "sqlite://skills.db"])
def test_a_file_is_named_with_two_slashes_as_with_three(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(_fill("sqlite:///skills.db"))
    assert "spacing" in cli("show", "--skills", url).out
