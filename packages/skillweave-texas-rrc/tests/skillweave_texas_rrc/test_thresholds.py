"""Thresholds are data: each has a citation and says whether somebody read it in its source."""

from skillweave_texas_rrc.thresholds import basis_of, thresholds, to_confirm


def test_the_statewide_distances_are_467_to_lines_and_1200_between_wells() -> None:
    line, between = thresholds()["lease_line"], thresholds()["between_wells"]
    assert (line.value, line.unit, line.cite, line.verified) == (467, "ft", "16 TAC 3.37(a)(1)", True)
    assert (between.value, between.unit, between.cite, between.verified) == (1200, "ft", "16 TAC 3.37(a)(1)", True)


def test_each_threshold_has_a_sentence_and_a_citation() -> None:
    for one in thresholds().values():
        assert one.says.endswith(".")
        assert one.cite
        assert bool(one.unit) == (one.value is not None)


def test_the_thresholds_are_read_once() -> None:
    assert thresholds() is thresholds()


def test_what_is_not_verified_is_to_be_confirmed() -> None:
    used = [thresholds()["protest_window"], thresholds()["permit_life"]]
    assert [one["verified"] for one in basis_of(used)] == [False, True]  # type: ignore[index,call-overload]
    (warning,) = to_confirm(used)
    assert "16 TAC 3.37(h), 3.38(h)" in str(warning)
