from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import (
    Budget,
    CatalogMode,
    Evidence,
    MemoryStore,
    Outcome,
    Registry,
    Role,
    Ruling,
    Settings,
    Skill,
    SkillweaveError,
    ToolRules,
    Weaver,
)
from skillweave.ledger import FallbackKind
from skillweave.selection import Candidate, MatchContext, Selection
from skillweave.sources import InCode
from skillweave.tools import SkillTools
from tests.skills import make_skill


class Offers:
    """A matcher that offers the skill `s-07` where 07 stands in the message."""

    name, strength, deliberate = "offers", 5, False

    def match(self, context: MatchContext) -> Selection:
        words = "" if context.message is None else context.message.original.split()
        ids = [f"s-{word.strip('.')}" for word in words if f"s-{word.strip('.')}" in context.skills.positions]
        evidence = (Evidence("terms", "word"),)
        return Selection(offered=tuple(Candidate(one, 0.5, self.name, evidence, probability=0.4) for one in ids))


def shelf(count: int = 300) -> list[Skill]:
    told = "Does something that takes a while to tell, and more."
    return [make_skill(f"s-{n:02}", description=told) for n in range(count)]


def weaver_of(skills: Sequence[Skill] | None = None, settings: Settings | None = None) -> Weaver:
    matchers = ("explicit", "triggers", Offers())
    return Weaver(Registry([InCode(*(skills or shelf()))]), MemoryStore(), settings, matchers=matchers)


async def test_what_is_offered_stands_in_the_tail_by_relevance_and_nowhere_else() -> None:
    injection = await weaver_of().weave("07 03", conversation="c")
    assert injection.offered == ("s-07", "s-03")
    assert [line[2:6] for line in injection.tail.splitlines() if line.startswith("- ")] == ["s-07", "s-03"]
    assert (injection.instructions, injection.messages, injection.fallback) == ("", (), None)
    assert [one.outcome for one in injection.decisions] == [Outcome.OFFERED, Outcome.OFFERED]
    assert injection.decisions[0].reason == "40% likely: listed at the end of the call, for the model to open"


async def test_the_tail_counts_as_catalog_and_keeps_to_its_budget() -> None:
    injection = await weaver_of(settings=Settings(Budget(shortlist=60))).weave("01 02 03", conversation="c")
    assert injection.offered == ("s-01",)
    assert 0 < injection.tokens.catalog <= 60
    outcomes = {one.skill_id: one.outcome for one in injection.decisions}
    assert outcomes == {"s-01": Outcome.OFFERED, "s-02": Outcome.OVER_BUDGET, "s-03": Outcome.OVER_BUDGET}


async def test_the_calls_of_a_tool_loop_end_with_the_same_bytes() -> None:
    weaver = weaver_of()
    first = await weaver.weave("07 03", conversation="c")
    after = [
        await weaver.weave("", conversation="c", role=Role.TOOL),
        await weaver.weave("I call 55", conversation="c", role=Role.ASSISTANT),
        await weaver.weave("", conversation="c", role=Role.TOOL),
    ]
    assert {one.tail for one in after} == {first.tail}
    assert (await weaver.weave("thank you", conversation="c")).tail == ""


async def test_opening_an_offered_skill_does_not_change_the_tail_of_the_loop() -> None:
    weaver = weaver_of()
    first = await weaver.weave("07 03", conversation="c")
    await weaver.tools.read_skill("s-07", conversation="c")
    assert (await weaver.weave("", conversation="c", role=Role.TOOL)).tail == first.tail


async def test_no_rule_of_a_skill_counts_for_having_been_offered() -> None:
    weaver = weaver_of([*shelf(), make_skill("s-gu", tools=ToolRules(forbidden=("shell",)))])
    injection = await weaver.weave("gu", conversation="c")
    assert injection.offered == ("s-gu",)
    assert injection.tools.authorize("shell").ruling is Ruling.ALLOW
    assert (await weaver.ledger.state("c")).engaged == ()


async def test_what_is_engaged_is_not_offered() -> None:
    weaver = weaver_of([*shelf(), make_skill("tea", keywords=["tea"])])
    await weaver.weave("tea please", conversation="c")
    assert (await weaver.weave("tea 01", conversation="c")).offered == ("s-01",)


