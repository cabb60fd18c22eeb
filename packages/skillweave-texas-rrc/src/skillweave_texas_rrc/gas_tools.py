"""The calculators of gas and oil as tools of an agent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from skillweave.entities import EntityGraph
from skillweave.packs import JsonObject, Tool
from skillweave.values import Json, freeze_mapping, schema_of
from skillweave_texas_rrc.allocation import Allocation, Inflow, allocate_volumes
from skillweave_texas_rrc.answers import MOST, Answer
from skillweave_texas_rrc.authorization import AuthorizationUse, ExceptionStatus, Released, flare_authorization
from skillweave_texas_rrc.emissions import Factors, FlareEmissions, Release, flare_emissions
from skillweave_texas_rrc.exceptions import ExceptionDays, FlareException, exception_days
from skillweave_texas_rrc.figures import components, factor
from skillweave_texas_rrc.h2s import ExposureRadius, h2s_radius
from skillweave_texas_rrc.lease_records import MONTH, reading
from skillweave_texas_rrc.lookups import LOOKUPS
from skillweave_texas_rrc.quality import Assumed, GasQuality, gas_quality
from skillweave_texas_rrc.schemas import Schema, record, several
from skillweave_texas_rrc.stock import OIL_CODES, OilStockBalance, oil_stock_balance
from skillweave_texas_rrc.volumes import (
    GAS_CODES,
    GasAtBase,
    GasBalance,
    GasOilRatio,
    HydrocarbonVolume,
    Stream,
    gas_balance,
    gas_oil_ratio,
    gas_volume_at_base,
    hydrocarbon_volume,
)

_DECIMALS = 6
"""Decimals of the numbers in an answer: enough for every factor, and no noise of floating point."""
_MOST_ROWS = 1000
_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def _amount(description: str) -> Schema:
    return {"type": "number", "minimum": 0, "maximum": MOST, "description": description}


def _day(description: str) -> Schema:
    return {"type": "string", "pattern": _DATE, "description": f"{description} Such as 2026-03-31."}


def _rows(description: str, columns: Mapping[str, Schema], needed: tuple[str, ...], least: int = 0) -> Schema:
    return several(record(columns, needed), _MOST_ROWS, description, least)


def _by_code(description: str, codes: Mapping[str, str], signed: Sequence[str] = ()) -> Schema:
    named: dict[str, Schema] = {
        code: {"type": "number", "description": name} | ({} if code in signed else {"minimum": 0})
        for code, name in codes.items()
    }
    return record(named, description=description)


def _fraction_or_more(name: str) -> Schema:
    figure = factor(name)
    most: Schema = {"maximum": 1} if figure.unit == "fraction" else {}
    return {**_amount(f"{figure.says} {figure.number:g} {figure.unit} without it."), **most}


def _mol_percent() -> Schema:
    names = (*components(), "C6+")
    percent: dict[str, Schema] = {name: {"type": "number", "minimum": 0, "maximum": 101} for name in names}
    return {**record(percent, description="The gas analysis, mol % by component."), "minProperties": 1}


def _assumed_c6_plus() -> Schema:
    names = Assumed.__dataclass_fields__
    words = "What C6+ is taken for: lb/lb-mol, Btu/scf at 14.696 psia, carbon atoms."
    return record({name: _amount("In the place of the pack's own.") for name in names}, description=words)


_BASE: Schema = {
    "type": "number",
    "minimum": 10,
    "maximum": 20,
    "description": "The pressure base of the volumes, psia; that of the RRC without it.",
}
_STATUS: Schema = {
    "enum": [one.value for one in ExceptionStatus],
    "description": "Whether the exception is granted (without it) or still pending.",
}
_STREAM: Schema = {
    "enum": [one.value for one in Stream],
    "description": "Casinghead gas of an oil lease (without it), or gas of a gas well.",
}


def gas_tools(graph: EntityGraph | None = None) -> tuple[Tool, ...]:
    """The eleven calculators of gas and oil; with a graph nine of them read what they are not given from a lease."""
    tools = (*_volume_tools(), *_release_tools())
    if graph is None:
        return tools
    return tuple(reading(tool, graph, LOOKUPS[tool.name]) if tool.name in LOOKUPS else tool for tool in tools)


def _volume_tools() -> tuple[Tool, ...]:
    return (
        _tool(
            "gas_balance",
            "Balance the gas of a lease and month by Form PR disposition codes: what was released, in percent, the"
            " difference that must be zero, closed code 4, and the authority code in REMARKS.",
            {
                "month": MONTH,
                "produced_mcf": _amount("Gas produced in the month, MCF."),
                "gas_dispositions": _by_code(
                    "MCF by gas disposition code.", {code: name for code, (_, name) in GAS_CODES.items()}
                ),
                "remarks": {"type": "string", "description": "REMARKS of the report."},
                "stream": _STREAM,
                "base_psia": _BASE,
            },
            ("month", "produced_mcf", "gas_dispositions"),
            GasBalance,
            gas_balance,
        ),
        _tool(
            "gas_volume_at_base",
            "Convert a gas volume from one pressure base to another at 60 F.",
            {
                "volume_mcf": _amount("The volume, MCF."),
                "from_psia": {**_BASE, "description": "The pressure base of the volume, psia."},
                "to_psia": {
                    **_BASE,
                    "description": "The pressure base that is wanted, psia; that of the RRC without it.",
                },
            },
            ("volume_mcf", "from_psia"),
            GasAtBase,
            gas_volume_at_base,
        ),
        _tool(
            "hydrocarbon_volume",
            "The hydrocarbon part of a gas volume, for the 15 and 50 MCF/d tests of Rule 32.",
            {
                "volume_mcf": _amount("The volume that was released, MCF."),
                "mol_percent": _mol_percent(),
                "days": {"type": "number", "exclusiveMinimum": 0, "description": "Days of the release; 1 without it."},
                "stream": _STREAM,
            },
            ("volume_mcf", "mol_percent"),
            HydrocarbonVolume,
            hydrocarbon_volume,
        ),
        _tool(
            "gas_oil_ratio",
            "The gas-oil ratio of a month or test in scf/bbl, also of formation gas where gas lift is known.",
            {
                "produced_mcf": _amount("Gas produced, MCF."),
                "oil_bbl": _amount("Oil produced, bbl."),
                "gas_lift_mcf": _amount("Lift gas that the produced gas includes, MCF."),
                "limit_scf_bbl": _amount("The limit of the field rules, scf/bbl; the statewide one without it."),
            },
            ("produced_mcf", "oil_bbl"),
            GasOilRatio,
            gas_oil_ratio,
        ),
        _tool(
            "oil_stock_balance",
            "Reconcile opening stock, oil, dispositions and closing stock of a lease and month, and the stock carried"
            " over from the month before.",
            {
                "month": MONTH,
                "opening_bbl": _amount("Opening stock, bbl."),
                "oil_bbl": _amount("Oil produced, bbl."),
                "oil_dispositions": _by_code(
                    "Barrels by oil disposition code; code 7 may be negative.", OIL_CODES, "7"
                ),
                "closing_bbl": _amount("Closing stock, bbl."),
                "previous_closing_bbl": _amount("Closing stock on last month's report, bbl."),
                "stream": _STREAM,
                "spill_reached_water": {"type": "boolean", "description": "Whether a spill reached water."},
            },
            ("month", "opening_bbl", "oil_bbl", "oil_dispositions", "closing_bbl"),
            OilStockBalance,
            oil_stock_balance,
        ),
        _tool(
            "allocate_volumes",
            "Share a metered total among wells or leases by test rate x hours on, in whole units that add up exactly.",
            {
                "metered_total": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The metered total, whole MCF or bbl.",
                },
                "streams": _rows(
                    "Each well or lease that flows into the total.",
                    {
                        "id": {"type": "string", "minLength": 1},
                        "test_rate": _amount("Rate at the last test, in one unit for all."),
                        "hours": {**_amount("Hours on in the month."), "maximum": 744},
                    },
                    ("id", "test_rate", "hours"),
                    least=1,
                ),
                "unit": {"enum": ["MCF", "bbl"], "description": "Unit of the total; MCF without it."},
            },
            ("metered_total", "streams"),
            Allocation,
            allocate_volumes,
        ),
    )


def _release_tools() -> tuple[Tool, ...]:
    return (
        _tool(
            "flare_authorization",
            "How much of a flaring authorization is used: volume, percent, average rate, days to the cap; its MCF/d"
            " read as a daily cap and as an average.",
            {
                "authorized_mcfd": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": "The authorized rate, MCF/d.",
                },
                "start": _day("First day of the authorization."),
                "end": _day("Last day of the authorization, counted."),
                "releases": _rows(
                    "Flared volumes by day, or by longer spans that do not overlap.",
                    {"start": _day("First day."), "end": _day("Last day."), "mcf": _amount("Volume, MCF.")},
                    ("start", "end", "mcf"),
                ),
                "as_of": _day("The last day that is looked at; that of the releases without it."),
                "status": _STATUS,
            },
            ("authorized_mcfd", "start", "end", "releases"),
            AuthorizationUse,
            flare_authorization,
        ),
        _tool(
            "exception_days",
            "Count the days of Rule 32 exceptions of one flare point: joined, gaps, the 180-day mark, and whether a"
            " hearing is needed.",
            {
                "exceptions": _rows(
                    "The exceptions of the flare point.",
                    {
                        "id": {"type": "string", "minLength": 1},
                        "start": _day("First day."),
                        "end": _day("Last day, counted."),
                        "status": _STATUS,
                    },
                    ("id", "start", "end"),
                ),
                "hydrocarbon_mcfd": _amount("The rate that is asked for, MCF/d of hydrocarbon gas."),
                "release_days": {
                    "type": "array",
                    "items": _day("A day on which gas was released."),
                    "maxItems": _MOST_ROWS,
                },
                "stream": _STREAM,
            },
            ("exceptions",),
            ExceptionDays,
            exception_days,
        ),
        _tool(
            "gas_quality",
            "What a gas analysis says: molar mass, gravity, gross heat, C3+, H2S, Rule 36, and hints for a sales line.",
            {
                "mol_percent": _mol_percent(),
                "dry": {"type": "boolean", "description": "Whether the analysis is on a dry basis."},
                "assumed_c6_plus": _assumed_c6_plus(),
            },
            ("mol_percent",),
            GasQuality,
            gas_quality,
        ),
        _tool(
            "flare_emissions",
            "Estimate what flared or vented gas puts into the air, with every factor named.",
            {
                "volume_mcf": _amount("The volume, MCF."),
                "mol_percent": _mol_percent(),
                "release": {"enum": [one.value for one in Release], "description": "Flared (burned) without it."},
                "base_psia": _BASE,
                "factors": record(
                    {name: _fraction_or_more(name) for name in Factors.__dataclass_fields__},
                    description="Factors in the place of the pack's own.",
                ),
                "assumed_c6_plus": _assumed_c6_plus(),
            },
            ("volume_mcf", "mol_percent"),
            FlareEmissions,
            flare_emissions,
        ),
        _tool(
            "h2s_radius",
            "The 100 and 500 ppm radius of exposure of escaping gas with H2S, in feet (Rule 36).",
            {
                "escape_mcfd": _amount("The rate at which gas can escape, MCF/d."),
                "h2s_ppm": {**_amount("H2S in the gas, ppm by mole."), "maximum": 1_000_000},
                "base_psia": _BASE,
                "public_area_ft": _amount("Distance to the nearest public area, feet."),
                "public_road_ft": _amount("Distance to the nearest public road, feet."),
            },
            ("escape_mcfd", "h2s_ppm"),
            ExposureRadius,
            h2s_radius,
        ),
    )


def _tool(
    name: str,
    description: str,
    parameters: Mapping[str, Schema],
    needed: tuple[str, ...],
    answer: type[Answer],
    compute: Callable[..., Answer],
) -> Tool:
    def run(given: JsonObject) -> JsonObject:
        return cast("JsonObject", _rounded(compute(**_typed(given)).to_dict()))

    schema = record(parameters, needed)
    return Tool(name, description, freeze_mapping(schema), freeze_mapping(schema_of(answer)), run)


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the calculators take them: words as members, rows as values."""
    typed = {**given}
    for name, kind in _WORDS.items():
        if name in typed:
            typed[name] = kind(typed[name])
    for name, row in _ROWS_OF.items():
        if name in typed:
            typed[name] = [row(**_typed(one)) for one in typed[name]]
    if "assumed_c6_plus" in typed:
        typed["assumed"] = Assumed(**typed.pop("assumed_c6_plus"))
    if "factors" in typed:
        typed["factors"] = Factors(**typed["factors"])
    return typed


_WORDS: Mapping[str, Callable[[str], Any]] = {"stream": Stream, "status": ExceptionStatus, "release": Release}
_ROWS_OF: Mapping[str, Callable[..., Any]] = {
    "streams": Inflow,
    "releases": Released,
    "exceptions": FlareException,
}
