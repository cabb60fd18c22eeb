"""What a check of skill files came to, as JSON and for people."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.host_keys import host_key_lines
from skillweave.cli.output.page import Ink, Page, printable
from skillweave.cli.output.words import counted
from skillweave.diagnostics import has_errors

if TYPE_CHECKING:
    from skillweave.cli.output.tally import Tally
    from skillweave.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Checked:
    """The counts, every finding, and which skills each host key is at work in."""

    tally: "Tally"
    diagnostics: tuple["Diagnostic", ...]
    host_keys: dict[str, list[str]]

    def answer(self) -> Answer:
        """The answer of `check`; its code is 1 when there is an error."""
        return Answer(self.to_dict, self.text, code=MISTAKE if has_errors(self.diagnostics) else 0)

    def to_dict(self) -> dict[str, object]:
        """`{loaded, skipped, repaired, host_keys, diagnostics}`."""
        return {
            "loaded": self.tally.loaded,
            "skipped": self.tally.skipped,
            "repaired": self.tally.repaired,
            "host_keys": self.host_keys,
            "diagnostics": [found.to_dict() for found in self.diagnostics],
        }

    def text(self, page: Page) -> str:
        """A line for each finding, the counts, and a line for each host key."""
        lines = [finding_line(found, page) for found in self.diagnostics]
        notes = [page.wrap(line) for line in host_key_lines(self.host_keys)]
        return "\n".join([*lines, *([""] if lines else []), self.summary(), *notes])

    def summary(self) -> str:
        """How many skills and findings there are, in one line."""
        levels = [found.severity.value for found in self.diagnostics]
        found = [counted(levels.count(level), noun) for level, noun in _NOUNS if level in levels]
        tally = self.tally
        counts = f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"
        return f"{counts}: {', '.join(found) or 'nothing is wrong'}."


_NOUNS = (("error", "error"), ("warning", "warning"), ("info", "note"))
_INKS = {"error": Ink.BAD, "warning": Ink.WARN, "info": Ink.FAINT}


def finding_line(found: "Diagnostic", page: Page) -> str:
    """One line without breaks, so that it can be searched and counted."""
    place = f"{found.location}: " if found.location else ""
    level = page.paint(found.severity.value, _INKS[found.severity.value])
    text = " ".join(f"{found.message} [{found.code}]; {found.fix}".split())
    return f"{printable(place)}{level}: {printable(text)}"
