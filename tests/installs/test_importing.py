"""The lock of the `skills` command is read; its hashes here were written by hand after the rule that it documents."""

import hashlib
import json
from pathlib import Path

import pytest

from skillweave.installs.importing import import_lock
from skillweave.installs.lock import Condition, read_lock, standings
from skillweave.installs.packages import InstallRefused

FILES = {
    "SKILL.md": b"---\nname: pdf\ndescription: Reads PDF.\n---\nx\n",
    "a-b.md": b"one",
    "a/b.md": b"two",
    "B.md": b"3",
}
IN_THEIR_ORDER = ("a-b.md", "a/b.md", "B.md", "SKILL.md")


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    for path, data in FILES.items():
        (tmp_path / "skills" / "pdf" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "skills" / "pdf" / path).write_bytes(data)
    total = hashlib.sha256(b"".join(path.encode() + FILES[path] for path in IN_THEIR_ORDER))
    entry = {"source": "owner/repo", "sourceType": "github", "ref": "main", "computedHash": total.hexdigest()}
    file = tmp_path / "skills-lock.json"
    file.write_text(json.dumps({"version": 1, "skills": {"pdf": entry}}))
    return file


def test_what_the_other_lock_names_is_locked_with_the_digest_of_each_file(lock: Path) -> None:
    folder = lock.parent / "skills"
    import_lock(lock, folder)
    (standing,) = standings(folder, read_lock(folder))
    assert (standing.condition, standing.locked.source) == (Condition.UNCHANGED, "https://github.com/owner/repo")
    assert (standing.locked.kind, standing.locked.ref, set(standing.locked.sha256)) == ("git", "main", set(FILES))


def test_a_skill_that_changed_since_is_not_locked(lock: Path) -> None:
    folder = lock.parent / "skills"
    (folder / "pdf" / "a-b.md").write_text("changed")
    with pytest.raises(InstallRefused, match="is not what"):
        import_lock(lock, folder)
    assert not (folder / "skillweave.lock").exists()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 1}', '{"version": 2, "skills": {}}', '{"version": 1, "skills": {"pdf": {}}}'],
)
def test_what_is_no_lock_of_that_command_is_refused(lock: Path, text: str) -> None:
    lock.write_text(text)
    with pytest.raises(InstallRefused, match=r"skills-lock\.json"):
        import_lock(lock, lock.parent / "skills")


@pytest.mark.parametrize("name", ["../pdf", "none", ".git"])
def test_a_name_that_is_no_folder_of_skills_there_is_refused(lock: Path, name: str) -> None:
    data = json.loads(lock.read_text())
    data["skills"] = {name: data["skills"]["pdf"]}
    lock.write_text(json.dumps(data))
    with pytest.raises(InstallRefused, match="is no folder in"):
        import_lock(lock, lock.parent / "skills")
