"""Rule 37 in feet: what a well has to keep, from what, and which other wells count."""

from typing import Any

import pytest
from tests.skillweave_texas_rrc.ground import at, horizontal, ring, square, vertical
from tests.skillweave_texas_rrc.sample import ask

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.limits import limits_of

SIDE = 5280.0
LEASE = {"boundary": square(0, 0, SIDE)}


async def spacing(well: dict[str, Any], *others: dict[str, Any], **more: Any) -> Any:
    return await ask(
        "well_spacing", {"well": well, "offset_wells": list(others), "lease": LEASE, "datum": "NAD83", **more}
    )


def middle(**more: Any) -> dict[str, Any]:
    return vertical(SIDE / 2, SIDE / 2, **more)


async def test_a_well_in_the_middle_needs_no_exception() -> None:
    found = await spacing(middle(), vertical(100, 100))
    assert found["exceptions"] == []
    assert found["lease_line"]["distance_ft"] == 2640.0
    assert found["lease_line"]["passes"] is found["between_wells"]["passes"] is True


@pytest.mark.parametrize(
    ("rules", "loaded"),
    [
        (None, False),
        ({"lease_line_ft": None, "between_well_ft": None}, False),
        ({"lease_line_ft": 330, "between_well_ft": None}, False),
        ({"lease_line_ft": 330, "between_well_ft": 0, "loaded_from": "order"}, True),
    ],
)
async def test_the_answer_says_whether_both_distances_are_the_fields_own(rules: Any, loaded: bool) -> None:
    assert (await spacing(middle(), field_rules=rules))["field_rules_loaded"] is loaded


async def test_the_answer_says_in_a_word_whether_an_exception_is_needed() -> None:
    assert (await spacing(middle()))["exception_required"] is False
    assert (await spacing(vertical(400, 2000)))["exception_required"] is True


@pytest.mark.parametrize(("distance", "passes"), [(467.0, True), (466.9999, False), (467.0001, True), (-1.0, False)])
def test_exactly_at_the_limit_passes_and_nothing_is_rounded_before(distance: float, passes: bool) -> None:
    assert limits_of(None).lease_line.passes(distance) is passes


async def test_a_result_that_rounds_to_the_limit_still_fails_and_says_so() -> None:
    found = await spacing(vertical(466.98, 2000))
    assert found["lease_line"]["distance_ft"] == 467.0
    assert found["lease_line"]["passes"] is False
    (warning,) = (one for one in found["warnings"] if "within 1 ft" in one)
    assert "466.980 ft" in warning
    assert "fails" in warning


async def test_a_result_a_foot_from_its_limit_is_not_warned_of() -> None:
    found = await spacing(vertical(468.5, 2000))
    assert not [one for one in found["warnings"] if "within 1 ft" in one]


async def test_a_result_between_wells_near_its_limit_is_warned_of() -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 1200.5, SIDE / 2))
    assert [one for one in found["warnings"] if "nearest well is 1200.500 ft" in one]


async def test_distances_are_reported_to_a_tenth_of_a_foot() -> None:
    found = await spacing(vertical(500.123, 2000))
    assert found["lease_line"]["distance_ft"] == 500.1


async def test_a_horizontal_well_is_measured_between_its_take_points_and_not_from_its_surface_hole() -> None:
    well = horizontal((700, 700), (700, 4600), surface_location=at(700, -50))
    found = await spacing(well)
    assert found["lease_line"] == {"distance_ft": 680.0, "required_ft": 467, "passes": True, "short_ft": 0.0}
    assert found["surface_hole"] == {"to_lease_line_ft": -50.0, "tested": False}


async def test_the_nearest_points_of_two_paths_count_not_their_ends() -> None:
    found = await spacing(horizontal((700, 700), (700, 4600)), horizontal((400, 2600), (4000, 2600)))
    assert found["between_wells"]["distance_ft"] == 0.0


