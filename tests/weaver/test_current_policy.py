import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillweave
from skillweave import (
    Budget,
    CatalogMode,
    Checkpoint,
    MemoryStore,
    Placement,
    Ruling,
    Settings,
    State,
    StoreUnavailable,
    ToolRules,
    Weaver,
    WhenUnknown,
)
from skillweave.errors import InvalidTurn
from skillweave.ledger import Lifecycle, Writes
from skillweave.skills import CheckpointScope
from skillweave.tools import OnlySkillTools, Refusal, ToolLimits
from skillweave_testing import FailingStore, WordCounter
from tests.depth import tried
from tests.skills import make_skill

INVOICE = make_skill(
    "invoice",
    keywords=["invoice"],
    tools=ToolRules(forbidden=("write",)),
    checkpoints=[Checkpoint("release", before="pay", scope=CheckpointScope.CONVERSATION)],
)
GREET = make_skill("greet", keywords=["hello"])


def weaver_of(store: FailingStore | None = None, unknown: WhenUnknown = WhenUnknown.DENY) -> Weaver:
    return skillweave.open(INVOICE, GREET, ledger=store, counter=WordCounter(), when_unknown=unknown)


def failing() -> FailingStore:
    return FailingStore(MemoryStore())


async def test_what_is_in_force_between_two_turns_is_that_of_the_last_one() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("the invoice", conversation="c")
    now = await weaver.current_policy("c")
    assert now.tools == injection.tools
    assert now.checkpoints == injection.checkpoints


@pytest.mark.parametrize("placement", Placement)
async def test_asking_changes_nothing(placement: Placement) -> None:
    weaver = weaver_of()
    await weaver.weave("the invoice", conversation="c", placement=placement)
    before = await weaver.ledger.state("c")
    for _ in range(5):
        now = await weaver.current_policy("c", placement=placement)
        assert now.tools.authorize("write").ruling is Ruling.DENY
    assert await weaver.ledger.state("c") == before


async def test_a_conversation_that_nobody_knows_restricts_nothing() -> None:
    now = await weaver_of().current_policy("new")
    assert now.tools.authorize("write").ruling is Ruling.ALLOW


async def test_a_verdict_counts_at_once() -> None:
    weaver = weaver_of()
    await weaver.weave("the invoice", conversation="c")
    assert (await weaver.current_policy("c")).tools.authorize("pay").ruling is Ruling.ASK
    await weaver.approvals.decide("c", "invoice", "release", "approved", by="Ann")
    assert (await weaver.current_policy("c")).tools.authorize("pay").ruling is Ruling.ALLOW


async def test_grant_and_limits_bound_it() -> None:
    limits = ToolLimits(allowed=("read",))
    now = await weaver_of().current_policy("c", tools=["read", "pay"], limits=limits)
    assert now.tools.offers(["read", "pay", "other"]) == ("read",)


async def test_a_ledger_that_does_not_answer_frees_what_it_forbade_and_says_so_where_the_host_allows_it() -> None:
    store = failing()
    weaver = weaver_of(store, WhenUnknown.ALLOW)
    await weaver.weave("the invoice", conversation="c")
    store.down.add("load")
    now = await weaver.current_policy("c")
    assert now.tools.authorize("write").ruling is Ruling.ALLOW
    assert [found.code for found in now.diagnostics] == ["ledger-unavailable"]


async def test_a_call_that_a_state_nobody_can_read_would_have_to_judge_is_denied_with_its_own_code() -> None:
    store = failing()
    weaver = weaver_of(store)
    store.down.add("load")
    now = await weaver.current_policy("c")
    verdict = now.tools.authorize("read")
    assert (verdict.ruling, verdict.code, verdict.rule) == (Ruling.DENY, Refusal.STATE_UNAVAILABLE, None)
    assert "try again later" in verdict.message


async def test_without_rules_and_checkpoints_in_any_skill_an_unread_state_denies_nothing() -> None:
    store = failing()
    weaver = skillweave.open(GREET, ledger=store, counter=WordCounter())
    store.down.add("load")
    assert (await weaver.current_policy("c")).tools.authorize("read").ruling is Ruling.ALLOW


@pytest.mark.parametrize(("conversation", "limits"), [("c/helper", None), ("c", ToolLimits(allowed=("read",)))])
async def test_the_calls_of_a_sub_agent_whose_state_is_unread_are_denied_whatever_the_skills_say(
    conversation: str, limits: ToolLimits | None
) -> None:
    store = failing()
    weaver = skillweave.open(GREET, ledger=store, counter=WordCounter())
    store.down.add("load")
    now = await weaver.current_policy(conversation, limits=limits)
    assert now.tools.authorize("read").code is Refusal.STATE_UNAVAILABLE


