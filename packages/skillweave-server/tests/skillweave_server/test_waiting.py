"""Who waits for a verdict is asked once for all turns of a moment."""

import asyncio

import pytest

from skillweave import StoreUnavailable
from skillweave_server.service import Waiting
from skillweave_server.unsealed import DisabledApprovals


class Counted(DisabledApprovals):
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.silent = False

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        self.asked.append(tenant)
        await asyncio.sleep(0)
        if self.silent:
            raise StoreUnavailable("the book does not answer")
        return frozenset({f"c of {tenant}"})


@pytest.fixture
def book() -> Counted:
    return Counted()


async def test_turns_of_a_moment_ask_the_book_once(book: Counted) -> None:
    waiting = Waiting(book, seconds=60)
    assert await asyncio.gather(*(waiting.of("acme") for _ in range(20))) == [{"c of acme"}] * 20
    assert await waiting.of("acme") == {"c of acme"}
    assert book.asked == ["acme"]


async def test_each_tenant_has_an_answer_of_its_own(book: Counted) -> None:
    waiting = Waiting(book, seconds=60)
    assert (await waiting.of("a"), await waiting.of("b"), await waiting.of("a")) == ({"c of a"}, {"c of b"}, {"c of a"})
    assert book.asked == ["a", "b"]


async def test_after_its_time_or_when_it_is_forgotten_the_book_is_asked_again(book: Counted) -> None:
    waiting = Waiting(book, seconds=60)
    await waiting.of("a")
    waiting.forget("a")
    await waiting.of("a")
    at_once = Waiting(book, seconds=0)
    await at_once.of("a")
    await at_once.of("a")
    assert book.asked == ["a"] * 4


async def test_whoever_goes_away_takes_the_answer_from_nobody(book: Counted) -> None:
    waiting = Waiting(book, seconds=60)
    first = asyncio.create_task(waiting.of("a"))
    second = asyncio.create_task(waiting.of("a"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == {"c of a"}
    assert book.asked == ["a"]


async def test_a_silent_book_is_an_error_for_each_turn_and_is_asked_again_later(book: Counted) -> None:
    book.silent = True
    waiting = Waiting(book, seconds=0)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await waiting.of("a")
    book.silent = False
    assert await waiting.of("a") == {"c of a"}
