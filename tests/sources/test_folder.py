import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillweave import Severity, Skill
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.registry import Watched, collect
from skillweave.skills import Origin, Strictness
from skillweave.sources.folder import PART, Folder
from tests.skill_folders import found, ids, places, skill_text, write_skill

NOBODY = 65534


async def test_skills_come_sorted_by_path_whatever_the_file_system_says(tmp_path: Path) -> None:
    for name in ("zebra", "apple", "mango"):
        write_skill(tmp_path / name)
    assert ids(await Folder(tmp_path).load()) == ["apple", "mango", "zebra"]


async def test_the_folder_of_one_skill_is_a_source(tmp_path: Path) -> None:
    write_skill(tmp_path / "solo", files={"references/a.md": "x"})
    loaded = await Folder(tmp_path / "solo").load()
    assert ids(loaded) == ["solo"]
    assert not loaded.diagnostics
    assert await Folder(tmp_path / "solo").read(loaded.skills[0], "references/a.md") == b"x"


async def test_a_skill_file_itself_is_a_source_of_one_skill(tmp_path: Path) -> None:
    write_skill(tmp_path / "solo", files={"references/a.md": "x", "inner/SKILL.md": skill_text("inner")})
    source = Folder(tmp_path / "solo" / "SKILL.md")
    loaded = await source.load()
    assert (ids(loaded), loaded.diagnostics, source.name) == (["solo"], (), "solo")
    assert await source.read(loaded.skills[0], "references/a.md") == b"x"


async def test_a_lower_case_skill_file_is_a_skill(tmp_path: Path) -> None:
    write_skill(tmp_path / "low").rename(tmp_path / "low" / "skill.md")
    assert ids(await Folder(tmp_path).load()) == ["low"]


async def test_places_are_told_as_the_folder_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(tmp_path / "skills" / "one")
    monkeypatch.chdir(tmp_path)
    assert places(await Folder("skills/").load()) == ["skills/one/SKILL.md"]
    assert places(await Folder("./skills").load()) == ["skills/one/SKILL.md"]
    monkeypatch.chdir(tmp_path / "skills")
    assert places(await Folder(".").load()) == ["one/SKILL.md"]


async def test_artifacts_are_read_after_the_working_folder_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "skills" / "one", files={"assets/a.txt": "x"})
    monkeypatch.chdir(tmp_path)
    source = Folder("skills")
    (skill,) = (await source.load()).skills
    monkeypatch.chdir("/")
    assert await source.read(skill, "assets/a.txt") == b"x"


async def test_strict_skips_what_lenient_repairs(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", skill_text("other"))
    assert ids(await Folder(tmp_path).load()) == ["other"]
    strict = await Folder(tmp_path, strictness=Strictness.STRICT).load()
    assert ids(strict) == []
    assert any(finding.severity is Severity.ERROR for finding in strict.diagnostics)


async def test_a_missing_folder_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="nowhere' does not exist; create it"):
        await Folder(tmp_path / "nowhere").load()


async def test_a_file_in_place_of_a_folder_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(SourceUnavailable, match=r"notes.txt' is not a folder of skills; name the folder of a SKILL.md"):
        await Folder(tmp_path / "notes.txt").load()


