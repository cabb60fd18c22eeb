"""A message that asks for nothing new keeps the shortlist of the message before it (spec 2.5)."""

import pytest

from skillweave import MemoryStore, Registry, Settings, Weaver
from skillweave.sources import InCode
from tests.skills import make_skill

SUBJECTS = ("gardens", "harbours", "orchards", "railways", "glaciers", "theatres", "vineyards", "quarries")
SKILLS = [
    make_skill(f"{one}-{kind}", description=f"Helps people {verb} {one} for the council, with maps and a budget.")
    for one in SUBJECTS
    for kind, verb in (("planning", "plan"), ("painting", "paint"), ("touring", "tour"))
] + [
    make_skill(f"filler-{n:03}", description=f"Handles a case of sort {n} whatever that is, quietly.")
    for n in range(200)
]
ASKED = "something about harbours or glaciers for the council"


def weaver_of() -> Weaver:
    settings = Settings(give_at=1.0, offer_at=0.0001)
    return Weaver(Registry([InCode(*SKILLS)]), MemoryStore(), settings)


@pytest.mark.parametrize("said", ["and make it shorter", "yes, go on", "ok thanks", "again please, but nicer"])
async def test_a_follow_up_keeps_the_list_byte_for_byte(said: str) -> None:
    weaver = weaver_of()
    first = await weaver.weave(ASKED, conversation="c")
    assert len(first.offered) > 1
    after = await weaver.weave(said, conversation="c")
    assert (after.tail, after.offered) == (first.tail, first.offered)


async def test_the_list_stands_for_three_messages_and_no_longer() -> None:
    weaver = weaver_of()
    first = await weaver.weave(ASKED, conversation="c")
    tails = [(await weaver.weave("yes, go on", conversation="c")).tail == first.tail for _ in range(4)]
    assert tails == [True, True, True, False]


async def test_a_new_request_has_a_list_of_its_own() -> None:
    weaver = weaver_of()
    await weaver.weave(ASKED, conversation="c")
    after = await weaver.weave("now paint the vineyards", conversation="c")
    assert after.offered[0] == "vineyards-painting"


async def test_a_short_message_with_the_name_of_a_skill_asks_for_something_new() -> None:
    weaver = weaver_of()
    first = await weaver.weave(ASKED, conversation="c")
    after = await weaver.weave("the same as touring please", conversation="c")
    assert after.tail != first.tail


async def test_a_list_of_which_a_skill_was_opened_is_gone() -> None:
    weaver = weaver_of()
    first = await weaver.weave(ASKED, conversation="c")
    await weaver.tools.read_skill(first.offered[0], conversation="c")
    assert (await weaver.weave("yes, go on", conversation="c")).tail == ""


async def test_small_talk_at_the_beginning_gets_no_list() -> None:
    assert (await weaver_of().weave("hi, thanks", conversation="c")).tail == ""
