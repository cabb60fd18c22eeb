"""The skills that commands would load, and those that stand where agent clients keep them."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from skillweave.cli.arguments.skills import DEFAULT_FOLDER, load, skills_beside_packs, sources_of
from skillweave.cli.failure import Mistake
from skillweave.cli.health.finding import Finding, Level
from skillweave.errors import SkillweaveError

if TYPE_CHECKING:
    from skillweave.cli.output.tally import Tally
    from skillweave.registry import Source

SKILLS = "skills"


async def look_at_skills(
    names: Sequence[str] | None, packs: Sequence[str] | None, *, strict: bool
) -> AsyncIterator[Finding]:
    """A finding for each folder, file and pack that is named, or for the default folder."""
    try:
        taken = skills_beside_packs(names, packs)
    except Mistake as error:
        yield Finding(SKILLS, DEFAULT_FOLDER, Level.MISSING, str(error), "or begin one: skillweave init my-skill")
        return
    for name in taken:
        yield await _loaded(name, partial(sources_of, [name], strict=strict), strict=strict)
    for name in packs or ():
        yield await _loaded(f"pack {name}", partial(_pack, name), strict=False)


async def look_at_roots(project: Path, home: Path) -> AsyncIterator[Finding]:
    """A finding for each folder in which clients keep skills and that is there; none is loaded unless it is named."""
    from skillweave.sources.roots import existing_roots

    for root, path in existing_roots(project, home):
        name = str(path.relative_to(project)) if path.is_relative_to(project) else str(path)
        subject = f"{name} ({root.scope.value}, {root.client})"
        try:
            tally = await _tally(partial(sources_of, [str(path)], strict=False))
        except SkillweaveError as error:
            yield Finding(SKILLS, subject, Level.MISSING, f"cannot be loaded: {error}")
        else:
            yield Finding(SKILLS, subject, Level.OK, _words(tally), f"to use it: --skills {quote(name)}")


def _pack(name: str) -> "Sequence[Source]":
    from skillweave.sources.named import packs_of

    return packs_of([name])


async def _loaded(name: str, sources: "Callable[[], Sequence[Source]]", *, strict: bool) -> Finding:
    try:
        tally = await _tally(sources)
    except SkillweaveError as error:
        return Finding(SKILLS, name, Level.PROBLEM, f"cannot be loaded: {error}")
    if tally.skipped:
        what = f"--{name}" if name.startswith("pack ") else f"--skills {quote(name)}"
        fix = f"see why: skillweave check {what}{' --strict' if strict else ''}"
        return Finding(SKILLS, name, Level.PROBLEM, _words(tally), fix)
    return Finding(SKILLS, name, Level.OK, _words(tally))


async def _tally(sources: "Callable[[], Sequence[Source]]") -> "Tally":
    from skillweave.cli.output.tally import tally_of

    return tally_of((await load(sources())).snapshot)


def _words(tally: "Tally") -> str:
    from skillweave.cli.output.words import counted

    return f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"
