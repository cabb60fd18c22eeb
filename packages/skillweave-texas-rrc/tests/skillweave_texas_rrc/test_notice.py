"""Who gets notice of an exception: which tracts, and which persons of each."""

from typing import Any

import pytest
from tests.skillweave_texas_rrc.ground import horizontal, square, vertical
from tests.skillweave_texas_rrc.sample import ask

from skillweave.packs import ToolRefused

SIDE = 5280.0
LEASE = {"boundary": square(0, 0, SIDE), "operator": "Home Energy"}
ACME = {"name": "Acme Operating", "address": "1 Main St."}
BELL = {"name": "Bell Minerals", "address": "2 Main St."}
CRUZ = {"name": "Cruz Family", "address": "3 Main St."}


def tract(**more: Any) -> dict[str, Any]:
    """The tract west of the lease."""
    return {"name": "West", "boundary": square(-SIDE, 0, SIDE), **more}


async def notice(*tracts: dict[str, Any], away: float = 300, exceptions: tuple[str, ...] = ("lease_line",)) -> Any:
    """The notice for a well so many feet from the west line of the lease."""
    arguments = {
        "well": vertical(away, SIDE / 2),
        "lease": LEASE,
        "tracts": list(tracts),
        "exceptions": list(exceptions),
        "datum": "NAD83",
    }
    return await ask("notice_tracts", arguments)


async def persons(**written: Any) -> list[tuple[str, str]]:
    found = await notice(tract(**written))
    return [(one["name"], one["role"]) for one in found["affected_tracts"][0]["persons"]]


async def test_the_designated_operator_is_affected_and_its_lessees_are_not() -> None:
    found = await notice(tract(operator=ACME, lessees=[BELL]))
    (affected,) = found["affected_tracts"]
    assert [(one["name"], one["role"]) for one in affected["persons"]] == [("Acme Operating", "designated_operator")]
    assert [one["name"] for one in affected["not_affected"]] == ["Bell Minerals"]


async def test_where_there_is_no_operator_all_lessees_of_record_are_affected() -> None:
    assert await persons(operator=None, lessees=[BELL, CRUZ]) == [
        ("Bell Minerals", "lessee_of_record"),
        ("Cruz Family", "lessee_of_record"),
    ]


async def test_owners_of_unleased_minerals_are_affected_beside_the_operator() -> None:
    assert await persons(operator=ACME, unleased_owners=[CRUZ]) == [
        ("Acme Operating", "designated_operator"),
        ("Cruz Family", "unleased_owner"),
    ]


async def test_an_owner_of_a_leased_royalty_is_no_affected_person() -> None:
    found = await notice(tract(operator=ACME, royalty_owners=[CRUZ]))
    (affected,) = found["affected_tracts"]
    assert affected["not_affected"] == [
        {"name": "Cruz Family", "reason": "an owner of a leased royalty is not an affected person"}
    ]
    assert any("Sledge" in one["cite"] for one in found["basis"])


async def test_a_person_who_is_not_located_is_flagged_with_search_and_publication() -> None:
    found = await notice(tract(unleased_owners=[{"name": "Lost Heirs", "located": False}]))
    (person,) = found["affected_tracts"][0]["persons"]
    assert person["located"] is False
    assert "due diligence" in person["to_do"]
    assert "publication (16 TAC 1.43)" in person["to_do"]
    assert found["unlocated"] == ["Lost Heirs (West)"]
    assert any(one["cite"] == "16 TAC 1.43" for one in found["basis"])


async def test_a_located_person_without_an_address_is_warned_of() -> None:
    found = await notice(tract(operator={"name": "Acme Operating"}))
    assert "The mailing address of Acme Operating (West) is missing." in found["warnings"]


async def test_an_affected_tract_without_any_person_is_warned_of() -> None:
    found = await notice(tract())
    assert any(one.startswith("No affected person of West is known") for one in found["warnings"])


async def test_a_tract_that_the_applicant_operates_is_warned_of() -> None:
    found = await notice(tract(operator={"name": "HOME ENERGY", "address": "x"}))
    assert any(one.startswith("Home Energy operates West itself") for one in found["warnings"])


