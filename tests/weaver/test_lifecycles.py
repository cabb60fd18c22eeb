from collections.abc import Mapping

from skillweave import (
    Budget,
    CatalogMode,
    Injection,
    MemoryStore,
    Message,
    Outcome,
    Placement,
    Registry,
    Role,
    Settings,
    Skill,
    ToolRules,
    Weaver,
)
from skillweave.ledger import Lifecycle
from skillweave.sources import InCode
from skillweave_testing import WordCounter
from tests.skills import make_skill

GREET = make_skill("greet-people", keywords=["hello"])
INVOICE = make_skill("check-invoice", keywords=["invoice"])
CAREFUL = make_skill("careful-one", keywords=["careful"], tools=ToolRules(forbidden=("write",)))


def weaver_of(*skills: Skill, settings: Settings | None = None, **lifecycles: Lifecycle) -> Weaver:
    by_id = {name.replace("_", "-"): lifecycle for name, lifecycle in lifecycles.items()}
    chosen = settings or Settings(lifecycles=by_id, catalog=CatalogMode.NEVER)
    return Weaver(Registry([InCode(*skills)]), MemoryStore(), chosen, counter=WordCounter())


async def engaged(weaver: Weaver) -> list[str]:
    return [entry.skill_id for entry in (await weaver.ledger.state("c")).engaged]


def reasons(injection: Injection) -> Mapping[str, str]:
    return {decision.skill_id: decision.reason for decision in injection.decisions}


async def test_a_message_skill_leaves_with_the_next_user_message() -> None:
    weaver = weaver_of(GREET, greet_people=Lifecycle.MESSAGE)
    await weaver.weave("hello", conversation="c")
    assert await engaged(weaver) == ["greet-people"]
    left = await weaver.weave("something else", conversation="c")
    assert await engaged(weaver) == []
    assert (
        reasons(left)["greet-people"]
        == "left: it applied to the user message that matched it, and this is the next one"
    )


async def test_a_message_skill_stays_for_every_model_call_of_its_message() -> None:
    weaver = weaver_of(CAREFUL, careful_one=Lifecycle.MESSAGE)
    await weaver.weave("careful", conversation="c")
    for role in (Role.ASSISTANT, Role.TOOL, Role.TOOL):
        injection = await weaver.weave("the result", conversation="c", role=role)
        assert injection.tools.forbidden_tools == ("write",)
    assert (await weaver.weave("thanks", conversation="c")).tools.forbidden_tools == ()


async def test_a_message_skill_that_is_matched_again_stays() -> None:
    weaver = weaver_of(GREET, greet_people=Lifecycle.MESSAGE)
    for _ in range(3):
        await weaver.weave("hello", conversation="c")
    assert await engaged(weaver) == ["greet-people"]


async def test_a_message_skill_that_comes_back_is_not_given_twice() -> None:
    weaver = weaver_of(GREET, greet_people=Lifecycle.MESSAGE)
    first = await weaver.weave("hello", conversation="c")
    history = [Message(Role.USER, "hello"), *first.messages, Message(Role.USER, "other")]
    await weaver.weave("other", conversation="c", transcript=history)
    again = await weaver.weave("hello", conversation="c", transcript=[*history, Message(Role.USER, "hello")])
    assert again.messages == ()
    assert await engaged(weaver) == ["greet-people"]


async def test_a_replayed_turn_finds_a_message_skill_as_the_first_run_did() -> None:
    weaver = weaver_of(GREET, INVOICE, greet_people=Lifecycle.MESSAGE)
    await weaver.weave("hello", conversation="c")
    first = await weaver.weave("the invoice", conversation="c", turn_id="t")
    state = await weaver.ledger.state("c")
    again = await weaver.weave("the invoice", conversation="c", turn_id="t")
    assert again.messages == first.messages
    assert await weaver.ledger.state("c") == state


async def test_in_call_placement_a_message_skill_is_gone_with_its_message() -> None:
    weaver = weaver_of(GREET, greet_people=Lifecycle.MESSAGE)
    await weaver.weave("hello", conversation="c", placement=Placement.CALL)
    tool = await weaver.weave("found", conversation="c", role=Role.TOOL, placement=Placement.CALL)
    assert tool.skills == ("greet-people",)
    assert (await weaver.weave("next", conversation="c", placement=Placement.CALL)).skills == ()


async def test_a_pinned_skill_outlasts_every_age_and_every_limit() -> None:
    others = [make_skill(f"skill-{n}", keywords=[f"word{n}"]) for n in range(6)]
    settings = Settings(lifecycles={"greet-people": Lifecycle.PINNED}, max_skills=2, catalog=CatalogMode.NEVER)
    weaver = weaver_of(GREET, *others, settings=settings)
    await weaver.weave("hello", conversation="c", placement=Placement.CALL)
    for n in range(6):
        injection = await weaver.weave(f"word{n}", conversation="c", placement=Placement.CALL)
        assert "greet-people" in injection.skills
    assert await engaged(weaver) == ["greet-people", "skill-4", "skill-5"]


