"""What the pack shows of a well: the first five lines, found from an API number as people write it."""

import asyncio
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest

import skillweave
import skillweave_texas_rrc as texas_rrc
from skillweave import Budget, CatalogMode, Injection, Settings, Weaver
from skillweave.entities import EntityFiles, context_rules_in
from skillweave_stores import SqlGraph
from skillweave_testing import WordCounter

PACK = Path(texas_rrc.__file__).parent
FIVE = """Well: Mitchell Ranch 1H (API: 42-329-12345)
Status: active, Type: horizontal
Lease: Mitchell Ranch Lease
Field: Spraberry (Trend Area), District 08
Operator: Permian Basin Energy LLC (P-5: 683214)"""


@cache
def office() -> Weaver:
    return skillweave.open(
        PACK / "pack.yaml",
        entities=PACK / "sample_graph.json",
        counter=WordCounter(),
        settings=Settings(catalog=CatalogMode.ALWAYS),
        matchers=["explicit"],
    )


def weaver_of() -> Weaver:
    """One that remembers no conversation, with the pack that all tests have in common."""
    return office().variant(tenant=uuid4().hex)


def entity_context(injection: Injection) -> str:
    return injection.messages[0].text.partition("\n## Entity Context\n")[2]


async def test_the_entity_context_of_a_well_begins_with_the_five_lines_about_it() -> None:
    injection = await weaver_of().weave(
        "SKILL_SELECT:spacing-calculation",
        conversation="c",
        role="assistant",
        memory={"well_api": "42-329-12345"},
    )
    assert injection.skills == ("spacing-calculation",)
    assert entity_context(injection).split("\n")[:5] == FIVE.split("\n")


@pytest.mark.parametrize(
    "written",
    [
        "42-329-12345",
        "42 329 12345",
        "4232912345",
        "42-329-12345-00-00",
        "329-12345",
        "Mitchell Ranch 1H",
        "the mitchell ranch 1h's permit",
    ],
)
async def test_an_api_number_or_a_name_in_the_message_names_the_well(written: str) -> None:
    weaver = weaver_of()
    await weaver.weave(f"I work on {written} today", conversation="c")
    later = await weaver.weave("SKILL_SELECT:spacing-calculation", conversation="c", role="assistant")
    assert entity_context(later).startswith(FIVE)


async def shown(skill: str, entity: str) -> str:
    marker = f"SKILL_SELECT:{skill}"
    return entity_context(
        await weaver_of().weave(marker, conversation="c", role="assistant", memory={"entity_id": entity})
    )


@pytest.mark.parametrize(
    ("skill", "entity", "needed"),
    [
        ("r37-form-w1", "42-329-12346", "first take point 31.862181 -101.946526"),
        ("r37-form-w1", "42-329-12346", "Field number 85280300 as recorded, confirm"),
        ("r37-field-rules", "field-spraberry", "Field rules: no order is named"),
        ("r37-field-rules", "field-sample-330", "330 ft to lease lines, 660 ft between wells, loaded from"),
        ("r37-waiver-tracking", "fp-2h", "Well: Mitchell Ranch 2H (API: 42-329-12346) [well-mr2h]"),
        ("r37-waiver-tracking", "fp-2h", "rule 16 TAC 3.37(h) [dl-protest], counted from 2026-03-30"),
        ("fpr-lease-roster", "op-683214", "- Mitchell Ranch Lease (RRC lease 08-48213), District 08 [lease-mitchell]"),
        ("fpr-allocation", "lease-mitchell", "- Mitchell Ranch 6H (API 42-329-12290) [well-mr6h]: horizontal, shut_in"),
        ("fm-duration-tracking", "fac-flare", "- [fa-3] 1500 MCF/d, from 2026-04-15 to 2026-05-29, pending"),
        ("fm-volume-vs-authorization", "fa-2", "gas by code (1: 4000, 3: 46300, 5: 2500, 10: 37400)"),
        ("r32-flare-stack-data", "lease-mitchell", "at 31.8636651 -101.9452995, datum NAD83"),
        ("r32-form-r32", "42-329-12345", "Lease facts: RRC lease 08-48213, Midland County"),
    ],
)
async def test_a_skill_is_shown_what_its_steps_need_of_whatever_the_conversation_is_about(
    skill: str, entity: str, needed: str
) -> None:
    assert needed in await shown(skill, entity)


@pytest.mark.soak  # whatever else the machine does may use up the two seconds that a graph has
async def test_thirty_turns_at_once_on_a_server_are_given_all_that_an_idle_one_gives(postgres_url: str) -> None:
    """Each turn has three skills with other tags, so that hundreds of questions come at one moment."""
    rules = context_rules_in(await office().skills.snapshot())
    assert rules is not None
    files = EntityFiles(PACK / "sample_graph.json", rules=rules)
    async with SqlGraph(postgres_url) as graph:
        entities = list(files.entities())
        await graph.put(entities, files.edges_between({one.id for one in entities}))
    settings = Settings(catalog=CatalogMode.NEVER, budget=Budget(total=200_000, per_skill=60_000, context=60_000))
    marked = " ".join(f"SKILL_SELECT:{one}" for one in ("spacing-calculation", "r37-form-w1", "fm-volume-validation"))
    async with skillweave.open(
        PACK / "pack.yaml", entities=postgres_url, counter=WordCounter(), settings=settings, matchers=["explicit"]
    ) as weaver:
        patient = weaver.variant(settings=replace(settings, context_seconds=30))

        async def turn(number: int, asked: Weaver = weaver) -> Injection:
            return await asked.weave(
                marked, conversation=f"c{number}", role="assistant", memory={"well_api": "42-329-12345"}
            )

        idle = await turn(0, patient)
        assert "\n## Entity Context\n" in idle.messages[0].text
        busy = await asyncio.gather(*map(turn, range(1, 31)))
    assert [one.diagnostics for one in busy] == [()] * 30
    assert [[message.text for message in one.messages] for one in busy] == [[one.text for one in idle.messages]] * 30
