"""Which skill was right, told by what happened after a message."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.skillweave_eval.learning.conversations import Office

from skillweave_eval.learning.labels import Heard

LISTED = "what about the office and the bread and the tax"
GIVEN = "Please book a desk in the office near a window for a day"
Talk = Callable[[Office], Awaitable[object]]


@pytest.fixture
def after(tmp_path: Path) -> Callable[[Talk], tuple[Heard, ...]]:
    """What is heard after a conversation."""

    def run(talk: Talk) -> tuple[Heard, ...]:
        async def all_of_it() -> tuple[Heard, ...]:
            office = Office(tmp_path)
            await talk(office)
            found = await office.heard()
            await office.store.close()
            return found

        return asyncio.run(all_of_it())

    return run


def test_a_skill_that_was_opened_from_the_list_is_right(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        shown = await office.say(LISTED)
        assert len(shown) > 1
        await office.open(shown[-1])
        assert (await office.heard())[0].right == (shown[-1],)

    assert after(talk)[0].labelled


def test_a_skill_that_was_given_and_used_is_right(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        assert (await office.say(GIVEN))[0] == "desk-booking"
        await office.keeper.used("c1", "desk-booking")

    assert after(talk)[0].right == ("desk-booking",)


def test_a_skill_that_was_only_given_tells_nothing(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    assert not after(lambda office: office.say(GIVEN))[0].labelled


def test_a_skill_that_was_opened_and_taken_back_is_wrong(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        await office.say(LISTED)
        await office.open("tax-return")
        await office.weaver.ledger.unload("c1", "tax-return")

    (heard,) = after(talk)
    assert (heard.right, heard.wrong) == ((), ("tax-return",))


def test_what_stands_below_the_opened_one_is_neither_right_nor_wrong(
    after: Callable[[Talk], tuple[Heard, ...]],
) -> None:
    async def talk(office: Office) -> None:
        shown = await office.say(LISTED)
        await office.open(shown[0])

    (heard,) = after(talk)
    shown = (*heard.answer.given, *heard.answer.offered)
    assert heard.answer.case.fine == shown[1:]


def test_what_stands_above_the_opened_one_may_be_wrong(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        shown = await office.say(LISTED)
        await office.open(shown[-1])

    assert after(talk)[0].answer.case.fine == ()


def test_a_skill_that_was_opened_without_having_been_shown_is_found(
    after: Callable[[Talk], tuple[Heard, ...]],
) -> None:
    async def talk(office: Office) -> None:
        assert "tax-return" not in await office.say(GIVEN)
        await office.open("tax-return")

    assert after(talk)[0].found == ("tax-return",)


def test_what_is_opened_belongs_to_the_message_before_it(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        await office.say(LISTED)
        await office.say(f"{LISTED} please", turn="t2")
        await office.open("bread-baking")

    assert [one.right for one in after(talk)] == [(), ("bread-baking",)]


def test_the_words_are_those_of_the_turn(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        await office.say(LISTED)
        await office.say(GIVEN, conversation="c2")

    assert [one.words for one in after(talk)] == [LISTED, GIVEN]


def test_a_refused_read_opens_nothing(after: Callable[[Talk], tuple[Heard, ...]]) -> None:
    async def talk(office: Office) -> None:
        await office.say(LISTED)
        await office.open("no-such-skill")

    assert not after(talk)[0].labelled
