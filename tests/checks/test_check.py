"""All findings about a set of skills at once; what each of them says is tested over `skillweave check`."""

from pathlib import Path

from skillweave import Registry
from skillweave.checks.check import check_skills
from skillweave.sources import InCode
from tests.graphs import graph_of


async def codes_of(*definitions: dict[str, object], **given: object) -> list[str]:
    """The codes of what is found about these skills."""
    registry = Registry([InCode(*definitions)])
    await registry.refresh()
    return [found.code for found in check_skills(registry.snapshot, **given)]  # type: ignore[operator]


GOOD = {"id": "tea", "description": "Makes tea.", "text": {"instructions": "Boil water."}}


async def test_nothing_is_found_about_a_good_skill() -> None:
    assert await codes_of(GOOD) == []


async def test_loading_triggers_texts_relations_and_contracts_are_all_looked_at() -> None:
    bad = {
        "id": "cake",
        "description": "Bakes cakes.",
        "status": "sold",
        "triggers": {"patterns": ["a(?=b)"]},
        "relations": [{"kind": "requires", "skill": "oven"}],
        "text": {"output_contract": {"type": "cake", "schema": {"type": "cake"}}},
    }
    found = await codes_of(GOOD, {**bad, "status": "active"})
    assert {"broken-pattern", "required-missing", "schema-invalid"} <= set(found)
    assert "not-a-definition" in await codes_of(bad)


async def test_a_graph_of_the_host_is_looked_at_with_the_skills() -> None:
    assert "no-entry" in await codes_of(GOOD, graph=graph_of("tea"))


async def test_a_skill_that_is_no_file_has_no_file_read(tmp_path: Path) -> None:
    assert await codes_of({**GOOD, "text": {"instructions": "Read references/none.md."}}) == []