async def test_the_denial_for_a_damaged_state_names_the_command_that_clears_it(tmp_path: Path) -> None:
    weaver = skillweave.open(INVOICE, ledger=tmp_path / "ledger.db", counter=WordCounter())
    await weaver.weave("the invoice", conversation="c")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:
        file.execute("UPDATE states SET document = 'x'")
    verdict = (await weaver.current_policy("c")).tools.authorize("read")
    assert verdict.code is Refusal.STATE_UNAVAILABLE
    assert "skillweave ledger clear" in verdict.message
    await weaver.close()


class _Hiccup(MemoryStore):
    """A ledger whose next reads fail as those of a server that restarts."""

    failing = 0

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        if self.failing:
            self.failing -= 1
            raise StoreUnavailable("restarting", retry_after=1.0)
        return await super().load(conversation, tenant=tenant)


async def test_a_hiccup_of_the_ledger_is_no_denial() -> None:
    store = _Hiccup()
    weaver = skillweave.open(INVOICE, ledger=store, counter=WordCounter())
    await weaver.weave("the invoice", conversation="c")
    store.failing = 2
    now = await weaver.current_policy("c")
    assert (now.tools.authorize("read").ruling, now.diagnostics) == (Ruling.ALLOW, ())


async def test_an_empty_conversation_id_is_refused() -> None:
    with pytest.raises(InvalidTurn):
        await weaver_of().current_policy("")


def test_the_blocking_twin_answers_the_same() -> None:
    weaver = weaver_of()
    weaver.sync.weave("the invoice", conversation="c")
    assert weaver.sync.current_policy("c").tools.authorize("write").ruling is Ruling.DENY


def test_a_variant_has_other_settings_over_the_same_ledger() -> None:
    weaver = weaver_of()
    variant = weaver.variant(Settings(catalog=CatalogMode.ALWAYS, max_skills=1))
    assert variant.sync.weave("the invoice", conversation="c").catalog
    assert weaver.sync.weave("and now", conversation="c").catalog != variant.sync.weave("?", conversation="d").catalog
    assert weaver.sync.weave("the invoice", conversation="c").messages == ()


def test_a_variant_has_other_matchers() -> None:
    variant = weaver_of().variant(matchers=("explicit",))
    assert variant.skills.matchers == ("explicit",)
    assert variant.sync.weave("the invoice", conversation="c").skills == ()


def test_a_variant_leaves_the_weaver_as_it_is() -> None:
    weaver = weaver_of()
    sync = weaver.sync
    variant = weaver.variant(Settings(max_skills=1), ["explicit"])
    assert (weaver.settings.max_skills, weaver.skills.matchers) != (
        variant.settings.max_skills,
        variant.skills.matchers,
    )
    assert weaver.sync is sync
    assert variant.sync is not sync


def test_what_awaits_a_weaver_runs_on_its_own_loop() -> None:
    weaver = weaver_of()

    async def both() -> tuple[str, ...]:
        return (await weaver.weave("the invoice", conversation="c")).skills

    assert weaver.sync.run(both()) == ("invoice",)


def test_a_variant_runs_on_the_loop_of_its_weaver() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    weaver = weaver_of()
    variant = weaver.variant(matchers=("explicit",))
    assert variant.sync.run(loop()) is weaver.sync.run(loop())
    weaver.sync.close()


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize("total", [80, 100, 120, 400])
async def test_of_skills_that_do_not_all_fit_those_bind_that_the_last_call_showed(
    placement: Placement, total: int
) -> None:
    long = "word " * 40
    writer = make_skill("a", keywords=["both"], instructions=long, tools=ToolRules(forbidden=("write",)))
    editor = make_skill("b", keywords=["both"], instructions=long, tools=ToolRules(forbidden=("edit",)))
    settings = Settings(budget=Budget(total=total), catalog=CatalogMode.NEVER)
    weaver = skillweave.open(writer, editor, counter=WordCounter(), settings=settings)
    injection = await weaver.weave("both", conversation="c", placement=placement)
    assert set((await weaver.current_policy("c", placement=placement)).tools.forbidden_tools) == set(
        injection.tools.forbidden_tools
    )
    again = await weaver.weave("go on", conversation="c", placement=placement)
    assert set(again.tools.forbidden_tools) >= set(injection.tools.forbidden_tools)


async def test_the_line_that_stands_in_for_skills_takes_no_room_from_one_in_force() -> None:
    settings = Settings(budget=Budget(total=52, per_skill=52), catalog=CatalogMode.FALLBACK)
    text = " ".join(["word"] * 22)
    careful = make_skill("careful", keywords=["careful"], instructions=text, tools=ToolRules(forbidden=("write",)))
    weaver = skillweave.open(careful, GREET, settings=settings, counter=WordCounter())
    first = await weaver.weave("careful", conversation="c", placement=Placement.CALL)
    assert 0 < first.tokens.left < 10
    then = await weaver.weave("and now?", conversation="c", placement=Placement.CALL)
    assert ([block.text for block in then.blocks], then.fallback) == ([block.text for block in first.blocks], None)
    assert then.tools.authorize("write").ruling is Ruling.DENY


