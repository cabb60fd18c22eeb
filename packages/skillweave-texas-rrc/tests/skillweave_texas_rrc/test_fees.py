"""What an application for a drilling permit costs."""

import pytest
from tests.skillweave_texas_rrc.sample import ask

from skillweave.packs import ToolRefused


@pytest.mark.parametrize(
    ("depth", "base", "surcharge", "total"),
    [
        (1, 200, 300, 500),
        (2000, 200, 300, 500),
        (2000.5, 225, 337.5, 562.5),
        (4000, 225, 337.5, 562.5),
        (4001, 250, 375, 625),
        (9000, 250, 375, 625),
        (9001, 300, 450, 750),
        (20000, 300, 450, 750),
    ],
)
async def test_the_fee_depends_on_the_depth(depth: float, base: float, surcharge: float, total: float) -> None:
    found = await ask("w1_fee", {"total_depth_ft": depth})
    (line,) = found["lines"]
    assert (line["base"], line["surcharge"], line["total"]) == (base, surcharge, total)
    assert found["total"] == total


async def test_a_deep_well_with_an_exception_costs_1250_dollars() -> None:
    found = await ask("w1_fee", {"total_depth_ft": 20_000, "exception": True})
    assert [line["total"] for line in found["lines"]] == [750, 500]
    assert found["total"] == 1250


async def test_expedited_handling_adds_375_dollars() -> None:
    found = await ask("w1_fee", {"total_depth_ft": 20_000, "exception": True, "expedite": True})
    assert found["lines"][-1]["total"] == 375
    assert found["total"] == 1625


async def test_the_fee_cites_the_statute_and_asks_to_compare_with_the_current_table() -> None:
    found = await ask("w1_fee", {"total_depth_ft": 5000})
    assert all(one["verified"] for one in found["basis"])
    assert "85.2021" in found["basis"][0]["cite"]
    assert any("current table" in one for one in found["warnings"])


@pytest.mark.parametrize("depth", [0, -5, 70_000, "deep"])
async def test_a_depth_that_no_well_has_is_refused(depth: object) -> None:
    with pytest.raises(ToolRefused, match="arguments#/total_depth_ft"):
        await ask("w1_fee", {"total_depth_ft": depth})
