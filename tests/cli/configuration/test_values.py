import datetime as dt
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer import BadParameter

from skillweave.cli.configuration import Key

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
        ("flag", 1, "'1' is not true or false"),
        ("flag", "true", "'true' is not true or false"),
        ("one", True, "'True' is not a text or a number"),
        ("one", ["x"], "is not a text or a number"),
        ("one", dt.date(2026, 1, 1), "'2026-01-01' is not a text or a number"),
        ("many", "x", "'x' is not a list of texts, such as ["),
        ("many", ["x", 3], "is not a list of texts"),
    ],
)
def test_another_type_is_refused_with_what_it_is_and_what_it_must_be(shape: str, value: object, complaint: str) -> None:
    with pytest.raises(BadParameter) as raised:
        key(shape).from_toml(value, FOLDER)
    assert complaint in raised.value.message


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
