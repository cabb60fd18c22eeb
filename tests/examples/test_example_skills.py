"""The example skills are models to copy: they must load without a finding and do what their triggers say."""

import subprocess
import sys
from pathlib import Path

import pytest

import skillweave
from skillweave import Budget, CatalogMode, Outcome, Settings, Severity, Weaver
from skillweave.selection import Tiktoken

SKILLS = Path(__file__).parents[2] / "examples" / "skills"
SCRIPTS = sorted(SKILLS.glob("*/scripts/*.py"))


@pytest.fixture(scope="module")
def weaver() -> Weaver:
    return skillweave.open(SKILLS)


def test_all_load_without_a_finding(weaver: Weaver) -> None:
    assert len(weaver.sync.skills.snapshot()) >= 20
    assert [d for d in weaver.sync.skills.diagnostics() if d.severity is not Severity.INFO] == []


def test_every_declared_example_selects_its_skill(weaver: Weaver) -> None:
    for skill in weaver.sync.skills.snapshot().values():
        for phrase in skill.triggers.examples:
            chosen = [candidate.skill_id for candidate in weaver.sync.skills.match(phrase, conversation="c").chosen]
            assert skill.id in chosen, (phrase, chosen)


def test_every_veto_keeps_its_skill_away(weaver: Weaver) -> None:
    for skill in weaver.sync.skills.snapshot().values():
        for phrase in skill.triggers.never:
            selection = weaver.sync.skills.match(f"{phrase} {skill.id}", conversation="c")
            assert skill.id not in [candidate.skill_id for candidate in selection.chosen], phrase


def test_the_whole_catalog_fits_into_its_share_of_the_budget(weaver: Weaver) -> None:
    catalog = weaver.sync.skills.catalog()
    assert Tiktoken().count(catalog) <= 2000
    assert all(f"- {skill_id}: " in catalog for skill_id in weaver.sync.skills.snapshot())


def test_the_longest_skill_steps_down_and_says_what_was_left_out() -> None:
    tight = skillweave.open(SKILLS, settings=Settings(Budget(total=5200), catalog=CatalogMode.FALLBACK))
    injection = tight.sync.weave("go", conversation="long", named=["database-migration"])
    assert injection.skills == ("database-migration",)
    left_out = [d for d in injection.decisions if d.outcome is Outcome.OVER_BUDGET]
    assert left_out and all(decision.tokens for decision in left_out)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_explains_itself(script: Path) -> None:
    answer = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("usage:")
