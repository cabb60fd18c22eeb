"""The calculators of gas and oil as an agent calls them: from JSON, and from the records of a lease in a graph."""

import json
from typing import Any

import pytest
from tests.skillweave_texas_rrc.gases import SAMPLE
from tests.skillweave_texas_rrc.sample import Change, ask, ask_sample, changed, entities_of, node, sample

from skillweave.contracts.check import check_schema
from skillweave.diagnostics import has_errors
from skillweave.knowledge.memory import MemoryGraph
from skillweave.packs import ToolRefused
from skillweave_texas_rrc import calculators, pack
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.gas_tools import gas_tools
from skillweave_texas_rrc.stock import OIL_CODES
from skillweave_texas_rrc.thresholds import thresholds
from skillweave_texas_rrc.volumes import GAS_CODES

NAMES = [
    "gas_balance",
    "gas_volume_at_base",
    "hydrocarbon_volume",
    "gas_oil_ratio",
    "oil_stock_balance",
    "allocate_volumes",
    "flare_authorization",
    "exception_days",
    "gas_quality",
    "flare_emissions",
    "h2s_radius",
]
WITHOUT_RECORDS = {"gas_volume_at_base", "allocate_volumes"}
LEASE = "Mitchell Ranch Lease"
CALLS: dict[str, dict[str, Any]] = {
    "gas_balance": {"month": "2026-03", "produced_mcf": 91200, "gas_dispositions": {"3": 91200}, "base_psia": 14.73},
    "gas_volume_at_base": {"volume_mcf": 1000, "from_psia": 14.73},
    "hydrocarbon_volume": {"volume_mcf": 100, "mol_percent": SAMPLE, "days": 2, "stream": "gas_well"},
    "gas_oil_ratio": {"produced_mcf": 98400, "oil_bbl": 31050},
    "oil_stock_balance": {
        "month": "2026-03",
        "opening_bbl": 1390,
        "oil_bbl": 28100,
        "oil_dispositions": {"0": 27800},
        "closing_bbl": 1690,
        "spill_reached_water": False,
    },
    "allocate_volumes": {"metered_total": 10, "streams": [{"id": "1H", "test_rate": 5, "hours": 24}], "unit": "bbl"},
    "flare_authorization": {
        "authorized_mcfd": 1200,
        "start": "2026-03-01",
        "end": "2026-04-14",
        "releases": [{"start": "2026-03-01", "end": "2026-03-31", "mcf": 37400}],
    },
    "exception_days": {"exceptions": [{"id": "a", "start": "2026-03-01", "end": "2026-04-14", "status": "pending"}]},
    "gas_quality": {"mol_percent": SAMPLE, "dry": True, "assumed_c6_plus": {"molar_mass": 97}},
    "flare_emissions": {"volume_mcf": 200, "mol_percent": SAMPLE, "release": "vented", "factors": {"gwp_ch4": 25}},
    "h2s_radius": {"escape_mcfd": 1206, "h2s_ppm": 400},
}


def outcomes(answer: dict[str, Any]) -> dict[str, str]:
    return {one["check"]: one["outcome"] for one in answer["checks"]}


def without_month(data: dict[str, Any]) -> None:
    node(data, "lease-mitchell")["production"] = []


def without_analysis(data: dict[str, Any]) -> None:
    del node(data, "lease-mitchell")["gas_analysis"]


def with_text_as_volume(data: dict[str, Any]) -> None:
    node(data, "lease-mitchell")["production"][2]["csgd_mcf"] = "91,200"


def since_december(data: dict[str, Any]) -> None:
    months = node(data, "lease-mitchell")["production"]
    months.insert(0, {"month": "2025-12", "oil_close_bbl": 1240})


def with_two_of_march(data: dict[str, Any]) -> None:
    months = node(data, "lease-mitchell")["production"]
    months.append(months[2])


def without_a_month(data: dict[str, Any]) -> None:
    del node(data, "lease-mitchell")["production"][0]["month"]


def with_a_namesake(data: dict[str, Any]) -> None:
    node(data, "lease-tippett")["name"] = LEASE


def without_codes(data: dict[str, Any]) -> None:
    del node(data, "lease-mitchell")["production"][2]["gas_disp"]


def with_a_text_under_code_10(data: dict[str, Any]) -> None:
    node(data, "lease-mitchell")["production"][2]["gas_disp"]["10"] = "37,400"


def with_code_4(data: dict[str, Any]) -> None:
    node(data, "lease-mitchell")["production"][2]["gas_disp"] = {"3": 46300, "4": 37400}


