"""The ledger: whether it opens, can be written, and what it keeps."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryFile

from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, opened
from skillweave.cli.health.finding import Finding, Level
from skillweave.errors import Contended, SkillweaveError, StoreUnavailable

LEDGER = "ledger"
_NOBODY = "skillweave doctor"
_NEVER = 1 << 40


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
    from skillweave.cli.output.words import counted
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