async def test_a_well_with_a_point_outside_its_lease_is_a_negative_distance_away() -> None:
    found = await spacing(horizontal((700, 700), (700, SIDE + 30)))
    assert found["lease_line"]["distance_ft"] == -30.0
    assert found["lease_line"]["passes"] is False
    assert found["lease_line"]["short_ft"] == 497.0
    assert any("30.0 ft outside the lease" in one for one in found["warnings"])


async def test_a_plugged_well_is_left_out_with_the_reason() -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 100, SIDE / 2, status="plugged", name="Old 1"))
    assert found["counted"] == []
    (left,) = found["left_out"]
    assert (left["name"], left["distance_ft"], left["reason"]) == ("Old 1", 100.0, "it is plugged")


@pytest.mark.parametrize(
    "what",
    [
        {"status": "injecting"},
        {"status": "active", "service": "salt water disposal"},
        {"well_type": "vertical", "status": "SWD"},
    ],
)
async def test_a_salt_water_or_other_service_well_is_left_out_with_the_reason(what: dict[str, str]) -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 100, SIDE / 2, **what))
    assert found["counted"] == []
    assert "service well" in found["left_out"][0]["reason"]


async def test_a_well_in_another_field_is_left_out_with_the_reason() -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 100, SIDE / 2, field="Bluebell"))
    assert [one["reason"] for one in found["left_out"]] == ["it is in another field (Bluebell)"]


async def test_a_well_on_another_lease_is_left_out_with_the_reason() -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 100, SIDE / 2, lease="Away"))
    assert [one["reason"] for one in found["left_out"]] == ["it is on another lease (Away)"]


async def test_every_reason_for_leaving_a_well_out_is_told() -> None:
    found = await spacing(middle(), vertical(100, 100, status="plugged", field="Bluebell"))
    assert found["left_out"][0]["reason"] == "it is plugged; it is in another field (Bluebell)"


@pytest.mark.parametrize("status", ["active", "shut_in", "proposed", "permitted", "temporarily abandoned"])
async def test_a_well_that_is_there_or_applied_for_counts(status: str) -> None:
    found = await spacing(middle(), vertical(SIDE / 2 + 100, SIDE / 2, status=status))
    assert [one["status"] for one in found["counted"]] == [status]
    assert found["exceptions"] == ["between_well"]


async def test_leases_and_fields_are_the_same_in_any_spelling() -> None:
    found = await spacing(middle(), vertical(100, 100, lease="HOME", field="azalea "))
    assert len(found["counted"]) == 1


async def test_a_well_of_which_too_little_is_known_counts_with_a_warning() -> None:
    well = {"name": "Mystery 1", "well_type": "vertical", "surface_location": at(100, 100)}
    found = await spacing(middle(), well)
    assert [one["name"] for one in found["counted"]] == ["Mystery 1"]
    assert any("status and lease and field of Mystery 1" in one for one in found["warnings"])


async def test_without_another_well_the_answer_says_that_nothing_was_tested() -> None:
    found = await spacing(middle())
    assert found["between_wells"]["distance_ft"] is None
    assert found["between_wells"]["from"] is None
    assert any("nothing was tested between wells" in one for one in found["warnings"])


async def test_field_rules_that_are_not_loaded_give_way_to_the_statewide_ones_and_are_asked_for() -> None:
    rules = {"lease_line_ft": None, "between_well_ft": None, "loaded_from": None}
    found = await spacing(middle(), field_rules=rules)
    assert (found["lease_line"]["required_ft"], found["between_wells"]["required_ft"]) == (467, 1200)
    asked = [one for one in found["warnings"] if one.startswith("ASK")]
    assert len(asked) == 2
    assert "statewide 467 ft" in asked[0]
    assert "statewide 1,200 ft" in asked[1]


async def test_a_field_rule_takes_the_place_of_the_statewide_one_alone() -> None:
    found = await spacing(middle(), field_rules={"lease_line_ft": 330, "between_well_ft": None, "loaded_from": "d. 1"})
    assert (found["lease_line"]["required_ft"], found["between_wells"]["required_ft"]) == (330, 1200)
    assert [one for one in found["warnings"] if one.startswith("ASK")] == [
        one for one in found["warnings"] if "between_well_ft" in one
    ]
    cites = [one["cite"] for one in found["basis"]]
    assert cites[:2] == ["d. 1", "16 TAC 3.37(a)(1)"]


