import datetime as dt
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from skillweave.cli import Key, WrongType

FOLDER = Path("/etc/project")


def key(shape: str, *, is_path: bool = False) -> Key:
    """The key of an option: a flag, one value, or several."""
    parameter = SimpleNamespace(is_flag=shape == "flag", multiple=shape == "many", metavar="DIR" if is_path else None)
    return Key("k", parameter)


@pytest.mark.parametrize(
    ("shape", "value"),
    [("flag", True), ("one", 3), ("one", 0.5), ("one", "x"), ("many", ["a", "b"]), ("many", [])],
)
def test_a_value_of_the_right_type_is_taken_as_it_is(shape: str, value: object) -> None:
    assert key(shape).from_toml(value, FOLDER) == value


@pytest.mark.parametrize(
    ("shape", "value", "complaint"),
    [
        ("flag", 1, "'k' is a whole number, and must be true or false; write for example k = true"),
        ("flag", "true", "'k' is a text ('true'), and must be true or false"),
        ("one", True, "'k' is a truth value, and must be a text or a number"),
        ("one", ["x"], "'k' is a list, and must be a text or a number"),
        ("one", dt.date(2026, 1, 1), "'k' is a date or a time, and must be a text or a number"),
        ("one", {"a": 1}, "'k' is a table, and must be a text or a number"),
        ("many", "x", "'k' is a text ('x'), and must be a list of texts; write for example k = ["),
        ("many", ["x", 3], "'k' has an entry that is a whole number, and must be a list of texts"),
    ],
)
def test_another_type_is_refused_with_what_it_is_and_what_it_must_be(shape: str, value: object, complaint: str) -> None:
    with pytest.raises(WrongType) as raised:
        key(shape).from_toml(value, FOLDER)
    assert str(raised.value).startswith(complaint)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("skills", "/etc/project/skills"),
        ("../x", "/etc/project/../x"),
        ("/abs", "/abs"),
        ("", ""),
        ("sqlite:///state.db", "sqlite:////etc/project/state.db"),
        ("sqlite:////abs/state.db", "sqlite:////abs/state.db"),
        ("redis://host/0", "redis://host/0"),
    ],
)
def test_a_relative_path_starts_from_the_folder_of_the_file(given: str, meant: str) -> None:
    assert key("one", is_path=True).from_toml(given, FOLDER) == meant
    assert key("many", is_path=True).from_toml([given], FOLDER) == [meant]


def test_in_the_current_folder_paths_stay_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert key("one", is_path=True).from_toml("skills", tmp_path) == "skills"


def test_a_path_below_the_home_folder_is_found_there() -> None:
    assert key("one", is_path=True).from_toml("~/skills", FOLDER) == str(Path.home() / "skills")


def test_a_text_that_is_no_path_stays_as_it_is() -> None:
    assert key("many").from_toml(["a/b"], FOLDER) == ["a/b"]


def test_a_variable_is_a_list_parted_as_paths_or_by_commas() -> None:
    assert key("many", is_path=True).from_text(f"a,b{os.pathsep}c{os.pathsep}") == ["a,b", "c"]
    assert key("many").from_text("a, b,,c") == ["a", "b", "c"]
    assert key("one").from_text("3") == "3"


def test_a_list_of_paths_with_a_url_is_parted_by_commas() -> None:
    text = "postgresql://me:hush@db:5432/skills, team"
    assert key("many", is_path=True).from_text(text) == ["postgresql://me:hush@db:5432/skills", "team"]
