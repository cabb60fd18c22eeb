"""Ledgers with one mistake each about events, which the contract must find; not collected by itself."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from skillweave import MemoryStore
from skillweave.ledger import Writes
from skillweave.stores.event_stream import MemoryEventStream
from skillweave_testing import ManualClock
from tests.contracts_of_ports.kept_events import KeptEventsContract


class Streaming(MemoryStore):
    """A ledger in memory that puts the events of its swaps into a stream; it makes no mistake."""

    keeps_events = True

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock=clock)
        self.stream = MemoryEventStream()

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        stored = await super().swap(conversation, expected_revision, writes, tenant=tenant)
        if stored:
            await self.stream.append(conversation, writes.events, tenant=tenant)
        return stored


class TellsWhatIsLost(Streaming):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        await self.stream.append(conversation, writes.events, tenant=tenant)
        return await super().swap(conversation, expected_revision, writes, tenant=tenant)


class TellsNothing(Streaming):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        return await super().swap(conversation, expected_revision, replace(writes, events=()), tenant=tenant)


class TellsTheFirstOnly(Streaming):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        first = replace(writes, events=writes.events[:1])
        return await super().swap(conversation, expected_revision, first, tenant=tenant)


class TellsBackwards(Streaming):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        turned = replace(writes, events=writes.events[::-1])
        return await super().swap(conversation, expected_revision, turned, tenant=tenant)


class TellsEverybody(Streaming):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        stored = await super().swap(conversation, expected_revision, writes, tenant=tenant)
        if stored:
            await self.stream.append(conversation, writes.events)
        return stored


class TellsAgain(Streaming):
    """It does not know an event of an earlier swap again."""

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        for known in self.stream._kept.values():
            known.recent.clear()
        return await super().swap(conversation, expected_revision, writes, tenant=tenant)


class SaysThatItKeepsNone(Streaming):
    keeps_events = False


MISTAKES: Sequence[type[Streaming]] = (
    TellsWhatIsLost,
    TellsNothing,
    TellsTheFirstOnly,
    TellsBackwards,
    TellsEverybody,
    TellsAgain,
    SaysThatItKeepsNone,
)


def contract_of(kind: type[Streaming]) -> type[KeptEventsContract]:
    """The contract as tests of that ledger."""

    def store(self: object, clock: ManualClock) -> Streaming:
        return kind(clock)

    def stream(self: object, store: Streaming) -> MemoryEventStream:
        return store.stream

    members = {"store": pytest.fixture(store), "stream": pytest.fixture(stream)}
    return type(f"Test{kind.__name__}", (KeptEventsContract,), members)


globals().update({f"Test{mistake.__name__}": contract_of(mistake) for mistake in MISTAKES})
