import datetime as dt
import os
from pathlib import Path

import pytest

from skillweave.cli import Key, Kind, WrongType, from_text, from_toml

FOLDER = Path("/etc/project")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.FLAG, True),
        (Kind.WHOLE, 3),
        (Kind.NUMBER, 3),
        (Kind.NUMBER, 0.5),
        (Kind.TEXT, "x"),
        (Kind.TEXTS, ["a", "b"]),
        (Kind.TEXTS, []),
    ],
)
def test_a_value_of_the_right_type_is_taken_as_it_is(kind: Kind, value: object) -> None:
    assert from_toml(Key("k", kind), value, FOLDER) == value


@pytest.mark.parametrize(
    ("kind", "value", "complaint"),
    [
        (Kind.FLAG, 1, "'k' is a whole number, and must be true or false; write for example k = true"),
        (Kind.FLAG, "true", "'k' is a text ('true'), and must be true or false"),
        (Kind.WHOLE, True, "'k' is a truth value, and must be a whole number"),
        (Kind.WHOLE, 1.5, "'k' is a fraction, and must be a whole number"),
        (Kind.WHOLE, "3", "'k' is a text ('3'), and must be a whole number"),
        (Kind.NUMBER, False, "'k' is a truth value, and must be a number"),
        (Kind.TEXT, ["x"], "'k' is a list, and must be a text"),
        (Kind.TEXT, dt.date(2026, 1, 1), "'k' is a date or a time, and must be a text"),
        (Kind.TEXT, {"a": 1}, "'k' is a table, and must be a text"),
        (Kind.TEXTS, "x", "'k' is a text ('x'), and must be a list of texts; write for example k = ["),
        (Kind.TEXTS, ["x", 3], "'k' has an entry that is a whole number, and must be a list of texts"),
    ],
)
def test_another_type_is_refused_with_what_it_is_and_what_it_must_be(kind: Kind, value: object, complaint: str) -> None:
    with pytest.raises(WrongType) as raised:
        from_toml(Key("k", kind), value, FOLDER)
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
    assert from_toml(Key("k", Kind.TEXT, is_path=True), given, FOLDER) == meant
    assert from_toml(Key("k", Kind.TEXTS, is_path=True), [given], FOLDER) == [meant]


def test_in_the_current_folder_paths_stay_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert from_toml(Key("k", Kind.TEXT, is_path=True), "skills", tmp_path) == "skills"


def test_a_path_below_the_home_folder_is_found_there() -> None:
    assert from_toml(Key("k", Kind.TEXT, is_path=True), "~/skills", FOLDER) == str(Path.home() / "skills")


def test_a_text_that_is_no_path_stays_as_it_is() -> None:
    assert from_toml(Key("k", Kind.TEXTS), ["a/b"], FOLDER) == ["a/b"]


def test_a_variable_is_a_list_parted_as_paths_or_by_commas() -> None:
    assert from_text(Key("k", Kind.TEXTS, is_path=True), f"a,b{os.pathsep}c{os.pathsep}") == ["a,b", "c"]
    assert from_text(Key("k", Kind.TEXTS), "a, b,,c") == ["a", "b", "c"]
    assert from_text(Key("k", Kind.WHOLE), "3") == "3"


def test_a_list_of_paths_with_a_url_is_parted_by_commas() -> None:
    text = "postgresql://me:hush@db:5432/skills, team"
    assert from_text(Key("k", Kind.TEXTS, is_path=True), text) == ["postgresql://me:hush@db:5432/skills", "team"]
