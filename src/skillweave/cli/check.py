"""`skillweave check`: what is wrong with skill files, and what to do about it, once or after every edit."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.skills import working
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page, Stream, below, counted, finding_line, printable, tally_shown
from skillweave.diagnostics import has_errors
from skillweave.errors import first_of

if TYPE_CHECKING:
    from skillweave.cli.output.skills import CheckShown, EditShown
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
skillweave check skills --locked
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
    locked: Annotated[
        bool,
        options.option(
            options.SKILLS,
            "--locked",
            "What differs from skillweave.lock, or is not in it, is an error.",
        ),
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
        checked = _checked(loading.snapshot(), graph)
        about_locks = _about_locks(loading.names(), locked=locked)
        return _answer(replace(checked, diagnostics=(*checked.diagnostics, *about_locks)), notes)
    from skillweave.cli.fixing import fix_files

    fixed, refused = fix_files(loading.snapshot(), loading.names(), write=not dry_run)
    checked = replace(_checked(loading.snapshot(), graph), fixed=fixed)
    return _answer(checked, (*notes, *refused), dry_run=dry_run)


def _checked(snapshot: "Snapshot", graph: "SkillGraph | None") -> "CheckShown":
    from skillweave.checks.check import check_skills
    from skillweave.cli.output.notes import tally_of
    from skillweave.cli.output.skills import CheckShown

    with working("Checking the triggers of", snapshot.loaded):
        diagnostics = check_skills(snapshot, graph)
    tally = tally_of(snapshot)
    return CheckShown(tally.loaded, tally.skipped, tally.repaired, _by_host_key(snapshot.active()), diagnostics)


def _about_locks(names: Sequence[str], *, locked: bool) -> "tuple[Diagnostic, ...]":
    """What is no longer as it was added, in each folder of skills that has a lock."""
    from skillweave.installs.lock import LOCK_FILE, lock_findings

    folders = [Path(name) for name in names if locked or (Path(name) / LOCK_FILE).is_file()]
    return tuple(found for one in folders if one.is_dir() for found in lock_findings(one, locked=locked))


LISTED = 10
"""So many ids stand in a line for people."""
_MEANINGS: Mapping[str, str] = {
    "disable-model-invocation": "the model never selects",
    "user-invocable": "no mention selects",
    "when_to_use": "it is searched like the description of",
    "$ARGUMENTS": "what follows a mention takes its place in",
}


def _by_host_key(skills: "Sequence[Skill]") -> dict[str, list[str]]:
    from skillweave.formats.arguments import takes_arguments
    from skillweave.formats.host_keys import invocation_of, when_to_use_of

    return {
        "disable-model-invocation": [skill.id for skill in skills if not invocation_of(skill).by_model],
        "user-invocable": [skill.id for skill in skills if not invocation_of(skill).by_user],
        "when_to_use": [skill.id for skill in skills if when_to_use_of(skill)],
        "$ARGUMENTS": [skill.id for skill in skills if takes_arguments(skill)],
    }


def _answer(checked: "CheckShown", notes: tuple[str, ...], *, dry_run: bool = False) -> Answer:
    code = MISTAKE if has_errors(checked.diagnostics) else 0
    return Answer(lambda: checked, partial(_text, checked, dry_run), code, notes)


def _text(checked: "CheckShown", dry_run: bool, page: Page) -> str:
    """A line for each mended file and each finding, the counts, and a line for each host key that some skill has."""
    fixed = [
        printable(file.diff)
        if dry_run
        else f"{printable(file.path)}: {page.paint('fixed', Ink.GOOD)}: {printable('; '.join(file.changes))}"
        for file in checked.fixed
    ]
    notes = [
        page.wrap(f"{key}: {_MEANINGS[key]} {first_of(ids, LISTED)}.") for key, ids in checked.host_keys.items() if ids
    ]
    return below([*fixed, *(finding_line(found, page) for found in checked.diagnostics)], _summary(checked), *notes)


def _summary(checked: "CheckShown") -> str:
    levels = [found.severity.value for found in checked.diagnostics]
    found = [counted(levels.count(level), noun) for level, noun in _NOUNS if level in levels]
    counts = tally_shown(checked.loaded, checked.skipped, checked.repaired)
    return f"{counts}: {', '.join(found) or 'nothing is wrong'}."


_NOUNS = (("error", "error"), ("warning", "warning"), ("info", "note"))
_FOLLOWING = "following the files; every edit is checked until you press Ctrl-C"


def _watched(
    registry: "Registry", changes: AsyncGenerator["Changes", None], graph: "SkillGraph | None"
) -> Iterator[Answer]:
    from skillweave.cli.output.skills import EditShown

    with asyncio.Runner() as runner:
        runner.run(_next(changes))
        checked = _checked(registry.snapshot, graph)
        yield _answer(checked, (_FOLLOWING,))
        while True:
            edit = runner.run(_next(changes))
            before, checked = checked, _checked(registry.snapshot, graph)
            new, gone = _without(checked.diagnostics, before), _without(before.diagnostics, checked)
            counts = checked.loaded, checked.skipped, checked.repaired
            shown = EditShown(edit.added, edit.changed, edit.removed, *counts, diagnostics=new, gone=gone)
            text = partial(_edit_text, shown, _summary(checked))
            yield Answer(lambda shown=shown: shown, text, schema="check-edit")  # type: ignore[misc]


async def _next(changes: AsyncGenerator["Changes", None]) -> "Changes":
    return await anext(changes)


def _without(diagnostics: Sequence["Diagnostic"], other: "CheckShown") -> tuple["Diagnostic", ...]:
    known = set(other.diagnostics)
    return tuple(found for found in diagnostics if found not in known)


def _edit_text(edit: "EditShown", summary: str, page: Page) -> str:
    named = (("added", edit.added), ("changed", edit.changed), ("removed", edit.removed))
    what = [page.entry(label, ", ".join(ids), Ink.STRONG) for label, ids in named if ids]
    gone = [page.paint(f"no longer: {finding_line(found, Page())}", Ink.FAINT) for found in edit.gone]
    return "\n".join(["", *what, *gone, *(finding_line(found, page) for found in edit.diagnostics), summary])
