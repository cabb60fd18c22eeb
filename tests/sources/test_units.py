from pathlib import Path

import pytest

from skillweave import Severity
from skillweave.skills import Strictness
from skillweave.sources.folder import UnitReader
from skillweave.sources.tree import Found, Nested, Search, Tree
from tests.skill_folders import write_skill

NOW = 4_000_000_000_000_000_000


def find(root: Path) -> tuple[Tree, Found]:
    tree = Tree({}, NOW)
    search = Search(tree, str(root.resolve()), Nested.PARENT, str)
    search.run()
    (found,) = search.found
    return tree, found


@pytest.fixture
def reader() -> UnitReader:
    return UnitReader("source", Strictness.LENIENT, str, "folder")


def test_a_file_that_goes_away_between_listing_and_reading_is_a_warning(tmp_path: Path, reader: UnitReader) -> None:
    path = write_skill(tmp_path / "one")
    tree, found = find(tmp_path)
    path.unlink()
    unit = reader.look(found, tree, None)
    assert unit.skill is None
    assert [(finding.code, finding.severity) for finding in unit.findings] == [("vanished", Severity.WARNING)]


def test_a_file_that_grows_between_listing_and_reading_is_read_whole(tmp_path: Path, reader: UnitReader) -> None:
    path = write_skill(tmp_path / "one")
    tree, found = find(tmp_path)
    path.write_text(path.read_text() + "more\n" * 1000)
    skill = reader.look(found, tree, None).skill
    assert skill is not None
    assert (skill.text.instructions or "").count("more") == 1000


def test_a_file_that_becomes_a_link_to_outside_before_it_is_read_is_refused(tmp_path: Path, reader: UnitReader) -> None:
    path = write_skill(tmp_path / "skills" / "one")
    secret = write_skill(tmp_path / "secret")
    tree, found = find(tmp_path / "skills")
    path.unlink()
    path.symlink_to(secret)
    unit = reader.look(found, tree, None)
    assert unit.skill is None
    assert [finding.code for finding in unit.findings] == ["link-outside"]


def test_an_artifact_folder_that_goes_away_is_left_out(tmp_path: Path, reader: UnitReader) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x"})
    tree, found = find(tmp_path)
    (tmp_path / "one/references/a.md").unlink()
    (tmp_path / "one/references").rmdir()
    unit = reader.look(found, tree, None)
    assert unit.skill is not None
    assert unit.skill.artifacts == ()
    assert [finding.code for finding in unit.findings] == ["artifact-left-out"]


def test_the_folders_name_is_compared_with_the_skills(tmp_path: Path, reader: UnitReader) -> None:
    write_skill(tmp_path / "one")
    assert reader.look(*reversed(find(tmp_path)), None).findings == ()
    tree, found = find(tmp_path / "one")
    assert [finding.code for finding in reader.look(found, tree, None).findings] == ["name-differs"]