async def test_a_pinned_skill_does_not_use_up_a_recent_ones_place() -> None:
    others = [make_skill(f"skill-{n}", keywords=["go"]) for n in range(2)]
    settings = Settings(lifecycles={"greet-people": Lifecycle.PINNED}, max_skills=2, catalog=CatalogMode.NEVER)
    weaver = weaver_of(GREET, *others, settings=settings)
    await weaver.weave("hello", conversation="c", placement=Placement.CALL)
    assert len((await weaver.weave("go", conversation="c", placement=Placement.CALL)).skills) == 3


async def test_when_the_budget_is_short_the_pinned_skill_is_served_first() -> None:
    pinned = make_skill("pinned-one", keywords=["pin"], instructions="p " * 60)
    wanted = make_skill("wanted-one", keywords=["go"], instructions="w " * 60)
    settings = Settings(Budget(total=100), lifecycles={"pinned-one": Lifecycle.PINNED}, catalog=CatalogMode.NEVER)
    weaver = weaver_of(pinned, wanted, settings=settings)
    await weaver.weave("pin", conversation="c")
    after_compaction = await weaver.weave("go", conversation="c", transcript=[])
    assert "p p p" in after_compaction.messages[0].text
    outcomes = {decision.skill_id: decision.outcome for decision in after_compaction.decisions}
    assert outcomes == {"pinned-one": Outcome.INJECTED, "wanted-one": Outcome.OVER_BUDGET}


async def dropped_for(lifecycle: Lifecycle) -> list[str]:
    old = make_skill("old-one", keywords=["old"], instructions="o " * 60, requires=["its-companion"])
    companion = make_skill("its-companion", keywords=["friend"], instructions="c " * 20)
    new = make_skill("new-one", keywords=["new"], instructions="n " * 60)
    settings = Settings(Budget(total=150), lifecycles={"old-one": lifecycle}, catalog=CatalogMode.NEVER)
    weaver = weaver_of(old, companion, new, settings=settings)
    await weaver.weave("old friend", conversation="c")
    await weaver.weave("nothing", conversation="c")
    return sorted(drop.skill_id for drop in (await weaver.weave("new", conversation="c")).drop)


async def test_a_pinned_skill_never_makes_room_nor_does_its_companion() -> None:
    assert await dropped_for(Lifecycle.PINNED) == []
    assert await dropped_for(Lifecycle.CONVERSATION) == ["its-companion", "old-one"]


async def test_a_skill_that_has_left_makes_room_before_one_that_is_engaged() -> None:
    left = make_skill("left-one", keywords=["left"], instructions="l " * 40)
    stays = make_skill("stays-on", keywords=["stays"], instructions="s " * 40)
    new = make_skill("new-one", keywords=["new"], instructions="n " * 60)
    lifecycles = {"left-one": Lifecycle.MESSAGE}
    settings = Settings(Budget(total=180), lifecycles=lifecycles, catalog=CatalogMode.NEVER)
    weaver = weaver_of(left, stays, new, settings=settings)
    await weaver.weave("stays", conversation="c")
    await weaver.weave("left", conversation="c")
    injection = await weaver.weave("new", conversation="c")
    assert [drop.skill_id for drop in injection.drop] == ["left-one"]
    assert injection.skills == ("new-one",)


async def test_one_skill_may_live_shorter_than_the_others() -> None:
    settings = Settings(lifecycle=Lifecycle.PINNED, lifecycles={"greet-people": Lifecycle.MESSAGE})
    weaver = weaver_of(GREET, INVOICE, settings=settings)
    await weaver.weave("hello, an invoice", conversation="c")
    await weaver.weave("go on", conversation="c")
    state = await weaver.ledger.state("c")
    assert [(entry.skill_id, entry.lifecycle) for entry in state.engaged] == [("check-invoice", Lifecycle.PINNED)]


async def test_a_lifecycle_for_a_skill_that_is_not_there_is_a_warning_and_no_error() -> None:
    weaver = weaver_of(GREET, greet_poeple=Lifecycle.PINNED)
    assert (await weaver.weave("hello", conversation="c")).skills == ("greet-people",)
    (found,) = [one for one in await weaver.skills.diagnostics() if one.code == "lifecycle-unknown-skill"]
    assert found.message == "Settings.lifecycles['greet-poeple'] is about no skill that there is"
    assert found.fix == "did you mean 'greet-people'?"
