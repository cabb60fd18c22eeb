import io

from skillweave.cli.arguments.skills import FEW_FILES, LoadingBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_nobody_is_told() -> None:
    assert LoadingBar(io.StringIO()).part() is None


def test_a_long_load_shows_a_bar_that_ends() -> None:
    terminal = Terminal()
    tell = LoadingBar(terminal).part()
    assert tell is not None
    for done in (64, FEW_FILES, FEW_FILES * 2):
        tell(done, FEW_FILES * 2)
    assert "Reading skills" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


def test_a_short_load_shows_nothing() -> None:
    terminal = Terminal()
    tell = LoadingBar(terminal).part()
    assert tell is not None
    tell(10, FEW_FILES)
    tell(FEW_FILES, FEW_FILES)
    assert terminal.getvalue() == ""


def test_sources_that_load_together_share_one_bar() -> None:
    terminal = Terminal()
    bar = LoadingBar(terminal)
    one, other = bar.part(), bar.part()
    assert one is not None
    assert other is not None
    one(FEW_FILES, FEW_FILES * 2)
    other(FEW_FILES, FEW_FILES * 2)
    one(FEW_FILES * 2, FEW_FILES * 2)
    other(FEW_FILES * 2, FEW_FILES * 2)
    assert terminal.getvalue().count("100%") == 1