def denied(data: dict[str, Any]) -> None:
    node(data, "fa-3")["status"] = "denied"


def with_second_flare(data: dict[str, Any]) -> None:
    (covers,) = [edge for edge in data["edges"] if (edge["source"], edge["type"]) == ("fa-3", "COVERS")]
    covers["target"] = "fac-ctb"


def test_the_eleven_tools_have_the_names_that_skills_call_them_by() -> None:
    assert [one.name for one in gas_tools()] == NAMES
    assert set(NAMES) < {one.name for one in calculators()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph", [None, MemoryGraph()], ids=["values", "graph"])
def test_the_schemas_of_a_tool_are_sound(name: str, graph: MemoryGraph | None) -> None:
    tool = next(one for one in gas_tools(graph) if one.name == name)
    assert not has_errors(check_schema(tool.parameters))
    assert not has_errors(check_schema(tool.returns))


@pytest.mark.parametrize("name", NAMES)
async def test_every_answer_tells_its_units_its_basis_and_its_warnings(name: str) -> None:
    answer = await ask(name, CALLS[name])
    assert answer["units"]
    assert isinstance(answer["warnings"], list)
    for one in answer["basis"]:
        assert {"id", "says", "cite", "verified"} <= one.keys()
    assert all(one["cite"] for one in answer["checks"])
    assert json.loads(json.dumps(answer)) == answer


@pytest.mark.parametrize("name", NAMES)
async def test_a_tool_with_a_graph_answers_values_as_one_without(name: str) -> None:
    answer = await ask(name, CALLS[name], MemoryGraph())
    if name not in WITHOUT_RECORDS:
        assert answer.pop("read_from") == []
    assert answer == await ask(name, CALLS[name])


async def test_the_outcomes_of_checks_are_those_of_the_packs_event() -> None:
    loaded = await pack().load(None)
    told: Any = loaded.events["VALIDATION_RESULT"].schema
    assert {one.value for one in Outcome} == set(told["properties"]["outcome"]["enum"])
    assert set(told["required"]) == {"check", "outcome", "detail", "cite"}


@pytest.mark.parametrize("api", ["42-329-12345", "4232912345", "42-329-12345-00-00"])
async def test_the_march_balance_is_read_by_the_wells_api_number(api: str) -> None:
    answer = await ask_sample("gas_balance", lease=api, month="2026-03")
    assert (answer["difference_mcf"], answer["flared_mcf"], answer["vented_mcf"]) == (1000, 37400, 0)
    assert {"gas_balance": "fail", "authority_code": "fail"}.items() <= outcomes(answer).items()
    assert answer["read_from"] == ["lease-mitchell: production of 2026-03"]


@pytest.mark.parametrize(("month", "flared", "vented"), [("2026-01", 15300, 0), ("2026-02", 24000, 200)])
async def test_january_and_february_balance(month: str, flared: int, vented: int) -> None:
    answer = await ask_sample("gas_balance", lease=LEASE, month=month)
    assert (answer["difference_mcf"], answer["flared_mcf"], answer["vented_mcf"]) == (0, flared, vented)
    assert set(outcomes(answer).values()) == {"pass"}


async def test_what_the_caller_gives_wins_over_what_is_read() -> None:
    answer = await ask_sample("gas_balance", lease=LEASE, month="2026-03", remarks="AE", produced_mcf=90200)
    assert set(outcomes(answer).values()) == {"pass"}
    assert answer["read_from"][1] == "given instead of what is recorded: produced_mcf, remarks"


async def test_the_stock_is_carried_over_from_the_month_before() -> None:
    answer = await ask_sample("oil_stock_balance", lease="08-48213", month="2026-03")
    assert (answer["difference_bbl"], answer["closing_bbl"]) == (0, 1690)
    assert outcomes(answer)["stock_carries_over"] == "pass"
    assert answer["read_from"] == ["lease-mitchell: production of 2026-03", "lease-mitchell: production of 2026-02"]


async def test_the_month_before_january_is_december_of_the_year_before() -> None:
    answer = await ask("oil_stock_balance", {"lease": LEASE, "month": "2026-01"}, changed(since_december))
    assert outcomes(answer)["stock_carries_over"] == "pass"
    assert answer["read_from"][1] == "lease-mitchell: production of 2025-12"


async def test_the_first_month_has_nothing_to_carry_over() -> None:
    answer = await ask_sample("oil_stock_balance", lease=LEASE, month="2026-01")
    assert outcomes(answer)["stock_carries_over"] == "not_checked"


async def test_the_ratio_of_january_with_and_without_lift_gas() -> None:
    answer = await ask_sample("gas_oil_ratio", lease=LEASE, month="2026-01")
    assert answer["gor_scf_bbl"] == pytest.approx(3169, abs=0.5)
    assert answer["formation_gor_scf_bbl"] == pytest.approx(3085, abs=0.5)


async def test_the_first_authorization_is_read_with_its_months() -> None:
    answer = await ask_sample("flare_authorization", lease=LEASE, authorization="R32-26-0031")
    assert (answer["used_mcf"], answer["cap_mcf"]) == (39300, 45000)
    assert answer["percent_used"] == pytest.approx(87.3, abs=0.05)
    assert answer["average_mcfd"] == pytest.approx(873, abs=0.5)
    assert outcomes(answer)["volume_cap"] == "warn"
    # January's record covers the whole month, the authorization begins on the 15th.
    assert outcomes(answer)["whole_spans"] == "warn"


async def test_the_second_authorization_is_over_its_rate() -> None:
    answer = await ask_sample("flare_authorization", lease=LEASE, authorization="fa-2")
    assert (answer["used_mcf"], answer["cap_mcf"], answer["as_of"]) == (37400, 54000, "2026-03-31")
    assert answer["days_to_cap"] == pytest.approx(13.8, abs=0.05)
    assert outcomes(answer)["average_rate"] == "fail"
    assert answer["read_from"] == ["fa-2 (R32-26-0108)", "lease-mitchell: code 10 of 1 months, counted whole"]


async def test_an_authorization_is_found_by_its_flare_point_too() -> None:
    by_lease = await ask_sample("flare_authorization", lease=LEASE, authorization="fa-2")
    assert await ask_sample("flare_authorization", lease="fac-flare", authorization="fa-2") == by_lease


async def test_months_after_the_day_that_is_looked_at_are_left_out() -> None:
    answer = await ask_sample("flare_authorization", lease=LEASE, authorization="fa-1", as_of="2026-02-15")
    assert (answer["used_mcf"], answer["as_of"]) == (15300, "2026-02-15")


async def test_of_several_authorizations_one_has_to_be_named() -> None:
    with pytest.raises(ToolRefused, match="has 3 authorizations, and 3 fit; name one of fa-1"):
        await ask_sample("flare_authorization", lease=LEASE)


@pytest.mark.parametrize("place", [LEASE, "Mitchell Ranch Flare HP-1"])
async def test_the_exceptions_of_a_lease_or_of_its_flare_are_135_days(place: str) -> None:
    answer = await ask_sample("exception_days", lease=place)
    assert [one["days"] for one in answer["exceptions"]] == [45, 45, 45]
    assert (answer["total_days"], answer["granted_days"], answer["gaps"]) == (135, 90, [])


async def test_a_pending_exception_authorizes_nothing_yet() -> None:
    arguments = {"lease": LEASE, "authorization": "fa-3", "as_of": "2026-04-20"}
    assert outcomes(await ask_sample("flare_authorization", **arguments))["granted"] == "fail"
    granted = await ask_sample("flare_authorization", **{**arguments, "authorization": "fa-2"})
    assert outcomes(granted)["granted"] == "pass"


async def test_an_exception_that_was_refused_does_not_count() -> None:
    answer = await ask("exception_days", {"lease": LEASE}, changed(denied))
    assert (answer["total_days"], len(answer["exceptions"])) == (90, 2)
    assert answer["read_from"][2] == "fa-3 (no number yet), denied, not counted"


async def test_exceptions_of_several_flare_points_are_not_added_up() -> None:
    graph = changed(with_second_flare)
    with pytest.raises(ToolRefused, match="has exceptions of 2 flare points, which count apart; name the flare point"):
        await ask("exception_days", {"lease": LEASE}, graph)
    assert (await ask("exception_days", {"lease": "fac-ctb"}, graph))["total_days"] == 45


async def test_the_analysis_of_the_lease_is_read_with_its_basis() -> None:
    answer = await ask_sample("gas_quality", lease=LEASE)
    assert answer["molar_mass"] == pytest.approx(22.727, abs=0.0005)
    assert (answer["h2s_ppm"], answer["rule_36"]) == (400, True)
    assert outcomes(answer)["dry_basis"] == "pass"
    assert answer["read_from"] == ["lease-mitchell: gas analysis, sampled 2026-01-20"]


async def test_march_emissions_are_read_from_volume_and_analysis() -> None:
    answer = await ask_sample("flare_emissions", lease=LEASE, month="2026-03", base_psia=14.696)
    assert answer["ch4_lb"] == pytest.approx(22895, abs=0.5)
    assert answer["co2e_t"] == pytest.approx(3021, abs=0.5)


async def test_vented_gas_of_february_is_read_from_code_11() -> None:
    answer = await ask_sample("flare_emissions", lease=LEASE, month="2026-02", release="vented", base_psia=14.696)
    assert (answer["volume_mcf"], answer["so2_lb"]) == (200, 0)
    assert answer["co2e_t"] == pytest.approx(77.9, abs=0.05)


async def test_a_volume_of_an_event_needs_no_month() -> None:
    answer = await ask_sample("flare_emissions", lease=LEASE, volume_mcf=2350, base_psia=14.65)
    assert answer["volume_mcf"] == 2350


async def test_the_radius_is_that_of_the_months_average_rate() -> None:
    answer = await ask_sample("h2s_radius", lease=LEASE, month="2026-03")
    assert answer["escape_mcfd"] == pytest.approx(1206, abs=0.5)
    assert (round(answer["x100_ft"]), round(answer["x500_ft"])) == (64, 29)


async def test_a_rate_of_ones_own_takes_h2s_from_the_analysis() -> None:
    answer = await ask_sample("h2s_radius", lease=LEASE, escape_mcfd=1206)
    assert (answer["h2s_ppm"], round(answer["x100_ft"])) == (400, 64)


async def test_hydrocarbons_of_what_was_released_in_february() -> None:
    answer = await ask_sample("hydrocarbon_volume", lease=LEASE, month="2026-02")
    assert answer["hydrocarbon_mcf"] == pytest.approx(24200 * 0.968)
    assert answer["hydrocarbon_mcfd"] == pytest.approx(24200 * 0.968 / 28)


async def test_hydrocarbons_of_a_volume_of_ones_own_need_no_month() -> None:
    answer = await ask_sample("hydrocarbon_volume", lease=LEASE, volume_mcf=100)
    assert answer["hydrocarbon_mcf"] == 96.8


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"lease": "Nowhere", "month": "2026-03"}, "arguments#/lease: the graph knows nothing called 'Nowhere'"),
        (
            {"lease": LEASE, "month": "2025-03"},
            "lease-mitchell has no record of 2025-03; it has 2026-01,",
        ),
        ({"lease": LEASE}, "arguments#/month: nothing says which month of lease-mitchell is meant"),
        ({"lease": "op-683214", "month": "2026-03"}, "arguments#/lease: op-683214, a node Operator, lies on 0 leases"),
        ({"month": "2026-03"}, '"produced_mcf"'),
    ],
)
async def test_what_cannot_be_read_is_refused_with_what_to_give(arguments: dict[str, str], wanted: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        await ask_sample("gas_balance", **arguments)
    assert wanted in str(refused.value)


async def test_a_lease_without_records_is_refused() -> None:
    with pytest.raises(ToolRefused, match="lease-mitchell has no record of 2026-03; it has none"):
        await ask("gas_balance", {"lease": LEASE, "month": "2026-03"}, changed(without_month))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (without_codes, "entity 'lease-mitchell': its production of 2026-03 has no volumes by disposition code"),
        (with_a_text_under_code_10, "code 10 of 2026-03 is the text '37,400', not a number of MCF"),
        (with_code_4, "code 4 of 2026-03 does not say whether its gas was flared or vented; give the volume"),
    ],
)
@pytest.mark.parametrize("name", ["flare_emissions", "h2s_radius", "hydrocarbon_volume"])
async def test_a_volume_that_is_not_recorded_is_not_taken_for_zero(name: str, change: Change, wanted: str) -> None:
    with pytest.raises(ToolRefused, match=wanted):
        await ask(name, {"lease": LEASE, "month": "2026-03"}, changed(change))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (with_two_of_march, "entity 'lease-mitchell': its production has two records of 2026-03; leave the one"),
        (without_a_month, "entity 'lease-mitchell': a record of its production is of no month; give it the month"),
    ],
)
async def test_records_that_cannot_be_told_apart_are_refused(change: Change, wanted: str) -> None:
    with pytest.raises(ToolRefused, match=wanted):
        await ask("gas_balance", {"lease": LEASE, "month": "2026-03"}, changed(change))


