import os
from pathlib import Path

import pytest

from skillweave import Severity
from skillweave.sources.folder import Folder
from skillweave.sources.tree import Nested
from tests.skill_folders import found, ids, places, skill_text, write_skill


async def test_a_skill_6_folders_down_is_found_and_one_7_down_is_not(tmp_path: Path) -> None:
    write_skill(tmp_path / "1/2/3/4/5/six")
    write_skill(tmp_path / "1/2/3/4/5/6/seven")
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["six"]
    assert "1 folders more than 6 levels down" in found(loaded, "too-deep")[0].message


async def test_the_artifact_folders_of_a_deep_skill_are_not_reported_as_too_deep(tmp_path: Path) -> None:
    write_skill(tmp_path / "1/2/3/4/5/six", files={"references/a.md": "x"})
    loaded = await Folder(tmp_path).load()
    assert not loaded.diagnostics
    assert [ref.id for ref in loaded.skills[0].artifacts] == ["references/a.md"]


@pytest.mark.parametrize("skipped", [".git", "node_modules", ".venv"])
async def test_skills_of_others_tools_are_not_searched(tmp_path: Path, skipped: str) -> None:
    write_skill(tmp_path / skipped / "hidden")
    write_skill(tmp_path / "a" / skipped / "hidden")
    write_skill(tmp_path / "good")
    assert ids(await Folder(tmp_path).load()) == ["good"]


async def test_hidden_folders_are_searched(tmp_path: Path) -> None:
    write_skill(tmp_path / ".claude" / "skills" / "one")
    assert ids(await Folder(tmp_path).load()) == ["one"]


async def test_a_nested_skill_belongs_to_its_parent_and_is_mentioned(tmp_path: Path) -> None:
    write_skill(tmp_path / "parent")
    write_skill(tmp_path / "parent" / "more" / "child")
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["parent"]
    (finding,) = found(loaded, "nested-skill")
    assert finding.severity is Severity.INFO
    assert f"'{tmp_path / 'parent/more/child'}' is part of the skill" in finding.message


async def test_a_nested_skill_is_one_of_its_own_when_asked_for(tmp_path: Path) -> None:
    write_skill(tmp_path / "parent")
    write_skill(tmp_path / "parent" / "more" / "child")
    loaded = await Folder(tmp_path, nested=Nested.SEPARATE).load()
    assert ids(loaded) == ["parent", "child"]
    assert not loaded.diagnostics


async def test_a_skill_template_among_the_assets_is_an_artifact_without_a_word(tmp_path: Path) -> None:
    write_skill(tmp_path / "creator", files={"assets/template/SKILL.md": skill_text("template")})
    loaded = await Folder(tmp_path).load()
    assert [ref.id for ref in loaded.skills[0].artifacts] == ["assets/template/SKILL.md"]
    assert not loaded.diagnostics


async def test_the_source_that_is_a_skill_owns_what_is_below(tmp_path: Path) -> None:
    write_skill(tmp_path, skill_text(tmp_path.name))
    write_skill(tmp_path / "below")
    assert len((await Folder(tmp_path).load()).skills) == 1


async def test_the_upper_case_name_counts_where_both_are_there(tmp_path: Path) -> None:
    write_skill(tmp_path / "both").with_name("skill.md").write_text(skill_text("lower"))
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["both"]
    (finding,) = found(loaded, "misnamed-skill-file")
    assert finding.message.endswith("both/skill.md' is not read: SKILL.md beside it is the skill")
    assert finding.fix == "keep the one of the two that you mean, as SKILL.md"


async def test_a_skill_file_in_other_case_is_a_near_miss(tmp_path: Path) -> None:
    write_skill(tmp_path / "near").rename(tmp_path / "near" / "Skill.md")
    (finding,) = found(await Folder(tmp_path).load(), "misnamed-skill-file")
    assert finding.fix == "rename Skill.md to SKILL.md"


async def test_a_linked_skill_folder_outside_is_refused_with_the_remedy(tmp_path: Path) -> None:
    write_skill(tmp_path / "elsewhere" / "linked")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "elsewhere" / "linked")
    loaded = await Folder(tmp_path / "skills").load()
    assert ids(loaded) == []
    (finding,) = found(loaded, "link-outside")
    assert finding.severity is Severity.ERROR
    assert str(tmp_path / "elsewhere/linked") in finding.message
    assert "name the link's target as a source" in finding.fix


async def test_links_to_outside_that_are_no_skills_are_passed_over(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "one")
    (tmp_path / "skills" / "root").symlink_to("/")
    (tmp_path / "skills" / "file").symlink_to("/etc/hostname")
    (tmp_path / "skills" / "dangling").symlink_to("nowhere")
    loaded = await Folder(tmp_path / "skills").load()
    assert (ids(loaded), loaded.diagnostics) == (["one"], ())


