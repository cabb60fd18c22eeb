"""`skillweave check --watch`: the same check after every edit, told by what is new in it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.output.answer import Answer, Stream
from skillweave.cli.output.checked import Checked, finding_line
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.diagnostics import Diagnostic
    from skillweave.registry import Changes, Registry, Snapshot

_FOLLOWING = "following the files; every edit is checked until you press Ctrl-C"


def watched(registry: "Registry", look: Callable[["Snapshot"], Checked]) -> Stream:
    """The check of what is there now, then one of each edit. Raises CannotWatch and MissingExtra."""
    return Stream(_answers(registry, registry.watch(), look))


def _answers(
    registry: "Registry", changes: AsyncGenerator["Changes", None], look: Callable[["Snapshot"], Checked]
) -> Iterator[Answer]:
    with asyncio.Runner() as runner:
        runner.run(_next(changes))
        checked = look(registry.snapshot)
        now = checked.answer()
        yield Answer(now.data, now.text, notes=(_FOLLOWING,))
        while True:
            change = runner.run(_next(changes))
            before, checked = checked, look(registry.snapshot)
            edit = _Edit(change, checked, _without(checked.diagnostics, before), _without(before.diagnostics, checked))
            yield Answer(edit.to_dict, edit.text)


async def _next(changes: AsyncGenerator["Changes", None]) -> "Changes":
    return await anext(changes)


def _without(diagnostics: Sequence["Diagnostic"], other: Checked) -> tuple["Diagnostic", ...]:
    known = set(other.diagnostics)
    return tuple(found for found in diagnostics if found not in known)


@dataclass(frozen=True, slots=True)
class _Edit:
    changes: "Changes"
    checked: Checked
    new: tuple["Diagnostic", ...]
    gone: tuple["Diagnostic", ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "added": list(self.changes.added),
            "changed": list(self.changes.changed),
            "removed": list(self.changes.removed),
            "loaded": self.checked.tally.loaded,
            "skipped": self.checked.tally.skipped,
            "repaired": self.checked.tally.repaired,
            "diagnostics": [found.to_dict() for found in self.new],
            "gone": [found.to_dict() for found in self.gone],
        }

    def text(self, page: Page) -> str:
        named = (("added", self.changes.added), ("changed", self.changes.changed), ("removed", self.changes.removed))
        what = [page.entry(label, ", ".join(ids), Ink.STRONG) for label, ids in named if ids]
        gone = [page.paint(f"no longer: {finding_line(found, _PLAIN)}", Ink.FAINT) for found in self.gone]
        new = [finding_line(found, page) for found in self.new]
        return "\n".join(["", *what, *gone, *new, self.checked.summary()])


_PLAIN = Page()