@pytest.mark.parametrize("path", ["", "nul\0byte", "x" * 5000, "~no-such-user-anywhere/skills", "\udcff\udcfe"])
async def test_a_path_that_cannot_be_is_one_clear_error(path: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        await Folder(path).load()
    assert "\n" not in str(caught.value)
    assert str(caught.value).encode()


async def test_an_empty_folder_is_a_warning_with_the_remedy(tmp_path: Path) -> None:
    loaded = await Folder(tmp_path).load()
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.severity) == ("no-skills", Severity.WARNING)
    assert str(tmp_path) in finding.message
    assert "SKILL.md" in finding.fix


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfe\x00bad", "not-utf-8"),
        (b"plain text", "frontmatter-missing"),
        (b"---\nname: bad\ndescription: never closed\n", "frontmatter-unclosed"),
        (b"---\nname: bad\n---\nno description\n", "field-missing"),
        (b"---\na: &a [x]\nb: *a\n---\n", "yaml-alias"),
        (b"---\nx: " + b"[" * 100_000 + b"\n---\n", "frontmatter-too-large"),
        (b"---\nname: bad\ndescription: x\n---\n" + b"x" * (1 << 20), "file-too-large"),
        (b"", "frontmatter-missing"),
    ],
)
async def test_one_bad_file_is_reported_and_hides_no_other(tmp_path: Path, data: bytes, code: str) -> None:
    write_skill(tmp_path / "bad").write_bytes(data)
    write_skill(tmp_path / "good")
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["good"]
    (finding,) = [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR]
    assert finding.code == code
    assert finding.location is not None
    assert finding.location.path.endswith("bad/SKILL.md")


async def test_a_file_of_100_mb_is_refused_by_its_size(tmp_path: Path) -> None:
    with write_skill(tmp_path / "huge").open("r+b") as file:
        file.truncate(100 * 1024 * 1024)
    write_skill(tmp_path / "good")
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["good"]
    (finding,) = found(loaded, "file-too-large")
    assert "it has 100 MiB, more than the limit of 1 MiB" in finding.message


async def test_a_pipe_called_skill_md_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    write_skill(tmp_path / "good")
    loaded = await Folder(tmp_path).load()
    assert ids(loaded) == ["good"]
    assert "a pipe" in found(loaded, "not-a-file")[0].message


async def test_a_socket_called_skill_md_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "socket").mkdir()
    monkeypatch.chdir(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("SKILL.md")
        assert found(await Folder(tmp_path).load(), "not-a-file")


async def test_a_folder_called_skill_md_is_reported(tmp_path: Path) -> None:
    (tmp_path / "odd" / "SKILL.md").mkdir(parents=True)
    assert "a folder" in found(await Folder(tmp_path).load(), "not-a-file")[0].message


async def test_a_skill_file_that_is_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(skill_text("secret"))
    (tmp_path / "skills" / "leak").mkdir(parents=True)
    (tmp_path / "skills" / "leak" / "SKILL.md").symlink_to(secret)
    write_skill(tmp_path / "skills" / "good")
    loaded = await Folder(tmp_path / "skills").load()
    assert ids(loaded) == ["good"]
    (finding,) = found(loaded, "link-outside")
    assert finding.severity is Severity.ERROR
    assert str(secret) in finding.message


async def test_a_skill_file_that_is_a_link_inside_its_folder_loads(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "inside")
    path.rename(path.with_name("README.md"))
    path.symlink_to("README.md")
    assert ids(await Folder(tmp_path).load()) == ["inside"]


async def test_a_skill_file_that_is_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "SKILL.md").symlink_to("SKILL.md")
    loaded = await Folder(tmp_path).load()
    assert [finding.severity for finding in loaded.diagnostics] == [Severity.ERROR]


async def test_a_dangling_skill_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "SKILL.md").symlink_to("nothing.md")
    assert found(await Folder(tmp_path).load(), "vanished")


async def test_the_source_itself_may_be_a_link(tmp_path: Path) -> None:
    write_skill(tmp_path / "real" / "one", files={"scripts/run.sh": "x"})
    (tmp_path / "alias").symlink_to("real")
    source = Folder(tmp_path / "alias")
    (skill,) = (await source.load()).skills
    assert skill.origin == Origin("alias", f"{tmp_path}/alias/one/SKILL.md")
    assert await source.read(skill, "scripts/run.sh") == b"x"


