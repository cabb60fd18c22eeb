"""What a Weaver says to the outputs that its skills promised, and to edits of their files."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

import skillweave
from skillweave import MemoryStore, Registry, SkillNotFound, Weaver
from skillweave.frozen import freeze_mapping
from skillweave.skills import OutputContract, SkillText
from skillweave.sources import InCode
from skillweave_testing import WordCounter
from tests.skill_folders import skill_text, write_skill
from tests.skills import make_skill


def promising(schema: dict[str, object]) -> Weaver:
    contract = OutputContract("finding", freeze_mapping(schema))  # type: ignore[arg-type]
    skill = make_skill("spacing", text=SkillText(instructions="Check it.", output_contract=contract))
    return Weaver(Registry([InCode(skill)]), MemoryStore(), counter=WordCounter())


async def test_an_output_is_checked_by_the_id_of_its_skill() -> None:
    weaver = promising({"type": "object", "required": ["verdict"]})
    assert await weaver.composition.check_output("spacing", '{"verdict": "pass"}') == ()
    (found,) = await weaver.composition.check_output("spacing", {})
    assert (found.code, found.skill) == ("schema-mismatch", "spacing")


async def test_an_output_of_an_unknown_skill_is_an_error() -> None:
    with pytest.raises(SkillNotFound):
        await promising({}).composition.check_output("spacings", {})


def test_an_output_is_checked_without_await_too() -> None:
    assert [found.code for found in promising({"type": "null"}).sync.composition.check_output("spacing", 1)] == [
        "schema-mismatch"
    ]


async def test_a_broken_contract_is_among_the_diagnostics() -> None:
    found = await promising({"type": "nothing"}).skills.diagnostics()
    assert [(finding.code, finding.skill) for finding in found] == [("schema-invalid", "spacing")]


async def test_an_edit_that_is_told_counts_in_the_next_turn(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "skills" / "tea", skill_text("tea", triggers="[tea]"))
    weaver = skillweave.open(tmp_path / "skills", counter=WordCounter())
    assert (await weaver.weave("some tea", conversation="a")).skills == ("tea",)
    async with aclosing(weaver.skills.watch(quiet_seconds=0.02)) as changes:
        following = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        path.write_text(skill_text("tea", triggers="[coffee]"), encoding="utf-8")
        assert (await asyncio.wait_for(following, 20)).changed == ("tea",)
        assert (await weaver.weave("some coffee", conversation="b")).skills == ("tea",)
