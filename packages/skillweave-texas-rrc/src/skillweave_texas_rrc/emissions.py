"""What a release puts into the air, estimated from its volume and composition with named factors."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from skillweave_texas_rrc.answers import MOST, Answer, Check, Outcome, amount, check
from skillweave_texas_rrc.figures import components, factor
from skillweave_texas_rrc.quality import USUAL, Assumed, Composition, complete, composition
from skillweave_texas_rrc.thresholds import Threshold
from skillweave_texas_rrc.volumes import pressure

_SO2_MASS = 64.064
"""Molar mass of SO2 in lb/lb-mol, from the atomic masses of sulfur and oxygen."""


class Release(StrEnum):
    """Flared gas burns, vented gas does not."""

    FLARED = "flared"
    VENTED = "vented"


@dataclass(frozen=True, slots=True)
class Factors:
    """Factors that the caller puts in the place of the pack's own; None takes the figure of that name.

    Fractions are from 0 to 1; `destruction` and `h2s_to_so2` are about flared gas only.
    """

    destruction: float | None = None
    h2s_to_so2: float | None = None
    nox_lb_per_mmbtu: float | None = None
    co_lb_per_mmbtu: float | None = None
    n2o_kg_per_mmbtu: float | None = None
    gwp_ch4: float | None = None
    gwp_n2o: float | None = None

    def figures(self) -> dict[str, Threshold]:
        """Each factor by its name; raises ToolRefused for a value that it cannot have."""
        found = {}
        for part in fields(self):
            given = getattr(self, part.name)
            if given is not None:
                amount(f"factors/{part.name}", given, 0, 1 if part.name in {"destruction", "h2s_to_so2"} else MOST)
            found[part.name] = factor(part.name, given)
        return found


DEFAULTS = Factors()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlareEmissions(Answer):
    """An estimate of what a release puts into the air: pounds by species, `co2e_t` in metric tons.

    `standard_mcf` is the volume at 14.696 psia, `heat_mmbtu` its gross heat. NOx, CO, N2O and SO2 come
    from burning only.
    """

    release: Release
    volume_mcf: float
    base_psia: float
    standard_mcf: float
    heat_mmbtu: float
    ch4_lb: float
    voc_lb: float
    co2_lb: float
    so2_lb: float
    h2s_lb: float
    nox_lb: float
    co_lb: float
    n2o_lb: float
    co2e_t: float


def flare_emissions(
    volume_mcf: float,
    mol_percent: Mapping[str, float],
    release: Release = Release.FLARED,
    base_psia: float | None = None,
    factors: Factors = DEFAULTS,
    assumed: Assumed = USUAL,
) -> FlareEmissions:
    """The emissions of a volume in MCF at `base_psia` (that of the RRC when it is not given) and 60 F.

    Carbon that leaves a flare as CO or soot counts as CO2 too. Raises ToolRefused for volumes, components or factors
    that cannot be.
    """
    base, standard = factor("rrc_base_psia", base_psia), factor("standard_psia")
    used = factors.figures()
    molar_volume, pounds = factor("molar_volume"), factor("pounds_per_tonne")
    gas = composition(mol_percent, assumed)
    burned = release is Release.FLARED
    volume = float(amount("volume_mcf", volume_mcf)) * pressure("base_psia", base.number) / standard.number
    moles = volume * 1000 / molar_volume.number
    destroyed = used["destruction"].number if burned else 0.0
    to_so2 = used["h2s_to_so2"].number if burned else 0.0
    mass = {name: one.molar_mass for name, one in components().items()}
    heat = volume * 1000 * gas.gross_btu / 1e6
    fired = heat if burned else 0.0
    ch4 = moles * gas.fraction("C1") * mass["C1"] * (1 - destroyed)
    co2 = moles * mass["CO2"] * (gas.fraction("CO2") + destroyed * gas.burnable_carbons)
    n2o = fired * used["n2o_kg_per_mmbtu"].number * pounds.number / 1000
    warmed = co2 + used["gwp_ch4"].number * ch4 + used["gwp_n2o"].number * n2o
    burning = ("destruction", "h2s_to_so2", "nox_lb_per_mmbtu", "co_lb_per_mmbtu", "n2o_kg_per_mmbtu", "gwp_n2o")
    return FlareEmissions(
        release=release,
        volume_mcf=volume_mcf,
        base_psia=base.number,
        standard_mcf=volume,
        heat_mmbtu=heat,
        ch4_lb=ch4,
        voc_lb=moles * gas.heavy_mass * (1 - destroyed),
        co2_lb=co2,
        so2_lb=moles * gas.fraction("H2S") * _SO2_MASS * to_so2,
        h2s_lb=moles * gas.fraction("H2S") * mass["H2S"] * (1 - to_so2),
        nox_lb=fired * used["nox_lb_per_mmbtu"].number,
        co_lb=fired * used["co_lb_per_mmbtu"].number,
        n2o_lb=n2o,
        co2e_t=warmed / pounds.number,
        units="MCF; MMBtu; lb; metric tons of CO2e",
        checks=_checks(gas, base, release),
        basis=(
            base,
            standard,
            molar_volume,
            pounds,
            *(figure for name, figure in used.items() if burned or name not in burning),
            *assumed.basis,
        ),
    )


def _checks(gas: Composition, base: Threshold, release: Release) -> tuple[Check, ...]:
    stated = check(
        "pressure_base",
        True if base.given else None,
        base.cite,
        f"the volume is at {base.number:g} psia",
        f"no pressure base was given; {base.number:g} psia is taken; every number is in proportion to it",
    )
    if release is Release.FLARED:
        told = "hours with the pilot out are vented gas; count them apart"
        return complete(gas), stated, Check("burning", Outcome.PASS, told, "mass balance")
    sour = gas.fraction("H2S") > 0
    return (
        complete(gas),
        stated,
        check(
            "no_sour_venting",
            not sour,
            "16 TAC 3.32, 3.36",
            "the gas has no H2S",
            "gas with H2S was vented; it must be burned. Report it to whoever answers for H2S safety",
        ),
    )
