"""What Weavers share: skills compiled once, one ledger for several tenants, connections that somebody closes."""

import asyncio
from pathlib import Path

import pytest

import skillweave
from skillweave import MemorySource, Settings, StoreUnavailable, Turn, Weaver
from skillweave.adapters.bridge import Bridge
from skillweave.errors import InvalidValue
from skillweave_stores import SqlSource
from skillweave_testing import WordCounter
from tests.skills import make_skill
from tests.weaver.seeing import SeesTheIndex

GREET = make_skill("greet", keywords=["hello"])


def weaver_with(matcher: SeesTheIndex) -> Weaver:
    return skillweave.open(GREET, counter=WordCounter(), matchers=("triggers", matcher))


async def test_twenty_first_turns_at_once_compile_the_skills_once() -> None:
    matcher = SeesTheIndex()
    weaver = weaver_with(matcher)
    await asyncio.gather(*(weaver.weave("hello", conversation=f"c{number}") for number in range(20)))
    assert len(matcher.seen) == 1


async def test_variants_and_bridges_search_the_skills_that_were_compiled_already() -> None:
    matcher = SeesTheIndex()
    weaver = weaver_with(matcher)
    await weaver.weave("hello", conversation="c")
    await weaver.variant(Settings(max_skills=1)).weave("hello", conversation="d")
    await Bridge(weaver).weaver.weave("hello", conversation="e")
    assert len(matcher.seen) == 1


async def test_skills_that_change_are_compiled_anew() -> None:
    matcher = SeesTheIndex()
    weaver = weaver_with(matcher)
    await weaver.weave("hello", conversation="c")
    first = await weaver.skills.snapshot()
    weaver.skills.registry.register(make_skill("late", keywords=["late"]))
    assert (await weaver.weave("late", conversation="c")).skills == ("late",)
    assert first is not await weaver.skills.snapshot()


async def test_tenants_share_a_ledger_and_never_a_conversation(tmp_path: Path) -> None:
    async with skillweave.open(GREET, ledger=tmp_path / "state.db", counter=WordCounter(), tenant="acme") as acme:
        other = acme.variant(tenant="zenith")
        assert (acme.ledger.tenant, other.ledger.tenant) == ("acme", "zenith")
        assert (await acme.weave("hello", conversation="c")).skills == ("greet",)
        assert (await other.weave("hello", conversation="c")).skills == ("greet",)
        assert await acme.ledger.store.conversations(tenant="acme") == ("c",)
        assert await acme.ledger.clear("c")
        assert (await other.ledger.state("c")).engaged
        assert [logged.decision.skill_id for logged in await other.why("c")] == ["greet"]


async def test_the_tenant_called_default_is_the_default_one() -> None:
    named = skillweave.open(GREET, counter=WordCounter(), tenant="default")
    assert (await named.weave("hello", conversation="c")).skills == ("greet",)
    variant = named.variant(tenant="acme").variant(tenant="default")
    assert named.ledger.tenant == variant.ledger.tenant == ""
    assert await named.ledger.store.conversations() == ("c",)
    assert not (await variant.weave("hello", conversation="c")).messages


async def test_a_store_that_is_named_by_its_url_is_opened_for_the_tenant(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'skills.db'}"
    async with SqlSource(url) as store:
        await store.publish(make_skill("greet", keywords=["hello"]))
        await store.for_tenant("acme").publish(make_skill("welcome", keywords=["hello"]))
    for tenant, skills in (("acme", ["welcome"]), ("default", ["greet"]), ("", ["greet"]), ("zenith", [])):
        async with skillweave.open(url, counter=WordCounter(), tenant=tenant) as weaver:
            assert list(await weaver.skills.snapshot()) == skills


async def test_a_source_that_is_handed_in_keeps_its_own_tenant() -> None:
    shared = MemorySource(tenant="shared")
    await shared.publish(GREET)
    weaver = skillweave.open(shared, counter=WordCounter(), tenant="acme")
    assert (list(await weaver.skills.snapshot()), weaver.ledger.tenant) == (["greet"], "acme")


@pytest.mark.parametrize("tenant", ["a\0b", "a" * 10_000, "\ud800"], ids=["NUL", "long", "half of a pair"])
def test_what_cannot_be_a_tenant_is_refused_where_it_enters(tenant: str) -> None:
    with pytest.raises(InvalidValue, match="tenant"):
        skillweave.open(GREET, tenant=tenant)
    with pytest.raises(InvalidValue, match="tenant"):
        skillweave.open(GREET).variant(tenant=tenant)


async def test_a_weaver_gives_back_what_its_ledger_holds(tmp_path: Path) -> None:
    async with skillweave.open(GREET, ledger=tmp_path / "state.db", counter=WordCounter()) as weaver:
        await weaver.weave("hello", conversation="c")
    with pytest.raises(StoreUnavailable):
        await weaver.ledger.state("c")


def test_a_blocking_weaver_is_closed_by_a_plain_with(tmp_path: Path) -> None:
    with skillweave.open(GREET, ledger=tmp_path / "state.db", counter=WordCounter()).sync as weaver:
        assert weaver.weave("hello", conversation="c").skills == ("greet",)
    with pytest.raises(StoreUnavailable):
        weaver.ledger.state("c")


class NeedsTime(SeesTheIndex):
    """A matcher that cannot prepare."""

    name = "vector"

    async def prepare(self, index: object, turn: Turn, seconds: float) -> object:
        raise OSError("no model here")


async def test_a_matcher_that_cannot_prepare_is_told_and_costs_itself_alone() -> None:
    injection = await weaver_with(NeedsTime()).weave("hello", conversation="c")
    assert injection.skills == ("greet",)
    assert [diagnostic.code for diagnostic in injection.diagnostics] == ["matcher-unprepared"]
