import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.formats.identity import Order, compare_versions


@pytest.mark.parametrize(
    ("version", "other", "order"),
    [
        ("1.10.0", "1.9.0", Order.NEWER),
        ("1.0.0-rc.1", "1.0.0", Order.OLDER),
        ("1.0.0-alpha.2", "1.0.0-alpha.11", Order.OLDER),
        ("1.0.0+one", "1.0.0+two", Order.SAME),
        ("1.10", "1.9", Order.NEWER),
        ("v2", "1.0.0", Order.NEWER),
        ("1.0", "1.0.0", Order.SAME),
        ("2025.01", "2024.12", Order.NEWER),
        ("monday", "tuesday", Order.UNORDERED),
        ("1.0.0", "latest", Order.UNORDERED),
        ("same words", "same words", Order.SAME),
        ("", "1.0.0", Order.UNORDERED),
        ("9" * 5000 + ".0.0", "1.0.0", Order.UNORDERED),
    ],
)
def test_versions_are_ordered_by_the_first_rule_that_reads_both(version: str, other: str, order: Order) -> None:
    assert compare_versions(version, other) is order


versions = st.one_of(
    st.text(max_size=12), st.from_regex(r"v?\d{1,3}(\.\d{1,3}){0,3}(-[a-z]{1,3}(\.\d)?)?", fullmatch=True)
)
OPPOSITE = {
    Order.NEWER: Order.OLDER,
    Order.OLDER: Order.NEWER,
    Order.SAME: Order.SAME,
    Order.UNORDERED: Order.UNORDERED,
}


@given(versions, versions)
def test_either_way_round_the_answer_is_the_same(one: str, other: str) -> None:
    assert compare_versions(other, one) is OPPOSITE[compare_versions(one, other)]
