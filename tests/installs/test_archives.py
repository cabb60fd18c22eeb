"""Archives of others are unpacked below one folder, or not at all."""

import gzip
import io
import stat
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.installs import archives
from skillweave.installs.archives import unpack
from skillweave.installs.packages import InstallRefused

SKILL = b"---\nname: tea\ndescription: Makes tea.\n---\n\nBoil.\n"


def zipped(path: Path, *files: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return path


def tarred(path: Path, *members: tarfile.TarInfo, data: bytes = SKILL) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            member.size = len(data) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return path


def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir(exist_ok=True)
    return folder


def test_a_zip_is_unpacked(tmp_path: Path) -> None:
    unpack(zipped(tmp_path / "a.zip", ("tea/SKILL.md", SKILL), ("./tea/references/a.md", b"x")), into(tmp_path))
    assert (tmp_path / "into/tea/SKILL.md").read_bytes() == SKILL
    assert (tmp_path / "into/tea/references/a.md").read_bytes() == b"x"


def test_a_tar_is_unpacked_with_the_right_to_run_a_script(tmp_path: Path) -> None:
    script = tarfile.TarInfo("tea/scripts/run.sh")
    script.mode = 0o777
    unpack(tarred(tmp_path / "a.tar.gz", tarfile.TarInfo("tea/SKILL.md"), script), into(tmp_path))
    assert (tmp_path / "into/tea/SKILL.md").read_bytes() == SKILL
    assert stat.S_IMODE((tmp_path / "into/tea/scripts/run.sh").stat().st_mode) == 0o755


OUT = ["../evil", "tea/../../evil", "/tmp/evil", "tea\\..\\evil", "C:/evil", "C:evil", "tea//x", "", "a/./b", "x" * 300]


@pytest.mark.parametrize("name", [*OUT, "a\nb"])
def test_a_path_that_is_no_plain_one_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InstallRefused, match="no plain path"):
        unpack(tarred(tmp_path / "a.tgz", tarfile.TarInfo(name)), into(tmp_path))
    assert list((tmp_path / "into").iterdir()) == []


@given(st.lists(st.sampled_from(["..", ".", "a", "", "~", "b\\c", "/", "C:"]), min_size=1, max_size=5))
def test_no_name_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    tmp_path = tmp_path_factory.mktemp("names")
    archive = tarred(tmp_path / "a.tgz", tarfile.TarInfo("/".join(parts)))
    with suppress(InstallRefused):
        unpack(archive, into(tmp_path))
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "into" not in path.parents]
    assert outside == [archive]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_a_tar_is_refused(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("tea/SKILL.md")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(InstallRefused, match="a link or a device"):
        unpack(tarred(tmp_path / "a.tgz", member), into(tmp_path))


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("tea/SKILL.md")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InstallRefused, match="a link or a device"):
        unpack(tmp_path / "a.zip", into(tmp_path))


def test_one_path_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        archive = zipped(tmp_path / "a.zip", ("tea/SKILL.md", SKILL), ("tea/SKILL.md", b"other"))
    with pytest.raises(InstallRefused, match="stands twice"):
        unpack(archive, into(tmp_path))


def test_an_archive_that_grows_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    with pytest.raises(InstallRefused, match="more than 1 MiB when it is unpacked"):
        unpack(zipped(tmp_path / "a.zip", ("tea/a", b"\0" * (1 << 20)), ("tea/b", b"x")), into(tmp_path))


def test_an_archive_of_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ENTRIES", 2)
    with pytest.raises(InstallRefused, match="more than 2 entries"):
        unpack(zipped(tmp_path / "a.zip", *((f"{name}", b"x") for name in "abc")), into(tmp_path))


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
@pytest.mark.parametrize("data", [b"", b"no archive at all", b"PK\x03\x04broken", b"\x1f\x8bbroken"])
def test_what_is_no_archive_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InstallRefused, match=r"no archive that can be read|cannot be unpacked"):
        unpack(tmp_path / name, into(tmp_path))


def test_a_name_in_a_tar_that_claims_to_be_gigabytes_long_is_not_read(tmp_path: Path) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type = tarfile.GNUTYPE_LONGNAME
    name.size = 3 << 30
    (tmp_path / "a.tgz").write_bytes(gzip.compress(name.tobuf(tarfile.GNU_FORMAT) + bytes(4096)))
    with pytest.raises(InstallRefused, match="more than 64 MiB"):
        unpack(tmp_path / "a.tgz", into(tmp_path))


@pytest.mark.parametrize("damaged", [b"\xff\xff", b"\xc3("])
def test_a_zip_whose_names_are_no_text_is_refused(tmp_path: Path, damaged: bytes) -> None:
    archive = zipped(tmp_path / "a.zip", ("tea/\u00e9.md", SKILL))
    archive.write_bytes(archive.read_bytes().replace("\u00e9".encode(), damaged))
    with pytest.raises(InstallRefused, match="no archive that can be read"):
        unpack(archive, into(tmp_path))
