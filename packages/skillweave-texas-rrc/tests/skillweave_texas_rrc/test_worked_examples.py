"""The worked examples that the model reads say what the calculators say."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from tests.skillweave_texas_rrc.gases import SAMPLE

from skillweave.frontmatter.documents import read_yaml
from skillweave.frontmatter.yaml_text import resolved
from skillweave_texas_rrc.authorization import ExceptionStatus, Released, flare_authorization
from skillweave_texas_rrc.emissions import FlareEmissions, Release, flare_emissions
from skillweave_texas_rrc.exceptions import FlareException, exception_days
from skillweave_texas_rrc.h2s import h2s_radius
from skillweave_texas_rrc.quality import gas_quality
from skillweave_texas_rrc.volumes import hydrocarbon_volume

ARTIFACTS = files("skillweave_texas_rrc") / "artifacts"
FIELDS = {"Heat": "heat_mmbtu", "CO2e": "co2e_t"}


def document(name: str) -> Any:
    return resolved(read_yaml((ARTIFACTS / name).read_text(encoding="utf-8"), path=name).data)


def figure(text: object) -> float:
    """The first number of a text such as `48,869 MMBtu`."""
    found = re.search(r"[0-9][0-9,]*(\.[0-9]+)?", str(text))
    assert found is not None
    return float(found[0].replace(",", ""))


def by_item(rows: list[Mapping[str, Any]]) -> dict[str, float]:
    return {row["item"]: figure(row["value"]) for row in rows}


def assert_same(told: Mapping[str, float], computed: FlareEmissions) -> None:
    assert told
    for item, value in told.items():
        exact = getattr(computed, FIELDS.get(item, f"{item.lower()}_lb"))
        assert exact == pytest.approx(value, abs=0.05 if value < 100 else 0.5), item


def test_emissions_of_a_month_of_flaring() -> None:
    told = by_item(document("flare-emissions-worked-example.yaml")["steps"]["rows"])
    assert told.pop("Gas") == pytest.approx(37_400_000 / 379.48, abs=0.5)
    assert_same(told, flare_emissions(37400, SAMPLE, base_psia=14.696))


def test_emissions_of_what_was_vented() -> None:
    told = by_item(document("flare-emissions-worked-example.yaml")["vented"]["rows"])
    assert_same(told, flare_emissions(200, SAMPLE, Release.VENTED, 14.696))


def test_the_table_of_factors_has_the_figures_that_the_estimate_uses() -> None:
    found = document("emission-factors.yaml")
    used = {one.id: (one.value, one.verified) for one in flare_emissions(1, SAMPLE).basis}
    flare, gwp = found["nox_co_lb_per_mmbtu"]["rows"][0], found["gwp"]["rows"][-1]
    destruction = found["destruction_efficiency"]["rows"][0]
    assert used["nox_lb_per_mmbtu"] == (flare["nox"], flare["verified"])
    assert used["co_lb_per_mmbtu"] == (flare["co"], flare["verified"])
    assert used["gwp_ch4"] == (gwp["ch4"], gwp["verified"])
    assert used["gwp_n2o"] == (gwp["n2o"], gwp["verified"])
    assert used["destruction"] == (destruction["value"], destruction["verified"])


def test_the_gas_analysis() -> None:
    found = document("gas-quality-example.yaml")
    sample = {part: float(percent) for part, percent in found["composition_mol_pct"].items()}
    told = by_item(found["worked"]["rows"])
    quality = gas_quality(sample, dry=True)
    assert sample == SAMPLE
    assert quality.molar_mass == pytest.approx(told["Molecular weight"], abs=0.0005)
    assert quality.specific_gravity == pytest.approx(told["Specific gravity"], abs=0.0005)
    assert quality.gross_btu_scf == pytest.approx(told["Gross Btu/scf at 14.696 psia"], abs=0.05)
    assert quality.gross_btu_scf_rrc == pytest.approx(told["Gross Btu/scf at 14.65 psia"], abs=0.05)
    assert quality.h2s_ppm == pytest.approx(told["H2S"])
    assert quality.c3_plus_percent == pytest.approx(told["C3 and heavier"])
    assert quality.total_percent == pytest.approx(told["Total"])


def test_50_mcf_of_hydrocarbons_are_51_65_mcf_of_the_sample() -> None:
    rows = {row["item"]: row["value"] for row in document("gas-quality-example.yaml")["worked"]["rows"]}
    assert "51.65 MCF/d" in rows["Hydrocarbon part"]
    assert hydrocarbon_volume(51.65, SAMPLE).hydrocarbon_mcf == pytest.approx(50, abs=0.005)


def test_the_days_of_the_three_exceptions() -> None:
    rows = document("exception-days-worked-example.yaml")["exceptions"]["rows"]
    status = {"AE": ExceptionStatus.GRANTED, "EP": ExceptionStatus.PENDING}
    days = exception_days(
        [FlareException(row["id"], str(row["from"]), str(row["to"]), status[row["code"]]) for row in rows]
    )
    assert [one.days for one in days.exceptions] == [int(row["days"]) for row in rows]
    assert (days.granted_days, days.total_days, days.gaps) == (90, 135, ())


@pytest.mark.parametrize(("item", "day"), [("Hearing alert", 120), ("Monitor alert", 150), ("Day 180", 180)])
def test_the_marks_to_come_are_days_of_coverage_without_a_gap(item: str, day: int) -> None:
    marks = {row["item"]: str(row["value"]) for row in document("exception-days-worked-example.yaml")["days"]["rows"]}
    counted = exception_days([FlareException("all", "2026-01-15", marks[item])])
    assert counted.total_days == day


def test_the_last_day_that_staff_may_grant_is_day_180() -> None:
    marks = {row["item"]: str(row["value"]) for row in document("exception-days-worked-example.yaml")["days"]["rows"]}
    assert exception_days([FlareException("all", "2026-01-15", "2026-12-31")]).mark_on == marks["Day 180"]


def test_the_volumes_of_the_first_two_exceptions() -> None:
    rows = {row["id"]: row for row in document("exception-days-worked-example.yaml")["volume"]["rows"]}
    first = flare_authorization(1000, "2026-01-15", "2026-02-28", [Released("2026-01-15", "2026-02-28", 39300)])
    second = flare_authorization(1200, "2026-03-01", "2026-04-14", [Released("2026-03-01", "2026-03-31", 37400)])
    for told, computed in ((rows["FA-1"], first), (rows["FA-2"], second)):
        assert computed.cap_mcf == figure(told["cap"])
        assert computed.used_mcf == figure(told["flared"])
        assert computed.percent_used == pytest.approx(figure(told["used"]), abs=0.05)
        assert computed.average_mcfd == pytest.approx(figure(told["mcfd"]), abs=0.5)
    ahead = rows["FA-2 ahead"]["finding"]
    assert second.days_to_cap == pytest.approx(13.8, abs=0.05)
    assert "13.8 days" in ahead
    assert str(second.cap_reached_on) in ahead


def test_the_radii_of_h2s() -> None:
    (row,) = document("rule-36-h2s.yaml")["worked"]["rows"]
    radius = h2s_radius(1206, 400, base_psia=14.65)
    assert "1,206 MCF/d at 400 ppm" in row["given"]
    assert radius.x100_ft == pytest.approx(figure(row["radius_100_ft"]), abs=0.5)
    assert radius.x500_ft == pytest.approx(figure(row["radius_500_ft"]), abs=0.5)
