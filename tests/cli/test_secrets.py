"""No password that stands in a URL is shown, also where it was configured; `test_every_command` looks at options."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_every_command import URLS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("url", URLS)
def test_a_password_that_is_configured_is_not_shown(cli: Any, folder: Path, url: str) -> None:
    (folder / "skillweave.toml").write_text(f'ledger = "{url}"\n', encoding="utf-8")
    for words in (("weave", "tea"), ("weave", "tea", "--json"), ("ledger", "list"), ("why", "c1"), ("doctor",)):
        done = cli(*words)
        assert "hush" not in done.out + done.err


def test_a_password_in_a_variable_is_not_shown(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEDGER", "SKILLS"):
        monkeypatch.setenv(f"SKILLWEAVE_{name}", URLS[0])
    for words in (("weave", "tea"), ("ledger", "list"), ("check",), ("doctor",), ("doctor", "--json")):
        done = cli(*words)
        assert "hush" not in done.out + done.err


def test_a_url_where_a_list_is_wanted_is_refused_without_its_password(cli: Any, folder: Path) -> None:
    (folder / "skillweave.toml").write_text('skills = "postgresql://me:hush@db/skills"\n', encoding="utf-8")
    for words in (("check",), ("doctor",)):
        done = cli(*words)
        assert done.code == 1
        assert "hush" not in done.out + done.err
        assert "postgresql://***@db" in done.out + done.err


def test_shell_completion_says_nothing_of_a_ledger_that_does_not_answer(process: Any) -> None:
    line = f"skillweave why --ledger '{URLS[1]}' "
    asked = {"_SKILLWEAVE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "4"}
    done = process(**asked, PATH=os.environ["PATH"])
    assert "hush" not in done.out + done.err
