"""Mentions, their words and closed skills through whole turns."""

from dataclasses import replace
from pathlib import Path

import pytest

import skillweave
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
    SqliteStore,
    ToolRules,
    Weaver,
)
from skillweave.frozen import freeze_mapping
from skillweave.ledger import FallbackKind, Lifecycle
from skillweave.sources import InCode
from skillweave.sources.folder import Folder
from skillweave.state.codec import decision_to_json
from skillweave.tools import SkillTools
from skillweave.weaver import OnStoreFailure
from skillweave_testing import FailingStore, WordCounter
from tests.skills import make_skill

MATCHERS = ("explicit", "mention", "triggers", "lexical")
DEPLOY = make_skill("deploy", keywords=["ship it"], instructions="Deploy to $ARGUMENTS, then look.")
REVIEW = make_skill("review-code", instructions="Review what is there.")


def closed(skill: Skill, **keys: str) -> Skill:
    extra = freeze_mapping({key.replace("_", "-"): value for key, value in keys.items()})
    return replace(skill, extra=extra)


WIPE = closed(make_skill("wipe-disk", keywords=["wipe"]), disable_model_invocation="true")


def weaver_of(*skills: Skill, settings: Settings | None = None, **options: object) -> Weaver:
    store = options.pop("store", None) or MemoryStore()
    given = {"matchers": MATCHERS, **options}
    return Weaver(Registry([InCode(*skills)]), store, settings, counter=WordCounter(), **given)  # type: ignore[arg-type]


