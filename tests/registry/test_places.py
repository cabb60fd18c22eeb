from pathlib import Path

import pytest

from skillweave.errors import CannotWatch
from skillweave.registry import watching
from skillweave.registry.watching import Places, places_of


@pytest.fixture(autouse=True)
def _single_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WHOLE_TREES", False)


def test_a_folder_is_followed_with_all_below_and_by_its_name_above(tmp_path: Path) -> None:
    (tmp_path / "skills" / "a" / "references").mkdir(parents=True)
    found = places_of([tmp_path / "skills"])
    assert found.level == {
        str(tmp_path): frozenset({"skills"}),
        str(tmp_path / "skills"): frozenset(),
        str(tmp_path / "skills" / "a"): frozenset(),
        str(tmp_path / "skills" / "a" / "references"): frozenset(),
    }
    assert not found.deep


def test_where_the_system_follows_trees_the_folder_stands_for_all_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "WHOLE_TREES", True)
    (tmp_path / "skills" / "a").mkdir(parents=True)
    found = places_of([tmp_path / "skills"])
    assert found == Places(frozenset({str(tmp_path / "skills")}), {str(tmp_path): frozenset({"skills"})})


def test_ignored_folders_and_links_are_not_gone_through(tmp_path: Path) -> None:
    for name in (".git/objects", "node_modules/x", ".venv/lib", "__pycache__", "kept"):
        (tmp_path / "skills" / name).mkdir(parents=True)
    (tmp_path / "skills" / "link").symlink_to(tmp_path, target_is_directory=True)
    level = places_of([tmp_path / "skills"]).level
    assert set(level) == {str(tmp_path), str(tmp_path / "skills"), str(tmp_path / "skills" / "kept")}


def test_what_is_not_there_is_waited_for_in_the_nearest_folder_that_is(tmp_path: Path) -> None:
    found = places_of([tmp_path / "not" / "yet" / "there"])
    assert found.level == {str(tmp_path): frozenset({"not"})}


def test_the_places_of_one_folder_do_not_hide_those_of_another(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    level = places_of([tmp_path / "a", tmp_path, tmp_path / "pack.yaml"]).level
    assert level[str(tmp_path)] == frozenset()
    assert level[str(tmp_path.parent)] == {tmp_path.name}


def test_links_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert places_of([tmp_path / "a"]).level == {str(tmp_path): frozenset({"a", "b"})}


def test_the_root_of_the_file_system_has_nothing_above() -> None:
    assert Path("/") not in map(Path, places_of([Path("/nowhere-at-all/x").parent.parent / "nowhere"]).deep)
    folder, name = watching._nearest("/")
    assert (folder, name) == ("/", "")


def test_too_many_folders_are_an_error_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_FOLDERS", 3)
    for name in "abcd":
        (tmp_path / name).mkdir()
    with pytest.raises(CannotWatch, match="has more than 3 folders in it, too many to follow; name a folder nearer"):
        places_of([tmp_path])


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("/tree/skills/a/SKILL.md", True),
        ("/tree/skills", True),
        ("/tree/skills/node_modules/x", False),
        ("/tree/skills/a/.git", False),
        ("/tree/other", False),
        ("/tree/pack.yaml", True),
        ("/flat/anything", True),
        ("/flat/.git", False),
        ("/somewhere/else", True),
        ("/", True),
    ],
)
def test_only_what_can_change_the_skills_matters(path: str, matters: bool) -> None:
    known = Places(frozenset({"/tree/skills"}), {"/tree": frozenset({"skills", "pack.yaml"}), "/flat": frozenset()})
    assert known.matters(path) is matters
