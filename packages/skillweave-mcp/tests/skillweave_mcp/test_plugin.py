"""Agent Plugins: the four layouts are read, and what is written is taken by a strict client."""

import json
from pathlib import Path

import pytest

import skillweave
from skillweave import Registry, Skill, SkillweaveError, ToolRules
from skillweave.skills import SkillText, Strictness
from skillweave.sources import source_of
from skillweave_mcp.plugin import SCHEMA, export_plugin
from tests.skill_folders import skill_text, write_skill

NATIVE = Skill("Bow_Deep", "Bow", "Bows.", text=SkillText(instructions="Bend.\n"), tools=ToolRules(forbidden=("jump",)))


@pytest.mark.parametrize(
    "mark",
    ["plugin.json", ".claude-plugin/plugin.json", ".agents/plugins/marketplace.json", ".cursor-plugin/plugin.json"],
)
async def test_a_plugin_of_each_layout_is_a_source_of_its_skills(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / mark).write_text('{"name": "some-plugin"}')
    (tmp_path / "mcp.json").write_text("{}")
    write_skill(tmp_path / "skills" / "one")
    write_skill(tmp_path / "skills" / "two")
    assert sorted(await skillweave.open(tmp_path).skills.snapshot()) == ["one", "two"]


async def exported(folder: Path, *skills: object) -> list[str]:
    snapshot = await skillweave.open(*skills).skills.snapshot()  # type: ignore[arg-type]
    return list((await export_plugin(snapshot, folder)).skills)


async def strictly_read(folder: Path) -> list[str]:
    registry = Registry([source_of(folder / "skills", Strictness.STRICT)])
    await registry.refresh()
    assert [one.message for one in registry.snapshot.diagnostics] == []
    return sorted(registry.snapshot)


async def test_the_manifest_names_the_plugin_and_its_schema(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "one")
    await exported(tmp_path / "My Plugin!", tmp_path / "skills")
    assert json.loads((tmp_path / "My Plugin!" / "plugin.json").read_text()) == {"$schema": SCHEMA, "name": "my-plugin"}


async def test_files_of_a_skill_that_strict_clients_take_stay_as_they_are(tmp_path: Path) -> None:
    files = {"references/forms.md": "A form.\r\n", "run.sh": "true\n"}
    write_skill(tmp_path / "skills" / "one", skill_text("one", license="MIT"), files)
    await exported(tmp_path / "plugin", tmp_path / "skills")
    for path in ("SKILL.md", *files):
        assert (tmp_path / "plugin/skills/one" / path).read_bytes() == (tmp_path / "skills/one" / path).read_bytes()


async def test_what_strict_clients_would_refuse_is_rewritten_and_read_by_them(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "Odd Name", skill_text("Odd Name", triggers="bonjour", colour="red"))
    assert await exported(tmp_path / "plugin", tmp_path / "skills", NATIVE) == ["bow-deep", "odd-name"]
    assert await strictly_read(tmp_path / "plugin") == ["Bow_Deep", "Odd-Name"]


async def test_the_instructions_of_a_rewritten_skill_are_its_body(tmp_path: Path) -> None:
    await exported(tmp_path / "plugin", NATIVE)
    assert (tmp_path / "plugin/skills/bow-deep/SKILL.md").read_text().endswith("---\n\nBend.\n")


async def test_a_rewritten_skill_comes_back_with_its_rules(tmp_path: Path) -> None:
    await exported(tmp_path / "plugin", NATIVE)
    found = (await skillweave.open(tmp_path / "plugin").skills.snapshot())["Bow_Deep"]
    assert found.tools == NATIVE.tools


async def test_two_skills_of_one_name_there_are_named(tmp_path: Path) -> None:
    other = Skill("bow-deep", "Other", "Other.")
    snapshot = await skillweave.open(NATIVE, other).skills.snapshot()
    done = await export_plugin(snapshot, tmp_path / "plugin")
    assert done.skills == ("bow-deep",)
    assert "another skill is called 'bow-deep'" in done.diagnostics[0].message


async def test_a_folder_that_holds_something_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SkillweaveError, match="is not empty"):
        await exported(tmp_path, NATIVE)
