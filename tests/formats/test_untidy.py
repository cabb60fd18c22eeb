"""Untidy skill folders: each one's id and every finding are written down in `expected.json`."""

import json
from pathlib import Path

import pytest

from skillweave.formats.codes import CODES
from skillweave.formats.skill_md import read_skill_md

FOLDER = Path(__file__).parent.parent / "data" / "untidy"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def test_every_folder_is_expected() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_untidy_skill_loads_as_expected_and_every_finding_has_a_line_and_a_fix(name: str) -> None:
    (path,) = (FOLDER / name).iterdir()

    read = read_skill_md(path.read_bytes(), path=str(path), folder=name, source="untidy")

    assert {"id": read.skill and read.skill.id, "codes": [found.code for found in read.diagnostics]} == EXPECTED[name]
    assert all(found.location and found.location.line and found.fix for found in read.diagnostics)
    assert all(found.severity is CODES[found.code].severity for found in read.diagnostics)
