"""From skills and files of prompts to what is to be run."""

import json
from pathlib import Path

import pytest

import skillweave
from skillweave import Settings
from skillweave.disclose.fit import Budget
from skillweave.errors import InvalidData, SkillNotFound
from skillweave.settings import CatalogMode
from skillweave.weaver import Weaver
from skillweave_eval.live.prompts import gather_material

EVALS = {"skill_name": "tea", "evals": [{"id": 1, "prompt": "Tea?", "assertions": ["x"]}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tea", "coffee"):
        (tmp_path / name / "evals").mkdir(parents=True)
        (tmp_path / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Makes {name}.\n---\nBrew {name}.")
    (tmp_path / "tea/evals/evals.json").write_text(json.dumps(EVALS))
    return tmp_path


def weaver(folder: Path, **budget: int) -> Weaver:
    return skillweave.open(folder, settings=Settings(budget=Budget(**budget), catalog=CatalogMode.NEVER))


async def test_prompts_come_with_the_text_of_their_skill(folder: Path) -> None:
    material = await gather_material(weaver(folder))
    assert [(one.skill_id, one.id) for one in material.prompts] == [("tea", "1")]
    assert "Brew tea." in material.texts["tea"]
    assert material.notes == ()


async def test_a_named_file_is_of_the_skill_that_it_names_or_lies_in(folder: Path, tmp_path: Path) -> None:
    unnamed = folder / "coffee/evals/more.json"
    unnamed.write_text(json.dumps({"evals": EVALS["evals"]}))
    material = await gather_material(weaver(folder), [folder / "tea/evals/evals.json", unnamed])
    assert [one.skill_id for one in material.prompts] == ["tea", "coffee"]


async def test_only_some_skills_may_be_asked_for(folder: Path) -> None:
    with pytest.raises(InvalidData, match="no skill has prompts"):
        await gather_material(weaver(folder), only=["coffee"])
    with pytest.raises(SkillNotFound, match="'tee'"):
        await gather_material(weaver(folder), only=["tee"])


async def test_a_file_of_an_unknown_skill_is_refused(folder: Path) -> None:
    path = folder / "loose.json"
    path.write_text(json.dumps({**EVALS, "skill_name": "cocoa"}))
    with pytest.raises(SkillNotFound, match="'cocoa'"):
        await gather_material(weaver(folder), [path])


async def test_a_skill_that_does_not_fit_is_told(folder: Path) -> None:
    material = await gather_material(weaver(folder, total=60, per_skill=10, catalog=10))
    assert any("tea" in note for note in material.notes)


async def test_a_prompt_that_needs_input_files_is_left_out_and_told(folder: Path) -> None:
    (plain,) = EVALS["evals"]
    needy = {"id": 2, "prompt": "And this?", "assertions": ["x"], "files": ["evals/leaf.png"]}
    path = folder / "tea/evals/evals.json"
    path.write_text(json.dumps({**EVALS, "evals": [plain, needy]}))
    material = await gather_material(weaver(folder))
    assert [one.id for one in material.prompts] == ["1"]
    assert material.notes == ("prompts that need input files are left out: tea 2",)
    path.write_text(json.dumps({**EVALS, "evals": [needy]}))
    with pytest.raises(InvalidData, match="tea 2, and there are no others"):
        await gather_material(weaver(folder))
