from pathlib import Path

import pytest

from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, existing, kept_in
from skillweave.cli.failure import Mistake
from skillweave.errors import InvalidTurn


def test_without_any_option_nothing_is_kept() -> None:
    assert kept_in(None, None) == Kept(None, "default")


def test_a_conversation_alone_is_kept_in_the_default_file() -> None:
    assert kept_in(None, "c1") == Kept(DEFAULT_LEDGER, "c1")


def test_a_ledger_alone_keeps_the_default_conversation() -> None:
    assert kept_in("team.db", None) == Kept("team.db", "default")


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_not_taken_for_the_default_file(name: str) -> None:
    with pytest.raises(Mistake, match="the name of the ledger is empty"):
        kept_in(name, "c1")
    with pytest.raises(Mistake, match="the name of the ledger is empty"):
        existing(name, "c1")


def test_an_empty_conversation_is_a_mistake_in_the_words_of_the_command_line() -> None:
    with pytest.raises(Mistake, match="--conversation c1"):
        kept_in(None, "")


@pytest.mark.parametrize("name", ["{}/none.db", "sqlite:///{}/none.db"])
def test_a_missing_file_is_a_mistake(tmp_path: Path, name: str) -> None:
    with pytest.raises(Mistake, match="there is no ledger"):
        existing(name.format(tmp_path), "c1")


def test_memory_keeps_nothing_between_commands() -> None:
    with pytest.raises(Mistake, match="memory:// keeps nothing from one command to the next"):
        existing("memory://", "c1")


def test_an_id_that_no_turn_could_have_is_refused() -> None:
    with pytest.raises(InvalidTurn):
        existing(None, "")


def test_an_existing_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    assert existing(str(tmp_path / "state.db"), "c1") == Kept(str(tmp_path / "state.db"), "c1")
