import pytest

from skillweave import (
    Budget,
    CatalogMode,
    Checkpoint,
    Injection,
    MemoryStore,
    Message,
    Outcome,
    Placement,
    Registry,
    Role,
    Settings,
    Skill,
    SkillNotFound,
    ToolRules,
    Weaver,
)
from skillweave.ledger import Lifecycle
from skillweave.skills import ArtifactRef
from skillweave.sources import InCode
from skillweave.turns import Left
from skillweave_testing import KnownContext, WordCounter
from tests.skills import make_skill

CAREFUL = make_skill(
    "careful-one",
    keywords=["careful"],
    tools=ToolRules(forbidden=("write",)),
    checkpoints=[Checkpoint("sign-off", before="pay")],
)
HEAD = make_skill("head-one", keywords=["head"], requires=["its-companion"])
COMPANION = make_skill("its-companion", keywords=["companion"])


def weaver_of(*skills: Skill, **options: object) -> Weaver:
    settings = options.pop("settings", None) or Settings(catalog=CatalogMode.NEVER)
    return Weaver(Registry([InCode(*skills)]), MemoryStore(), settings, counter=WordCounter(), **options)  # type: ignore[arg-type]


async def engaged(weaver: Weaver) -> list[str]:
    return [entry.skill_id for entry in (await weaver.ledger.state("c")).engaged]


def history_of(*injections: Injection) -> list[Message]:
    return [message for injection in injections for message in injection.messages]


async def test_a_disengaged_skill_has_no_say_about_tools_from_the_next_turn_on() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c")
    assert (first.tools.forbidden_tools, len(first.checkpoints)) == (("write",), 1)
    left = await weaver.ledger.disengage("c", "careful-one")
    assert left.disengaged
    after = await weaver.weave("go on", conversation="c")
    assert (after.tools.forbidden_tools, dict(after.tools.asks), after.checkpoints) == ((), {}, ())


async def test_a_disengaged_skill_that_is_wanted_again_is_not_given_while_its_text_is_there() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c")
    await weaver.ledger.disengage("c", "careful-one")
    again = await weaver.weave("careful", conversation="c", transcript=history_of(first))
    assert again.messages == ()
    assert again.tools.forbidden_tools == ("write",)


async def test_disengaging_tells_which_message_the_host_may_drop() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c")
    left = await weaver.ledger.disengage("c", "careful-one")
    (drop,) = left.drops
    assert (drop.skill_id, drop.message_id) == ("careful-one", first.messages[0].id)
    assert drop.tokens == first.tokens.injected
    assert left.evicted == ()


async def test_a_pinned_skill_leaves_when_it_is_disengaged() -> None:
    settings = Settings(lifecycle=Lifecycle.PINNED, catalog=CatalogMode.NEVER)
    weaver = weaver_of(CAREFUL, settings=settings)
    await weaver.weave("careful", conversation="c")
    await weaver.ledger.disengage("c", "careful-one")
    assert (await weaver.weave("go on", conversation="c")).tools.forbidden_tools == ()


async def test_what_an_engaged_skill_requires_stays_as_its_companion() -> None:
    weaver = weaver_of(HEAD, COMPANION)
    await weaver.weave("head, companion", conversation="c")
    left = await weaver.ledger.disengage("c", "its-companion")
    assert left == Left("skill:its-companion", disengaged=True, needed_by=("head-one",))
    after = await weaver.weave("go on", conversation="c")
    assert {d.skill_id: d.outcome for d in after.decisions} == {
        "head-one": Outcome.ALREADY_PRESENT,
        "its-companion": Outcome.ALREADY_PRESENT,
    }


async def test_a_head_that_leaves_frees_the_companion_that_nobody_else_needs() -> None:
    weaver = weaver_of(HEAD, COMPANION)
    await weaver.weave("head", conversation="c")
    left = await weaver.ledger.disengage("c", "head-one")
    assert {drop.skill_id for drop in left.drops} == {"head-one", "its-companion"}


