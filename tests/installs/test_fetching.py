"""Sources of skills: what a name means, and repositories cloned by a real git."""

import shutil
import subprocess
from pathlib import Path

import pytest

from skillweave.installs.fetching import Kind, fetched
from skillweave.installs.packages import InstallRefused, packages_in
from tests.skill_folders import skill_text, write_skill

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *words], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one skill, in two versions; the first has a tag."""
    folder = tmp_path / "repository"
    write_skill(folder / "skills" / "tea", skill_text("tea", version="1"))
    git(folder, "init", "--quiet")
    for version in ("1", "2"):
        write_skill(folder / "skills" / "tea", skill_text("tea", version=version))
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", version)
        git(folder, "tag", f"v{version}")
    return folder


def versions(source: str, ref: str | None = None) -> list[str | None]:
    with fetched(source, ref) as (root, _):
        return [package.version for package in packages_in(root)]


@needs_git
def test_a_repository_is_cloned_with_its_newest_commit(repository: Path) -> None:
    with fetched(repository.as_uri()) as (root, origin):
        (package,) = packages_in(root)
        assert (package.skill_id, package.version, package.path) == ("tea", "2", "skills/tea")
        assert list(package.files) == ["SKILL.md"]
    assert (origin.kind, origin.commit) == (Kind.GIT, git(repository, "rev-parse", "HEAD"))
    assert not root.exists()


@needs_git
def test_a_tag_or_branch_can_be_asked_for(repository: Path) -> None:
    assert versions(repository.as_uri(), "v1") == ["1"]
    assert versions(str(repository), "v1") == ["1"]


@needs_git
def test_a_bare_repository_is_named_by_its_path(repository: Path, tmp_path: Path) -> None:
    git(repository, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    assert versions(str(tmp_path / "bare.git")) == ["2"]


@needs_git
def test_no_hook_and_no_filter_of_anybody_runs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    hooks = tmp_path / "home" / "template" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
    (hooks / "post-checkout").chmod(0o755)
    (tmp_path / "home" / ".gitconfig").write_text(
        f'[init]\ntemplateDir = {hooks.parent}\n[core]\nhooksPath = {hooks}\n[filter "x"]\nsmudge = touch {ran}\n',
        encoding="utf-8",
    )
    (repository / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "attributes")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks.parent))
    assert versions(repository.as_uri()) == ["2"]
    assert not ran.exists()


@needs_git
def test_submodules_are_left_out(repository: Path, tmp_path: Path) -> None:
    write_skill(tmp_path / "other" / "milk")
    git(tmp_path / "other", "init", "--quiet")
    git(tmp_path / "other", "add", ".")
    git(tmp_path / "other", "commit", "--quiet", "-m", "milk")
    other = (tmp_path / "other").as_uri()
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "other")
    git(repository, "commit", "--quiet", "-m", "submodule")
    with fetched(repository.as_uri()) as (root, _):
        assert [package.skill_id for package in packages_in(root)] == ["tea"]


@needs_git
def test_a_repository_that_is_not_there_is_told_without_a_password(tmp_path: Path) -> None:
    missing = (tmp_path / "missing.git").as_uri()
    with pytest.raises(InstallRefused, match=r"git cannot clone file:///.*missing\.git: fatal"), fetched(missing):
        raise AssertionError
    address = "https://ann:secret@localhost:1/x.git"
    with pytest.raises(InstallRefused, match=r"https://localhost:1/x\.git") as refused, fetched(address):
        raise AssertionError
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "source", ["http://example.org/x.git", "git://example.org/x", "ext://sh -c id", "FTP://example.org/x"]
)
def test_other_protocols_are_refused(source: str) -> None:
    with pytest.raises(InstallRefused, match="only file, https, ssh are allowed"), fetched(source):
        raise AssertionError


@pytest.mark.parametrize("source", ["", " ", "nothing-here", "--upload-pack=id", "ext::sh -c id", "a\nb", "x.zip"])
def test_what_names_nothing_is_refused(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InstallRefused, match=r"there is no|is empty, or has a line break"), fetched(source):
        raise AssertionError


@needs_git
@pytest.mark.parametrize("ref", ["--upload-pack=id", "-x", " ", "nothing"])
def test_a_ref_that_is_none_is_refused(repository: Path, ref: str) -> None:
    with pytest.raises(InstallRefused, match=r"is no branch or tag|cannot clone"), fetched(repository.as_uri(), ref):
        raise AssertionError


def test_a_folder_that_is_no_repository_has_no_ref(tmp_path: Path) -> None:
    write_skill(tmp_path / "tea")
    with pytest.raises(InstallRefused, match="is no git repository"), fetched(str(tmp_path), "main"):
        raise AssertionError


def test_a_skill_file_stands_for_its_folder(tmp_path: Path) -> None:
    with fetched(str(write_skill(tmp_path / "tea"))) as (root, origin):
        assert (root, origin.kind) == (tmp_path / "tea", Kind.FOLDER)


def test_another_file_is_refused_with_what_is_taken(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InstallRefused, match=r"one of the endings \.zip"), fetched(str(tmp_path / "notes.txt")):
        raise AssertionError


def test_an_archive_is_unpacked_for_as_long_as_it_is_needed(tmp_path: Path) -> None:
    write_skill(tmp_path / "theirs" / "tea")
    archive = shutil.make_archive(str(tmp_path / "tea"), "zip", tmp_path / "theirs")
    with fetched(archive) as (root, origin):
        assert [package.skill_id for package in packages_in(root)] == ["tea"]
        assert origin.kind is Kind.ARCHIVE
    assert not root.exists()


def test_a_skill_that_a_link_in_the_source_leads_to_outside_is_not_there(tmp_path: Path) -> None:
    write_skill(tmp_path / "private" / "milk")
    write_skill(tmp_path / "theirs" / "tea")
    (tmp_path / "theirs" / "milk").symlink_to(tmp_path / "private" / "milk")
    with fetched(str(tmp_path / "theirs")) as (root, _):
        assert [package.skill_id for package in packages_in(root)] == ["tea"]
