"""Turns on skills that another process changes: what they see, how often they ask, and what a silent store costs."""

import asyncio
from dataclasses import dataclass, field

import pytest

from skillweave import MemorySource, MemoryStore, Outcome, Registry, State, StoreUnavailable, Weaver
from skillweave.errors import AgentNotFound
from skillweave.ledger import Delivery
from skillweave.registry import Agent
from skillweave.weaver import OnStoreFailure
from skillweave_testing import FailingSource, FailingStore, ManualClock, WordCounter
from tests.skills import make_skill
from tests.weaver.seeing import SeesTheIndex

DOCUMENT = "references/forms.md"
GREET = {"id": "greet", "description": "x", "triggers": {"keywords": ["hello"]}, "instructions": "Greet."}
OLD, NEW = make_skill("greet", keywords=["hello"]), make_skill("welcome", keywords=["hello"])


@dataclass
class Replica:
    """A Weaver on a store of skills that another replica publishes to, with clocks that are moved by hand."""

    clock: ManualClock = field(default_factory=ManualClock)
    store: MemorySource = field(default_factory=MemorySource)
    matcher: SeesTheIndex = field(default_factory=SeesTheIndex)

    def __post_init__(self) -> None:
        self.source = FailingSource(self.store, self.clock)
        self.ledger = FailingStore(MemoryStore())
        self.weaver = Weaver(
            Registry([self.source], clock=self.clock),
            self.ledger,
            counter=WordCounter(),
            matchers=("explicit", "triggers", self.matcher),
            fetch_seconds=0.02,
        )

    async def begun(self) -> "Replica":
        await self.store.publish(OLD)
        await self.weaver.weave("hello", conversation="before")
        self.source.asked.clear()
        return self


async def replica() -> Replica:
    return await Replica().begun()


async def test_every_verb_sees_a_publish_within_two_seconds_without_a_refresh() -> None:
    for verb in ("weave", "preview", "match"):
        one = await replica()
        await one.store.publish(NEW)
        one.clock.advance(2)
        if verb == "match":
            chosen = (await one.weaver.skills.match("hello", conversation="c")).chosen
            assert {candidate.skill_id for candidate in chosen} == {"greet", "welcome"}
        else:
            injection = await getattr(one.weaver, verb)("hello", conversation="c")
            assert set(injection.skills) == {"greet", "welcome"}


async def test_the_policy_between_turns_sees_a_rule_that_was_published() -> None:
    one = await replica()
    await one.weaver.weave("hello", conversation="c")
    await one.store.publish({"id": "greet", "description": "x", "tools": {"forbidden": ["shout"]}})
    one.clock.advance(2)
    assert (await one.weaver.current_policy("c")).tools.forbidden_tools == ("shout",)


async def test_a_tool_of_the_model_opens_a_skill_that_was_published() -> None:
    one = await replica()
    await one.store.publish(NEW)
    one.clock.advance(2)
    assert not (await one.weaver.tools.read_skill("welcome", conversation="c")).failed


async def test_a_thousand_turns_in_ten_seconds_ask_for_the_version_ten_times() -> None:
    one = await replica()
    for number in range(1000):
        one.clock.advance(0.01)
        await one.weaver.preview("hello", conversation=f"c{number}")
    assert (one.source.asked["version"], one.source.asked["load"]) == (10, 0)


async def test_simultaneous_turns_of_all_variants_share_one_comparison() -> None:
    one = await replica()
    await one.store.put_agents([Agent("clerk", skills=("greet",))])
    one.clock.advance(1)
    clerk = await one.weaver.for_agent("clerk")
    one.clock.advance(1)
    one.source.asked.clear()
    weavers = [one.weaver, one.weaver.variant(tenant="acme"), clerk]
    await asyncio.gather(*(weavers[n % 3].weave("hello", conversation=f"c{n}") for n in range(30)))
    assert one.source.asked["version"] == 1


async def test_an_agent_that_another_process_takes_away_is_gone_within_two_seconds() -> None:
    one = await replica()
    await one.store.put_agents([Agent("clerk", skills=("greet",))])
    one.clock.advance(1)
    clerk = await one.weaver.for_agent("clerk")
    await one.store.remove_agent("clerk")
    one.clock.advance(2)
    with pytest.raises(AgentNotFound):
        await clerk.weave("hello", conversation="c")


@pytest.mark.parametrize("how", ["down", "silent"])
async def test_a_store_of_skills_that_does_not_answer_costs_no_turn_and_compiles_nothing_anew(how: str) -> None:
    one = await replica()
    getattr(one.source, how).add("version")
    one.clock.advance(1)
    injections = await asyncio.gather(*(one.weaver.weave("hello", conversation=f"c{n}") for n in range(10)))
    assert {injection.skills for injection in injections} == {("greet",)}
    assert all([found.code for found in one.diagnostics] == ["skills-may-be-old"] for one in injections)
    assert all(injection.revision is not None for injection in injections)
    assert (one.source.asked["version"], len(one.matcher.seen)) == (1, 1)