async def test_a_field_rule_of_zero_means_that_there_is_none() -> None:
    rules = {"lease_line_ft": 330, "between_well_ft": 0, "loaded_from": "order"}
    found = await spacing(middle(), vertical(SIDE / 2 + 1, SIDE / 2), field_rules=rules)
    assert found["between_wells"]["passes"] is True
    assert found["between_wells"]["required_ft"] == 0
    assert found["notice_radius_ft"] == 330
    assert any("0 means that it has none" in one["says"] for one in found["basis"])


async def test_field_rules_without_their_order_are_asked_for() -> None:
    found = await spacing(middle(), field_rules={"lease_line_ft": 330, "between_well_ft": 660})
    assert any("docket number" in one for one in found["warnings"])
    assert found["basis"][0]["verified"] is False


@pytest.mark.parametrize(
    ("line", "between", "radius"), [(467, 1200, 600), (330, 660, 330), (467, 0, 467), (100, 2000, 1000)]
)
def test_the_notice_radius_is_the_greater_of_half_the_well_distance_and_the_line_distance(
    line: float, between: float, radius: float
) -> None:
    limits = limits_of({"lease_line_ft": line, "between_well_ft": between, "loaded_from": "order"})
    assert limits.notice_radius_ft == radius


async def test_the_basis_cites_the_rule_and_says_what_is_not_verified() -> None:
    found = await spacing(horizontal((700, 700), (700, 4600)))
    line, between = found["basis"][:2]
    assert (line["value"], line["unit"], line["cite"], line["verified"]) == (467, "ft", "16 TAC 3.37(a)(1)", True)
    assert between["value"] == 1200
    unverified = [one for one in found["basis"] if not one["verified"]]
    assert [one["cite"] for one in unverified] == ["16 TAC 3.86"]
    assert any("Confirm" in one and "16 TAC 3.86" in one for one in found["warnings"])


async def test_a_lease_without_boundary_is_refused() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/lease: the boundary of the well's lease is missing; add"):
        await ask("well_spacing", {"well": middle(), "datum": "NAD83"})


@pytest.mark.parametrize("missing", ["first_take_point", "last_take_point"])
async def test_a_horizontal_well_that_lacks_a_take_point_is_refused(missing: str) -> None:
    well = horizontal((700, 700), (700, 4600), surface_location=at(700, 600))
    del well[missing]
    with pytest.raises(ToolRefused, match=rf"arguments#/well: a horizontal well lacks {missing}; its surface"):
        await spacing(well)


async def test_a_well_of_no_named_type_is_not_taken_for_a_vertical_one() -> None:
    well = {"surface_location": at(700, 600)}
    with pytest.raises(
        ToolRefused, match="a well of no named type lacks first_take_point and last_take_point"
    ) as raised:
        await spacing(well)
    assert "`well_type: vertical`" in raised.value.fix


async def test_a_well_that_counts_and_lacks_its_points_is_refused_by_name() -> None:
    other = {"well_type": "horizontal", "status": "active", "lease": "Home", "field": "Azalea"}
    with pytest.raises(ToolRefused) as raised:
        await spacing(middle(), vertical(100, 100), other)
    assert raised.value.place == "arguments#/offset_wells/1"


async def test_a_well_that_does_not_count_may_lack_its_points() -> None:
    other = {"name": "Old 2", "well_type": "horizontal", "status": "plugged"}
    found = await spacing(middle(), other)
    assert found["left_out"][0]["distance_ft"] is None
    assert any("How far Old 2 is cannot be said" in one for one in found["warnings"])


async def test_a_boundary_whose_lines_cross_is_refused() -> None:
    crossed = {"boundary": ring((0, 0), (5280, 5280), (5280, 0), (0, 5280))}
    with pytest.raises(ToolRefused, match=r"arguments#/lease/boundary: the lines of the boundary cross"):
        await spacing(middle(), lease=crossed)