async def test_a_head_that_leaves_does_not_free_a_companion_that_is_engaged_itself() -> None:
    weaver = weaver_of(HEAD, COMPANION)
    await weaver.weave("head, companion", conversation="c")
    left = await weaver.ledger.disengage("c", "head-one")
    assert [drop.skill_id for drop in left.drops] == ["head-one"]


async def test_disengaging_what_is_not_engaged_changes_nothing() -> None:
    weaver = weaver_of(CAREFUL)
    assert await weaver.ledger.disengage("c", "careful-one") == Left("skill:careful-one")
    assert (await weaver.ledger.state("c")).revision == 0


@pytest.mark.parametrize("verb", ["disengage", "unload"])
async def test_an_id_that_nobody_knows_is_an_error_that_names_the_nearest(verb: str) -> None:
    with pytest.raises(SkillNotFound, match="did you mean 'careful-one'"):
        await getattr(weaver_of(CAREFUL).ledger, verb)("c", "carefull-one")


async def test_a_skill_that_has_gone_from_its_source_can_still_leave() -> None:
    store = MemoryStore()
    one, other = (Weaver(Registry([InCode(*found)]), store, counter=WordCounter()) for found in ([CAREFUL], []))
    await one.weave("careful", conversation="c")
    left = await other.ledger.unload("c", "careful-one")
    assert (left.disengaged, left.evicted) == (True, ("skill:careful-one",))


async def test_a_replay_gives_the_same_and_does_not_engage_again_what_was_disengaged_since() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c", turn_id="t")
    await weaver.ledger.disengage("c", "careful-one")
    state = await weaver.ledger.state("c")
    again = await weaver.weave("careful", conversation="c", turn_id="t")
    assert (again.messages, again.tools) == (first.messages, first.tools)
    assert await weaver.ledger.state("c") == state
    assert (await weaver.weave("go on", conversation="c")).tools.forbidden_tools == ()


async def test_an_unloaded_skill_is_given_anew_when_it_is_wanted_again() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c")
    left = await weaver.ledger.unload("c", "careful-one")
    assert (left.disengaged, left.evicted) == (True, ("skill:careful-one",))
    assert [drop.message_id for drop in left.drops] == [first.messages[0].id]
    assert await engaged(weaver) == []
    again = await weaver.weave("careful", conversation="c", transcript=history_of(first))
    assert again.skills == ("careful-one",)


async def test_the_text_of_an_unloaded_skill_counts_until_a_transcript_shows_it_gone() -> None:
    weaver = weaver_of(CAREFUL)
    first = await weaver.weave("careful", conversation="c")
    await weaver.ledger.unload("c", "careful-one")
    still = await weaver.weave("go on", conversation="c", transcript=history_of(first))
    gone = await weaver.weave("go on", conversation="c", transcript=[])
    assert gone.tokens.left - still.tokens.left == first.tokens.injected


async def test_a_skill_is_unloaded_with_its_documents_and_the_context_in_its_block() -> None:
    ref = ArtifactRef("references/forms.md", "forms", "text/markdown", 12)
    skill = make_skill("look-at-well", keywords=["well"], domain_tags=["header"], artifacts=[ref])
    source = InCode(skill, artifacts={"look-at-well": {"references/forms.md": b"Form W-1"}})
    context = KnownContext({"w1": {"header": "Well: Mitchell"}})
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter(), context=context)
    await weaver.weave("the well", conversation="c", memory={"entity_id": "w1"})
    left = await weaver.ledger.unload("c", "skill:look-at-well")
    assert set(left.evicted) == {
        "skill:look-at-well",
        "artifact:look-at-well/references/forms.md",
        "context:w1:header",
    }
    assert len(left.drops) == 1


