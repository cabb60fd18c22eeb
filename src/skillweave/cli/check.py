"""`skillweave check`: what is wrong with skill files, and what to do about it, once or after every edit."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.skills import working
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page, Stream, counted, finding_line, printable
from skillweave.diagnostics import has_errors

if TYPE_CHECKING:
    from skillweave.cli.output.notes import Tally
    from skillweave.cli.output.skills import CheckShown, EditShown, FileFixed
    from skillweave.diagnostics import Diagnostic
    from skillweave.graph import SkillGraph
    from skillweave.registry import Changes, Registry, Snapshot
    from skillweave.skill import Skill


EXAMPLES = {
    "check": """
skillweave check examples/skills
skillweave check examples/skills --strict
skillweave check skills/release/SKILL.md --json
skillweave check skills --fix --dry-run
skillweave check skills --watch
"""
}


def check(
    ctx: typer.Context,
    paths: options.Paths = None,
    *,
    loading: options.LoadingWithGraph,
    fix: Annotated[
        bool,
        options.option(
            options.OUTPUT,
            "--fix",
            "Write back what is repaired on reading: keys with a slip, quotes, line ends, names that differ from their "
            "folder, lists of tools, missing front matter.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, options.option(options.OUTPUT, "--dry-run", "With --fix: show the changes and write nothing.")
    ] = False,
    watch: options.Watch = False,
) -> Answer | Stream:
    """Find what is wrong with skill files, and fix it.

    Each finding has its file, line and fix: files that cannot be read, repairs, misspelled keys, triggers that cannot
    work, links to files that are missing, relations that cannot be met, mistakes of a skill graph. Then come the
    skills that use disable-model-invocation, user-invocable, when_to_use or $ARGUMENTS. The exit code is 1 when there
    is an error. With --fix what can be mended without thinking is written back. With --watch every edit is checked
    until you press Ctrl-C (exit code 130); with --json that is one object per line; it needs the extra `watch`.
    """
    loading = options.with_paths(loading, paths, ctx)
    if dry_run and not fix:
        raise Mistake("--dry-run shows what --fix would change; add --fix")
    if fix and watch:
        raise Mistake("--fix mends once, and --watch goes on; leave out one of the two")
    graph, notes = asyncio.run(loading.own_graph())
    if watch:
        from skillweave.registry import Registry

        registry = Registry(loading.sources())
        return Stream(_watched(registry, registry.watch(), graph))
    if not fix:
        return replace(_looked(loading.snapshot(), graph).answer(), notes=notes)
    from skillweave.cli.fixing import fix_files

    fixed, refused = fix_files(loading.snapshot(), loading.names(), write=not dry_run)
    checked = replace(_looked(loading.snapshot(), graph), fixed=fixed, dry_run=dry_run)
    return replace(checked.answer(), notes=(*notes, *refused))


def _looked(snapshot: "Snapshot", graph: "SkillGraph | None") -> "Checked":
    from skillweave.checks.check import check_skills
    from skillweave.cli.output.notes import tally_of

    with working("Checking the triggers of", snapshot.loaded):
        diagnostics = check_skills(snapshot, graph)
    return Checked(tally_of(snapshot), diagnostics, by_host_key(snapshot.active()))


LISTED = 10
"""So many ids stand in a line for people."""

_MEANINGS: Mapping[str, str] = {
    "disable-model-invocation": "the model never selects",
    "user-invocable": "no mention selects",
    "when_to_use": "it is searched like the description of",
    "$ARGUMENTS": "what follows a mention takes its place in",
}


def by_host_key(skills: "Iterable[Skill]") -> dict[str, list[str]]:
    """The ids of the skills for which a key makes a difference, by key."""
    from skillweave.formats.arguments import takes_arguments
    from skillweave.formats.host_keys import invocation_of, when_to_use_of

    found: dict[str, list[str]] = {key: [] for key in _MEANINGS}
    for skill in skills:
        invocation = invocation_of(skill)
        matters = (
            not invocation.by_model,
            not invocation.by_user,
            bool(when_to_use_of(skill)),
            takes_arguments(skill),
        )
        for ids, applies in zip(found.values(), matters, strict=True):
            if applies:
                ids.append(skill.id)
    return found


def host_key_lines(found: Mapping[str, list[str]]) -> list[str]:
    """A sentence for each key that some skill has."""
    return [f"{key}: {_MEANINGS[key]} {_listed(ids)}." for key, ids in found.items() if ids]


def _listed(ids: list[str]) -> str:
    shown = ", ".join(ids[:LISTED])
    return f"{shown} and {len(ids) - LISTED:,} more" if len(ids) > LISTED else shown


@dataclass(frozen=True, slots=True)
class Checked:
    """The counts, every finding, and which skills each host key is at work in."""

    tally: "Tally"
    diagnostics: tuple["Diagnostic", ...]
    host_keys: dict[str, list[str]]
    fixed: tuple["FileFixed", ...] = ()
    dry_run: bool = False

    def answer(self) -> Answer:
        """The answer of `check`; its code is 1 when there is an error."""
        return Answer(self.value, self.text, code=MISTAKE if has_errors(self.diagnostics) else 0)

    def value(self) -> "CheckShown":
        """What is printed with `--json`."""
        from skillweave.cli.output.skills import CheckShown

        tally = self.tally
        counts = tally.loaded, tally.skipped, tally.repaired
        return CheckShown(*counts, self.host_keys, self.diagnostics, self.fixed)

    def text(self, page: Page) -> str:
        """A line for each finding, the counts, and a line for each host key."""
        lines = [*self._fixed_lines(page), *(finding_line(found, page) for found in self.diagnostics)]
        notes = [page.wrap(line) for line in host_key_lines(self.host_keys)]
        return "\n".join([*lines, *([""] if lines else []), self.summary(), *notes])

    def _fixed_lines(self, page: Page) -> Iterator[str]:
        """The changes of each file, as a diff where nothing is written."""
        for file in self.fixed:
            if self.dry_run:
                yield printable(file.diff)
            else:
                yield f"{printable(file.path)}: {page.paint('fixed', Ink.GOOD)}: {printable('; '.join(file.changes))}"

    def summary(self) -> str:
        """How many skills and findings there are, in one line."""
        levels = [found.severity.value for found in self.diagnostics]
        found = [counted(levels.count(level), noun) for level, noun in _NOUNS if level in levels]
        tally = self.tally
        counts = f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"
        return f"{counts}: {', '.join(found) or 'nothing is wrong'}."


_NOUNS = (("error", "error"), ("warning", "warning"), ("info", "note"))


_FOLLOWING = "following the files; every edit is checked until you press Ctrl-C"


def _watched(
    registry: "Registry", changes: AsyncGenerator["Changes", None], graph: "SkillGraph | None"
) -> Iterator[Answer]:
    """The check of what is there now, then one of each edit."""
    with asyncio.Runner() as runner:
        runner.run(_next(changes))
        checked = _looked(registry.snapshot, graph)
        now = checked.answer()
        yield Answer(now.value, now.text, notes=(_FOLLOWING,))
        while True:
            change = runner.run(_next(changes))
            before, checked = checked, _looked(registry.snapshot, graph)
            edit = _Edit(change, checked, _without(checked.diagnostics, before), _without(before.diagnostics, checked))
            yield Answer(edit.value, edit.text, schema="check-edit")


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

    def value(self) -> "EditShown":
        from skillweave.cli.output.skills import EditShown

        edit, tally = self.changes, self.checked.tally
        counts = tally.loaded, tally.skipped, tally.repaired
        return EditShown(edit.added, edit.changed, edit.removed, *counts, diagnostics=self.new, gone=self.gone)

    def text(self, page: Page) -> str:
        named = (("added", self.changes.added), ("changed", self.changes.changed), ("removed", self.changes.removed))
        what = [page.entry(label, ", ".join(ids), Ink.STRONG) for label, ids in named if ids]
        gone = [page.paint(f"no longer: {finding_line(found, _PLAIN)}", Ink.FAINT) for found in self.gone]
        new = [finding_line(found, page) for found in self.new]
        return "\n".join(["", *what, *gone, *new, self.checked.summary()])


_PLAIN = Page()
