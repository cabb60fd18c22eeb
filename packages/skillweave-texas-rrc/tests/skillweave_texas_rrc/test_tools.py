"""What all calculators of the pack have in common."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_texas_rrc.ground import square, vertical
from tests.skillweave_texas_rrc.sample import ask, entities_of, sample

from skillweave.contracts.check import check_schema
from skillweave.packs import ToolRefused
from skillweave_texas_rrc import calculators

OF_PLACE_AND_TIME = {"project_point", "well_spacing", "offset_distances", "notice_tracts", "w1_fee", "rrc_deadline"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("project_point", {"well": "well-mr1h"}),
    ("well_spacing", {"well": "well-mr1h"}),
    ("offset_distances", {"well": "well-mr1h"}),
    ("notice_tracts", {"well": "well-mr1h", "exceptions": ["lease_line"]}),
    ("w1_fee", {"total_depth_ft": 20150}),
    ("rrc_deadline", {"kind": "form_pr", "day": "2026-03-31"}),
]
SILENT = """
import sys
import skillweave_texas_rrc
from skillweave_texas_rrc import calculators
calculators()
print(sorted(name for name in ("pyproj", "shapely", "jsonschema", "sqlalchemy") if name in sys.modules))
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_each_calculator_has_a_name_of_its_own() -> None:
    names = [one.name for one in calculators()]
    assert len(names) == len(set(names))
    assert set(names) >= OF_PLACE_AND_TIME


def test_every_schema_keeps_the_rules_of_its_draft() -> None:
    for one in (*calculators(), *calculators(entities_of(sample()))):
        assert check_schema(one.parameters) == ()
        assert check_schema(one.returns) == ()


def test_every_answer_promises_units_basis_and_warnings() -> None:
    for one in calculators():
        required = one.returns["required"]
        assert isinstance(required, tuple)
        assert {"units", "basis", "warnings"} <= set(required), one.name


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_every_answer_cites_what_it_is_based_on(name: str, arguments: dict[str, Any]) -> None:
    found = await ask(name, arguments, entities_of(sample()))
    assert found["units"]
    assert found["basis"]
    assert all(one["says"] and one["cite"] for one in found["basis"])


async def test_the_same_question_has_the_same_answer_whatever_else_is_asked_at_the_same_time() -> None:
    graph = entities_of(sample())
    alone = [await ask(name, arguments, graph) for name, arguments in CALLS]
    together = await asyncio.gather(*(ask(name, arguments, graph) for name, arguments in CALLS * 3))
    assert together == alone * 3


def test_importing_the_pack_and_making_its_tools_needs_no_optional_package() -> None:
    assert run(SILENT) == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        {"well": vertical(0, 0), "offset_wells": [vertical(1, 1)] * 1001, "datum": "NAD83"},
        {"well": vertical(0, 0), "datum": "NAD83", "lease": {"boundary": square(0, 0, 100) * 251}},
        {"well": vertical(0, 0, name="x" * 201), "datum": "NAD83"},
    ],
)
async def test_a_call_without_end_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolRefused):
        await ask("well_spacing", arguments)


def test_no_word_of_the_domain_stands_outside_the_pack() -> None:
    tool = Path(sys.modules["skillweave.packs.tool"].__file__ or "").read_text("utf-8").lower()
    assert not [word for word in ("texas", "well_", "lease", "railroad", "gas ") if word in tool]
