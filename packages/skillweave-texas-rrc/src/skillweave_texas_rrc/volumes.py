"""Volumes of gas: the balance of a month, pressure bases, the hydrocarbon part, the gas-oil ratio."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from skillweave_texas_rrc.answers import (
    Answer,
    Check,
    Outcome,
    amount,
    amounts,
    check,
    divisor,
    number,
    plain,
    production_month,
    refuse,
    total,
)
from skillweave_texas_rrc.figures import factor
from skillweave_texas_rrc.thresholds import Threshold

PR_CODES = "Form PR, gas disposition codes"
AUTHORITY = re.compile(r"\b(?:AR|AE|EP|EX)\b", re.ASCII)
_INERTS = ("CO2", "N2", "H2S")


class Use(StrEnum):
    """What becomes of gas that leaves a lease under a disposition code."""

    LEASE_USE = "lease_use"
    SOLD = "sold"
    GAS_LIFT = "gas_lift"
    INJECTED = "injected"
    OTHER = "other"
    RELEASED = "released"


GAS_CODES: Mapping[str, tuple[Use, str]] = {
    "1": (Use.LEASE_USE, "lease or field use"),
    "2": (Use.SOLD, "transmission line"),
    "3": (Use.SOLD, "processing plant"),
    "4": (Use.RELEASED, "vented or flared, closed"),
    "5": (Use.GAS_LIFT, "gas lift"),
    "6": (Use.INJECTED, "repressuring or pressure maintenance"),
    "7": (Use.OTHER, "carbon black"),
    "8": (Use.INJECTED, "underground storage"),
    "9": (Use.OTHER, "shrinkage at lease separation, gas wells only"),
    "10": (Use.RELEASED, "flared"),
    "11": (Use.RELEASED, "vented"),
    "99": (Use.OTHER, "no code"),
}
"""The disposition codes of gas on Form PR: what each counts as, and its name."""


class Stream(StrEnum):
    """Casinghead gas comes from an oil lease, gas well gas from a gas well; Form PR never mixes them."""

    CASINGHEAD = "casinghead"
    GAS_WELL = "gas_well"


@dataclass(frozen=True, slots=True, kw_only=True)
class GasBalance(Answer):
    """Where the gas of a month went, in MCF.

    `released_mcf` is what no other disposition accounts for, `reported_mcf` what codes 10, 11 and 4 say;
    `difference_mcf` is the first less the second, which must be zero. The percentages are of the produced gas, None
    where nothing was produced or more is disposed of than produced.
    """

    month: str
    produced_mcf: float
    uses_mcf: Mapping[str, float]
    released_mcf: float
    reported_mcf: float
    flared_mcf: float
    vented_mcf: float
    difference_mcf: float
    percent_released: float | None
    percent_reported: float | None
    authority_codes: tuple[str, ...]


def gas_balance(
    month: str,
    produced_mcf: float,
    gas_dispositions: Mapping[str, float],
    remarks: str = "",
    stream: Stream = Stream.CASINGHEAD,
    base_psia: float | None = None,
) -> GasBalance:
    """The gas balance of one lease (or gas well) and production month; all volumes in MCF on one pressure base.

    `gas_dispositions` are volumes by the disposition code of Form PR, `remarks` the REMARKS of the report, `base_psia`
    the pressure base of all volumes, that of the RRC when it is not given. Raises ToolRefused for a month, a code or a
    volume that cannot be.
    """
    when = production_month(month)
    produced = amount("produced_mcf", produced_mcf)
    for code in gas_dispositions:
        if code not in GAS_CODES:
            known = ", ".join(GAS_CODES)
            refuse(f"gas_dispositions/{code}", f"{code[:20]!r} is no gas disposition code", f"give one of {known}")
    by_code = amounts("gas_dispositions", gas_dispositions)
    uses = {use: total(by_code[code] for code in by_code if GAS_CODES[code][0] is use) for use in Use}
    reported = uses.pop(Use.RELEASED)
    released = produced - total(uses.values())
    authority = tuple(dict.fromkeys(AUTHORITY.findall(remarks)))
    base = factor("rrc_base_psia", base_psia)
    return GasBalance(
        month=when,
        produced_mcf=produced_mcf,
        uses_mcf={use.value: plain(volume) for use, volume in uses.items()},
        released_mcf=plain(released),
        reported_mcf=plain(reported),
        flared_mcf=plain(by_code.get("10", Fraction(0))),
        vented_mcf=plain(by_code.get("11", Fraction(0))),
        difference_mcf=plain(released - reported),
        percent_released=_percent(released, produced),
        percent_reported=_percent(reported, produced),
        authority_codes=authority,
        units=f"MCF at {pressure('base_psia', base.number):g} psia and 60 F; percent of produced gas",
        checks=(
            _balanced(produced, released - reported),
            *_code_checks(when, by_code, stream),
            _authorized(when, reported, authority),
            check(
                "whole_mcf",
                all(one.denominator == 1 for one in (produced, *by_code.values())),
                PR_CODES,
                "all volumes are whole MCF",
                "Form PR takes whole MCF; round each volume so that the balance still holds",
                weak=True,
            ),
        ),
        basis=(base, factor("code_4_until"), factor("codes_10_11_from"), factor("authority_codes_from")),
    )


def _yyyymm(month: str) -> int:
    return int(month.replace("-", ""))


def _month(limit: Threshold) -> str:
    year, month = divmod(int(limit.number), 100)
    return f"{year}-{month:02}"


def _percent(part: Fraction, whole: Fraction) -> float | None:
    return float(100 * part / whole) if whole and 0 <= part <= whole else None


def _balanced(produced: Fraction, difference: Fraction) -> Check:
    lacking = f"{number(abs(difference))} MCF"
    disposed = f"produced {number(produced)} MCF, disposed of {number(produced - difference)} MCF"
    bad = (
        f"{lacking} short: {disposed}; find where that gas went, and do not spread it over the codes"
        if difference > 0
        else f"{lacking} too much: {disposed}; find which volume is wrong, and do not spread it over the codes"
    )
    return check("gas_balance", difference == 0, "16 TAC 3.27; Form PR", f"{disposed}; nothing is left over", bad)


def _code_checks(when: str, by_code: Mapping[str, Fraction], stream: Stream) -> list[Check]:
    used = {code for code, volume in by_code.items() if volume}
    closed = factor("code_4_until")
    split = factor("codes_10_11_from")
    return [
        check(
            "code_4_closed",
            "4" not in used or _yyyymm(when) <= closed.number,
            closed.cite,
            "code 4 is not used after it was closed",
            f"code 4 is closed for months after {_month(closed)}; split its volume into 10 (flared) and 11 (vented)",
        ),
        check(
            "codes_10_11_open",
            not used & {"10", "11"} or _yyyymm(when) >= split.number,
            split.cite,
            "codes 10 and 11 are not used before their time",
            f"codes 10 and 11 begin with {_month(split)}; report released gas of {when} under code 4",
        ),
        check(
            "code_9_gas_well",
            "9" not in used or stream is Stream.GAS_WELL,
            PR_CODES,
            "code 9 is not used for casinghead gas",
            "code 9 (shrinkage at lease separation) is for gas wells only; name where the casinghead gas went",
        ),
        check(
            "code_99",
            "99" not in used,
            PR_CODES,
            "every volume has a code",
            "code 99 names no destination; find the code of that gas",
        ),
    ]


def _authorized(when: str, reported: Fraction, authority: tuple[str, ...]) -> Check:
    begins = factor("authority_codes_from")
    if not reported or _yyyymm(when) < begins.number:
        return Check("authority_code", Outcome.PASS, "no authority code is needed", begins.cite)
    if authority == ("EX",):
        bad = "REMARKS names only EX, for gas that is not reported; name AR, AE or EP for codes 10 and 11"
        return Check("authority_code", Outcome.WARN, bad, begins.cite)
    return check(
        "authority_code",
        bool(authority),
        begins.cite,
        f"REMARKS names {', '.join(authority)}",
        f"{number(reported)} MCF were flared or vented and REMARKS names no authority; put AR, AE, EP or EX there",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GasAtBase(Answer):
    """A volume of gas at another pressure base; the temperature stays 60 F."""

    volume_mcf: float
    from_psia: float
    to_psia: float


def gas_volume_at_base(volume_mcf: float, from_psia: float, to_psia: float | None = None) -> GasAtBase:
    """A volume in MCF, measured at one pressure base in psia, at another: V2 = V1 x P1 / P2.

    Without `to_psia` it is the base of the RRC. Raises ToolRefused for pressures that are no base.
    """
    base = factor("rrc_base_psia", to_psia)
    before, after = pressure("from_psia", from_psia), pressure("to_psia", base.number)
    return GasAtBase(
        volume_mcf=float(amount("volume_mcf", volume_mcf)) * before / after,
        from_psia=before,
        to_psia=after,
        units="MCF at 60 F; psia",
        basis=(base,),
    )


def pressure(place: str, psia: float) -> float:
    """A pressure base in psia; raises ToolRefused for what is none, such as a line pressure or one in psig."""
    return float(amount(place, psia, 10, 20))


@dataclass(frozen=True, slots=True, kw_only=True)
class HydrocarbonVolume(Answer):
    """The hydrocarbon part of a volume of gas, in MCF and in MCF/d, and the limit that a low-pressure release has."""

    hydrocarbon_mcf: float
    hydrocarbon_fraction: float
    hydrocarbon_mcfd: float
    limit_mcfd: float


def hydrocarbon_volume(
    volume_mcf: float, mol_percent: Mapping[str, float], days: float = 1, stream: Stream = Stream.CASINGHEAD
) -> HydrocarbonVolume:
    """The volume in MCF without its CO2, N2 and H2S, which the 15 and 50 MCF/d of Rule 32 are about.

    `mol_percent` needs these three only; `days` are those in which the volume was released. Raises ToolRefused.
    """
    inert = total(amount(f"mol_percent/{name}", mol_percent.get(name, 0), 0, 100) for name in _INERTS)
    if inert > 100:
        refuse("mol_percent", f"{' + '.join(_INERTS)} are {number(inert)} %", "give mol percent that add up to 100")
    if days <= 0:
        refuse("days", f"{days} days are none", "give the days of the release, more than 0")
    missing = [name for name in _INERTS if name not in mol_percent]
    share = 1 - inert / 100
    volume = amount("volume_mcf", volume_mcf) * share
    rate = volume / divisor("days", days)
    limit = factor("low_pressure_oil_mcfd" if stream is Stream.CASINGHEAD else "low_pressure_gas_well_mcfd")
    within = check(
        "low_pressure_limit",
        rate <= Fraction(str(limit.number)),
        limit.cite,
        f"{number(rate)} MCF/d of hydrocarbon gas are within {limit.number:g} MCF/d",
        f"{number(rate)} MCF/d of hydrocarbon gas are over the {limit.number:g} MCF/d that the rule itself allows for"
        " low-pressure separator gas",
        weak=True,
    )
    known = check(
        "composition",
        None if missing else True,
        limit.cite,
        f"{' + '.join(_INERTS)} are {float(inert):g} mol %",
        f"{', '.join(missing)} not given and taken as 0; the hydrocarbon volume is then the most it can be",
    )
    return HydrocarbonVolume(
        hydrocarbon_mcf=plain(volume),
        hydrocarbon_fraction=plain(share),
        hydrocarbon_mcfd=plain(rate),
        limit_mcfd=limit.number,
        units="MCF; MCF/d; fraction of the volume",
        checks=(within, known, *_sound(mol_percent)),
        basis=(limit,),
    )


def _sound(mol_percent: Mapping[str, float]) -> list[Check]:
    """Whether an analysis adds up; of its inert gases alone it cannot be said, only that they are not too much."""
    whole = total(amounts("mol_percent", mol_percent).values())
    least, most = factor("total_least"), factor("total_most")
    complete = set(mol_percent) > set(_INERTS)
    if not complete and whole <= most.number:
        return []
    told = f"the mol percent add up to {float(whole):g}"
    return [
        check(
            "total",
            least.number <= whole <= most.number,
            least.cite,
            f"{told}, between {least.number:g} and {most.number:g}",
            f"{told}, not between {least.number:g} and {most.number:g}; ask the laboratory before the volume is used",
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GasOilRatio(Answer):
    """Gas per barrel of oil, in scf/bbl: of all produced gas, and of formation gas where gas lift is known."""

    gor_scf_bbl: float
    formation_gor_scf_bbl: float | None
    limit_scf_bbl: float


def gas_oil_ratio(
    produced_mcf: float, oil_bbl: float, gas_lift_mcf: float | None = None, limit_scf_bbl: float | None = None
) -> GasOilRatio:
    """The gas-oil ratio of a test or a month: MCF x 1,000 / bbl.

    `gas_lift_mcf` is injected lift gas that `produced_mcf` includes; `limit_scf_bbl` is that of the field rules, the
    statewide one without it. Raises ToolRefused where there is no oil, or more lift gas than gas.
    """
    gas, oil = amount("produced_mcf", produced_mcf), divisor("oil_bbl", oil_bbl)
    if not oil:
        refuse("oil_bbl", "no oil was produced, so there is no ratio", "give a month or test with oil")
    lift = None if gas_lift_mcf is None else amount("gas_lift_mcf", gas_lift_mcf)
    if lift is not None and lift > gas:
        refuse("gas_lift_mcf", "more lift gas than produced gas", "give the part of the produced gas that was lift gas")
    limit = factor("gor_limit", limit_scf_bbl)
    formation = None if lift is None else (gas - lift) * 1000 / oil
    ratio = gas * 1000 / oil
    compared = ratio if formation is None else formation
    return GasOilRatio(
        gor_scf_bbl=plain(ratio),
        formation_gor_scf_bbl=None if formation is None else plain(formation),
        limit_scf_bbl=limit.number,
        units="scf/bbl",
        checks=(
            check(
                "gor_limit",
                compared <= Fraction(str(limit.number)),
                limit.cite,
                f"{number(compared)} scf/bbl are within {limit.number:g}",
                f"{number(compared)} scf/bbl are over {limit.number:g}; ask for the field rule and about a penalty",
                weak=True,
            ),
        ),
        basis=(limit,) if formation is None else (limit, factor("formation_gas")),
    )
