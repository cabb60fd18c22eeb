import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EVERYTHING = ("--with", "references, scripts,assets", "--trigger", "ham & eggs", "--trigger", "fry: an egg")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


NEW = [
    (),
    EVERYTHING,
    ("--description", "Fries: eggs # 'quoted' --- and \"so on\""),
    ("--description", "x" * 1024),
    ("--in", "deep/er"),
]


@pytest.mark.parametrize("options", NEW, ids=" ".join)
@pytest.mark.parametrize("name", ["breakfast", "the", "ham-and-eggs", "x" * 64, "1-2"])
def test_a_new_skill_passes_its_own_check_and_the_strict_one(cli: Any, name: str, options: tuple[str, ...]) -> None:
    folder = cli("init", name, *options, "--json").data["folder"]
    for strict in ((), ("--strict",)):
        checked = cli("check", "--skills", folder, *strict, "--json")
        assert checked.code == 0
        assert (checked.data["loaded"], checked.data["repaired"]) == (1, 0)
        assert [found["code"] for found in checked.data["diagnostics"]] == ["unedited-template"]


@pytest.mark.parametrize("options", NEW, ids=" ".join)
@pytest.mark.parametrize("name", ["breakfast", "ham-and-eggs", "1-2"])
def test_a_new_skill_is_chosen_for_its_own_examples(cli: Any, name: str, options: tuple[str, ...]) -> None:
    made = cli("init", name, *options, "--json").data
    assert len(made["examples"]) >= 2
    for strict in ((), ("--strict",)):
        for example in made["examples"]:
            matched = cli("match", "--skills", made["folder"], *strict, "--json", "--", example)
            assert [chosen["skill_id"] for chosen in matched.data["chosen"]] == [name], example


def test_the_three_next_commands_work_as_they_are_printed(cli: Any, here: Path) -> None:
    text = cli("init", "ham-and-eggs", "--in", "my skills", *EVERYTHING).out
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("  skillweave ")]
    assert [command[1] for command in commands] == ["check", "match", "show"]
    for command in commands:
        done = cli(*command[1:])
        assert (done.code, done.err) == (0, ""), command


def test_people_are_told_what_was_written(cli: Any, here: Path) -> None:
    done = cli("init", "breakfast", "--with", "scripts")
    assert done.err == ""
    assert done.out.startswith(
        "written          skills/breakfast/SKILL.md\n                 skills/breakfast/scripts/check.py\n"
    )
    written = [path for path in here.rglob("*") if path.is_file()]
    assert sorted(written) == sorted(here / line.split()[-1] for line in done.out.splitlines()[:2])


def test_every_folder_that_it_begins_with_is_part_of_the_skill(cli: Any, here: Path) -> None:
    cli("init", "breakfast", "--with", "references,scripts,assets")
    shown = cli("show", "breakfast", "--json").data
    assert [document["id"] for document in shown["skill"]["artifacts"]] == [
        "assets/template.md",
        "references/details.md",
        "scripts/check.py",
    ]
    assert all(f"`{document['id']}`" in shown["block"] for document in shown["skill"]["artifacts"])
    assert "\\#" not in shown["block"], "a heading of the template is one that the renderer uses itself"


def test_the_script_that_it_begins_with_runs(cli: Any, here: Path) -> None:
    cli("init", "breakfast", "--with", "scripts")
    script = here / "skills" / "breakfast" / "scripts" / "check.py"
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout[:6]) == (0, "usage:")


def test_nothing_is_overwritten(cli: Any, here: Path) -> None:
    cli("init", "breakfast")
    before = (here / "skills" / "breakfast" / "SKILL.md").read_bytes()
    again = cli("init", "breakfast", "--description", "Another one.")
    assert (again.code, again.out) == (1, "")
    assert "skills/breakfast is there already and stays as it is" in again.err
    assert (here / "skills" / "breakfast" / "SKILL.md").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("My_Skill",), 1, "'My_Skill' cannot be the name of a skill: use lowercase letters a to z, digits and single"),
        (("a", "--with", "refs"), 2, "invalid value for '--with': 'refs' is none of references, scripts, assets"),
        (("a", "--description", "  "), 2, "invalid value for '--description': a description has 1 to 1024 characters"),
        (("a", "--description", "x" * 1025), 2, "invalid value for '--description': a description has 1 to 1024"),
        (("a", "--trigger", "one, two"), 2, "invalid value for '--trigger': 'one, two' cannot be a trigger"),
        (("a", "--trigger", " ?! "), 2, "invalid value for '--trigger': ' ?! ' cannot be a trigger"),
        (("a", "--trigger", "x" * 201), 2, "invalid value for '--trigger': "),
        (("a", "--description", "half \ud800"), 1, "skill 'a' cannot be written: "),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    cli: Any, here: Path, words: tuple[str, ...], code: int, complaint: str
) -> None:
    done = cli("init", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"skillweave: {complaint}")
    assert done.err.count("\n") == 1
    assert list(here.iterdir()) == []


def test_a_skill_inside_another_skills_folder_is_noted(cli: Any, here: Path) -> None:
    cli("init", "breakfast")
    done = cli("init", "eggs", "--in", "skills/breakfast/more")
    assert done.code == 0
    assert done.err.startswith("skillweave: skills/breakfast/more/eggs stands inside the skill ")
    assert done.err.endswith("belongs to it; move it beside that skill\n")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nobody can make a folder")
def test_a_folder_that_cannot_be_written_is_said(cli: Any) -> None:
    done = cli("init", "a", "--in", "/proc")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: /proc/a cannot be written: ")


def test_the_folder_it_goes_into_can_be_configured(cli: Any, here: Path) -> None:
    (here / "skillweave.toml").write_text('[command.init]\nin = "team"\n', encoding="utf-8")
    assert cli("init", "a", "--json").data["folder"] == "team/a"
