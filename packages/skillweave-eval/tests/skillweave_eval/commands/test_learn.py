"""`skillweave eval learn`, over a real ledger."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_eval.learning.conversations import SKILLS, Office

WORDS = "somewhere with a window and the balcony"
OPTIONS = ("--resamples", "200")


async def _month(folder: Path) -> None:
    office = Office(folder)
    for number in range(60):
        conversation = f"c{number}"
        await office.say(WORDS, conversation, user=f"user {number % 5}")
        await office.open("tax-return", conversation)
    await office.store.close()


@pytest.fixture
def month(tmp_path: Path) -> Path:
    """A folder with skills, and conversations in which `tax-return` was what people wanted by other words."""
    for one in SKILLS:
        folder = tmp_path / "skills" / one.id
        folder.mkdir(parents=True)
        text = f"---\nname: {one.id}\ndescription: {one.description}\n---\n\nDo it.\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    asyncio.run(_month(tmp_path))
    return tmp_path


def _learn(cli: Any, month: Path, *more: object) -> Any:
    named = ("--skills", month / "skills", "--ledger", month / "state.db", "--kept", month / "use.jsonl")
    return cli("eval", "learn", *named, "--into", month / "learned", *OPTIONS, *more)


def test_nothing_counts_without_having_been_promoted(cli: Any, month: Path) -> None:
    done = _learn(cli, month)
    assert (done.code, done.err) == (0, "")
    assert "not promoted; add --promote" in " ".join(done.out.split())
    assert not (month / "learned").exists()


def test_what_is_proven_is_promoted_and_read_by_other_commands(cli: Any, month: Path) -> None:
    report = json.loads(_learn(cli, month, "--promote", "--json").out)
    assert report["promoted"].endswith("0001.json")
    assert "tax-return" in report["learned"]["phrases"]
    fitted = month / "learned" / "current.json"
    assert cli("match", "--skills", month / "skills", "--fitted", fitted, "a desk").code == 0


def test_a_promoted_version_is_rolled_back(cli: Any, month: Path) -> None:
    _learn(cli, month, "--promote")
    done = cli("eval", "learn", "--into", month / "learned", "--rollback")
    assert "nothing that was learned counts" in " ".join(done.out.split())
    assert not (month / "learned" / "current.json").exists()


def test_other_tenants_conversations_teach_nothing(cli: Any, month: Path) -> None:
    done = _learn(cli, month, "--tenant", "acme")
    assert done.code != 0
    assert "0 of 0 messages say which skill was right" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kept", "nowhere.jsonl"), "there is no file 'nowhere.jsonl'"),
        (("--ledger", "nowhere.db"), "there is no ledger 'nowhere.db'"),
        (("--fitted", "fitted.json"), "leave --fitted out"),
    ],
)
def test_what_is_not_there_is_named(cli: Any, month: Path, options: tuple[str, str], said: str) -> None:
    done = _learn(cli, month, *options)
    assert done.code != 0
    assert said in done.err