async def test_a_link_to_a_skill_inside_the_source_loads_it_once_under_its_real_path(tmp_path: Path) -> None:
    write_skill(tmp_path / "vendor" / "one")
    write_skill(tmp_path / "node_modules" / "two")
    (tmp_path / "alias").symlink_to("vendor/one")
    (tmp_path / "picked").symlink_to("node_modules/two")
    loaded = await Folder(tmp_path).load()
    assert places(loaded) == [f"{tmp_path}/node_modules/two/SKILL.md", f"{tmp_path}/vendor/one/SKILL.md"]


async def test_links_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    write_skill(tmp_path / "one")
    (tmp_path / "here").symlink_to(".")
    (tmp_path / "one" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    assert ids(await Folder(tmp_path).load()) == ["one"]


async def test_a_linked_folder_is_found_only_once_however_many_links_lead_there(tmp_path: Path) -> None:
    write_skill(tmp_path / ".venv" / "share" / "skills" / "one")
    for index in range(5):
        (tmp_path / f"link{index}").symlink_to(".venv/share")
    assert ids(await Folder(tmp_path).load()) == ["one"]


async def test_names_with_line_breaks_stay_on_one_line(tmp_path: Path) -> None:
    write_skill(tmp_path / "parent\nfolder")
    write_skill(tmp_path / "parent\nfolder" / "child\x1b[31m")
    findings = (await Folder(tmp_path).load()).diagnostics
    assert any("parent" in str(finding) for finding in findings)
    assert all(str(finding).isprintable() for finding in findings)


async def test_thousands_of_plain_files_beside_skills_are_no_skills(tmp_path: Path) -> None:
    write_skill(tmp_path / "one")
    for index in range(2000):
        os.close(os.open(tmp_path / f"file{index}.md", os.O_CREAT))
    assert ids(await Folder(tmp_path).load()) == ["one"]


async def test_a_link_to_a_skill_in_the_same_repository_is_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "library" / "tea", files={"references/a.md": "Green."})
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / ".claude" / "skills" / "tea").symlink_to("../../library/tea")
    source = Folder(tmp_path / ".claude" / "skills")
    loaded = await source.load()
    assert (ids(loaded), loaded.diagnostics) == (["tea"], ())
    assert places(loaded) == [f"{tmp_path}/.claude/skills/tea/SKILL.md"]
    assert await source.read(loaded.skills[0], "references/a.md") == b"Green."


async def test_a_link_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path / "elsewhere" / "tea")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "skills").mkdir()
    (tmp_path / "project" / "skills" / "tea").symlink_to(tmp_path / "elsewhere" / "tea")
    loaded = await Folder(tmp_path / "project" / "skills").load()
    assert loaded.skills == ()
    assert found(loaded, "link-outside")


async def test_a_file_of_a_linked_skill_that_leads_out_of_the_skill_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    write_skill(tmp_path / "library" / "tea", files={"references/a.md": "Green."})
    (tmp_path / "library" / "tea" / "references" / "b.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "tea").symlink_to("../library/tea")
    loaded = await Folder(tmp_path / "skills").load()
    assert [ref.id for ref in loaded.skills[0].artifacts] == ["references/a.md"]
    assert found(loaded, "artifact-left-out")


async def test_only_a_skills_own_folder_is_followed_out_of_the_source(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "library" / "tea")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "all").symlink_to("../library")
    (tmp_path / "skills" / "top").symlink_to("..")
    assert ids(await Folder(tmp_path / "skills").load()) == []


async def test_two_links_to_one_skill_of_the_repository_load_it_once(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "library" / "tea")
    (tmp_path / "skills").mkdir()
    for name in ("one", "two"):
        (tmp_path / "skills" / name).symlink_to("../library/tea")
    assert ids(await Folder(tmp_path / "skills").load()) == ["tea"]


async def test_what_a_link_reaches_in_a_source_beside_is_left_to_that_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "agents" / "tea")
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "tea").symlink_to("../agents/tea")
    loaded = await Folder(tmp_path / "claude", beside=[tmp_path / "agents"]).load()
    assert loaded.skills == ()
    assert found(loaded, "link-outside") == []


async def test_a_link_that_leads_elsewhere_now_is_followed_anew(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("tea", "milk"):
        write_skill(tmp_path / "library" / name)
    link = tmp_path / "skills" / "drink"
    link.parent.mkdir()
    link.symlink_to("../library/tea")
    source = Folder(tmp_path / "skills")
    before = await source.load()
    link.unlink()
    link.symlink_to("../library/milk")
    assert ids(await source.load(before)) == ["milk"]
