"""`skillweave check`: what is wrong with skill files, and what to do about it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load_snapshot
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page, printable

if TYPE_CHECKING:
    from skillweave.cli.output.tally import Tally
    from skillweave.diagnostics import Diagnostic

EXAMPLES = """
skillweave check --skills examples/skills
skillweave check --skills examples/skills --strict
skillweave check --skills skills --json
"""


def check(
    skills: options.Skills = None,
    strict: options.Strict = False,
    as_json: options.AsJson = False,
) -> Answer:
    """Find what is wrong with skill files, with line and fix.

    Reports every file that is left out, every repair, and every trigger that cannot work. The exit code is 1 when
    there is an error.
    """
    from skillweave.cli.output.tally import tally_of
    from skillweave.diagnostics import has_errors
    from skillweave.select.trigger_index import compile_triggers
    from skillweave.text.automaton import MatchMode

    snapshot = load_snapshot(skills, strict=strict)
    _, about_triggers = compile_triggers(snapshot.active(), MatchMode.WORD)
    shown = _Shown(tally_of(snapshot), (*snapshot.diagnostics, *about_triggers))
    return Answer(shown.to_dict, shown.text, code=MISTAKE if has_errors(shown.diagnostics) else 0)


@dataclass(frozen=True, slots=True)
class _Shown:
    tally: "Tally"
    diagnostics: tuple["Diagnostic", ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "loaded": self.tally.loaded,
            "skipped": self.tally.skipped,
            "repaired": self.tally.repaired,
            "diagnostics": [found.to_dict() for found in self.diagnostics],
        }

    def text(self, page: Page) -> str:
        lines = [_line(found, page) for found in self.diagnostics]
        return "\n".join([*lines, *([""] if lines else []), self._summary()])

    def _summary(self) -> str:
        from skillweave.cli.output.words import counted

        levels = [found.severity.value for found in self.diagnostics]
        found = [counted(levels.count(level), noun) for level, noun in _NOUNS if level in levels]
        tally = self.tally
        counts = f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"
        return f"{counts}: {', '.join(found) or 'nothing is wrong'}."


_NOUNS = (("error", "error"), ("warning", "warning"), ("info", "note"))
_INKS = {"error": Ink.BAD, "warning": Ink.WARN, "info": Ink.FAINT}


def _line(found: "Diagnostic", page: Page) -> str:
    """One line without breaks, so that it can be searched and counted."""
    place = f"{found.location}: " if found.location else ""
    level = page.paint(found.severity.value, _INKS[found.severity.value])
    text = " ".join(f"{found.message} [{found.code}]; {found.fix}".split())
    return f"{printable(place)}{level}: {printable(text)}"
