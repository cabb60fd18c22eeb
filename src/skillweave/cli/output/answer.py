"""What a command answers, before anybody decides how it is printed."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from skillweave.cli.output.page import Page


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON form and the text for people, each made only when asked for.

    `notes` are lines for stderr, printed either way; `code` is the exit code.
    """

    data: Callable[[], Mapping[str, object]]
    text: Callable[[Page], str]
    code: int = 0
    notes: tuple[str, ...] = ()

    def as_json(self) -> str:
        """The JSON text, in ASCII, so that every terminal and every reader takes it."""
        return json.dumps(self.data(), indent=2, ensure_ascii=True)

    def as_line(self) -> str:
        """The same in one line."""
        return json.dumps(self.data(), ensure_ascii=True)


@dataclass(frozen=True, slots=True)
class Stream:
    """Answers that come one after the other, until there are no more or the user ends it; JSON is a line for each."""

    answers: Iterator[Answer]
