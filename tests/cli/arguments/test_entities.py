"""The count on the terminal while entities are loaded."""

import io
import sys
from collections import Counter
from typing import Any

import pytest

from skillweave.cli.entities import _counted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "said"), [(Terminal(), "2,000 entities"), (io.StringIO(), "")])
def test_a_long_load_counts_on_a_terminal_and_takes_the_line_back(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, said: str
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    counts: Counter[str] = Counter()
    taken: list[Any] = list(_counted(range(2000), "entities", counts))
    assert (len(taken), counts["entities"]) == (2000, 2000)
    assert said in stream.getvalue()
    assert stream.getvalue().rpartition("\r")[2] == ""