@pytest.mark.parametrize(("away", "affected"), [(599.9, True), (600.1, False)])
async def test_a_tract_is_affected_when_it_is_nearer_than_the_notice_radius(away: float, affected: bool) -> None:
    found = await notice(tract(operator=ACME), away=away)
    assert bool(found["affected_tracts"]) is affected
    assert bool(found["other_tracts"]) is not affected


async def test_for_a_between_well_exception_adjacent_tracts_are_affected_at_any_distance() -> None:
    far = {"name": "Far", "boundary": square(-3 * SIDE, 0, SIDE)}
    found = await notice(tract(operator=ACME), far, away=2000, exceptions=("between_well",))
    assert [one["name"] for one in found["affected_tracts"]] == ["West"]
    assert found["affected_tracts"][0]["reasons"] == ["it is adjacent to the lease (between-well exception)"]
    assert [one["name"] for one in found["other_tracts"]] == ["Far"]


async def test_for_a_between_well_exception_near_tracts_that_are_not_adjacent_are_affected_too() -> None:
    near = {"name": "Near", "boundary": square(-SIDE, 0, SIDE), "adjacent": False, "operator": ACME}
    found = await notice(near, away=466, exceptions=("between_well",))
    assert found["affected_tracts"][0]["reasons"] == ["it is nearer to the well than 467 ft (between-well exception)"]


async def test_with_both_exceptions_each_reason_is_told() -> None:
    found = await notice(tract(operator=ACME), away=300, exceptions=("lease_line", "between_well"))
    assert len(found["affected_tracts"][0]["reasons"]) == 3


async def test_a_tract_of_which_nobody_tells_whether_it_is_adjacent_is_undecided() -> None:
    arguments = {"well": vertical(2000, 300), "tracts": [tract()], "exceptions": ["between_well"], "datum": "NAD83"}
    found = await ask("notice_tracts", arguments)
    (open_one,) = found["undecided"]
    assert "whether it is adjacent to the lease is not said" in open_one["reason"]
    assert any(one.startswith("ASK: whether West is affected") for one in found["warnings"])
    assert found["affected_tracts"] == found["other_tracts"] == []


async def test_a_tract_without_boundary_is_undecided_and_never_out_of_reach() -> None:
    found = await notice({"name": "Blank", "adjacent": True, "operator": ACME})
    assert found["undecided"] == [
        {"name": "Blank", "distance_ft": None, "reason": "its boundary is missing, so how far it is cannot be said"}
    ]
    assert any(one.startswith("ASK: whether Blank is affected") for one in found["warnings"])


async def test_an_adjacent_tract_without_boundary_is_affected_by_a_between_well_exception() -> None:
    found = await notice({"name": "Blank", "adjacent": True, "operator": ACME}, exceptions=("between_well",))
    (affected,) = found["affected_tracts"]
    assert (affected["name"], affected["distance_ft"]) == ("Blank", None)
    assert found["undecided"] == []


async def test_the_exceptions_have_to_be_named() -> None:
    with pytest.raises(ToolRefused, match='lacks what the schema requires: "exceptions"'):
        await ask("notice_tracts", {"well": vertical(300, 300), "tracts": [tract()], "datum": "NAD83"})


async def test_that_a_horizontal_well_is_measured_between_its_take_points_is_to_be_confirmed() -> None:
    well = horizontal((300, 300), (300, 4000))
    arguments = {"well": well, "lease": LEASE, "tracts": [tract()], "exceptions": ["lease_line"], "datum": "NAD83"}
    found = await ask("notice_tracts", arguments)
    assert any("16 TAC 3.86" in one and "Confirm" in one for one in found["warnings"])


async def test_without_tracts_the_answer_says_that_nothing_can_be_said() -> None:
    assert "No tract was given: nothing can be said of who is affected." in (await notice())["warnings"]


async def test_affected_tracts_are_told_nearest_first() -> None:
    south = {"name": "South", "boundary": square(0, -SIDE, SIDE), "operator": ACME}
    found = await notice(south, tract(operator=ACME), exceptions=("between_well",))
    assert [one["name"] for one in found["affected_tracts"]] == ["West", "South"]