async def test_previews_matches_and_policies_say_it_too() -> None:
    one = await replica()
    await one.weaver.weave("hello", conversation="c")
    held = await one.weaver.current_policy("c")
    one.source.down.add("version")
    one.clock.advance(1)
    answers = (
        await one.weaver.preview("hello", conversation="c"),
        await one.weaver.skills.match("hello", conversation="c"),
        await one.weaver.current_policy("c"),
        await one.weaver.current_policy("c", held=held),
    )
    assert [[found.code for found in answer.diagnostics] for answer in answers] == [["skills-may-be-old"]] * 4


async def test_when_the_store_answers_again_nothing_is_said_any_more() -> None:
    one = await replica()
    one.source.down.add("version")
    one.clock.advance(1)
    assert (await one.weaver.weave("hello", conversation="c")).diagnostics
    one.source.down.clear()
    one.clock.advance(1)
    assert not (await one.weaver.weave("hello", conversation="d")).diagnostics


async def test_a_process_that_never_read_its_skills_says_so_and_tries_again_in_the_next_turn() -> None:
    one = Replica()
    await one.store.publish(OLD)
    one.source.down.add("version")
    with pytest.raises(StoreUnavailable) as refusal:
        await one.weaver.weave("hello", conversation="c")
    assert refusal.value.retry_after == 1.0
    one.source.down.clear()
    assert (await one.weaver.weave("hello", conversation="c")).skills == ("greet",)


async def test_a_refresh_by_hand_reads_at_once_as_before() -> None:
    one = await replica()
    await one.store.publish(NEW)
    assert (await one.weaver.skills.refresh()).added == ("welcome",)
    assert set((await one.weaver.weave("hello", conversation="c")).skills) == {"greet", "welcome"}


class PublishesMeanwhile(MemoryStore):
    """A ledger during whose load another process publishes, and another turn reads it."""

    def __init__(self, one: Replica) -> None:
        super().__init__()
        self.one = one

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        await self.one.store.publish(GREET | {"instructions": "New."}, {DOCUMENT: "New document."})
        await self.one.weaver.skills.refresh()
        return await super().load(conversation, tenant=tenant)


async def test_the_document_of_a_skill_is_that_of_the_version_which_the_turn_gives() -> None:
    one = await documented()
    late = Weaver(one.weaver.skills.registry, PublishesMeanwhile(one), counter=WordCounter())
    await late.skills.snapshot()
    text = (await late.weave("hello", conversation="c")).messages[0].text
    assert ("Greet." in text, "Bonjour." in text, "New" in text) == (True, True, False)
    text = (await late.weave("hello", conversation="d")).messages[0].text
    assert ("New." in text, "New document." in text) == (True, True)


# -- which store is silent matters -----------------------------------------------------------------------------------


async def documented() -> Replica:
    one = Replica()
    await one.store.publish(GREET, {DOCUMENT: "Bonjour."})
    await one.weaver.weave("nothing", conversation="before")
    return one


@pytest.mark.parametrize("policy", list(OnStoreFailure))
@pytest.mark.parametrize("how", ["down", "silent"])
async def test_a_document_that_cannot_be_read_is_no_ledger_that_does_not_answer(
    how: str, policy: OnStoreFailure
) -> None:
    one = await documented()
    one.weaver = Weaver(
        one.weaver.skills.registry, one.ledger, counter=WordCounter(), on_store_failure=policy, fetch_seconds=0.02
    )
    getattr(one.source, how).add("read")
    injection = await one.weaver.weave("hello", conversation="c")
    assert injection.skills == ("greet",)
    assert injection.diagnostics == ()
    assert injection.revision == 1
    failed = [decision for decision in injection.decisions if decision.outcome is Outcome.FAILED]
    assert [(decision.skill_id, DOCUMENT in decision.reason) for decision in failed] == [("greet", True)]
    assert one.ledger.asked["load"] - 1 == 1
    (record,) = [one for one in (await one.weaver.ledger.state("c")).records if one.key == "skill:greet"]
    assert record.state is Delivery.GIVEN


async def test_a_ledger_that_does_not_answer_says_nothing_about_the_skills_and_the_other_way_round() -> None:
    one = await replica()
    one.ledger.down.update({"load", "swap"})
    without_ledger = await one.weaver.weave("hello", conversation="c")
    assert [found.code for found in without_ledger.diagnostics] == ["ledger-unavailable"]
    one.source.down.add("version")
    one.clock.advance(1)
    without_both = await one.weaver.weave("hello", conversation="c")
    assert {found.code for found in without_both.diagnostics} == {"ledger-unavailable", "skills-may-be-old"}
    assert without_both.skills == ("greet",)
