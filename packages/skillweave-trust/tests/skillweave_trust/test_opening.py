from pathlib import Path

import pytest

from skillweave import Status
from skillweave.errors import InvalidValue, SkillweaveError
from skillweave.sources import source_of

TEXT = "---\nname: {0}\ndescription: Greets.\n---\nSay bonjour.\n"


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "conf"))
    (tmp_path / "conf" / "skillweave").mkdir(parents=True)
    return tmp_path / "conf" / "skillweave"


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for name in ("mine", "added"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(TEXT.format(name))
    write_lock(tmp_path / "skills", "added")
    return tmp_path / "skills"


def write_lock(folder: Path, *names: str) -> None:
    entry = '{"source": "https://example.org/s", "kind": "git", "path": ".", "sha256": {}}'
    skills = ", ".join(f'"{name}": {entry}' for name in names)
    (folder / "skillweave.lock").write_text(f'{{"version": 1, "skills": {{{skills}}}}}')


async def standing(folder: Path) -> dict[str, Status]:
    loaded = await source_of(f"trusted://{folder}").load(None)
    return {one.id: one.status for one in loaded.skills}


async def test_what_was_added_from_elsewhere_is_held_back_beside_skills_of_ones_own(skills: Path) -> None:
    assert await standing(skills) == {"added": Status.QUARANTINED, "mine": Status.ACTIVE}


async def test_a_skill_that_is_taken_out_of_the_lock_does_not_become_ones_own(skills: Path) -> None:
    await standing(skills)
    (skills / "skillweave.lock").unlink()
    assert await standing(skills) == {"added": Status.QUARANTINED, "mine": Status.ACTIVE}


async def test_the_policy_is_the_one_in_the_settings_of_the_user(skills: Path, settings: Path) -> None:
    (settings / "trust.toml").write_text('[[rule]]\norigin = "git:https://example.org/*"\nneeds = "nothing"\n')
    assert (await standing(skills))["added"] is Status.ACTIVE


async def test_a_policy_among_the_skills_is_none(skills: Path) -> None:
    (skills / "trust.toml").write_text('[[rule]]\norigin = "*"\nneeds = "nothing"\n')
    assert (await standing(skills))["added"] is Status.QUARANTINED


def test_a_policy_with_a_typo_opens_nothing(skills: Path, settings: Path) -> None:
    (settings / "trust.toml").write_text('[[rule]]\norgin = "git:*"\nneeds = "nothing"\n')
    with pytest.raises(SkillweaveError, match="did you mean 'origin'"):
        source_of(f"trusted://{skills}")


def test_a_lock_that_is_not_ours_opens_nothing(skills: Path) -> None:
    (skills / "skillweave.lock").write_text("[]")
    with pytest.raises(SkillweaveError, match=r"skillweave\.lock cannot be read"):
        source_of(f"trusted://{skills}")


def test_no_folder_is_refused() -> None:
    with pytest.raises(InvalidValue, match="names no folder"):
        source_of("trusted://")
