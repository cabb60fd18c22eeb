"""The line on the terminal while entities are loaded."""

import io
from collections import deque

from skillweave.cli import LoadingLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_load_counts_on_the_terminal_and_takes_the_line_back() -> None:
    terminal = Terminal()
    line = LoadingLine(terminal)
    with line.interruptible():
        deque(line.entities_of(range(2000)), maxlen=0)
        deque(line.edges_of(range(1000)), maxlen=0)
    lines = terminal.getvalue().split("\r")
    assert lines[1] == "Loading: 1,000 entities, 0 edges ..."
    assert lines[3] == "Loading: 2,000 entities, 1,000 edges ..."
    assert [one.strip() for one in lines[4:]] == ["", ""]


def test_a_short_load_says_nothing() -> None:
    terminal = Terminal()
    line = LoadingLine(terminal)
    with line.interruptible():
        deque(line.entities_of(range(10)), maxlen=0)
    assert terminal.getvalue() == ""


def test_without_a_terminal_it_only_counts() -> None:
    stream = io.StringIO()
    line = LoadingLine(stream)
    deque(line.entities_of(range(5000)), maxlen=0)
    assert (line.entities, line.edges, stream.getvalue()) == (5000, 0, "")
