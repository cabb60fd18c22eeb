"""What stands around the program: the skills, the ledger, the entities, and the servers behind them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from skillweave.cli.arguments.entities import existing_graph
from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, databases_in, opened
from skillweave.cli.arguments.reading import file_of
from skillweave.cli.arguments.skills import DEFAULT_FOLDER, load, skills_beside_packs, sources_of
from skillweave.cli.failure import Mistake
from skillweave.cli.health import Finding, Level
from skillweave.cli.output.page import counted, tally_shown
from skillweave.closing import close_all
from skillweave.diagnostics import Severity
from skillweave.servers import Durable, Served, ServerFacts

if TYPE_CHECKING:
    from skillweave.registry import Source

SKILLS, LEDGER, ENTITIES, SERVICE = "skills", "ledger", "entities", "service"
MOST_SECONDS_APART = 2.0
"""Clocks that are further apart are told: the times of decisions are the server's."""
SLOW_SECONDS = 0.02
"""A turn waits for two round trips or three."""
_NOBODY = "skillweave doctor"
_NEVER = 1 << 40
_LEVELS = {Severity.ERROR: Level.PROBLEM, Severity.WARNING: Level.WARNING, Severity.INFO: Level.NOTE}


async def look_for_skills(names: Sequence[str] | None, packs: Sequence[str] | None) -> AsyncIterator[Finding]:
    """A finding where there are no skills at all."""
    try:
        skills_beside_packs(names, packs)
    except Mistake as error:
        fix = "or begin one: skillweave init my-skill"
        yield Finding(SKILLS, DEFAULT_FOLDER, Level.MISSING, str(error), fix)


def folders_of(names: Sequence[str] | None, packs: Sequence[str] | None) -> Sequence[str]:
    """The folders, files and databases to look at, none where there are no skills."""
    try:
        return skills_beside_packs(names, packs)
    except Mistake:
        return ()


async def look_at_skills(name: str, *, strict: bool) -> AsyncIterator[Finding]:
    """The server of a source, where it has one, and its skills, unless the first look would make tables there."""
    if "://" in name and (missing := _not_yet(SKILLS, name, f"fill one: skillweave store put --store {quote(name)}")):
        yield missing
        return
    sources = sources_of([name], strict=strict)
    try:
        found = [one for source in sources async for one in look_at_server(SKILLS, source)]
        if _ready(found):
            yield await _loaded(name, sources, f"--skills {quote(name)}{' --strict' if strict else ''}")
        for one in found:
            yield one
    finally:
        await close_all(sources)


async def look_at_pack(name: str) -> AsyncIterator[Finding]:
    """How many skills a pack has."""
    from skillweave.sources.named import packs_of

    yield await _loaded(f"pack {name}", packs_of([name]), f"--pack {quote(name)}")


async def _loaded(subject: str, sources: "Sequence[Source]", flags: str) -> Finding:
    from skillweave.cli.output.notes import tally_of

    tally = tally_of((await load(sources)).snapshot)
    words = tally_shown(tally.loaded, tally.skipped, tally.repaired)
    if tally.skipped:
        return Finding(SKILLS, subject, Level.PROBLEM, words, f"see why: skillweave check {flags}")
    return Finding(SKILLS, subject, Level.OK, words)


async def look_at_ledger(ledger: str | None, skills: Sequence[str] | None = ()) -> AsyncIterator[Finding]:
    """Whether it opens and can be written, and what its server says; a file or tables that are missing are not made."""
    from skillweave.state.state import State, Writes
    from skillweave.stores.split import SplitStore

    name = ledger or DEFAULT_LEDGER
    if missing := _not_yet(LEDGER, name, "it begins with the first: skillweave weave --conversation ID MESSAGE"):
        yield missing
        return
    async with opened(Kept(name, _NOBODY)) as store:
        found = [one async for one in look_at_server(LEDGER, store)]
        if _ready(found):
            await store.load(_NOBODY)
            # A swap from a revision that nothing has must be lost, and changes nothing; but it has to be able to write.
            if await store.swap(_NOBODY, _NEVER, Writes(State())):
                message = "stores what it must refuse, so that turns may overwrite each other"
                fix = "use another ledger, and report this one to its author"
                yield Finding(LEDGER, name, Level.PROBLEM, message, fix)
            count = counted(await store.count(), "conversation")
            yield Finding(LEDGER, name, Level.OK, f"opens and can be written; keeps {count}")
        for one in found:
            yield one
    if isinstance(opened(Kept(name, _NOBODY), databases_in(skills)), SplitStore):
        message = "are kept in the database of the skills, after the answer: a crash of a process loses the last second"
        yield Finding(LEDGER, "decisions", Level.NOTE, message, "end processes with `await weaver.close()`")