async def test_a_boundary_that_encloses_nothing_is_refused() -> None:
    flat = {"boundary": ring((0, 0), (5280, 0), (0, 0))}
    with pytest.raises(ToolRefused, match="2 corners encloses nothing"):
        await spacing(middle(), lease=flat)


async def test_an_offset_well_is_told_with_its_lease_field_and_status() -> None:
    arguments = {"well": middle(), "offset_wells": [vertical(100, 100, lease="Away")], "datum": "NAD83"}
    (row,) = (await ask("offset_distances", arguments))["offset_wells"]
    assert (row["lease"], row["field"], row["status"]) == ("Away", "Azalea", "active")


async def test_offset_wells_beyond_a_distance_are_counted_and_not_shown() -> None:
    wells = [vertical(SIDE / 2 + feet, SIDE / 2, name=f"No. {feet}") for feet in (1500, 300, 2000)]
    arguments = {"well": middle(), "offset_wells": wells, "datum": "NAD83", "within_ft": 1500.001}
    found = await ask("offset_distances", arguments)
    assert [one["name"] for one in found["offset_wells"]] == ["No. 300", "No. 1500"]
    assert found["beyond"] == 1


async def test_a_directional_well_is_measured_between_its_take_points() -> None:
    found = await spacing(horizontal((700, 700), (705, 720), well_type="directional"))
    assert found["lease_line"]["distance_ft"] == 700.0


async def test_a_well_that_stands_in_its_own_list_is_not_measured_against_itself() -> None:
    well = middle(id="w1", name="A 1")
    found = await spacing(well, well)
    assert found["exceptions"] == []
    assert [one["reason"] for one in found["left_out"]] == ["it is the well itself"]


async def test_a_well_is_known_in_its_own_list_by_its_api_number() -> None:
    found = await spacing(middle(api_number="42-329-12345"), middle(api_number="4232912345"))
    assert [one["reason"] for one in found["left_out"]] == ["it is the well itself"]


async def test_two_wells_at_one_place_without_a_number_are_two_wells() -> None:
    assert (await spacing(middle(), middle()))["exceptions"] == ["between_well"]


@pytest.mark.parametrize("service", ["oil", "none", "producing", "Oil and Gas"])
async def test_a_service_that_is_production_does_not_take_a_well_out_of_the_test(service: str) -> None:
    found = await spacing(middle(), middle(service=service))
    assert found["exceptions"] == ["between_well"]
    assert not any(service in warning for warning in found["warnings"])


async def test_a_service_that_is_not_known_counts_and_is_asked_about() -> None:
    found = await spacing(middle(), middle(name="B 7", service="sidetrack candidate"))
    assert found["exceptions"] == ["between_well"]
    assert any("B 7" in warning and "sidetrack candidate" in warning for warning in found["warnings"])


@pytest.mark.parametrize("service", ["salt water disposal", "Water Supply", "gas injection", "SWD", "observation well"])
async def test_a_service_well_is_left_out_with_what_it_is_for(service: str) -> None:
    found = await spacing(middle(), middle(service=service))
    assert found["exceptions"] == []
    assert [one["reason"] for one in found["left_out"]] == [f"it is a service well ({service})"]


@pytest.mark.parametrize("status", ["Plugged & Abandoned", "plugged and abandoned", "P&A", "P & A'd", "PLUGGED"])
async def test_a_plugged_well_is_left_out_in_every_spelling(status: str) -> None:
    assert (await spacing(middle(), middle(status=status)))["exceptions"] == []


async def test_a_boundary_whose_corners_lie_in_one_line_is_refused() -> None:
    line = {"boundary": [{"lat": latitude, "lon": -101.95} for latitude in (31.87, 31.88, 31.89)]}
    with pytest.raises(ToolRefused, match=r"arguments#/lease/boundary: .* one line") as refused:
        await ask("well_spacing", {"well": middle(), "lease": line, "datum": "NAD83"})
    assert "give the corners" in refused.value.fix