async def test_a_name_that_two_leases_have_is_refused_with_their_ids() -> None:
    with pytest.raises(ToolRefused, match="2 entities are called 'Mitchell Ranch Lease'; give one by its id: lease"):
        await ask("gas_quality", {"lease": LEASE}, changed(with_a_namesake))


async def test_a_lease_without_an_analysis_is_refused() -> None:
    with pytest.raises(ToolRefused, match="lease-mitchell has no gas analysis"):
        await ask("gas_quality", {"lease": LEASE}, changed(without_analysis))


async def test_a_lease_without_authorizations_is_refused() -> None:
    with pytest.raises(ToolRefused, match="lease-tippett has no flaring authorization"):
        await ask_sample("exception_days", lease="lease-tippett")


async def test_a_bad_value_in_a_record_is_refused_with_where_it_stands() -> None:
    with pytest.raises(ToolRefused, match=r"#/produced_mcf: .*: production of 2026-03: correct it"):
        await ask("gas_balance", {"lease": LEASE, "month": "2026-03"}, changed(with_text_as_volume))


async def test_numbers_of_an_answer_have_at_most_six_decimals() -> None:
    answer = await ask("flare_emissions", CALLS["flare_emissions"])
    assert answer["ch4_lb"] == round(answer["ch4_lb"], 6)


