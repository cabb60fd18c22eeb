"""What an analysis says about gas: gravity, heat, liquids, H2S, and what a sales line would say to it (16 TAC 3.36)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

from skillweave_texas_rrc.answers import Answer, Check, amounts, check, number, plain, refuse, total
from skillweave_texas_rrc.figures import Component, components, factor
from skillweave_texas_rrc.thresholds import Threshold

HEAVY = ("C3", "iC4", "nC4", "iC5", "nC5", "C6+")
"""The components of C3+: the liquids, and what counts as volatile organic compounds."""

_LIMITS = (
    "total_least",
    "total_most",
    "sales_btu_least",
    "sales_btu_most",
    "sales_h2s_ppm",
    "sales_co2_percent",
    "sales_inerts_percent",
)


@dataclass(frozen=True, slots=True)
class Assumed:
    """What C6+ is taken for, as no analysis says it; None takes the figure of the pack."""

    molar_mass: float | None = None
    gross_btu: float | None = None
    carbons: float | None = None

    @property
    def basis(self) -> tuple[Threshold, ...]:
        """The figures of C6+ and of the table of the other components."""
        return (
            factor("gas_components"),
            factor("c6_plus_molar_mass", self.molar_mass),
            factor("c6_plus_btu", self.gross_btu),
            factor("c6_plus_carbons", self.carbons),
        )


USUAL = Assumed()


@dataclass(frozen=True, slots=True)
class Composition:
    """Gas by component: `percent` in mol %, scaled to 100, with the constants of each; `whole` is the sum before."""

    percent: Mapping[str, Fraction]
    components: Mapping[str, Component]
    whole: Fraction

    def fraction(self, name: str) -> float:
        """The mole fraction of a component, 0 where it is not named."""
        return float(self.percent.get(name, Fraction(0)) / 100)

    @property
    def molar_mass(self) -> float:
        """In lb per lb-mol."""
        return fsum(self.fraction(name) * self.components[name].molar_mass for name in self.percent)

    @property
    def gross_btu(self) -> float:
        """Gross heat in Btu/scf at 14.696 psia and 60 F."""
        return fsum(self.fraction(name) * self.components[name].gross_btu for name in self.percent)

    @property
    def heavy_mass(self) -> float:
        """The pounds of C3+ in a lb-mol of the gas."""
        return fsum(self.fraction(name) * self.components[name].molar_mass for name in HEAVY)

    @property
    def burnable_carbons(self) -> float:
        """The carbon atoms of the hydrocarbons in a molecule of the gas, on average; that of CO2 has burned."""
        return fsum(self.fraction(name) * self.components[name].carbons for name in self.percent if name != "CO2")


def composition(mol_percent: Mapping[str, float], assumed: Assumed = USUAL) -> Composition:
    """The components of an analysis, scaled to 100 mol %; raises ToolRefused for an unknown name or none."""
    _, mass, heat, carbons = assumed.basis
    rest = Component(mass.number, heat.number, carbons.number)
    known = {**components(), "C6+": rest}
    for name in mol_percent:
        if name not in known:
            fix = f"give one of {', '.join(known)}; add inert gases such as helium to N2, and say so"
            refuse(f"mol_percent/{name}", f"{name[:20]!r} is no component that is known", fix)
    percent = amounts("mol_percent", mol_percent)
    whole = total(percent.values())
    if not whole:
        refuse("mol_percent", "the analysis has no component above 0", "give the mol % of each component")
    return Composition({name: part * 100 / whole for name, part in percent.items()}, known, whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class GasQuality(Answer):
    """The qualities of a gas.

    `gross_btu_scf` is dry, at 14.696 psia and 60 F, `gross_btu_scf_rrc` the same at the pressure base of the RRC.
    `rule_36` says whether the H2S brings Rule 36.
    """

    total_percent: float
    molar_mass: float
    specific_gravity: float
    gross_btu_scf: float
    gross_btu_scf_rrc: float
    c3_plus_percent: float
    inerts_percent: float
    h2s_ppm: float
    rule_36: bool


def gas_quality(
    mol_percent: Mapping[str, float],
    *,
    dry: bool | None = None,
    assumed: Assumed = USUAL,
) -> GasQuality:
    """The qualities of a gas from its analysis in mol %, scaled to 100; the check `total` says when it did not add up.

    `dry` is the basis of the analysis, None where it is not stated. Raises ToolRefused for unknown components.
    """
    gas = composition(mol_percent, assumed)
    base, standard, air = factor("rrc_base_psia"), factor("standard_psia"), factor("air_molar_mass")
    rule = factor("rule_36_ppm")
    ppm = gas.percent.get("H2S", Fraction(0)) * 10_000
    inerts = total(gas.percent.get(name, Fraction(0)) for name in ("N2", "CO2"))
    heat = gas.gross_btu
    return GasQuality(
        total_percent=plain(gas.whole),
        molar_mass=gas.molar_mass,
        specific_gravity=gas.molar_mass / air.number,
        gross_btu_scf=heat,
        gross_btu_scf_rrc=heat * base.number / standard.number,
        c3_plus_percent=plain(total(gas.percent.get(name, Fraction(0)) for name in HEAVY)),
        inerts_percent=plain(inerts),
        h2s_ppm=plain(ppm),
        rule_36=ppm >= rule.number,
        units="mol %; lb/lb-mol; Btu/scf, dry, 60 F; ppm by mole",
        checks=(
            complete(gas),
            check(
                "dry_basis",
                dry,
                "practice",
                "the analysis is dry",
                "the analysis is not stated to be dry; heat is computed as if it were, and saturated gas has less",
                weak=True,
            ),
            check(
                "rule_36",
                ppm < rule.number,
                rule.cite,
                f"{number(ppm)} ppm of H2S are under {rule.number:g}",
                f"{number(ppm)} ppm of H2S: Rule 36 applies from {rule.number:g} ppm; check Form H-9, do not vent",
                weak=True,
            ),
            *_sales_line(gas, heat * base.number / standard.number, ppm, inerts),
        ),
        basis=(*assumed.basis, air, standard, base, rule, *(factor(name) for name in _LIMITS)),
    )


def complete(gas: Composition) -> Check:
    """Whether the analysis adds up to what a laboratory may miss 100 % by."""
    least, most = factor("total_least"), factor("total_most")
    told = f"the analysis adds up to {float(gas.whole):g} %{'' if gas.whole == 100 else ' and is scaled to 100 %'}"
    return check(
        "total",
        least.number <= gas.whole <= most.number,
        least.cite,
        f"{told}, between {least.number:g} and {most.number:g}",
        f"{told}, not between {least.number:g} and {most.number:g}; ask the laboratory, as all that follows is off",
    )


def _sales_line(gas: Composition, heat: float, ppm: Fraction, inerts: Fraction) -> list[Check]:
    """Hints only: every contract has limits of its own."""
    low, high = factor("sales_btu_least"), factor("sales_btu_most")
    limits = (
        ("sales_h2s", float(ppm), factor("sales_h2s_ppm"), "ppm of H2S"),
        ("sales_co2", 100 * gas.fraction("CO2"), factor("sales_co2_percent"), "mol % of CO2"),
        ("sales_inerts", float(inerts), factor("sales_inerts_percent"), "mol % of N2 and CO2"),
    )
    usual = "usual for a sales line, contracts differ, confirm:"
    told = f"{heat:,.1f} Btu/scf; {usual} {low.number:g} to {high.number:g}"
    hints = [check("sales_heat", low.number <= heat <= high.number, low.cite, told, told, weak=True)]
    for name, value, limit, what in limits:
        told = f"{value:g} {what}; {usual} {limit.number:g} or less"
        hints.append(check(name, value <= limit.number, limit.cite, told, told, weak=True))
    return hints
