"""The server behind a ledger or a source of skills: what it is, whether its tables are there, what it may lose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skillweave.cli.health import Finding, Level
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.servers import Durable, Served, ServerFacts

MOST_SECONDS_APART = 2.0
"""Clocks that are further apart are told: the times of decisions are the server's."""
SLOW_SECONDS = 0.02
"""A turn waits for two round trips or three."""
_LEVELS: Mapping[Severity, Level] = MappingProxyType(
    {Severity.ERROR: Level.PROBLEM, Severity.WARNING: Level.WARNING, Severity.INFO: Level.NOTE}
)


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found; `ready` is false where the first use makes or changes tables, which a look must not do."""

    findings: tuple[Finding, ...]
    ready: bool


async def look_at_server(section: str, thing: object) -> Looked:
    """What there is to say of the server of a store or a source, nothing where it has none. Raises StoreUnavailable.

    A server that is not ready is asked for its facts only: any other call would make or change its tables.
    """
    findings: list[Finding] = []
    ready = True
    if isinstance(thing, Served):
        facts = await thing.server()
        findings += _about(section, facts)
        ready = facts.revision == facts.newest
    if ready and isinstance(thing, Durable):
        lost = [_finding(section, diagnostic) for diagnostic in await thing.durability()]
        findings += lost or [Finding(section, "durability", Level.OK, "nothing that was acknowledged can be lost")]
    return Looked(tuple(findings), ready)


def _about(section: str, facts: ServerFacts) -> Iterator[Finding]:
    place = facts.place
    said = "; ".join((f"{facts.product} at {place}", f"answers in {facts.round_trip * 1000:.1f} ms", *facts.details))
    yield Finding(section, "server", Level.OK, said)
    if facts.round_trip > SLOW_SECONDS:
        message = f"{place} is slow or far away: each turn waits for two or three round trips"
        yield Finding(
            section, "round trip", Level.WARNING, message, "run it near the program, or look at how busy it is"
        )
    if abs(facts.clock_ahead) > MOST_SECONDS_APART:
        where = "ahead of" if facts.clock_ahead > 0 else "behind"
        message = f"that of {place} is {abs(facts.clock_ahead):,.0f} s {where} this machine's; the server's counts"
        yield Finding(section, "clock", Level.WARNING, message, "let both follow a time server")
    yield from _tables(section, facts)


def _tables(section: str, facts: ServerFacts) -> Iterator[Finding]:
    if facts.newest is None:
        return
    fix = "they are brought up to date at the first use, or now by `skillweave store migrate` with the same URL"
    if facts.revision is None:
        yield Finding(section, "tables", Level.MISSING, f"there are none yet in {facts.place}", fix)
    elif facts.is_ahead:
        message = f"those of {facts.place} were made by a newer skillweave (revision {facts.revision})"
        yield Finding(section, "tables", Level.PROBLEM, message, "upgrade skillweave here, or name another database")
    elif facts.revision < facts.newest:
        message = f"those of {facts.place} are of revision {facts.revision}, and {facts.newest} is the newest"
        yield Finding(section, "tables", Level.WARNING, message, fix)
    else:
        yield Finding(section, "tables", Level.OK, f"up to date (revision {facts.revision})")


def _finding(section: str, diagnostic: Diagnostic) -> Finding:
    return Finding(section, diagnostic.code, _LEVELS[diagnostic.severity], diagnostic.message, diagnostic.fix)
