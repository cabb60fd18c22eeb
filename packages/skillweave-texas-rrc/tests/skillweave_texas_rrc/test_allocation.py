"""A metered total shared among streams: in whole units, adding up exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.allocation import Allocation, Inflow, allocate_volumes
from skillweave_texas_rrc.answers import Outcome

rates = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 744)), min_size=1, max_size=12)


def shared(total: int, *weights: float) -> list[int]:
    return volumes(allocate_volumes(total, [Inflow(f"w{at}", rate, 24) for at, rate in enumerate(weights)]))


def volumes(allocation: Allocation) -> list[int]:
    return [share.volume for share in allocation.shares]


def test_shares_follow_test_rate_times_hours() -> None:
    streams = [Inflow("1H", 300, 700), Inflow("3", 100, 350), Inflow("6H", 200, 700)]
    assert volumes(allocate_volumes(7700, streams)) == [4200, 700, 2800]


def test_the_units_that_are_left_go_to_the_largest_remainders() -> None:
    # Exact shares 3.5, 3.3 and 3.2: one unit is left, and 3.5 has the largest remainder.
    assert shared(10, 35, 33, 32) == [4, 3, 3]


def test_of_equal_remainders_the_larger_share_comes_first() -> None:
    # Exact shares 0.5, 2.5 and 1: one unit is left for two remainders of a half.
    assert shared(4, 1, 5, 2) == [0, 3, 1]


def test_of_equal_shares_the_earlier_in_the_list_comes_first() -> None:
    assert shared(4, 1, 1, 1) == [2, 1, 1]


def test_a_share_before_rounding_is_told_too() -> None:
    first = allocate_volumes(10, [Inflow("a", 1, 1), Inflow("b", 2, 1)]).shares[0]
    assert (first.exact, first.fraction) == (pytest.approx(10 / 3), pytest.approx(1 / 3))


def test_a_stream_without_hours_gets_nothing_and_is_named() -> None:
    allocation = allocate_volumes(10, [Inflow("a", 1, 1), Inflow("b", 1, 0)])
    assert volumes(allocation) == [10, 0]
    assert allocation.named("every_stream_produced").outcome is Outcome.WARN
    assert "nothing goes to b" in allocation.named("every_stream_produced").detail


def test_a_total_without_a_stream_that_produced_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/streams: no stream produced by its test and hours"):
        shared(10, 0, 0)


def test_a_total_of_nothing_is_shared_as_nothing() -> None:
    assert shared(0, 0, 0) == [0, 0]


def test_a_total_that_is_not_whole_is_refused() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/metered_total: 10\.5 is not whole"):
        allocate_volumes(10.5, [Inflow("a", 1, 1)])


def test_a_stream_that_stands_twice_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/streams/1/id: 'a' stands twice"):
        allocate_volumes(10, [Inflow("a", 1, 1), Inflow("a", 2, 1)])


def test_more_hours_than_a_month_has_are_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/streams/0/hours"):
        allocate_volumes(10, [Inflow("a", 1, 745)])


@given(st.integers(0, 10**9), rates)
def test_shares_add_up_exactly_are_never_negative_and_within_one_unit(
    total: int, streams: list[tuple[float, float]]
) -> None:
    if not any(rate and hours for rate, hours in streams):
        streams = [*streams, (1.0, 1.0)]
    allocation = allocate_volumes(total, [Inflow(f"w{at}", *one) for at, one in enumerate(streams)])
    assert sum(volumes(allocation)) == total
    for share in allocation.shares:
        assert share.volume >= 0
        assert abs(share.volume - share.exact) <= 1