async def test_one_text_is_unloaded_without_the_message_that_shows_another() -> None:
    ref = ArtifactRef("references/forms.md", "forms", "text/markdown", 12)
    skill = make_skill("look-at-well", keywords=["well"], artifacts=[ref])
    source = InCode(skill, artifacts={"look-at-well": {"references/forms.md": b"Form W-1"}})
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter())
    await weaver.weave("the well", conversation="c")
    left = await weaver.ledger.unload("c", "artifact:look-at-well/references/forms.md")
    assert left == Left(
        "artifact:look-at-well/references/forms.md", evicted=("artifact:look-at-well/references/forms.md",)
    )
    assert await engaged(weaver) == ["look-at-well"]


async def test_a_document_is_unloaded_with_the_parts_of_it_that_were_read_by_themselves_and_no_other_one() -> None:
    ids = ("notes", "notes#1")
    refs = [ArtifactRef(one, one, "text/markdown", 12) for one in ids]
    long = "".join(f"## Part {n}\n\n{'word. ' * 500}\n\n" for n in range(3))
    source = InCode(make_skill("look-at-well", artifacts=refs), artifacts={"look-at-well": dict.fromkeys(ids, long)})
    settings = Settings(Budget(total=1600), catalog=CatalogMode.NEVER)
    weaver = Weaver(Registry([source]), MemoryStore(), settings, counter=WordCounter())
    for one in ids:
        assert not (await weaver.tools.read_artifact("look-at-well", one, "2", conversation="c")).failed
    left = await weaver.ledger.unload("c", "artifact:look-at-well/notes")
    assert left.evicted == ("document:look-at-well/notes#2",)
    assert len(left.drops) == 1


async def test_a_block_of_which_one_text_was_unloaded_is_not_offered_for_dropping_as_outdated() -> None:
    ref = ArtifactRef("references/forms.md", "forms", "text/markdown", 12)
    skill = make_skill("look-at-well", keywords=["well"], artifacts=[ref])
    big = make_skill("big-one", keywords=["big"], instructions="b " * 200)
    source = InCode(skill, big, artifacts={"look-at-well": {"references/forms.md": b"Form W-1"}})
    settings = Settings(Budget(total=150), lifecycle=Lifecycle.PINNED, catalog=CatalogMode.NEVER)
    weaver = Weaver(Registry([source]), MemoryStore(), settings, counter=WordCounter())
    await weaver.weave("the well", conversation="c")
    await weaver.ledger.unload("c", "artifact:look-at-well/references/forms.md")
    short = await weaver.weave("big", conversation="c")
    assert Outcome.OVER_BUDGET in [decision.outcome for decision in short.decisions]
    assert short.drop == ()


async def test_entity_context_that_stands_alone_is_unloaded_with_its_message() -> None:
    skill = make_skill("look-at-well", keywords=["well"], domain_tags=["header"])
    weaver = weaver_of(skill, context=KnownContext({"w1": {"header": "Well: Mitchell"}}))
    await weaver.weave("the well", conversation="c")
    later = await weaver.weave("this one", conversation="c", memory={"entity_id": "w1"})
    left = await weaver.ledger.unload("c", "context:w1:header")
    assert left.evicted == ("context:w1:header",)
    assert [drop.message_id for drop in left.drops] == [later.messages[0].id]


async def test_unloading_a_text_that_was_never_given_changes_nothing() -> None:
    assert await weaver_of(CAREFUL).ledger.unload("c", "context:w1:header") == Left("context:w1:header")


async def test_in_call_placement_there_is_nothing_to_drop() -> None:
    weaver = weaver_of(CAREFUL)
    await weaver.weave("careful", conversation="c", placement=Placement.CALL)
    assert await weaver.ledger.disengage("c", "careful-one") == Left("skill:careful-one", disengaged=True)
    assert (await weaver.weave("go on", conversation="c", placement=Placement.CALL)).skills == ()


async def test_the_same_verbs_work_without_await() -> None:
    weaver = weaver_of(CAREFUL)
    await weaver.weave("careful", conversation="c", role=Role.USER)
    assert weaver.sync.ledger.disengage("c", "careful-one").disengaged
    assert weaver.sync.ledger.unload("c", "careful-one").evicted == ("skill:careful-one",)
    weaver.sync.close()
