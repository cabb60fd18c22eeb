"""Event streams with one mistake each, which the contract must find; not collected by itself, as its name says."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from skillweave.errors import StoreUnavailable
from skillweave.events.event import Announced, Event, StreamedEvent, StreamGap
from skillweave.stores.event_stream import MemoryEventStream
from tests.contracts_of_ports import event_stream
from tests.contracts_of_ports.event_stream import EventStreamContract


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these do not tell at once, they never tell."""
    monkeypatch.setattr(event_stream, "PATIENCE", 0.05)


class TakesTwice(MemoryEventStream):
    """It knows an event again in one call only."""

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        await super().append(conversation, events, tenant=tenant)
        for known in self._kept.values():
            known.recent.clear()


class NeverForgetsIds(MemoryEventStream):
    """What is told again a long time after is left out too."""

    def __init__(self) -> None:
        super().__init__(most_kept=1000)
        self._ids: set[tuple[str, str, str]] = set()

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        new = [one for one in events if (tenant, conversation, one.id) not in self._ids]
        self._ids |= {(tenant, conversation, one.id) for one in new}
        await super().append(conversation, new, tenant=tenant)


class NewestFirst(MemoryEventStream):
    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        return tuple(reversed(await super().read(conversation, after, limit, tenant=tenant)))


class IncludesThePosition(MemoryEventStream):
    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        found = await super().read(conversation, after, limit, tenant=tenant)
        known = await super().read(conversation, "", 100_000, tenant=tenant)
        return (*(one for one in known if one.position == after), *found)


class LastIsTheFirst(MemoryEventStream):
    async def last(self, conversation: str, *, tenant: str = "") -> str:
        kept = await self.read(conversation, tenant=tenant)
        return kept[0].position if kept else ""


class LastOfWhatIsNotThere(MemoryEventStream):
    async def last(self, conversation: str, *, tenant: str = "") -> str:
        return await super().last(conversation, tenant=tenant) or "0"


class SilentGap(MemoryEventStream):
    """After a position that is no longer kept it goes on with the oldest that is."""

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        try:
            return await super().read(conversation, after, limit, tenant=tenant)
        except StreamGap:
            return await super().read(conversation, "", limit, tenant=tenant)


class SilentGapOfFollowers(MemoryEventStream):
    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        while True:
            try:
                async for one in super().follow(conversation, after, tenant=tenant):
                    yield one
            except StreamGap:
                after = ""
            else:
                return


class OneTenant(MemoryEventStream):
    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        await super().append(conversation, events, tenant=tenant and "all")

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        return await super().read(conversation, after, limit, tenant=tenant and "all")


class FromTheStart(MemoryEventStream):
    """Whoever wants only what comes gets what was, too."""

    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        async for one in super().follow(conversation, after or "", tenant=tenant):
            yield one


class OnlyWhatComes(MemoryEventStream):
    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        async for one in super().follow(conversation, tenant=tenant):
            yield one


class OnceInAWhile(MemoryEventStream):
    """Between two looks a follower misses all but the newest event."""

    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        async for one in super().follow(conversation, after, tenant=tenant):
            kept = await self.read(conversation, "", 100_000, tenant=tenant)
            if one == kept[-1]:
                yield one


class EndsWhereNothingIs(MemoryEventStream):
    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        for one in await self.read(conversation, after or "", 100_000, tenant=tenant):
            yield one


class NeverEnds(MemoryEventStream):
    async def close(self) -> None:
        pass


class OneLeavesAllLeave(MemoryEventStream):
    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        try:
            async for one in super().follow(conversation, after, tenant=tenant):
                yield one
        finally:
            for known in self._kept.values():
                known.followers.clear()


class KeepsTooFew(MemoryEventStream):
    def __init__(self) -> None:
        super().__init__(most_kept=500)


class KeepsAll(MemoryEventStream):
    def __init__(self) -> None:
        super().__init__(most_kept=100_000)


class NumbersAsPositions(MemoryEventStream):
    """Its positions are those of any other conversation too."""

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        kept = await super().read(conversation, "", 100_000, tenant=tenant)
        start = int(after) if after.isdigit() else 0
        return tuple(StreamedEvent(str(number), one.event) for number, one in enumerate(kept, 1))[start:][:limit]


class LosesPayloads(MemoryEventStream):
    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        told = [
            Event(one.id, one.event_type, one.conversation, one.turn_id, Announced.from_dict(one.payload.to_dict()))
            for one in events
        ]
        await super().append(conversation, told, tenant=tenant)


class WrongWordsWhenClosed(MemoryEventStream):
    async def close(self) -> None:
        await super().close()
        self._over = True

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        if getattr(self, "_over", False):
            raise StoreUnavailable("no")
        return await super().read(conversation, after, limit, tenant=tenant)


MISTAKES: Sequence[type[MemoryEventStream]] = (
    TakesTwice,
    NeverForgetsIds,
    NewestFirst,
    IncludesThePosition,
    LastIsTheFirst,
    LastOfWhatIsNotThere,
    SilentGap,
    SilentGapOfFollowers,
    OneTenant,
    FromTheStart,
    OnlyWhatComes,
    OnceInAWhile,
    EndsWhereNothingIs,
    NeverEnds,
    OneLeavesAllLeave,
    KeepsTooFew,
    KeepsAll,
    NumbersAsPositions,
    LosesPayloads,
    WrongWordsWhenClosed,
)


def _contract_of(mistake: type[MemoryEventStream]) -> type[EventStreamContract]:
    def stream(self: object) -> MemoryEventStream:
        own = mistake.__init__ is not MemoryEventStream.__init__
        return mistake() if own else mistake(most_kept=1000)

    members = {"stream": pytest.fixture(stream), "most_kept": 1000}
    return type(f"Test{mistake.__name__}", (EventStreamContract,), members)


globals().update({f"Test{mistake.__name__}": _contract_of(mistake) for mistake in MISTAKES})
