"""What `doctor` says of a server, by stores and sources of our own ports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from skillweave import MemorySource, MemoryStore, StoreUnavailable
from skillweave.cli.health import Finding, Level
from skillweave.cli.health.surroundings import look_at_server
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.servers import ServerFacts

FACTS = ServerFacts("Thing 1.2", "thing:1/0", 0.0004, 0.1, ("one node",))
TABLES = replace(FACTS, revision="0002", newest="0002")


@dataclass(eq=False)
class Remote(MemoryStore):
    """A store in memory that says of itself whatever a test wants."""

    facts: ServerFacts | StoreUnavailable
    lost: Sequence[Diagnostic] = ()

    def __post_init__(self) -> None:
        super().__init__()

    async def server(self) -> ServerFacts:
        if isinstance(self.facts, StoreUnavailable):
            raise self.facts
        return self.facts

    async def durability(self) -> tuple[Diagnostic, ...]:
        return tuple(self.lost)


async def found(facts: ServerFacts, *lost: Diagnostic) -> dict[str, Finding]:
    """The findings about a store with these facts, by subject; two about one subject would be one too few."""
    looked = [one async for one in look_at_server("ledger", Remote(facts, lost))]
    by_subject = {finding.subject: finding for finding in looked}
    assert len(by_subject) == len(looked)
    return by_subject


async def test_a_server_is_told_with_version_place_and_round_trip() -> None:
    server = (await found(FACTS))["server"]
    assert (server.level, server.message) == (Level.OK, "Thing 1.2 at thing:1/0; answers in 0.4 ms; one node")


async def test_a_store_that_loses_nothing_is_told_as_such() -> None:
    assert (await found(FACTS))["durability"].level is Level.OK


async def test_a_store_without_a_server_has_nothing_to_say() -> None:
    for thing in (MemoryStore(), MemorySource()):
        assert [one async for one in look_at_server("ledger", thing)] == []


async def test_a_server_that_is_slow_is_a_warning() -> None:
    assert (await found(replace(FACTS, round_trip=0.3)))["round trip"].level is Level.WARNING


@pytest.mark.parametrize(("ahead", "words"), [(60.0, "60 s ahead of this"), (-7.5, "8 s behind this")])
async def test_a_clock_that_is_apart_is_a_warning(ahead: float, words: str) -> None:
    clock = (await found(replace(FACTS, clock_ahead=ahead)))["clock"]
    assert clock.level is Level.WARNING
    assert words in clock.message


@pytest.mark.parametrize(
    ("revision", "level", "asked"),
    [(None, Level.MISSING, False), ("0001", Level.WARNING, False), ("0002", Level.OK, True)],
)
async def test_tables_are_compared_with_the_newest(revision: str | None, level: Level, asked: bool) -> None:
    looked = await found(replace(TABLES, revision=revision))
    assert (looked["tables"].level, "durability" in looked) == (level, asked)
    assert asked or "skillweave store migrate" in str(looked["tables"].fix)


@pytest.mark.parametrize(
    ("severity", "level"),
    [(Severity.ERROR, Level.PROBLEM), (Severity.WARNING, Level.WARNING), (Severity.INFO, Level.NOTE)],
)
async def test_what_may_be_lost_is_told_with_its_fix(severity: Severity, level: Level) -> None:
    lost = Diagnostic("ledger-may-lose-writes", severity, "it may lose a write", "buy a disk")
    told = (await found(FACTS, lost))["ledger-may-lose-writes"]
    assert (told.level, told.message, told.fix) == (level, "it may lose a write", "buy a disk")
