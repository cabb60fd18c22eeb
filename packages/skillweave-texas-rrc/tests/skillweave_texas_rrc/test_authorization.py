"""What is used of a flaring authorization, with its MCF/d read as a daily cap and as an average."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.authorization import AuthorizationUse, ExceptionStatus, Released, flare_authorization

JANUARY = Released("2026-01-15", "2026-01-31", 15300)
FEBRUARY = Released("2026-02-01", "2026-02-28", 24000)
MARCH = Released("2026-03-01", "2026-03-31", 37400)


def first() -> AuthorizationUse:
    return flare_authorization(1000, "2026-01-15", "2026-02-28", [JANUARY, FEBRUARY])


def second() -> AuthorizationUse:
    return flare_authorization(1200, "2026-03-01", "2026-04-14", [MARCH])


def by_day(*volumes: float, cap: float = 100) -> AuthorizationUse:
    days = [f"2026-03-{at:02}" for at in range(1, len(volumes) + 1)]
    return flare_authorization(
        cap, "2026-03-01", "2026-03-10", [Released(d, d, v) for d, v in zip(days, volumes, strict=True)]
    )


def outcome(use: AuthorizationUse, check: str) -> Outcome:
    return use.named(check).outcome


def test_the_first_authorization_is_used_to_87_percent_and_warns() -> None:
    use = first()
    assert (use.used_mcf, use.cap_mcf, use.days) == (39300, 45000, 45)
    assert use.percent_used == pytest.approx(87.3, abs=0.05)
    assert use.named("volume_cap").outcome is Outcome.WARN
    assert "39,300 of 45,000 MCF are used, 87.3 %" in use.warnings[0]


def test_the_first_authorizations_rate_is_873_and_under_its_average() -> None:
    assert first().average_mcfd == pytest.approx(873, abs=0.5)
    assert outcome(first(), "average_rate") is Outcome.PASS


def test_the_second_authorization_is_over_its_rate_though_69_percent_are_used() -> None:
    use = second()
    assert (use.used_mcf, use.cap_mcf, use.as_of) == (37400, 54000, "2026-03-31")
    assert use.percent_used == pytest.approx(69.3, abs=0.05)
    assert use.average_mcfd == pytest.approx(1206.5, abs=0.05)
    assert outcome(use, "volume_cap") is Outcome.PASS
    assert outcome(use, "average_rate") is Outcome.FAIL


def test_the_second_authorization_has_13_8_days_to_its_cap() -> None:
    assert second().days_to_cap == pytest.approx(13.8, abs=0.05)
    assert second().cap_reached_on == "2026-04-14"
    assert outcome(second(), "volume_lasts") is Outcome.WARN


def test_each_reading_of_mcf_a_day_is_named() -> None:
    use = second()
    assert use.named("daily_cap").detail.startswith("read as a daily cap: 1,206.5 MCF/d on 2026-03-01 to 2026-03-31")
    assert use.named("average_rate").detail.startswith("read as an average: 1,206.5 MCF/d over 31 days")
    assert "mcfd_reading" in use.warnings[-1]


def test_one_day_over_fails_as_a_daily_cap_and_passes_as_an_average() -> None:
    use = by_day(50, 150, 50)
    assert (outcome(use, "daily_cap"), outcome(use, "average_rate")) == (Outcome.FAIL, Outcome.PASS)
    assert "150 MCF/d on 2026-03-02, over 100 MCF/d" in use.named("daily_cap").detail


def test_days_within_the_rate_pass_both_readings() -> None:
    use = by_day(100, 100, 100)
    assert (outcome(use, "daily_cap"), outcome(use, "average_rate")) == (Outcome.PASS, Outcome.PASS)


def test_a_month_within_the_average_leaves_the_daily_cap_unchecked() -> None:
    assert outcome(first(), "daily_cap") is Outcome.NOT_CHECKED


@pytest.mark.parametrize(("used", "wanted"), [(799, "pass"), (800, "warn"), (1000, "warn"), (1001, "fail")])
def test_the_volume_warns_from_80_percent_and_fails_over_100(used: float, wanted: str) -> None:
    use = flare_authorization(100, "2026-03-01", "2026-03-10", [Released("2026-03-01", "2026-03-10", used)])
    assert use.named("volume_cap").outcome == wanted


def test_what_is_over_the_cap_is_not_authorized_and_leaves_no_days() -> None:
    use = flare_authorization(100, "2026-03-01", "2026-03-10", [Released("2026-03-01", "2026-03-05", 1250)])
    assert "250 MCF are not authorized" in use.named("volume_cap").detail
    assert use.days_to_cap == 0
    assert use.named("volume_lasts").detail == "the volume is used up"


def test_a_release_that_lies_only_in_part_inside_counts_whole_and_is_named() -> None:
    month = Released("2026-01-01", "2026-01-31", 15300)
    use = flare_authorization(1000, "2026-01-15", "2026-02-28", [month, FEBRUARY])
    assert use.used_mcf == 39300
    assert "only in part inside: 2026-01-01 to 2026-01-31" in use.named("whole_spans").detail
    assert use.named("whole_spans").outcome is Outcome.WARN


def test_a_span_that_is_only_in_part_inside_says_nothing_of_single_days_inside() -> None:
    use = flare_authorization(1000, "2026-01-15", "2026-02-28", [Released("2026-01-01", "2026-01-31", 93000)])
    assert outcome(use, "daily_cap") is Outcome.NOT_CHECKED


def test_a_release_that_goes_on_after_the_end_is_looked_at_up_to_the_end() -> None:
    use = flare_authorization(1000, "2026-01-15", "2026-02-28", [Released("2026-02-15", "2026-03-10", 500)])
    assert (use.as_of, use.days_elapsed, use.days_to_cap is None) == ("2026-02-28", 45, False)


def test_a_release_outside_is_not_counted_and_is_named() -> None:
    use = flare_authorization(1200, "2026-03-01", "2026-04-14", [FEBRUARY, MARCH])
    assert (use.used_mcf, use.outside_mcf) == (37400, 24000)
    assert "24,000 MCF were released on days that it does not cover" in use.named("nothing_outside").detail


def test_days_without_a_volume_count_as_zero_and_are_told() -> None:
    use = flare_authorization(100, "2026-03-01", "2026-03-10", [Released("2026-03-02", "2026-03-02", 80)], "2026-03-04")
    assert use.average_mcfd == 20
    assert use.named("every_day_known").detail == "3 of 4 days have no volume and count as zero"


def test_after_its_end_an_authorization_is_looked_at_up_to_its_last_day() -> None:
    use = flare_authorization(1000, "2026-01-15", "2026-02-28", [JANUARY, FEBRUARY], "2026-03-31")
    assert (use.as_of, use.days_elapsed) == ("2026-02-28", 45)


def test_without_a_release_there_is_no_day_on_which_the_cap_is_reached() -> None:
    use = flare_authorization(1000, "2026-01-15", "2026-02-28", [], "2026-01-31")
    assert (use.used_mcf, use.days_to_cap, use.cap_reached_on) == (0, None, None)


def test_a_volume_that_would_last_for_ages_has_no_day_either() -> None:
    use = flare_authorization(1e9, "2026-01-15", "2026-02-28", [Released("2026-01-15", "2026-01-15", 1)])
    assert use.cap_reached_on is None
    assert use.named("volume_lasts").outcome is Outcome.PASS


def test_releases_that_share_a_day_are_refused() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/releases/1: two releases share days: 2026-03-31"):
        flare_authorization(1200, "2026-03-01", "2026-04-14", [MARCH, Released("2026-03-31", "2026-04-02", 5)])


def test_a_release_after_the_day_that_is_looked_at_is_refused() -> None:
    with pytest.raises(ToolRefused, match="a release ends on 2026-03-31, after 2026-03-15"):
        flare_authorization(1200, "2026-03-01", "2026-04-14", [MARCH], "2026-03-15")


def test_a_pending_exception_authorizes_nothing_yet() -> None:
    use = flare_authorization(1200, "2026-03-01", "2026-04-14", [MARCH], status=ExceptionStatus.PENDING)
    assert use.named("granted").outcome is Outcome.FAIL
    assert second().named("granted").outcome is Outcome.PASS


def test_nothing_to_look_at_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/as_of: no release lies in the authorization"):
        flare_authorization(1200, "2026-03-01", "2026-04-14", [])


def test_an_authorization_of_nothing_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/authorized_mcfd: nothing is authorized"):
        flare_authorization(0, "2026-03-01", "2026-04-14", [MARCH])


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/end: the end 2026-02-01 comes before the start 2026-03-01"):
        flare_authorization(1200, "2026-03-01", "2026-02-01", [MARCH])


def test_a_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/releases/0/start: '31 March' is no date"):
        flare_authorization(1200, "2026-03-01", "2026-04-14", [Released("31 March", "2026-03-31", 5)])


@given(st.lists(st.integers(0, 200), min_size=1, max_size=10))
def test_volumes_by_day_and_their_sum_use_the_same(volumes: list[int]) -> None:
    use = by_day(*volumes)
    whole = flare_authorization(100, "2026-03-01", "2026-03-10", [Released("2026-03-01", use.as_of, sum(volumes))])
    assert (use.used_mcf, use.percent_used, use.average_mcfd) == (
        whole.used_mcf,
        whole.percent_used,
        whole.average_mcfd,
    )
    assert use.percent_used >= 0


@given(st.lists(st.integers(0, 200), min_size=1, max_size=10))
def test_no_days_within_the_daily_cap_are_over_the_average(volumes: list[int]) -> None:
    use = by_day(*volumes)
    if outcome(use, "daily_cap") is Outcome.PASS:
        assert outcome(use, "average_rate") is Outcome.PASS
