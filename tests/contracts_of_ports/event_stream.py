"""The contract of an event stream as tests: a backend is what passes them."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

import pytest

from skillweave.errors import InvalidValue, StoreUnavailable
from skillweave.events.event import KNOWN_AGAIN, MOST_KEPT, Announced, Event, EventStream, StreamedEvent, StreamGap
from skillweave.events.payloads import CursorMoved, SkillEvicted, TurnDecided
from skillweave.frozen import FrozenDict
from skillweave_testing.ledger import HOSTILE_IDS, for_impossible_tenants

PATIENCE = 30.0
"""Seconds after which what a test waits for will not come any more."""
PAYLOAD: FrozenDict[str, Any] = FrozenDict(
    {
        "z": 1,
        "whole": 10**40,
        "number": 1.0,
        "third": 0.1 + 0.2,
        "yes": True,
        "nothing": None,
        "text": "Größe\n\r\n\t\"'\\ \u2028 🚢 {} \0",
        "list": (1, "1", None, (), FrozenDict({"b": 1, "a": None})),
        "object": FrozenDict({"10": 1, "9": 2, "": {}}),
        "long": "lang " * 10_000,
        "a": 2,
    }
)
OF_EVERY_FORM = (
    Event("e1", "MoonRose", "c", "turn-1", Announced("a", PAYLOAD)),
    Event("e2", "MoonSet", "c", None, Announced("a", FrozenDict())),
    Event("e3", "cursor.moved", "c", "turn-1", CursorMoved(None, "b", "entry", "because « ä »", 2, "g1")),
    Event("e4", "skill.evicted", "c", None, SkillEvicted("a", "d1", "full", 120, "sw-x-y", "evicted")),
    Event(
        "e5",
        "turn.decided",
        "c",
        "turn 2\n",
        TurnDecided(
            7,
            1,
            "history",
            "given",
            ("a",),
            FrozenDict({"injected": 1}),
            FrozenDict({"catalog": 3, "tail": 1, "injected": 9, "left": 0}),
            ("ledger-unavailable",),
            1.5,
        ),
    ),
)
NEVER_A_POSITION = (
    "0",
    "0-0",
    "-",
    "1-",
    "-1",
    "x-1",
    "nonsense",
    "9" * 400,
    "9" * 18 + "-1",
    " ",
    "$",
    "+",
    "*",
    "ä",
    "\0",
)
"""What no stream gave as the position of one of its events."""


def numbered(*numbers: int, conversation: str = "c") -> tuple[Event, ...]:
    """Events that are told apart by their numbers."""
    return tuple(
        Event(f"e{number}", "Ticked", conversation, None, Announced("a", FrozenDict({"n": number})))
        for number in numbers
    )


def numbers(streamed: Iterable[StreamedEvent]) -> list[int]:
    """The numbers of such events, in the order in which they came."""
    return [int(one.event.id.removeprefix("e")) for one in streamed]


async def taken(following: AsyncGenerator[StreamedEvent, None], count: int) -> list[StreamedEvent]:
    """The next so many events of a follower; raises TimeoutError where they do not come."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(following) for _ in range(count)]


async def taken_into(seen: list[StreamedEvent], following: AsyncGenerator[StreamedEvent, None], until: int) -> None:
    """Add events of a follower to `seen` until there are more than `until`; what came before an error stays."""
    while len(seen) <= until:
        seen += await taken(following, 1)