async def look_at_entities(name: str | None, tenant: str) -> AsyncIterator[Finding]:
    """Whether they can be read, and what their server says; nothing where none are named."""
    if not name:
        return
    async with existing_graph(name, tenant) as graph:
        found = [one async for one in look_at_server(ENTITIES, graph)]
        if _ready(found):
            await graph.entity(_NOBODY)
            yield Finding(ENTITIES, name, Level.OK, "can be read")
        for one in found:
            yield one


async def look_at_service(store: str | None, redis: str | None) -> AsyncIterator[Finding]:
    """What a service with this configuration may lose in a crash, and what its Redis says; nothing without one."""
    from skillweave.stores.named import store_of

    if redis is not None:
        conversations = store_of(redis)
        try:
            async for finding in look_at_server(SERVICE, conversations):
                yield finding
        finally:
            await close_all((conversations,))
        message = "are kept in the store, after the answer: a crash of a process loses the last second"
        yield Finding(SERVICE, "decisions", Level.NOTE, message, "end `skillweave serve` with SIGTERM, never SIGKILL")
    elif store is not None and store.startswith("postgresql://"):
        message = "reach only those who listen to the same service, and are gone when it ends"
        yield Finding(SERVICE, "events", Level.NOTE, message, "name a Redis beside the store: --redis URL")


async def look_at_server(section: str, thing: object) -> AsyncIterator[Finding]:
    """What there is to say of a thing's server, if any; only its facts if its tables are of another version."""
    if isinstance(thing, Served):
        facts = await thing.server()
        for finding in _about(section, facts):
            yield finding
        if facts.revision != facts.newest:
            return
    if isinstance(thing, Durable):
        lost = await thing.durability()
        for one in lost:
            yield Finding(section, one.code, _LEVELS[one.severity], one.message, one.fix)
        if not lost:
            yield Finding(section, "durability", Level.OK, "nothing that was acknowledged can be lost")


def _ready(found: Sequence[Finding]) -> bool:
    """Whether the tables of a server are there and of this version."""
    return all(one.level is Level.OK for one in found if one.subject == "tables")


def _about(section: str, facts: ServerFacts) -> Iterator[Finding]:
    place = facts.place
    said = "; ".join((f"{facts.product} at {place}", f"answers in {facts.round_trip * 1000:.1f} ms", *facts.details))
    yield Finding(section, "server", Level.OK, said)
    if facts.round_trip > SLOW_SECONDS:
        message = f"{place} is slow or far away: each turn waits for two or three round trips"
        fix = "run it near the program, or look at how busy it is"
        yield Finding(section, "round trip", Level.WARNING, message, fix)
    if abs(facts.clock_ahead) > MOST_SECONDS_APART:
        where = "ahead of" if facts.clock_ahead > 0 else "behind"
        message = f"that of {place} is {abs(facts.clock_ahead):,.0f} s {where} this machine's; the server's counts"
        yield Finding(section, "clock", Level.WARNING, message, "let both follow a time server")
    if facts.newest is None:
        return
    fix = "they are brought up to date at the first use, or now by `skillweave store migrate` with the same URL"
    if facts.revision is None:
        yield Finding(section, "tables", Level.MISSING, f"there are none yet in {place}", fix)
    elif facts.is_ahead:
        message = f"those of {place} were made by a newer skillweave (revision {facts.revision})"
        yield Finding(section, "tables", Level.PROBLEM, message, "upgrade skillweave here, or name another database")
    elif facts.revision < facts.newest:
        message = f"those of {place} are of revision {facts.revision}, and {facts.newest} is the newest"
        yield Finding(section, "tables", Level.WARNING, message, fix)
    else:
        yield Finding(section, "tables", Level.OK, f"up to date (revision {facts.revision})")


def _not_yet(section: str, name: str, begin: str) -> Finding | None:
    """What to say of a file that does not exist; None for one that does, and for what is no file."""
    path = file_of(name)
    if path is None or path.exists():
        return None
    above = next((folder for folder in path.absolute().parents if folder.exists()), Path("/"))
    try:
        with TemporaryFile(dir=above):
            return Finding(section, name, Level.MISSING, "there is none yet", begin)
    except OSError:
        message = f"there is none yet, and {above} cannot be written"
        return Finding(section, name, Level.PROBLEM, message, "name another file", unreachable=True)
