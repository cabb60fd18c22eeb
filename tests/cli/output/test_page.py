import io

import pytest

from skillweave.cli.output.page import Ink, Page, page_for, printable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_a_pipe_gets_80_plain_columns() -> None:
    assert page_for(io.StringIO()) == Page(80, frozenset())


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert page_for(Terminal()).paint("x", Ink.BAD) == "\x1b[31mx\x1b[0m"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_that_asks_for_none_gets_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert page_for(Terminal()).paint("x", Ink.BAD) == "x"


def test_an_entry_is_wrapped_beside_its_label() -> None:
    lines = Page(40).entry("label", "one two three four five six seven eight").splitlines()
    assert lines == ["label            one two three four five", "                 six seven eight"]


def test_an_excerpt_cuts_long_lines_at_a_word_and_counts_the_rest() -> None:
    text = "the first line is much too long for it\nsecond\nthird\nfourth"
    assert Page(30).excerpt(text, 2).splitlines() == [
        "  | the first line is ...",
        "  | second",
        "  | ... 2 more lines",
    ]


def test_a_long_word_is_cut_where_the_room_ends() -> None:
    assert Page(20).excerpt("x" * 50, 1) == f"  | {'x' * 12} ..."


def test_text_cannot_control_the_terminal() -> None:
    assert printable("a\x1b[31mb\x9b1m\r\x00\u202e\udcff") == r"a\x1b[31mb\x9b1m\x0d\x00\u202e\udcff"


def test_real_text_stays_as_it_is() -> None:
    text = "Zwölf Boxkämpfer\n\t你好 Alice !"
    assert printable(text) == text


def test_a_pipe_is_as_wide_as_the_variable_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert page_for(io.StringIO()).width == 140


@pytest.mark.parametrize("value", ["", "0", "wide", "-5", "²"])
def test_a_number_of_columns_that_is_none_changes_nothing(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("COLUMNS", value)
    assert page_for(io.StringIO()).width == 80


def test_colours_can_be_forced_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert page_for(io.StringIO()).inks == frozenset(Ink)


@pytest.mark.parametrize(("forced", "refused"), [("0", ""), ("false", ""), ("1", "1")])
def test_colours_are_not_forced_where_no_color_is_set_or_the_force_is_none(
    monkeypatch: pytest.MonkeyPatch, forced: str, refused: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", forced)
    monkeypatch.setenv("NO_COLOR", refused)
    assert page_for(Terminal()).inks == frozenset()
