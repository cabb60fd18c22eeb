"""A metered total shared among streams by their tests, in whole units that add up exactly (16 TAC 3.26, 3.27)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillweave.values import Portable
from skillweave_texas_rrc.answers import Answer, amount, check, plain, refuse, total

MOST_HOURS = 744
"""Hours of a month of 31 days."""


@dataclass(frozen=True, slots=True)
class Inflow(Portable):
    """A well or lease that flows into the total: its rate at the last test, and the hours that it was on."""

    id: str
    test_rate: float
    hours: float


@dataclass(frozen=True, slots=True)
class Share(Portable):
    """What a stream gets: its exact share in whole units, and the part of the total before rounding."""

    id: str
    volume: int
    exact: float
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation(Answer):
    """The total by stream; the volumes add up to it exactly."""

    metered_total: int
    shares: tuple[Share, ...]


def allocate_volumes(metered_total: float, streams: Sequence[Inflow], unit: str = "MCF") -> Allocation:
    """Share a metered total by test rate x hours on; rates in any one unit, the total in whole MCF or bbl.

    Each stream gets the whole part of its share; the units that are left go one by one to the streams with the largest
    remainder, the larger share first where remainders are equal, then the earlier in the list. Raises ToolRefused for
    a total that is not whole, a stream named twice, and streams that produced nothing where the total is not zero.
    """
    whole = amount("metered_total", metered_total)
    if whole.denominator != 1:
        refuse(
            "metered_total", f"{metered_total} is not whole", "give the total in whole MCF or bbl, as Form PR has it"
        )
    weights = [
        amount(f"streams/{at}/test_rate", one.test_rate) * amount(f"streams/{at}/hours", one.hours, 0, MOST_HOURS)
        for at, one in enumerate(streams)
    ]
    for at, one in enumerate(streams):
        if one.id in {other.id for other in streams[:at]}:
            refuse(f"streams/{at}/id", f"{one.id[:60]!r} stands twice", "name each well or lease once")
    together = total(weights)
    if whole and not together:
        refuse("streams", "no stream produced by its test and hours", "give rates and hours of those that produced")
    exact = [whole * weight / together if together else Fraction(0) for weight in weights]
    floors = [int(one) for one in exact]
    left = int(whole) - sum(floors)
    order = sorted(range(len(streams)), key=lambda at: (floors[at] - exact[at], -exact[at], at))
    extra = set(order[:left])
    idle = [one.id for one, weight in zip(streams, weights, strict=True) if not weight]
    return Allocation(
        metered_total=int(whole),
        shares=tuple(
            Share(
                one.id, floors[at] + (at in extra), plain(exact[at]), float(weights[at] / together) if together else 0.0
            )
            for at, one in enumerate(streams)
        ),
        units=f"{unit}; fraction of the total",
        checks=(
            check(
                "every_stream_produced",
                not idle,
                "16 TAC 3.27",
                "every stream has a rate and hours",
                f"nothing goes to {', '.join(idle)}: no rate or no hours; say whether the well was shut in",
                weak=True,
            ),
        ),
    )