async def test_a_name_that_is_no_utf_8_breaks_nothing(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/sk\xffill\n"))
    write_skill(odd, skill_text("odd"), {"references/a.md": "x"})
    loaded = await Folder(tmp_path).load()
    assert places(loaded) == [f"{tmp_path}/sk\\xffill\\x0a/SKILL.md"]
    assert loaded.skills[0].artifacts == ()
    assert found(loaded, "artifact-left-out")
    assert json.dumps([finding.to_dict() for finding in loaded.diagnostics], ensure_ascii=False).encode()


async def test_a_name_that_is_no_utf_8_becomes_no_id(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/sk\xffill"))
    write_skill(odd, "---\ndescription: The folder gives the name.\n---\n")
    (skill,) = (await Folder(tmp_path).load()).skills
    assert skill.id.isascii()
    assert (skill.name + (skill.spelling or "")).encode()


async def test_progress_ends_with_all_files_done(tmp_path: Path) -> None:
    for index in range(130):
        write_skill(tmp_path / f"skill-{index:03}")
    told: list[tuple[int, int]] = []
    await Folder(tmp_path, progress=lambda done, total: told.append((done, total))).load()
    assert told == [(64, 130), (128, 130), (130, 130)]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others than root reach too, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def without_roots_rights() -> Iterator[None]:
    """Root may read everything; for a while this process is somebody else."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


async def test_an_unreadable_file_and_folder_are_reported_and_hide_no_other(open_folder: Path) -> None:
    write_skill(open_folder / "good", files={"references/a.md": "x"})
    write_skill(open_folder / "locked")
    write_skill(open_folder / "closed")
    source = Folder(open_folder)
    assert ids(await source.load()) == ["closed", "good", "locked"]
    (open_folder / "locked" / "SKILL.md").chmod(0)
    (open_folder / "closed").chmod(0)
    (open_folder / "good" / "references").chmod(0)
    with without_roots_rights():
        loaded = await source.load()
    (open_folder / "closed").chmod(0o755)
    assert ids(loaded) == ["good"]
    assert [str(finding.location) for finding in found(loaded, "unreadable")] == [
        f"{open_folder}/locked/SKILL.md",
        f"{open_folder}/closed",
    ]
    assert "Permission denied" in found(loaded, "artifact-left-out")[0].message


async def test_an_unreadable_source_is_named_with_the_remedy(open_folder: Path) -> None:
    source = Folder(open_folder / "skills")
    (open_folder / "skills").mkdir(mode=0)
    with without_roots_rights(), pytest.raises(SourceUnavailable, match=r"cannot be listed: .*Permission denied; give"):
        await source.load()


async def test_a_skill_of_elsewhere_is_not_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "one", files={"references/a.md": "x"})
    write_skill(tmp_path / "other" / "two", files={"references/a.md": "secret"})
    source = Folder(tmp_path / "skills")
    (skill,) = (await source.load()).skills
    for location in (
        f"{tmp_path}/other/two/SKILL.md",
        f"{tmp_path}/skills/../other/two/SKILL.md",
        f"{tmp_path}/skills//{tmp_path}/other/two/SKILL.md",
        "",
    ):
        forged = Skill("one", "One", "x", artifacts=skill.artifacts, origin=Origin("skills", location))
        with pytest.raises(ArtifactNotFound):
            await source.read(forged, "references/a.md")


async def test_an_artifact_that_went_away_is_not_found(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x"})
    source = Folder(tmp_path)
    (skill,) = (await source.load()).skills
    (tmp_path / "one" / "references" / "a.md").unlink()
    with pytest.raises(ArtifactNotFound, match="gone"):
        await source.read(skill, "references/a.md")


async def test_an_artifact_that_became_a_link_to_outside_is_not_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "one", files={"references/a.md": "x"})
    (tmp_path / "secret").write_text("secret")
    source = Folder(tmp_path / "skills")
    (skill,) = (await source.load()).skills
    (tmp_path / "skills" / "one" / "references" / "a.md").unlink()
    (tmp_path / "skills" / "one" / "references" / "a.md").symlink_to(tmp_path / "secret")
    with pytest.raises(ArtifactNotFound, match="leads out"):
        await source.read(skill, "references/a.md")


async def test_a_skill_folder_that_became_a_link_to_outside_is_not_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "one", files={"references/a.md": "x"})
    write_skill(tmp_path / "outside" / "one", files={"references/a.md": "secret"})
    source = Folder(tmp_path / "skills")
    (skill,) = (await source.load()).skills
    (tmp_path / "skills" / "one").rename(tmp_path / "moved")
    (tmp_path / "skills" / "one").symlink_to(tmp_path / "outside" / "one")
    with pytest.raises(ArtifactNotFound, match="leads out"):
        await source.read(skill, "references/a.md")


async def test_a_text_artifact_over_1_mib_is_not_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x" * (1 << 20) + "y"})
    source = Folder(tmp_path)
    (skill,) = (await source.load()).skills
    with pytest.raises(ArtifactNotFound, match="more than the limit of 1 MiB"):
        await source.read(skill, "references/a.md")


async def test_a_picture_over_1_mib_is_read(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"assets/a.png": "x" * (1 << 20) + "y"})
    source = Folder(tmp_path)
    (skill,) = (await source.load()).skills
    assert len(await source.read(skill, "assets/a.png")) == (1 << 20) + 1


async def test_all_real_skills_load(skills_sample: Path) -> None:
    loaded = await Folder(skills_sample).load()
    assert len(loaded.skills) == 841
    assert [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR] == []


async def test_every_untidy_skill_loads_or_is_reported_as_expected() -> None:
    untidy = Path(__file__).parents[1] / "data" / "untidy"
    expected = json.loads((untidy / "expected.json").read_text(encoding="utf-8"))
    loaded = await Folder(untidy).load()
    told: dict[str, list[str]] = {}
    for finding in loaded.diagnostics:
        assert finding.location is not None
        told.setdefault(Path(finding.location.path).parent.name, []).append(finding.code)
    loaded_ids = {
        Path(place).parent.name: skill_id for place, skill_id in zip(places(loaded), ids(loaded), strict=True)
    }
    assert {name: (loaded_ids.get(name), sorted(told.get(name, []))) for name in expected} == {
        name: (outcome["id"], sorted(outcome["codes"])) for name, outcome in expected.items()
    }


@pytest.mark.parametrize("named", ["skills", "skills/SKILL.md"])
def test_the_folder_is_what_is_watched(tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = Folder(named)
    assert isinstance(source, Watched)
    assert source.watched == (tmp_path / "skills",)


async def test_a_folder_that_becomes_a_link_while_skills_are_read_brings_nothing_from_outside(tmp_path: Path) -> None:
    root, outside = tmp_path / "skills", tmp_path / "outside"
    for number in range(65):
        write_skill(root / f"part-{number:02}" / f"skill-{number:02}")
    write_skill(outside / "skill-64", skill_text("skill-64", body="Theirs."))

    def swap(done: int, of: int) -> None:
        if (done, of) == (64, 65):  # all folders are listed, and the last skill is still to be read
            (root / "part-64").rename(tmp_path / "away")
            (root / "part-64").symlink_to(outside, target_is_directory=True)

    loaded = await Folder(root, progress=swap).load()
    assert "Theirs." not in {skill.text.instructions for skill in loaded.skills}
    assert len(loaded.skills) == 64
    assert [finding.path for finding in loaded.diagnostics] == [f"{root}/part-64/skill-64/SKILL.md"]


async def test_a_folder_that_goes_away_while_it_is_streamed_is_a_warning_and_the_rest_is_there(tmp_path: Path) -> None:
    for number in range(PART + 2):
        write_skill(tmp_path / f"s-{number:03}")
    stream = Folder(tmp_path).stream()
    first = await anext(stream)
    shutil.rmtree(tmp_path / f"s-{PART:03}")
    rest = await collect(stream)
    assert (len(first.skills), ids(rest)) == (PART, [f"s-{PART + 1:03}"])
    (gone,) = found(rest, "vanished")
    assert gone.path == f"{tmp_path}/s-{PART:03}/SKILL.md"
