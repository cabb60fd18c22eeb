import asyncio
import os
from pathlib import Path

import pytest

from skillweave.errors import ArtifactNotFound
from skillweave.manifest import manifest_of
from skillweave.registry import Package, WrappedSource
from skillweave.sources.folder import Folder
from skillweave.sources.whole import Known

TEXT = b"---\r\nname: greet\r\ndescription: Greets.\r\n---\r\nSay hello.\r\n"


@pytest.fixture
def skill_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "greet"
    (folder / "inner" / "deep").mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(TEXT)
    (folder / "FORMS.md").write_bytes(b"a form")
    (folder / "inner" / "SKILL.md").write_bytes(TEXT)
    (folder / "inner" / "deep" / "x.bin").write_bytes(b"\0\xff")
    return folder


async def packaged(folder: Path, known: Package | None = None) -> Package:
    source = Folder(folder.parent)
    skills = (await source.load()).skills
    return (await source.packages(skills, {} if known is None else {"greet": known}))["greet"]


def why(package: Package) -> str:
    assert package.manifest is None
    return package.findings[0].message


async def test_every_file_is_in_the_manifest_with_the_digest_of_its_raw_bytes(skill_folder: Path) -> None:
    files = {"SKILL.md": TEXT, "FORMS.md": b"a form", "inner/SKILL.md": TEXT, "inner/deep/x.bin": b"\0\xff"}
    assert (await packaged(skill_folder)).manifest == manifest_of(files)


async def test_a_file_is_read_byte_for_byte(skill_folder: Path) -> None:
    source = Folder(skill_folder.parent)
    skill = (await source.load()).skills[0]
    assert await source.read_file(skill, "SKILL.md") == TEXT


@pytest.mark.parametrize("path", ["../other.txt", "/etc/passwd", "nothing.md", "inner", "..\\x"])
async def test_nothing_outside_of_the_folder_is_read(skill_folder: Path, path: str) -> None:
    (skill_folder.parent / "other.txt").write_text("secret")
    source = Folder(skill_folder.parent)
    skill = (await source.load()).skills[0]
    with pytest.raises(ArtifactNotFound):
        await source.read_file(skill, path)


async def test_an_edit_of_a_known_file_is_seen(skill_folder: Path) -> None:
    before = await packaged(skill_folder)
    (skill_folder / "FORMS.md").write_bytes(b"b form")
    now = await packaged(skill_folder, before)
    assert now.manifest is not None
    assert now.manifest == manifest_of(
        {"SKILL.md": TEXT, "FORMS.md": b"b form", "inner/SKILL.md": TEXT, "inner/deep/x.bin": b"\0\xff"}
    )


async def test_a_file_with_its_old_mark_is_not_read_again(skill_folder: Path) -> None:
    await asyncio.sleep(0.05)  # what changed a moment ago is always read again
    before = await packaged(skill_folder)
    now = await packaged(skill_folder, before)
    assert isinstance(before.memory, Known)
    assert isinstance(now.memory, Known)
    assert all(now.memory.files[path] is file for path, file in before.memory.files.items())


async def test_a_link_inside_the_folder_counts_as_the_file_that_it_leads_to(skill_folder: Path) -> None:
    (skill_folder / "ALIAS.md").symlink_to("FORMS.md")
    found = (await packaged(skill_folder)).manifest
    assert found is not None
    assert found.file("ALIAS.md") is not None


async def test_a_link_out_of_the_folder_is_named(skill_folder: Path) -> None:
    (skill_folder / "out.md").symlink_to("/etc/hostname")
    assert "leads out of its folder" in why(await packaged(skill_folder))


async def test_a_pipe_is_named_and_not_opened(skill_folder: Path) -> None:
    os.mkfifo(skill_folder / "pipe")
    assert "'pipe' leads to no regular file" in why(await packaged(skill_folder))


async def test_a_skill_of_513_files_is_not_whole(skill_folder: Path) -> None:
    for number in range(509):
        (skill_folder / f"{number}.txt").write_bytes(b"")
    assert "more than 512 files" in why(await packaged(skill_folder))


async def test_a_skill_over_16_mib_is_not_whole(skill_folder: Path) -> None:
    for name in ("a", "b"):
        with (skill_folder / name).open("wb") as file:
            file.truncate((8 << 20) + 1)
    assert "more than 16 MiB" in why(await packaged(skill_folder))


async def test_a_wrapped_folder_hands_on_its_files(skill_folder: Path) -> None:
    source = WrappedSource(Folder(skill_folder.parent))
    skill = (await source.load()).skills[0]
    assert (await source.packages([skill], {}))["greet"].manifest is not None
    assert await source.read_file(skill, "FORMS.md") == b"a form"