@pytest.mark.asyncio
class EventStreamContract:
    """Inherit, and give a fixture `stream` that makes a new, empty stream.

    `most_kept` is how many events of a conversation it keeps: where it can be told to keep few, the tests are quicker.
    """

    most_kept: ClassVar[int] = MOST_KEPT

    @pytest.fixture
    def stream(self) -> EventStream:
        """A new, empty stream."""
        raise NotImplementedError("a subclass gives the stream")

    async def _beyond(self, stream: EventStream, first: int) -> int:
        """Append so many events that those before `first` are no longer kept; the number of the last one."""
        last = first + self.most_kept + 999
        for begin in range(first, last + 1, 1000):
            await stream.append("c", numbered(*range(begin, min(begin + 1000, last + 1))))
        return last

    # -- reading ------------------------------------------------------------------------------------------------

    async def test_of_a_conversation_of_which_nothing_happened_nothing_is_read(self, stream: EventStream) -> None:
        assert await stream.read("new") == ()

    async def test_events_of_every_form_come_back_equal_and_in_their_order(self, stream: EventStream) -> None:
        await stream.append("c", OF_EVERY_FORM[:2])
        await stream.append("c", OF_EVERY_FORM[2:])
        read = tuple(one.event for one in await stream.read("c"))
        assert read == OF_EVERY_FORM
        assert [one.to_dict() for one in read] == [one.to_dict() for one in OF_EVERY_FORM]

    async def test_after_each_position_come_the_events_behind_it(self, stream: EventStream) -> None:
        await stream.append("c", numbered(*range(5)))
        kept = await stream.read("c")
        assert len({one.position for one in kept}) == 5
        for place, one in enumerate(kept):
            assert await stream.read("c", one.position) == kept[place + 1 :]

    async def test_what_was_read_to_its_end_goes_on_with_what_comes(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        (first,) = await stream.read("c")
        assert await stream.read("c", first.position) == ()
        await stream.append("c", numbered(2, 3))
        assert numbers(await stream.read("c", first.position)) == [2, 3]

    async def test_no_more_are_read_than_asked_for(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1, 2, 3))
        assert [numbers(await stream.read("c", limit=limit)) for limit in (0, 1, 2, 3, 4)] == [
            [],
            [1],
            [1, 2],
            [1, 2, 3],
            [1, 2, 3],
        ]

    async def test_page_by_page_every_event_is_read_once(self, stream: EventStream) -> None:
        await stream.append("c", numbered(*range(25)))
        found: list[StreamedEvent] = []
        for _ in range(7):
            found += await stream.read("c", found[-1].position if found else "", 4)
        assert numbers(found) == list(range(25))

    async def test_a_position_is_no_longer_than_a_header_can_carry(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        (one,) = await stream.read("c")
        assert one.position.isascii()
        assert one.position.isprintable()
        assert 0 < len(one.position) <= 100
        assert " " not in one.position

    async def test_the_last_position_is_that_of_the_newest_event(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        await stream.append("c", numbered(2, 3), tenant="a")
        for tenant in ("", "a"):
            kept = await stream.read("c", tenant=tenant)
            assert await stream.last("c", tenant=tenant) == kept[-1].position
            assert await stream.read("c", kept[-1].position, tenant=tenant) == ()

    async def test_where_nothing_is_kept_the_last_position_is_the_beginning(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        assert await stream.last("d") == await stream.last("c", tenant="a") == ""
        async with aclosing(stream.follow("d", await stream.last("d"))) as following:
            await stream.append("d", numbered(2))
            assert numbers(await taken(following, 1)) == [2]

    # -- appending ----------------------------------------------------------------------------------------------

    async def test_no_events_leave_nothing(self, stream: EventStream) -> None:
        await stream.append("c", ())
        assert await stream.read("c") == ()

    async def test_an_event_that_is_told_again_is_left_out(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1, 2, 1))
        await stream.append("c", numbered(2, 3))
        await stream.append("c", numbered(1, 2, 3))
        assert numbers(await stream.read("c")) == [1, 2, 3]

    async def test_it_is_known_again_behind_nearly_two_hundred_others(self, stream: EventStream) -> None:
        await stream.append("c", numbered(*range(KNOWN_AGAIN)))
        await stream.append("c", numbered(0))
        assert numbers(await stream.read("c", limit=1000)) == list(range(KNOWN_AGAIN))

    async def test_behind_two_hundred_others_it_is_one_more_event(self, stream: EventStream) -> None:
        await stream.append("c", numbered(*range(KNOWN_AGAIN + 1)))
        await stream.append("c", numbered(0))
        assert numbers(await stream.read("c", limit=1000)) == [*range(KNOWN_AGAIN + 1), 0]

    async def test_the_same_event_in_another_conversation_is_another_one(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        await stream.append("d", numbered(1))
        assert numbers(await stream.read("d")) == [1]

    async def test_of_simultaneous_appends_every_event_is_kept_once(self, stream: EventStream) -> None:
        await asyncio.gather(*(stream.append("c", numbered(n, n + 1)) for n in range(40)))
        assert sorted(numbers(await stream.read("c"))) == list(range(41))

    # -- what is no longer kept ---------------------------------------------------------------------------------

    async def test_the_newest_are_kept_and_the_oldest_go(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        (first,) = await stream.read("c")
        last = await self._beyond(stream, 2)
        kept = await stream.read("c", limit=2 * last)
        assert numbers(kept) == list(range(last - len(kept) + 1, last + 1))
        assert self.most_kept <= len(kept) < last
        with pytest.raises(StreamGap) as raised:
            await stream.read("c", first.position)
        assert (raised.value.after, raised.value.first) == (first.position, kept[0].position)

    async def test_after_the_oldest_kept_event_one_can_go_on(self, stream: EventStream) -> None:
        last = await self._beyond(stream, 1)
        oldest, *others = await stream.read("c", limit=2 * last)
        assert (await stream.read("c", oldest.position, 1))[0] == others[0]

    @pytest.mark.parametrize("position", NEVER_A_POSITION)
    async def test_a_position_that_never_was_is_a_gap(self, stream: EventStream, position: str) -> None:
        await stream.append("c", numbered(1))
        (one,) = await stream.read("c")
        with pytest.raises(StreamGap) as raised:
            await stream.read("c", position)
        assert raised.value.first == one.position
        with pytest.raises(StreamGap):
            await taken(stream.follow("c", position), 1)

    async def test_a_position_in_a_conversation_of_which_nothing_is_kept_is_a_gap(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        (one,) = await stream.read("c")
        with pytest.raises(StreamGap) as raised:
            await stream.read("d", one.position)
        assert raised.value.first == ""
        with pytest.raises(StreamGap):
            await taken(stream.follow("d", one.position), 1)

    # -- conversations and tenants ------------------------------------------------------------------------------

    async def test_conversations_of_any_id_are_kept_apart(self, stream: EventStream) -> None:
        for number, conversation in enumerate(HOSTILE_IDS):
            await stream.append(conversation, numbered(number, conversation=conversation))
        for number, conversation in enumerate(HOSTILE_IDS):
            (one,) = await stream.read(conversation)
            assert one.event == numbered(number, conversation=conversation)[0]

    async def test_events_of_one_tenant_are_unknown_to_another(self, stream: EventStream) -> None:
        for number, tenant in enumerate(("", "a", "b")):
            await stream.append("c", numbered(number), tenant=tenant)
        assert [numbers(await stream.read("c", tenant=tenant)) for tenant in ("", "a", "b", "A")] == [[0], [1], [2], []]
        (theirs,) = await stream.read("c", tenant="a")
        with pytest.raises(StreamGap):
            await stream.read("c", theirs.position, tenant="A")

    async def test_a_follower_hears_of_its_own_conversation_and_tenant_only(self, stream: EventStream) -> None:
        await stream.append("c", numbered(0), tenant="a")
        async with aclosing(stream.follow("c", "", tenant="a")) as following:
            assert numbers(await taken(following, 1)) == [0]
            await stream.append("c", numbered(1))
            await stream.append("d", numbered(2), tenant="a")
            await stream.append("c", numbered(3), tenant="a")
            assert numbers(await taken(following, 1)) == [3]

    async def test_the_tenant_called_default_is_the_default_one(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1), tenant="default")
        await stream.append("c", numbered(2))
        assert await stream.read("c") == await stream.read("c", tenant="default")
        async with aclosing(stream.follow("c", "", tenant="default")) as following:
            assert numbers(await taken(following, 2)) == [1, 2]

    @for_impossible_tenants
    async def test_what_cannot_be_a_tenant_is_refused(self, stream: EventStream, tenant: str) -> None:
        for asked in (
            stream.append("c", numbered(1), tenant=tenant),
            stream.read("c", tenant=tenant),
            taken(stream.follow("c", tenant=tenant), 1),
        ):
            with pytest.raises(InvalidValue, match="tenant"):
                await asked

    # -- following ----------------------------------------------------------------------------------------------

    async def test_a_follower_gets_what_is_kept_and_then_each_as_it_comes(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1, 2, 3))
        kept = await stream.read("c")
        async with aclosing(stream.follow("c", kept[0].position)) as following:
            assert tuple(await taken(following, 2)) == kept[1:]
            for number in (4, 5, 6):
                await stream.append("c", numbered(number))
                assert numbers(await taken(following, 1)) == [number]
            await stream.append("c", numbered(7, 8, 9))
            assert numbers(await taken(following, 3)) == [7, 8, 9]

    async def test_a_follower_has_the_positions_that_are_read(self, stream: EventStream) -> None:
        async with aclosing(stream.follow("c", "")) as following:
            waiting = asyncio.create_task(taken(following, 1))
            await stream.append("c", numbered(1, 2))
            found = (*await waiting, *await taken(following, 1))
        assert found == await stream.read("c")

    async def test_whoever_comes_back_at_a_position_misses_nothing_and_sees_nothing_twice(
        self, stream: EventStream
    ) -> None:
        seen: list[StreamedEvent] = []
        for begin in range(0, 30, 3):
            async with aclosing(stream.follow("c", seen[-1].position if seen else "")) as following:
                await stream.append("c", numbered(*range(begin, begin + 3)))
                seen += await taken(following, 2 if begin < 27 else 30 - len(seen))
        assert numbers(seen) == list(range(30))

    async def test_without_a_position_only_what_comes_is_told(self, stream: EventStream) -> None:
        await stream.append("c", numbered(0, 1))
        async with aclosing(stream.follow("c")) as following:
            waiting = asyncio.create_task(taken(following, 1))
            number = 2
            async with asyncio.timeout(PATIENCE):
                # It begins some time after it is asked for the first event.
                while not waiting.done():
                    await stream.append("c", numbered(number))
                    number += 1
                    await asyncio.wait([waiting], timeout=0.01)
            (first,) = numbers(await waiting)
            assert first >= 2
            await stream.append("c", numbered(number))
            assert numbers(await taken(following, number - first)) == list(range(first + 1, number + 1))

    async def test_everybody_who_follows_gets_every_event_in_the_same_order(self, stream: EventStream) -> None:
        followers = [stream.follow("c", "") for _ in range(20)]
        waiting = [asyncio.create_task(taken(one, 60)) for one in followers]
        for begin in range(0, 60, 6):
            await asyncio.gather(*(stream.append("c", numbered(n, n + 1)) for n in range(begin, begin + 6, 2)))
        seen = await asyncio.gather(*waiting)
        kept = await stream.read("c")
        assert sorted(numbers(kept)) == list(range(60))
        assert [one for one in seen if tuple(one) != kept] == []
        for one in followers:
            await one.aclose()

    async def test_one_who_takes_nothing_holds_up_nobody(self, stream: EventStream) -> None:
        await stream.append("c", numbered(0))
        async with aclosing(stream.follow("c", "")) as idle, aclosing(stream.follow("c", "")) as following:
            assert numbers(await taken(idle, 1)) == numbers(await taken(following, 1)) == [0]
            for begin in range(1, 301, 100):
                await stream.append("c", numbered(*range(begin, begin + 100)))
                assert numbers(await taken(following, 100)) == list(range(begin, begin + 100))
            assert numbers(await taken(idle, 300)) == list(range(1, 301))

    async def test_one_who_falls_behind_what_is_kept_meets_a_gap(self, stream: EventStream) -> None:
        await stream.append("c", numbered(0))
        async with aclosing(stream.follow("c", "")) as following:
            seen = await taken(following, 1)
            # In two steps: what it holds of the first one does not matter then.
            await self._beyond(stream, 1)
            last = await self._beyond(stream, self.most_kept + 1000)
            with pytest.raises(StreamGap) as raised:
                await taken_into(seen, following, last)
        assert numbers(seen) == list(range(len(seen))), "none is left out in silence"
        assert raised.value.after == seen[-1].position

    async def test_one_who_leaves_disturbs_nobody(self, stream: EventStream) -> None:
        await stream.append("c", numbered(0))
        async with aclosing(stream.follow("c", "")) as following:
            await taken(following, 1)
            for _ in range(3):
                async with aclosing(stream.follow("c", "")) as leaving:
                    await taken(leaving, 1)
                    gone = asyncio.create_task(taken(leaving, 1))
                    await asyncio.sleep(0)
                    gone.cancel()
                    await asyncio.wait([gone])
                    assert gone.cancelled()
            waiting = asyncio.create_task(taken(following, 1))
            await asyncio.sleep(0.01)
            await stream.append("c", numbered(1))
            assert numbers(await waiting) == [1]

    # -- the end ------------------------------------------------------------------------------------------------

    async def test_closing_it_ends_everybodys_following(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        followers = [stream.follow(conversation, "") for conversation in ("c", "c", "d")]
        await asyncio.gather(*(taken(one, 1) for one in followers[:2]))
        waiting: Sequence[asyncio.Task[list[StreamedEvent]]] = [asyncio.create_task(_rest(one)) for one in followers]
        await asyncio.sleep(0.01)
        await stream.close()
        async with asyncio.timeout(PATIENCE):
            assert await asyncio.gather(*waiting) == [[], [], []]

    async def test_it_can_be_closed_twice_and_at_the_end_of_a_block(self, stream: EventStream) -> None:
        async with stream as entered:
            await entered.append("c", numbered(1))
            await entered.close()
        await stream.close()

    async def test_a_closed_stream_answers_as_before_or_says_that_it_is_unavailable(self, stream: EventStream) -> None:
        await stream.append("c", numbered(1))
        await stream.close()
        try:
            assert numbers(await stream.read("c")) == [1]
        except StoreUnavailable as error:
            assert "closed" in str(error)  # noqa: PT017 - a stream in memory need not refuse


async def _rest(following: AsyncGenerator[StreamedEvent, None]) -> list[StreamedEvent]:
    return [one async for one in following]
