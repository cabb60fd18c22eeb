"""What the pack shows of a well: the first five lines, found from an API number as people write it."""

from pathlib import Path

import pytest

import skillweave
from skillweave import CatalogMode, Injection, Settings, Weaver
from skillweave.packs import texas_rrc
from skillweave.testing import WordCounter

PACK = Path(texas_rrc.__file__).parent
FIVE = """Well: Mitchell Ranch 1H (API: 42-329-12345)
Status: active, Type: horizontal
Lease: Mitchell Ranch Lease
Field: Spraberry (Trend Area), District 08
Operator: Permian Basin Energy LLC (P-5: 683214)"""


def weaver_of() -> Weaver:
    return skillweave.open(
        PACK / "pack.yaml",
        entities=PACK / "sample_graph.json",
        counter=WordCounter(),
        settings=Settings(catalog=CatalogMode.ALWAYS),
        matchers=["explicit"],
    )


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


@pytest.mark.parametrize("written", ["42-329-12345", "42 329 12345", "4232912345", "42-329-12345-00-00"])
async def test_an_api_number_in_the_message_names_the_well(written: str) -> None:
    weaver = weaver_of()
    await weaver.weave(f"I work on {written} today", conversation="c")
    later = await weaver.weave("SKILL_SELECT:spacing-calculation", conversation="c", role="assistant")
    assert entity_context(later).startswith(FIVE)
