from pathlib import Path

import pytest

from skillweave.cli.config_file import InvalidConfiguration, nearest_file, read_file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home" / "project" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def found(start: Path, home: Path) -> str | None:
    file = nearest_file(start, home)
    return None if file is None else file.shown


def test_the_nearest_file_upwards_is_taken(home: Path) -> None:
    write(home / "skillweave.toml", "budget = 1")
    assert found(home / "project" / "deep", home) == "home/skillweave.toml"
    write(home / "project" / "skillweave.toml", "budget = 2")
    assert found(home / "project" / "deep", home) == "home/project/skillweave.toml"


def test_skillweave_toml_wins_over_the_pyproject_beside_it(home: Path) -> None:
    write(home / "pyproject.toml", "[tool.skillweave]\nbudget = 1")
    assert found(home, home) == "home/pyproject.toml"
    write(home / "skillweave.toml", "")
    assert found(home, home) == "home/skillweave.toml"


def test_a_pyproject_without_our_table_is_passed_over_even_if_it_is_broken(home: Path) -> None:
    write(home / "skillweave.toml", "")
    write(home / "project" / "pyproject.toml", "[project]\nname = 'skillweave-user'\n[tool.other]\n")
    (home / "project" / "deep" / "pyproject.toml").write_bytes(b"this is [[[ no TOML \xff")
    assert found(home / "project" / "deep", home) == "home/skillweave.toml"


def test_the_root_of_a_repository_ends_the_search(home: Path) -> None:
    write(home / "skillweave.toml", "")
    (home / "project" / ".git").mkdir()
    assert found(home / "project" / "deep", home) is None
    write(home / "project" / "skillweave.toml", "")
    assert found(home / "project" / "deep", home) == "home/project/skillweave.toml"


def test_the_home_folder_ends_the_search(home: Path) -> None:
    write(home.parent / "skillweave.toml", "")
    assert found(home / "project", home) is None


def test_a_strangers_file_in_a_folder_of_everybodys_is_not_obeyed(home: Path) -> None:
    write(home / "skillweave.toml", "")
    home.chmod(0o1777)
    assert found(home / "project", Path("/nobody")) is None
    assert found(home, Path("/nobody")) == "home/skillweave.toml"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"budget = 1\nskills = [\n", "c.toml:3: this is no TOML: "),
        (b"a = 1\nb = 2\nb = 3", "c.toml:3: this is no TOML: cannot overwrite a value"),
        (b"a = 1\n\nb = '\xff'", "c.toml:3: this is no UTF-8 text"),
        (b"a = " + b"[" * 5000, "c.toml is nested too deeply"),
        (b"#" * (1 << 20) + b"#", "c.toml cannot be read: more than 1 MiB"),
        (None, "c.toml cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line_and_the_remedy(
    home: Path, content: bytes | None, complaint: str
) -> None:
    if content is not None:
        (home.parent / "c.toml").write_bytes(content)
    with pytest.raises(InvalidConfiguration) as raised:
        read_file(home.parent / "c.toml")
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_named_pyproject_must_have_the_table(home: Path) -> None:
    path = write(home.parent / "pyproject.toml", "[project]\nname = 'x'\n")
    with pytest.raises(InvalidConfiguration, match=r"pyproject\.toml has no \[tool\.skillweave\]; add it"):
        read_file(path)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(home: Path) -> None:
    (home / "skillweave.toml").write_bytes(b"\xef\xbb\xbfstrict = true\r\nbudget = 3\r\n")
    file = read_file(home / "skillweave.toml")
    assert file.table == {"strict": True, "budget": 3}
    assert file.place("budget") == "home/skillweave.toml:2"


def test_a_key_and_a_table_are_found(home: Path) -> None:
    text = '[tool.skillweave]\nbudget = 1\n\n["tool"."skillweave".command.weave] # here\n"max-skills" = 2\n'
    file = read_file(write(home / "pyproject.toml", text))
    places = [file.place(key) for key in ("budget", "weave", "max-skills")]
    assert places == [f"home/pyproject.toml:{line}" for line in (2, 4, 5)]


def test_a_place_that_is_not_certain_names_no_line(home: Path) -> None:
    text = "budget = 1\n[command.weave]\nbudget = 2\n"
    file = read_file(write(home / "skillweave.toml", text))
    assert file.place("budget") == "home/skillweave.toml"