@pytest.mark.parametrize("file", ["factors.yaml", "thresholds.yaml"])
def test_every_figure_has_a_sentence_a_citation_and_a_unit_for_its_value(file: str) -> None:
    for one in thresholds(file).values():
        assert one.says.endswith(".")
        assert one.cite
        assert bool(one.unit) == (one.value is not None), one.id


def test_no_figure_stands_in_both_files() -> None:
    assert not thresholds().keys() & thresholds("factors.yaml").keys()


def test_the_codes_of_both_reports_are_told_to_the_model_by_name() -> None:
    tools = {one.name: one.declaration()["parameters"] for one in gas_tools()}
    gas: Any = tools["gas_balance"]
    oil: Any = tools["oil_stock_balance"]
    assert set(gas["properties"]["gas_dispositions"]["properties"]) == set(GAS_CODES)
    assert set(oil["properties"]["oil_dispositions"]["properties"]) == set(OIL_CODES)
    assert gas["properties"]["gas_dispositions"]["properties"]["10"]["description"] == "flared"


async def test_the_sample_graph_is_not_changed_by_being_read() -> None:
    graph = entities_of(sample())
    before = await graph.entity("lease-mitchell")
    await ask("gas_balance", {"lease": LEASE, "month": "2026-03"}, graph)
    assert await graph.entity("lease-mitchell") == before


