"""What stands around the program: skills, the ledger and the terminal."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, opened
from skillweave.cli.arguments.skills import DEFAULT_FOLDER, load, skills_beside_packs, sources_of
from skillweave.cli.completion import SCRIPTS, installed_script, this_shell
from skillweave.cli.failure import Mistake
from skillweave.cli.health import Finding, Level
from skillweave.errors import Contended, SkillweaveError, StoreUnavailable

if TYPE_CHECKING:
    from skillweave.cli.output.skills import Tally
    from skillweave.registry import Source


SKILLS = "skills"

LEDGER = "ledger"
_NOBODY = "skillweave doctor"
_NEVER = 1 << 40
TERMINAL = "terminal"


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
    from skillweave.cli.output.skills import tally_of

    return tally_of((await load(sources())).snapshot)


def _words(tally: "Tally") -> str:
    from skillweave.cli.output.page import counted

    return f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"


async def look_at_ledger(ledger: str | None) -> AsyncIterator[Finding]:
    """One finding; a file that is not there yet is not made."""
    name = ledger or DEFAULT_LEDGER
    missing = _not_yet(name)
    if missing is not None:
        yield missing
        return
    try:
        yield await _opened(name)
    except (StoreUnavailable, Contended) as error:
        yield Finding(LEDGER, name, Level.PROBLEM, f"does not answer: {error}", unreachable=True)
    except SkillweaveError as error:
        yield Finding(LEDGER, name, Level.PROBLEM, str(error))


async def _opened(name: str) -> Finding:
    from skillweave.cli.output.page import counted
    from skillweave.state.port import Writes
    from skillweave.state.state import State

    async with opened(Kept(name, _NOBODY)) as store:
        await store.load(_NOBODY)
        # A swap from a revision that nothing has must be lost, and changes nothing; but it has to be able to write.
        if await store.swap(_NOBODY, _NEVER, Writes(State())):
            message = "stores what it must refuse, so that turns may overwrite each other"
            return Finding(
                LEDGER, name, Level.PROBLEM, message, "use another ledger, and report this one to its author"
            )
        count = await store.count()
    return Finding(LEDGER, name, Level.OK, f"opens and can be written; keeps {counted(count, 'conversation')}")


def _not_yet(name: str) -> Finding | None:
    """What to say of a file that does not exist; None for one that does, and for what is no file."""
    scheme, separator, rest = name.partition("://")
    path = Path(rest.removeprefix("/") if separator else name)
    if (separator and scheme != "sqlite") or path.exists():
        return None
    above = next((folder for folder in path.absolute().parents if folder.exists()), Path("/"))
    if _takes_files(above):
        begin = "it begins with the first: skillweave weave --conversation ID MESSAGE"
        return Finding(LEDGER, name, Level.MISSING, "there is none yet", begin)
    message = f"there is none yet, and {above} cannot be written"
    return Finding(LEDGER, name, Level.PROBLEM, message, "name another file with --ledger", unreachable=True)


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made there, found out with one that has no name where the system knows such files."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def look_at_terminal(home: Path) -> Iterator[Finding]:
    """What the output can show, and whether completion is set up for this shell."""
    yield _output()
    yield _completion(this_shell(), home)


def _output() -> Finding:
    encoding = (sys.stdout.encoding or "unknown").lower()
    what = "a terminal" if sys.stdout.isatty() else "a pipe or a file"
    if encoding.replace("-", "").startswith("utf"):
        return Finding(TERMINAL, "output", Level.OK, f"{what}, {encoding}")
    message = f"{what}, {encoding}: other letters are shown as escapes"
    return Finding(TERMINAL, "output", Level.MISSING, message, "set PYTHONIOENCODING=utf-8, or a UTF-8 locale")


def _completion(shell: str | None, home: Path) -> Finding:
    if shell is None:
        return Finding(TERMINAL, "completion", Level.MISSING, "this is no shell that completion is known for")
    script = installed_script(shell, home)
    if script is not None:
        return Finding(TERMINAL, "completion", Level.OK, f"set up for {shell} in {script}")
    what = "not set up" if shell in SCRIPTS else "cannot be seen from here"
    return Finding(TERMINAL, "completion", Level.MISSING, f"{shell}: {what}", "skillweave --install-completion")