def outcomes(injection: Injection) -> dict[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


def body(injection: Injection) -> str:
    (message,) = injection.messages
    return message.text.rpartition("\n")[2]


async def test_a_mention_gives_the_skill_with_its_words() -> None:
    injection = await weaver_of(DEPLOY, REVIEW).weave("/deploy staging", conversation="c")
    assert body(injection) == "Deploy to staging, then look."
    assert outcomes(injection) == {"deploy": Outcome.INJECTED}


async def test_without_a_mention_the_place_is_empty() -> None:
    injection = await weaver_of(DEPLOY).weave("ship it", conversation="c")
    assert body(injection) == "Deploy to , then look."


async def test_other_words_give_the_skill_again_in_place_of_the_earlier_text() -> None:
    weaver = weaver_of(DEPLOY)
    await weaver.weave("/deploy staging", conversation="c")
    again = await weaver.weave("/deploy prod", conversation="c")
    assert outcomes(again) == {"deploy": Outcome.REFRESHED}
    assert "This replaces the earlier text of this skill." in again.messages[0].text
    assert body(again) == "Deploy to prod, then look."
    empty = await weaver.weave("/deploy", conversation="c")
    assert (outcomes(empty), body(empty)) == ({"deploy": Outcome.REFRESHED}, "Deploy to , then look.")


@pytest.mark.parametrize("later", ["and now?", "ship it", "/deploy staging", "  /DEPLOY  staging "])
async def test_a_turn_without_other_words_changes_nothing(later: str) -> None:
    weaver = weaver_of(DEPLOY)
    await weaver.weave("/deploy staging", conversation="c")
    again = await weaver.weave(later, conversation="c")
    assert again.messages == ()
    assert outcomes(again) == {"deploy": Outcome.ALREADY_PRESENT}


async def test_a_skill_that_takes_no_words_is_never_given_again_for_them() -> None:
    weaver = weaver_of(REVIEW)
    first = await weaver.weave("/review-code of mine", conversation="c")
    assert outcomes(first) == {"review-code": Outcome.INJECTED}
    assert (await weaver.weave("/review-code of yours", conversation="c")).messages == ()
    assert [entry.arguments for entry in (await weaver.ledger.state("c")).engaged] == [""]


async def test_the_same_turn_again_gives_the_same_words_and_writes_nothing() -> None:
    weaver = weaver_of(DEPLOY)
    await weaver.weave("/deploy staging", conversation="c")
    first = await weaver.weave("/deploy prod", conversation="c", turn_id="t2")
    before = await weaver.ledger.state("c")
    again = await weaver.weave("/deploy prod", conversation="c", turn_id="t2")
    assert (again.messages, again.decisions) == (first.messages, first.decisions)
    assert await weaver.ledger.state("c") == before


async def test_a_call_renders_the_same_bytes_in_every_turn_without_a_new_mention() -> None:
    weaver = weaver_of(DEPLOY)
    first = await weaver.weave("/deploy staging", conversation="c", placement=Placement.CALL)
    assert "Deploy to staging" in first.instructions
    second = await weaver.weave("and then?", conversation="c", placement=Placement.CALL)
    assert [block.text for block in second.blocks] == [block.text for block in first.blocks]
    third = await weaver.weave("/deploy prod", conversation="c", placement=Placement.CALL)
    assert "Deploy to prod" in third.instructions and "staging" not in third.instructions


async def test_what_a_transcript_lost_comes_back_with_its_words() -> None:
    weaver = weaver_of(DEPLOY)
    await weaver.weave("/deploy staging", conversation="c")
    user = Message(Role.USER, "and then?")
    assert body(await weaver.weave("and then?", conversation="c", transcript=[user])) == "Deploy to staging, then look."


async def test_a_transcript_that_shows_the_filled_text_is_believed() -> None:
    given = (await weaver_of(DEPLOY).weave("/deploy staging", conversation="c")).messages
    injection = await weaver_of(DEPLOY).weave("/deploy staging", conversation="c", transcript=given)
    assert outcomes(injection) == {"deploy": Outcome.ADOPTED}
    other = await weaver_of(DEPLOY).weave("/deploy prod", conversation="c", transcript=given)
    assert outcomes(other) == {"deploy": Outcome.INJECTED}


async def test_a_delivery_that_fails_leaves_the_earlier_words_as_what_was_given() -> None:
    weaver = weaver_of(DEPLOY)
    await weaver.weave("/deploy staging", conversation="c")
    with pytest.raises(RuntimeError, match="lost"):
        async with weaver.delivery("/deploy prod", conversation="c"):
            raise RuntimeError("lost")
    again = await weaver.weave("well?", conversation="c")
    assert (outcomes(again), body(again)) == ({"deploy": Outcome.REFRESHED}, "Deploy to prod, then look.")


async def test_the_words_outlive_the_process(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "state.db")
    await weaver_of(DEPLOY, store=first).weave("/deploy staging", conversation="c")
    await first.close()
    second = SqliteStore(tmp_path / "state.db")
    injection = await weaver_of(DEPLOY, store=second).weave("ship it", conversation="c")
    assert outcomes(injection) == {"deploy": Outcome.ALREADY_PRESENT}
    await second.close()


async def test_a_skill_that_left_has_lost_its_words() -> None:
    weaver = weaver_of(DEPLOY, settings=Settings(lifecycle=Lifecycle.MESSAGE))
    await weaver.weave("/deploy staging", conversation="c")
    await weaver.weave("something else", conversation="c")
    assert body(await weaver.weave("ship it", conversation="c")) == "Deploy to , then look."


async def test_no_decision_no_log_and_no_event_holds_the_users_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    store = MemoryStore()
    weaver = weaver_of(DEPLOY, store=store)
    for words in ("hunter2", "hunter2 " * 1000, "## Steps hunter2\nSKILL_SELECT:hunter2"):
        injection = await weaver.weave(f"/deploy {words}", conversation="c")
        assert "hunter2" in body(injection) or "hunter2" in injection.messages[0].text
        assert all("hunter2" not in found.message for found in injection.diagnostics)
    logged = await weaver.why("c")
    assert len(logged) >= 3
    assert not any("hunter2" in decision_to_json(entry.decision) for entry in logged)
    assert "hunter2" not in caplog.text


async def test_a_decision_says_that_the_words_were_cut() -> None:
    injection = await weaver_of(DEPLOY).weave("/deploy " + "x" * 5000, conversation="c")
    assert "arguments 'cut to 2,000 of 5,000 characters'" in injection.decisions[0].reason
    assert injection.messages[0].text.count("x") == 2000


async def test_the_words_count_in_the_budget() -> None:
    words = "word " * 300
    settings = Settings(budget=Budget(total=200), catalog=CatalogMode.NEVER)
    injection = await weaver_of(DEPLOY, settings=settings).weave(f"/deploy {words}", conversation="c")
    assert outcomes(injection) == {"deploy": Outcome.OVER_BUDGET}
    assert injection.tokens.injected <= 200


async def test_several_mentions_have_each_their_own_words() -> None:
    other = make_skill("notify", instructions="Notify $ARGUMENTS!")
    injection = await weaver_of(DEPLOY, other).weave("/deploy prod /notify Bob", conversation="c")
    assert [message.text.rpartition("\n")[2] for message in injection.messages] == [
        "Deploy to prod, then look.",
        "Notify Bob!",
    ]


async def test_a_mention_restricts_the_tools_as_its_skill_says() -> None:
    strict = make_skill("deploy", tools=ToolRules(allowed=("kubectl",)))
    injection = await weaver_of(strict).weave("/deploy", conversation="c")
    assert injection.tools.allowed_tools == ("kubectl",)


async def test_words_are_given_although_the_ledger_is_down() -> None:
    store = FailingStore(MemoryStore())
    store.down = {"load", "swap"}
    weaver = weaver_of(DEPLOY, store=store, on_store_failure=OnStoreFailure.CONTINUE)
    assert body(await weaver.weave("/deploy prod", conversation="c")) == "Deploy to prod, then look."


async def test_what_is_closed_to_the_model_is_in_no_catalog_and_not_counted() -> None:
    weaver = weaver_of(REVIEW, WIPE, settings=Settings(catalog=CatalogMode.FALLBACK))
    assert "wipe-disk" not in await weaver.skills.catalog()
    hint = (await weaver.preview("What is 2+2?", conversation="c")).fallback
    assert hint is not None and (hint.kind, hint.text[:12]) == (FallbackKind.HINT, "One skill is")
    everything = (await weaver.preview("show all skills", conversation="c")).fallback
    assert everything is not None and "Wipe Disk" not in everything.text


async def test_where_all_skills_are_closed_to_the_model_there_is_nothing_to_hint_at() -> None:
    injection = await weaver_of(WIPE).weave("What can you do?", conversation="c")
    assert (injection.fallback, injection.catalog, injection.decisions) == (None, "", ())


async def test_what_is_closed_to_the_model_comes_by_a_mention_and_stays_engaged() -> None:
    weaver = weaver_of(WIPE)
    assert (await weaver.weave("wipe it", conversation="c")).skills == ()
    assert (await weaver.weave("/wipe-disk", conversation="c")).skills == ("wipe-disk",)
    after = await weaver.weave("SKILL_SELECT:wipe-disk", conversation="c", role=Role.ASSISTANT)
    assert outcomes(after) == {"wipe-disk": Outcome.ALREADY_PRESENT}


async def test_the_models_marker_for_a_closed_skill_is_a_decision() -> None:
    injection = await weaver_of(WIPE).weave("SKILL_SELECT:wipe-disk", conversation="c", role=Role.ASSISTANT)
    assert outcomes(injection) == {"wipe-disk": Outcome.FORBIDDEN}


async def test_a_closed_skill_comes_as_the_companion_that_another_requires() -> None:
    head = make_skill("reinstall", keywords=["reinstall"], requires=["wipe-disk"])
    injection = await weaver_of(head, WIPE).weave("reinstall it", conversation="c")
    assert set(injection.skills) == {"reinstall", "wipe-disk"}


async def test_the_host_names_a_closed_skill() -> None:
    assert (await weaver_of(WIPE).weave("go", conversation="c", named=["wipe-disk"])).skills == ("wipe-disk",)


async def test_what_is_wrong_with_host_keys_is_among_the_weavers_diagnostics() -> None:
    definition = {"id": "a", "description": "d", "user-invocable": "maybe"}
    weaver = skillweave.open(definition, closed(REVIEW, disable_model_invocation="1"), counter=WordCounter())
    assert [(each.skill, each.code) for each in await weaver.skills.diagnostics()] == [
        ("a", "host-key"),
        ("review-code", "host-key"),
    ]


async def test_every_real_skill_is_given_by_its_mention_or_says_why_not(skills_sample: Path) -> None:
    weaver = Weaver(
        Registry([Folder(skills_sample)]),
        MemoryStore(),
        Settings(budget=Budget(total=10**6, per_skill=10**6)),
        counter=WordCounter(),
        matchers=MATCHERS,
    )
    refused: dict[str, str] = {}
    for skill_id, skill in (await weaver.skills.snapshot()).items():
        words = "hunter2 of the house"
        injection = await weaver.weave(f"/{skill_id} {words}", conversation=skill_id)
        decision = next(each for each in injection.decisions if each.skill_id == skill_id)
        if decision.outcome is not Outcome.INJECTED:
            refused[skill_id] = decision.reason
        elif "$ARGUMENTS" in (skill.text.instructions or ""):
            assert any(words in message.text for message in injection.messages), skill_id
        else:
            assert not any("hunter2" in message.text for message in injection.messages), skill_id
    assert len(refused) == 21
    assert {reason.partition(":")[0] for reason in refused.values()} == {"its `user-invocable` is false"}


CHAPTERS = "".join(f"## Part {n} of $ARGUMENTS\n\nw{n} $ARGUMENTS {'word. ' * 500}\n\n" for n in range(1, 4))
LONG = make_skill("handbook", instructions=CHAPTERS)


async def test_an_outline_and_its_sections_have_the_words_and_no_decision_has_them() -> None:
    settings = Settings(budget=Budget(total=1500), catalog=CatalogMode.NEVER, skill_tools=SkillTools.OFFERED)
    weaver = weaver_of(LONG, settings=settings)
    outline = await weaver.weave("/handbook hunter2", conversation="c")
    assert "- 2: Part 2 of hunter2 (" in outline.messages[0].text
    assert "w2 hunter2 word." in (await weaver.tools.read_skill("handbook", "2", conversation="c")).text
    unknown = await weaver.tools.read_skill("handbook", "9", conversation="c")
    assert "it has 1, 2, 3" in unknown.text
    assert not any("hunter2" in decision_to_json(entry.decision) for entry in await weaver.why("c"))


async def test_other_words_make_a_section_worth_reading_again() -> None:
    settings = Settings(budget=Budget(total=1500), catalog=CatalogMode.NEVER, skill_tools=SkillTools.OFFERED)
    weaver = weaver_of(LONG, settings=settings)
    await weaver.weave("/handbook one", conversation="c")
    assert "w1 one" in (await weaver.tools.read_skill("handbook", "1", conversation="c")).text
    assert "w1 one" not in (await weaver.tools.read_skill("handbook", "1", conversation="c")).text
    await weaver.weave("/handbook two", conversation="c")
    assert "w1 two" in (await weaver.tools.read_skill("handbook", "1", conversation="c")).text


async def test_the_models_tools_do_not_reach_what_is_closed_to_it() -> None:
    weaver = weaver_of(WIPE, REVIEW)
    answer = await weaver.tools.read_skill("wipe-disk", conversation="c")
    assert (answer.failed, answer.text.partition(":")[0]) == (True, "wipe-disk")
    assert "only a user who mentions it as /wipe-disk" in answer.text
    assert "wipe-disk" not in (await weaver.tools.list_skills()).text
    assert "wipe-disk" not in (await weaver.tools.search_skills("wipe disk")).text
