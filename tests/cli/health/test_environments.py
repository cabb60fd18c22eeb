"""Doctor tells the truth in environments where packages are really there or really missing."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.health.environments import (
    EXTRAS,
    Environment,
    closure,
    environment_with,
    is_installed,
    needed,
    packages_of,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
LISTED = EXTRAS.keys() - {"dev"}
SMALL = sorted(extra for extra in EXTRAS if all(map(is_installed, packages_of(extra))) and extra not in ("dev", "all"))


@pytest.fixture
def bare(tmp_path: Path) -> Environment:
    """Only what skillweave cannot do without."""
    return environment_with(tmp_path / "env", needed())


def levels(found: dict[str, Any], section: str) -> dict[str, str]:
    return {one["subject"]: one["level"] for one in found.values() if one["section"] == section}


def test_with_no_extra_nothing_is_wrong_and_each_extra_names_the_line_that_installs_it(
    bare: Environment, tmp_path: Path
) -> None:
    code, answer = bare.doctor(cwd=tmp_path)
    findings = answer["findings"]
    assert [one for one in findings if one["level"] == "problem"] == []
    assert (code, answer["ok"]) == (0, True)
    extras = {one["subject"]: one for one in findings if one["section"] == "extras"}
    assert extras.keys() == LISTED
    for extra, one in extras.items():
        assert (one["level"], one["fix"]) == ("missing", f"pip install 'skillweave[{extra}]'")
    present = {one["subject"] for one in findings if one["section"] == "packages" and one["level"] == "ok"}
    assert present == {"Python", "skillweave", *needed()}


@pytest.mark.parametrize("extra", SMALL)
def test_with_one_extra_that_one_is_there_and_others_that_it_does_not_bring_are_not(tmp_path: Path, extra: str) -> None:
    environment = environment_with(tmp_path / "env", [*needed(), *packages_of(extra)])
    found = levels(environment.look("installation", "look_at_packages"), "extras")
    brought = set(closure(packages_of(extra)))  # one framework may bring what another extra is about
    there = {other for other in LISTED if set(packages_of(other)) <= brought}
    assert found == {other: "ok" if other in there else "missing" for other in LISTED}


def test_with_all_extras_all_are_there(tmp_path: Path) -> None:
    wanted = [name for extra in SMALL for name in packages_of(extra)]
    environment = environment_with(tmp_path / "env", [*needed(), *wanted])
    found = levels(environment.look("installation", "look_at_packages"), "extras")
    assert {extra for extra, level in found.items() if level == "ok"} >= {*SMALL, "all"}


def test_without_a_package_that_is_needed_the_problem_is_named_and_the_rest_is_looked_at(
    bare: Environment, tmp_path: Path
) -> None:
    bare.remove("pyyaml")
    code, answer = bare.doctor(cwd=tmp_path)
    assert (code, answer["ok"]) == (1, False)
    problems = {(one["section"], one["subject"]): one for one in answer["findings"] if one["level"] == "problem"}
    assert problems["packages", "pyyaml"]["message"] == "is not installed"
    assert problems["packages", "pyyaml"]["fix"].startswith("pip install 'pyyaml")
    assert "No module named 'yaml'" in problems["engine", "a turn"]["message"]
    assert {"ledger", "engine", "extras"} <= {one["section"] for one in answer["findings"]}


@pytest.mark.parametrize(("version", "says"), [("0.1", "is 0.1, and "), ("not.a.version", "is not.a.version, and ")])
def test_a_package_in_a_version_that_does_not_fit_is_not_taken_for_the_extra(
    bare: Environment, version: str, says: str
) -> None:
    bare.add("watchfiles", version, {})
    one = bare.look("installation", "look_at_packages")["extras watch"]
    assert one["level"] == "missing"
    assert f"watchfiles {says}" in one["message"]


def test_without_the_package_that_compares_versions_that_is_what_is_told(bare: Environment) -> None:
    bare.remove("packaging")
    found = bare.look("installation", "look_at_packages")
    assert [(key, one["level"]) for key, one in found.items()] == [("packages packaging", "problem")]


def test_from_bare_sources_it_says_that_nothing_is_installed(bare: Environment) -> None:
    for info in bare.site.glob("skillweave-*.dist-info"):
        info.rename(bare.site / "gone")
    (one,) = bare.look("installation", "look_at_packages").values()
    assert (one["subject"], one["level"]) == ("skillweave", "problem")
    assert "pip install" in one["fix"]


@pytest.mark.parametrize(
    "words",
    [
        ("weave", "hi", "--skills", ".", "--ledger", "state.db"),
        ("weave", "hi", "--pack", "coding"),
        ("graph", "show", "support-triage"),
    ],
    ids=["ledger", "pack", "graph"],
)
def test_from_bare_sources_what_is_built_in_works(bare: Environment, tmp_path: Path, words: tuple[str, ...]) -> None:
    for info in bare.site.glob("skillweave-*.dist-info"):
        info.rename(bare.site / "gone")
    code, said = bare.skillweave(*words, cwd=tmp_path)
    assert code == 0, said


GUESTS = """
[skillweave.packs]
good = guest:good
late = guest_that_fails:pack
gone = guest:gone
[skillweave.ledgers]
memory = guest:good
"""


def test_each_entry_point_is_loaded_and_a_guest_that_fails_is_named(bare: Environment) -> None:
    modules = {"guest.py": "def good(): ...\n", "guest_that_fails.py": "raise RuntimeError('no licence')\n"}
    bare.add("guest", "1.0", modules, GUESTS)
    found = bare.look("installation", "look_at_extensions")
    assert found["extensions packs good"]["level"] == "ok"
    assert found["extensions ledgers sqlite"]["level"] == "ok"
    assert found["extensions packs late"]["message"] == "cannot be loaded: RuntimeError: no licence"
    assert found["extensions packs late"]["fix"] == "install guest again, or uninstall it"
    assert found["extensions packs gone"]["level"] == "problem"
    assert "is brought twice" in found["extensions ledgers memory"]["message"]
