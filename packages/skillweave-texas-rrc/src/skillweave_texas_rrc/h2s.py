"""How far H2S reaches when gas escapes: the radius of exposure (16 TAC 3.36)."""

from dataclasses import dataclass

from skillweave_texas_rrc.answers import Answer, amount, check
from skillweave_texas_rrc.figures import factor
from skillweave_texas_rrc.volumes import pressure

RULE = "16 TAC 3.36"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureRadius(Answer):
    """The radii in feet at which the air has 100 and 500 ppm of H2S, and whether Rule 36 applies to the gas."""

    x100_ft: float
    x500_ft: float
    h2s_ppm: float
    escape_mcfd: float
    rule_36: bool


def h2s_radius(
    escape_mcfd: float,
    h2s_ppm: float,
    base_psia: float | None = None,
    public_area_ft: float | None = None,
    public_road_ft: float | None = None,
) -> ExposureRadius:
    """The radii of exposure for an escape rate in MCF/d: (factor x mole fraction x scf/d) ^ exponent.

    `base_psia` is the pressure base of the rate; it is brought to that of the RRC. `public_area_ft` and
    `public_road_ft` are distances from the point of escape. Raises ToolRefused for values that cannot be.
    """
    rate, ppm = float(amount("escape_mcfd", escape_mcfd)), float(amount("h2s_ppm", h2s_ppm, 0, 1_000_000))
    base, rule = factor("rrc_base_psia"), factor("rule_36_ppm")
    near, far, exponent = (factor(name) for name in ("x500_factor", "x100_factor", "radius_exponent"))
    given = base.overridden(base_psia)
    flow = rate * 1000 * pressure("base_psia", given.number) / base.number * ppm / 1e6
    x100, x500 = ((one.number * flow) ** exponent.number for one in (far, near))
    area = None if public_area_ft is None else float(amount("public_area_ft", public_area_ft))
    road = None if public_road_ft is None else float(amount("public_road_ft", public_road_ft))
    return ExposureRadius(
        x100_ft=x100,
        x500_ft=x500,
        h2s_ppm=h2s_ppm,
        escape_mcfd=escape_mcfd,
        rule_36=ppm >= rule.number,
        units="feet; ppm by mole; MCF/d",
        checks=(
            check(
                "rule_36",
                ppm < rule.number,
                rule.cite,
                f"{ppm:g} ppm of H2S are under {rule.number:g}: Rule 36 does not apply",
                f"{ppm:g} ppm of H2S: Rule 36 applies from {rule.number:g} ppm",
                weak=True,
            ),
            check(
                "public_area",
                None if area is None else area > x100,
                RULE,
                f"the public area is outside the 100 ppm radius of {x100:.0f} ft",
                f"the distance to the nearest public area was not given; the 100 ppm radius is {x100:.0f} ft"
                if area is None
                else f"a public area {area:g} ft away lies in the 100 ppm radius of {x100:.0f} ft",
            ),
            check(
                "public_road",
                None if road is None else road > x500,
                RULE,
                f"the public road is outside the 500 ppm radius of {x500:.0f} ft",
                f"the distance to the nearest public road was not given; the 500 ppm radius is {x500:.0f} ft"
                if road is None
                else f"a public road {road:g} ft away lies in the 500 ppm radius of {x500:.0f} ft;"
                " a contingency plan may be due (confirm)",
            ),
        ),
        basis=(rule, given, far, near, exponent),
    )
