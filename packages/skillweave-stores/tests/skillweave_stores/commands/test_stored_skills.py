"""Every command that takes skills takes those of a database, by its URL, and leaves no connection behind."""

import gc
from pathlib import Path
from typing import Any

import pytest

COMMANDS = [
    ("match", "Some tea"),
    ("weave", "Some tea"),
    ("weave", "Some tea", "--conversation", "c1", "--ledger", "state.db"),
    ("show",),
    ("show", "tea"),
    ("check",),
    ("compose", "tea", "--validate"),
    ("compose", "tea"),
    ("compose", "tea", "--spawn", "Make tea"),
]


@pytest.fixture
def stored(cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch, tables_url: str) -> str:
    """The URL of a store with two skills."""
    assert cli("store", "put", small, "--store", tables_url).code == 0
    monkeypatch.chdir(small.parent)
    return tables_url


@pytest.mark.filterwarnings("error")
def test_every_command_works_on_stored_skills_and_closes_its_connection(cli: Any, stored: str) -> None:
    for words in COMMANDS:
        done = cli(*words, "--skills", stored, "--json")
        assert done.code == 0, (words, done.err)
        gc.collect()
    Path("skillweave.toml").write_text(f'skills = ["{stored}"]\n', encoding="utf-8")
    done = cli("doctor", "--json")
    assert done.code in (0, 1), done.err
    assert "error" not in done.data, done.err
    gc.collect()
