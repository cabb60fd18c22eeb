import io
import sys

import pytest

from skillweave.cli.arguments.skills import FEW_SKILLS, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_is_said_and_taken_back_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("Indexing", 12_000):
        assert terminal.getvalue() == "Indexing 12,000 skills ..."
    assert terminal.getvalue() == f"Indexing 12,000 skills ...\r{' ' * 26}\r"


def test_it_is_taken_back_when_the_work_fails_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(ValueError, match="no"), working("Indexing", FEW_SKILLS + 1):
        raise ValueError("no")
    assert terminal.getvalue().endswith("\r")


def test_short_work_is_done_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("Indexing", FEW_SKILLS):
        pass
    assert terminal.getvalue() == ""


def test_without_a_terminal_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with working("Indexing", FEW_SKILLS + 1):
        pass
    assert stream.getvalue() == ""