async def test_a_skill_that_the_agent_may_not_have_is_not_offered() -> None:
    settings = Settings(granted=frozenset(f"s-{n:02}" for n in range(1, 300)))
    assert (await weaver_of(settings=settings).weave("00 01", conversation="c")).offered == ("s-01",)


async def test_where_the_whole_catalog_fits_it_stands_in_every_call_and_there_is_no_tail() -> None:
    weaver = weaver_of(shelf(5))
    hit = await weaver.weave("01", conversation="c")
    miss = await weaver.weave("nothing", conversation="c")
    assert hit.instructions == miss.instructions == hit.catalog
    assert (hit.tail, miss.tail) == ("", "")
    (decision,) = hit.decisions
    assert (decision.outcome, decision.reason) == (
        Outcome.OFFERED,
        "40% likely: the catalog in the call lists it, for the model to open",
    )


@pytest.mark.parametrize("mode", [CatalogMode.NEVER, CatalogMode.FALLBACK])
async def test_in_the_older_modes_nothing_is_offered_and_the_decision_says_so(mode: CatalogMode) -> None:
    injection = await weaver_of(settings=Settings(catalog=mode)).weave("01", conversation="c")
    assert injection.offered == ()
    (decision,) = injection.decisions
    assert decision.outcome is Outcome.BELOW_THRESHOLD
    assert f"`{mode}`" in decision.reason


async def test_a_question_about_the_skills_is_answered_by_relevance() -> None:
    injection = await weaver_of().weave("40. What can you do?", conversation="c")
    assert injection.fallback is not None and injection.fallback.kind is FallbackKind.CATALOG
    assert injection.tail.splitlines()[2].startswith("- s-40: ")
    assert injection.tail.splitlines()[-1].startswith("Showing ")


async def test_a_question_about_a_subject_is_answered_by_what_is_about_it() -> None:
    injection = await weaver_of().weave("40 13. Which skills do you have for cooking?", conversation="c")
    assert [line[2:6] for line in injection.tail.splitlines() if line.startswith("- ")] == ["s-40", "s-13"]


async def test_the_sentence_names_the_tool_where_the_model_has_it() -> None:
    marker = await weaver_of().weave("01", conversation="c")
    tool = await weaver_of(settings=Settings(skill_tools=SkillTools.OFFERED)).weave("01", conversation="c")
    assert "write SKILL_SELECT:<id>" in marker.tail
    assert "call read_skill" in tool.tail


async def test_a_replay_says_the_same() -> None:
    weaver = weaver_of()
    first = await weaver.weave("01 02", conversation="c", turn_id="t")
    assert (await weaver.weave("01 02", conversation="c", turn_id="t")).tail == first.tail


def test_the_budget_of_a_large_window_is_an_eighth_of_it_with_its_parts_in_proportion() -> None:
    assert Settings.for_window(200_000).budget == Budget()
    assert Settings.for_window(400_000).budget == Budget(
        total=50_000, catalog=4_000, shortlist=800, per_skill=16_000, context=8_000
    )


@pytest.mark.parametrize(("window", "total", "per_skill"), [(8_192, 4_000, 4_000), (32_000, 4_000, 4_000)])
def test_the_budget_of_a_small_window_holds_an_ordinary_skill(window: int, total: int, per_skill: int) -> None:
    budget = Settings.for_window(window).budget
    assert (budget.total, budget.per_skill) == (total, per_skill)


def test_half_of_the_smallest_window_is_left_for_the_conversation() -> None:
    assert Settings.for_window(4_000).budget.total == 2_000


@given(window=st.integers(4_000, 2_000_000))
def test_a_larger_window_never_has_a_smaller_budget(window: int) -> None:
    less, more = Settings.for_window(window).budget, Settings.for_window(window + 1).budget
    assert less.total <= more.total
    assert less.per_skill <= more.per_skill <= more.total


def test_a_window_without_room_for_a_skill_is_refused() -> None:
    with pytest.raises(SkillweaveError, match="3999 tokens has no room"):
        Settings.for_window(3_999)
