"""The sample graph holds the worked answers: each is found within a twentieth of a foot."""

from typing import Any

import pytest
from tests.skillweave_texas_rrc.sample import EXPECTED, ask_sample, sample

SLACK = 0.05
RULES = {"statewide": None, "override_330_660": {"lease_line_ft": 330, "between_well_ft": 660, "loaded_from": "order"}}
TESTS = [key for key in EXPECTED if key.endswith(("statewide", "override_330_660"))]
TRACTS = [key for key in EXPECTED if key.endswith("tract_distances_ft")]
SURFACE = [key for key in EXPECTED if key.endswith("surface_only")]
OFFSETS_OF_1H = {
    "well-mr3": 390.0,
    "well-gd141": 450.0,
    "well-mr4": 650.0,
    "well-mr2h": 850.0,
    "well-ta1": 1120.9,
    "well-gd142": 1160.0,
    "well-ta2h": 1366.1,
}


def near(feet: float) -> Any:
    return pytest.approx(feet, abs=SLACK + 1e-9)


def test_no_expected_answer_is_left_untested() -> None:
    assert sorted(TESTS + TRACTS + SURFACE) == sorted(EXPECTED)
    assert len(EXPECTED) == 8


@pytest.mark.parametrize("key", TESTS)
async def test_a_well_is_tested_as_expected(key: str) -> None:
    well, rules = key.split("/")
    expected = EXPECTED[key]
    found = await ask_sample("well_spacing", well=well, field_rules=RULES[rules])
    line, between = found["lease_line"], found["between_wells"]
    assert line["distance_ft"] == near(expected["lease_line_ft"])
    assert line["required_ft"] == expected["lease_line_min_ft"]
    assert between["distance_ft"] == near(expected["nearest_well_ft"])
    assert between["required_ft"] == expected["between_well_min_ft"]
    assert between["from"]["name"] == expected["nearest_same_lease_well"]
    assert found["notice_radius_ft"] == expected["notice_radius_ft"]
    assert found["exceptions"] == expected["exceptions"]
    assert [not line["passes"], not between["passes"]] == [
        name in expected["exceptions"] for name in ("lease_line", "between_well")
    ]


@pytest.mark.parametrize("key", SURFACE)
async def test_the_surface_hole_of_a_horizontal_well_is_reported_and_not_tested(key: str) -> None:
    found = await ask_sample("well_spacing", well=key.split("/")[0])
    assert found["surface_hole"] == {"to_lease_line_ft": near(EXPECTED[key]["lease_line_ft"]), "tested": False}


@pytest.mark.parametrize("key", TRACTS)
async def test_each_tract_is_as_far_as_expected(key: str) -> None:
    found = await ask_sample("notice_tracts", well=key.split("/")[0], exceptions=["lease_line"])
    told = {one["name"]: one["distance_ft"] for one in (*found["affected_tracts"], *found["other_tracts"])}
    assert told == {name: near(feet) for name, feet in EXPECTED[key].items()}


async def test_the_offset_wells_of_1h_are_as_far_as_expected() -> None:
    found = await ask_sample("offset_distances", well="well-mr1h", within_ft=2640)
    assert {one["id"]: one["distance_ft"] for one in found["offset_wells"]} == {
        well: near(feet) for well, feet in OFFSETS_OF_1H.items()
    }
    assert found["beyond"] == 2
    distances = [one["distance_ft"] for one in found["offset_wells"]]
    assert distances == sorted(distances)


@pytest.mark.parametrize("well", ["well-mr1h", "well-mr2h"])
async def test_the_distances_on_the_graphs_own_relations_agree_with_the_computed_ones(well: str) -> None:
    found = await ask_sample("offset_distances", well=well)
    computed = {one["id"]: one for one in found["offset_wells"]}
    edges = [one for one in sample()["edges"] if one["type"] == "OFFSETS" and one["source"] == well]
    assert len(edges) > 6
    for edge in edges:
        one = computed[edge["target"]]
        assert one["distance_ft"] == near(edge["properties"]["distance_ft"])
        assert ("another lease" in one.get("reason", "")) is not edge["properties"]["same_lease"]
        assert ("another field" in one.get("reason", "")) is not edge["properties"]["same_field"]


async def test_four_tracts_lie_inside_600_ft_of_1h_and_the_fifth_is_out() -> None:
    found = await ask_sample("notice_tracts", well="42-329-12345", exceptions=["lease_line"])
    assert {one["id"] for one in found["affected_tracts"]} == {
        "lease-glasscock14",
        "tract-w2",
        "lease-tippett",
        "tract-n1",
    }
    assert [one["id"] for one in found["other_tracts"]] == ["lease-bradford"]
    assert found["notice_radius_ft"] == 600


async def test_a_between_well_exception_makes_every_adjacent_tract_affected_which_is_to_be_confirmed() -> None:
    found = await ask_sample("notice_tracts", well="well-mr2h", exceptions=["between_well"])
    assert len(found["affected_tracts"]) == 5
    assert found["notice_radius_ft"] is None
    assert any("16 TAC 3.37(a)(2)(B)" in warning and "Confirm" in warning for warning in found["warnings"])


async def test_2h_passes_the_lease_line_by_13_ft() -> None:
    found = await ask_sample("well_spacing", well="Mitchell Ranch 2H")
    assert found["lease_line"] == {"distance_ft": 480.0, "required_ft": 467, "passes": True, "short_ft": 0.0}
    assert found["between_wells"]["short_ft"] == 740.0


def test_the_sample_names_the_datum_of_everything_with_corners() -> None:
    for node in sample()["nodes"]:
        if "boundary" in node["properties"] or node["label"] == "Well":
            assert node["properties"]["datum"] == "NAD83"


def test_the_sample_does_not_carry_its_own_answers() -> None:
    assert set(sample()) == {"meta", "nodes", "edges"}
    assert (len(sample()["nodes"]), len(sample()["edges"])) == (50, 92)
