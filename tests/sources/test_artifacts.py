import os
from pathlib import Path

import pytest

from skillweave import Severity
from skillweave.registry import Loaded
from skillweave.sources.folder import Folder
from tests.skill_folders import found, write_skill


def listed(loaded: Loaded) -> list[str]:
    return [ref.id for skill in loaded.skills for ref in skill.artifacts]


async def test_artifacts_are_the_files_of_three_folders_sorted(tmp_path: Path) -> None:
    names = ["scripts/run.py", "references/b.md", "references/a/deep.md", "assets/logo.png"]
    write_skill(tmp_path / "one", files=dict.fromkeys([*names, "README.md", "docs/more.md", "tests/t.py"], "x"))
    assert listed(await Folder(tmp_path).load()) == sorted(names)


async def test_an_artifact_has_its_name_type_and_size_but_no_hash_before_it_is_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/guide.MD": "größe"})
    (ref,) = (await Folder(tmp_path).load()).skills[0].artifacts
    assert (ref.name, ref.media_type, ref.size, ref.content_hash) == ("guide.MD", "text/markdown", 7, None)


async def test_python_caches_and_other_tools_folders_are_no_artifacts(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"scripts/__pycache__/a.pyc": "x", "scripts/node_modules/b.js": "x"})
    assert listed(await Folder(tmp_path).load()) == []


async def test_the_513th_file_is_left_out_and_the_skill_loads(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={f"references/{index:04}.md": "" for index in range(515)})
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == [f"references/{index:04}.md" for index in range(512)]
    (finding,) = found(loaded, "artifact-left-out")
    assert (finding.severity, finding.skill) == (Severity.WARNING, "one")
    assert finding.message.startswith("'references/0512.md', 'references/0513.md', 'references/0514.md' are not listed")


async def test_what_goes_past_16_mib_is_left_out_and_what_fits_stays(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"assets/a.bin": "", "assets/b.bin": "", "references/c.md": "small"})
    os.truncate(tmp_path / "one/assets/a.bin", 10 << 20)
    os.truncate(tmp_path / "one/assets/b.bin", 7 << 20)
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == ["assets/a.bin", "references/c.md"]
    assert "at most 512 files and 16 MiB" in found(loaded, "artifact-left-out")[0].message


@pytest.mark.parametrize("link", ["references/leak.md", "references/leak", "references"])
async def test_links_to_outside_are_left_out_and_reported(tmp_path: Path, link: str) -> None:
    write_skill(tmp_path / "other", files={"references/secret.md": "x"})
    write_skill(tmp_path / "skills" / "one", files={"assets/own.md": "x"})
    path = tmp_path / "skills" / "one" / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / ("other/references/secret.md" if link.endswith(".md") else "other/references"))
    loaded = await Folder(tmp_path / "skills").load()
    assert listed(loaded) == ["assets/own.md"]
    (finding,) = found(loaded, "artifact-left-out")
    assert "leads out of its folder" in finding.message


async def test_a_link_to_a_file_inside_the_skill_is_an_artifact_and_can_be_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"docs/real.md": "real", "references/a.md": "x"})
    (tmp_path / "one" / "references" / "link.md").symlink_to("../docs/real.md")
    source = Folder(tmp_path)
    loaded = await source.load()
    assert listed(loaded) == ["references/a.md", "references/link.md"]
    assert loaded.skills[0].artifacts[1].size == 4
    assert await source.read(loaded.skills[0], "references/link.md") == b"real"


async def test_a_link_to_a_folder_inside_the_skill_is_followed(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"docs/real.md": "real"})
    (tmp_path / "one" / "references").symlink_to("docs")
    source = Folder(tmp_path)
    loaded = await source.load()
    assert listed(loaded) == ["references/real.md"]
    assert await source.read(loaded.skills[0], "references/real.md") == b"real"


async def test_links_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x", "references/deep/b.md": "x"})
    (tmp_path / "one/references/deep/up").symlink_to("..")
    (tmp_path / "one/references/deep/top").symlink_to("../..")
    (tmp_path / "one/references/self").symlink_to("self")
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == ["references/a.md", "references/deep/b.md"]


async def test_a_dangling_link_and_a_pipe_are_left_out_and_do_not_block(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"scripts/run.sh": "x"})
    (tmp_path / "one/scripts/gone").symlink_to("nothing")
    os.mkfifo(tmp_path / "one/scripts/pipe")
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == ["scripts/run.sh"]
    assert len(found(loaded, "artifact-left-out")) == 2


async def test_a_name_that_cannot_be_an_id_is_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/ä b.md": "x", "references/two\nlines.md": "x"})
    write_skill(tmp_path / "one", files={os.fsdecode(b"references/\xff.md"): "x"})
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == ["references/ä b.md"]
    (finding,) = found(loaded, "artifact-left-out")
    assert "'references/two\\x0alines.md', 'references/\\xff.md'" in finding.message


async def test_folders_more_than_6_levels_down_are_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/1/2/3/4/5/6/deep.md": "x", "references/1/2/3/4/5/6/7/no.md": "x"})
    loaded = await Folder(tmp_path).load()
    assert listed(loaded) == ["references/1/2/3/4/5/6/deep.md"]
    assert found(loaded, "artifact-left-out")[0].message.startswith("'references/1/2/3/4/5/6/7' is not listed")