async def test_one_look_into_the_ledger_is_enough_and_nothing_is_written() -> None:
    store = failing()
    weaver = weaver_of(store)
    await weaver.weave("the invoice", conversation="c")
    store.asked.clear()
    await weaver.current_policy("c")
    assert store.asked == {"load": 1}


async def test_to_judge_a_call_with_the_injection_of_its_turn_reads_nothing() -> None:
    store = failing()
    weaver = weaver_of(store)
    injection = await weaver.weave("the invoice", conversation="c")
    store.asked.clear()
    assert (await weaver.authorize(injection, "write")).ruling is Ruling.DENY
    assert not store.asked


@pytest.mark.parametrize("placement", Placement)
async def test_a_policy_that_the_host_holds_is_handed_back_while_the_state_is_the_same(placement: Placement) -> None:
    weaver = weaver_of()
    injection = await weaver.weave("the invoice", conversation="c", placement=placement)
    first = await weaver.current_policy("c", placement=placement, held=injection)
    assert first.tools is injection.tools
    assert await weaver.current_policy("c", placement=placement, held=first) is first


async def test_a_policy_that_the_host_holds_is_not_handed_back_after_a_verdict() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("the invoice", conversation="c")
    await weaver.approvals.decide("c", "invoice", "release", "approved", by="Ann")
    now = await weaver.current_policy("c", held=injection)
    assert now.tools.authorize("pay").ruling is Ruling.ALLOW


async def test_a_policy_that_the_host_holds_of_an_agent_with_other_tools_is_not_handed_back() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("the invoice", conversation="c", tools=["pay", "read"])
    now = await weaver.current_policy("c", tools=["read"], held=injection)
    assert now.tools.grant == ("read",)


async def test_what_a_preview_answers_is_never_taken_for_a_stored_turn() -> None:
    weaver = weaver_of()
    previewed = await weaver.preview("the invoice", conversation="c")
    assert previewed.revision is None
    await weaver.weave("hello", conversation="c")
    now = await weaver.current_policy("c", held=previewed)
    assert now.tools.authorize("write").ruling is Ruling.ALLOW


async def test_a_policy_of_another_conversation_is_not_handed_back() -> None:
    weaver = weaver_of()
    other = await weaver.weave("the invoice", conversation="other")
    await weaver.weave("hello", conversation="c")
    now = await weaver.current_policy("c", held=other)
    assert now.tools.authorize("write").ruling is Ruling.ALLOW


async def test_a_policy_that_the_host_holds_counts_no_more_when_the_skills_have_changed() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("the invoice", conversation="c")
    weaver.skills.registry.register(make_skill("late", keywords=["late"]))
    now = await weaver.current_policy("c", held=injection)
    assert now.generation > injection.generation


async def test_of_a_state_that_does_not_say_what_the_latest_call_had_all_that_is_wanted_binds() -> None:
    store = MemoryStore()
    weaver = skillweave.open(INVOICE, ledger=store, counter=WordCounter())
    await weaver.weave("the invoice", conversation="c", placement=Placement.CALL)
    state, _ = await store.load("c")
    assert state.in_call == ("invoice",)
    assert await store.swap("c", state.revision, Writes(replace(state, in_call=None)))  # as a version before wrote it
    now = await weaver.current_policy("c", placement=Placement.CALL)
    assert now.tools.authorize("write").ruling is Ruling.DENY


RULES = st.builds(
    ToolRules,
    st.none() | st.lists(st.sampled_from("abc"), max_size=2).map(tuple),
    st.lists(st.sampled_from("abc"), max_size=2).map(tuple),
)


@tried(20)
@given(
    st.lists(RULES, min_size=1, max_size=4),
    st.lists(st.sets(st.integers(0, 3), max_size=3), min_size=1, max_size=4),
    st.sampled_from(Placement),
    st.integers(1, 60),
    st.sampled_from([None, *Lifecycle]),
)
async def test_between_two_turns_the_policy_is_that_of_the_last_turn(
    rules: list[ToolRules], said: list[set[int]], placement: Placement, budget: int, lifecycle: Lifecycle | None
) -> None:
    skills = [
        make_skill(f"s{number}", keywords=[f"word{number}"], instructions="do it " * 5, tools=rule)
        for number, rule in enumerate(rules)
    ]
    chosen = Settings(
        budget=Budget(total=budget), only_skill_tools=OnlySkillTools.ALWAYS, lifecycle=lifecycle, max_skills=2
    )
    weaver = skillweave.open(*skills, settings=chosen, counter=WordCounter())
    for words in said:
        message = " ".join(f"word{number}" for number in sorted(words)) or "nothing"
        injection = await weaver.weave(message, conversation="c", placement=placement)
        now = await weaver.current_policy("c", placement=placement)
        assert now.tools == injection.tools
        assert now.checkpoints == injection.checkpoints
