"""Real public skills, as they are found."""

from pathlib import Path

import pytest
from skills_ref.validator import validate

from skillweave.formats.fields import SkillRead
from skillweave.formats.skill_md import read_skill_md, to_skill_md
from skillweave.skills import Strictness


def read(path: Path, strictness: Strictness = Strictness.LENIENT) -> SkillRead:
    return read_skill_md(
        path.read_bytes(), path=str(path), folder=path.parent.name, source="sample", strictness=strictness
    )


@pytest.fixture(scope="module")
def files(skills_sample: Path) -> list[Path]:
    return sorted(skills_sample.glob("*/*/SKILL.md"))


def test_all_load_and_those_without_front_matter_say_so(files: list[Path]) -> None:
    reads = [read(path) for path in files]
    guessed = [each for each in reads if "frontmatter-guessed" in {found.code for found in each.diagnostics}]

    assert all(each.skill is not None for each in reads)
    assert (len(reads), len(guessed)) == (841, 29)
    assert all(
        found.code and found.fix and found.location and found.location.line
        for each in reads
        for found in each.diagnostics
    )


def test_every_skill_that_loads_is_written_and_read_back_equal(files: list[Path]) -> None:
    for path in files:
        skill = read(path).skill
        if skill is None:
            continue
        again = read_skill_md(
            to_skill_md(skill).encode(), path=str(path), folder=path.parent.name, source="sample"
        ).skill
        assert again is not None
        assert (again.text, again.extra, again.metadata, again.tools, again.triggers, again.description) == (
            skill.text,
            skill.extra,
            skill.metadata,
            skill.tools,
            skill.triggers,
            skill.description,
        )


def test_strict_mode_differs_from_the_official_validator_only_where_that_one_does_not_look(files: list[Path]) -> None:
    """The validator does not check that metadata are texts (21 files) nor that `allowed-tools` is one (4 files)."""
    differing = {}
    for path in files:
        mine = read(path, Strictness.STRICT)
        if (mine.skill is not None) == bool(validate(path.parent)):
            differing[path.parent.name] = mine

    assert all(each.skill is None for each in differing.values())
    reasons = [sorted({found.message.split("`")[1] for found in each.diagnostics}) for each in differing.values()]
    assert reasons.count(["metadata"]) == 21
    assert reasons.count(["allowed-tools"]) == 4
    assert len(reasons) == 25
