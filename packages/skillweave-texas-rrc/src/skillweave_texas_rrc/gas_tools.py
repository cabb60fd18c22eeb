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


def _amount(description: str) -> JsonObject:
    return {"type": "number", "minimum": 0, "maximum": MOST, "description": description}


def _day(description: str) -> JsonObject:
    return {"type": "string", "pattern": _DATE, "description": f"{description} Such as 2026-03-31."}


def _rows(description: str, columns: JsonObject, needed: Sequence[str], least: int = 0) -> JsonObject:
    row: JsonObject = {
        "type": "object",
        "properties": columns,
        "required": list(needed),
        "additionalProperties": False,
    }
    return {"type": "array", "description": description, "items": row, "minItems": least, "maxItems": _MOST_ROWS}


def _by_code(description: str, codes: Mapping[str, str], signed: Sequence[str] = ()) -> JsonObject:
    named: JsonObject = {
        code: {"type": "number", "description": name} | ({} if code in signed else {"minimum": 0})
        for code, name in codes.items()
    }
    return {"type": "object", "description": description, "properties": named, "additionalProperties": False}


def _fraction_or_more(name: str) -> JsonObject:
    figure = factor(name)
    most: JsonObject = {"maximum": 1} if figure.unit == "fraction" else {}
    return {**_amount(f"{figure.says} {figure.number:g} {figure.unit} without it."), **most}


def _mol_percent() -> JsonObject:
    names = (*components(), "C6+")
    percent: JsonObject = {name: {"type": "number", "minimum": 0, "maximum": 101} for name in names}
    return {
        "type": "object",
        "description": "The gas analysis, mol % by component.",
        "properties": percent,
        "minProperties": 1,
        "additionalProperties": False,
    }


def _assumed_c6_plus() -> JsonObject:
    return {
        "type": "object",
        "description": "What C6+ is taken for: lb/lb-mol, Btu/scf at 14.696 psia, carbon atoms.",
        "properties": {name: _amount("In the place of the pack's own.") for name in Assumed.__dataclass_fields__},
        "additionalProperties": False,
    }


_BASE: JsonObject = {
    "type": "number",
    "minimum": 10,
    "maximum": 20,
    "description": "The pressure base of the volumes, psia; that of the RRC without it.",
}
_STATUS: JsonObject = {
    "enum": [one.value for one in ExceptionStatus],
    "description": "Whether the exception is granted (without it) or still pending.",
}
_STREAM: JsonObject = {
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
            lambda given: gas_balance(**_streamed(given)),
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
            lambda given: gas_volume_at_base(**given),
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
            lambda given: hydrocarbon_volume(**_streamed(given)),
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
            lambda given: gas_oil_ratio(**given),
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
            lambda given: oil_stock_balance(**_streamed(given)),
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
            _allocate,
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
            _authorization,
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
            _exceptions,
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
            lambda given: gas_quality(**_assumed(given)),
        ),
        _tool(
            "flare_emissions",
            "Estimate what flared or vented gas puts into the air, with every factor named.",
            {
                "volume_mcf": _amount("The volume, MCF."),
                "mol_percent": _mol_percent(),
                "release": {"enum": [one.value for one in Release], "description": "Flared (burned) without it."},
                "base_psia": _BASE,
                "factors": {
                    "type": "object",
                    "description": "Factors in the place of the pack's own.",
                    "properties": {name: _fraction_or_more(name) for name in Factors.__dataclass_fields__},
                    "additionalProperties": False,
                },
                "assumed_c6_plus": _assumed_c6_plus(),
            },
            ("volume_mcf", "mol_percent"),
            FlareEmissions,
            _emissions,
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
            lambda given: h2s_radius(**given),
        ),
    )


def _tool(
    name: str,
    description: str,
    parameters: JsonObject,
    needed: Sequence[str],
    answer: type[Answer],
    compute: Callable[[dict[str, Any]], Answer],
) -> Tool:
    def run(given: JsonObject) -> JsonObject:
        return cast("JsonObject", _rounded(compute(given).to_dict()))

    schema: JsonObject = {
        "type": "object",
        "properties": parameters,
        "required": list(needed),
        "additionalProperties": False,
    }
    return Tool(name, description, freeze_mapping(schema), freeze_mapping(schema_of(answer)), run)


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value


def _streamed(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "stream": Stream(given.get("stream", Stream.CASINGHEAD))}


def _stated(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "status": ExceptionStatus(given.get("status", ExceptionStatus.GRANTED))}


def _assumed(given: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in given.items() if name != "assumed_c6_plus"}
    return {**rest, "assumed": Assumed(**given.get("assumed_c6_plus", {}))}


def _allocate(given: dict[str, Any]) -> Answer:
    streams = [Inflow(**one) for one in given["streams"]]
    return allocate_volumes(given["metered_total"], streams, given.get("unit", "MCF"))


def _authorization(given: dict[str, Any]) -> Answer:
    return flare_authorization(**{**_stated(given), "releases": [Released(**one) for one in given["releases"]]})


def _exceptions(given: dict[str, Any]) -> Answer:
    rows = [FlareException(**_stated(one)) for one in given["exceptions"]]
    return exception_days(**{**_streamed(given), "exceptions": rows})


def _emissions(given: dict[str, Any]) -> Answer:
    release = Release(given.get("release", Release.FLARED))
    factors = Factors(**given.get("factors", {}))
    return flare_emissions(**{**_assumed(given), "release": release, "factors": factors})