HUGE = 1e308
UNLIKELY: list[tuple[str, dict[str, Any]]] = [
    ("gas_balance", {"produced_mcf": HUGE}),
    ("gas_balance", {"gas_dispositions": {"3": HUGE}}),
    ("gas_volume_at_base", {"volume_mcf": HUGE}),
    ("hydrocarbon_volume", {"volume_mcf": HUGE}),
    ("hydrocarbon_volume", {"days": 1e-308}),
    ("gas_oil_ratio", {"produced_mcf": HUGE}),
    ("gas_oil_ratio", {"oil_bbl": 5e-324}),
    ("oil_stock_balance", {"opening_bbl": HUGE}),
    ("oil_stock_balance", {"oil_dispositions": {"7": -HUGE}}),
    ("allocate_volumes", {"metered_total": 10**300}),
    ("flare_authorization", {"authorized_mcfd": HUGE}),
    ("flare_authorization", {"authorized_mcfd": 5e-324}),
    ("flare_authorization", {"releases": [{"start": "2026-03-01", "end": "2026-03-31", "mcf": HUGE}]}),
    ("flare_authorization", {"end": "9999-12-31"}),
    ("exception_days", {"exceptions": [{"id": "a", "start": "2026-03-01", "end": "9999-12-31"}]}),
    ("exception_days", {"exceptions": [{"id": "a", "start": "0001-01-01", "end": "0001-02-01"}]}),
    ("flare_emissions", {"volume_mcf": HUGE}),
    ("flare_emissions", {"factors": {"gwp_ch4": HUGE}}),
    ("h2s_radius", {"escape_mcfd": HUGE}),
]


@pytest.mark.parametrize(("name", "instead"), UNLIKELY)
async def test_numbers_and_days_that_no_lease_has_are_refused_where_they_stand(
    name: str, instead: dict[str, Any]
) -> None:
    with pytest.raises(ToolRefused) as refused:
        await ask(name, CALLS[name] | instead)
    assert refused.value.place.startswith(f"arguments#/{next(iter(instead))}")
    assert refused.value.fix
