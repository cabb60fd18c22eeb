import pytest

from skillweave import CatalogMode, MemoryStore, Message, Outcome, Registry, Role, Settings, SkillNotFound, Weaver
from skillweave.errors import InvalidValue
from skillweave.ledger import Delivery
from skillweave.sources import InCode
from skillweave_testing import WordCounter
from tests.skills import make_skill

GREET = make_skill("greet", keywords=["hello"])


def weaver_of() -> Weaver:
    registry = Registry([InCode(GREET)])
    return Weaver(registry, MemoryStore(), Settings(catalog=CatalogMode.NEVER), counter=WordCounter())


async def outcome(weaver: Weaver, **turn: object) -> Outcome:
    injection = await weaver.weave("hello", conversation="c", **turn)  # type: ignore[arg-type]
    return injection.decisions[0].outcome


async def test_a_skill_that_the_host_says_it_has_is_not_given() -> None:
    weaver = weaver_of()
    await weaver.ledger.mark("c", "greet")
    assert await outcome(weaver) is Outcome.ALREADY_PRESENT


async def test_a_transcript_without_the_text_goes_before_what_the_host_said() -> None:
    weaver = weaver_of()
    await weaver.ledger.mark("c", "greet")
    assert await outcome(weaver, transcript=(Message(Role.USER, "hello"),)) is Outcome.INJECTED


async def test_the_id_of_a_skill_and_its_key_mark_the_same_record() -> None:
    weaver = weaver_of()
    assert await weaver.ledger.mark("c", "greet") == await weaver.ledger.mark("c", "skill:greet")


async def test_the_same_mark_again_writes_nothing() -> None:
    weaver = weaver_of()
    await weaver.ledger.mark("c", "greet")
    once = await weaver.ledger.state("c")
    await weaver.ledger.mark("c", "greet")
    assert await weaver.ledger.state("c") == once


async def test_what_a_turn_has_claimed_is_delivered_by_a_mark_and_keeps_its_text() -> None:
    weaver = weaver_of()
    claimed = await weaver.claim("hello", conversation="c", turn_id="t1")
    marked = await weaver.ledger.mark("c", "greet")
    assert (marked.state, marked.digest) == (Delivery.GIVEN, GREET.digest)
    assert not await weaver.release("c", claimed.turn_id)


async def test_an_eviction_takes_a_mark_back() -> None:
    weaver = weaver_of()
    await weaver.ledger.mark("c", "greet")
    assert await weaver.evict("c", "greet")
    assert await outcome(weaver) is Outcome.INJECTED


async def test_a_skill_that_nobody_knows_cannot_be_marked() -> None:
    weaver = weaver_of()
    with pytest.raises(SkillNotFound, match="did you mean 'greet'"):
        await weaver.ledger.mark("c", "gret")
    assert (await weaver.ledger.state("c")).revision == 0


@pytest.mark.parametrize("key", ["context:well-1:status", "artifact:greet/a.md", "section:greet/1", "no such id"])
async def test_only_skills_can_be_marked(key: str) -> None:
    with pytest.raises(InvalidValue, match="is not the key of a skill"):
        await weaver_of().ledger.mark("c", key)


def test_a_mark_is_there_without_await_too() -> None:
    with weaver_of().sync as weaver:
        assert weaver.ledger.mark("c", "greet").key == "skill:greet"
