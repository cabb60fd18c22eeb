import pytest

from skillweave import SkillNotFound
from skillweave.errors import ApprovalNeeded, nearest_names

MANY = [f"{verb}-{noun}" for verb in ("review", "build", "deploy", "audit") for noun in map(str, range(100, 400))]


@pytest.mark.parametrize("slip", ["reviw-217", "xeview-217", "review-217x", "Review-217", "review_217", "revieew-217"])
def test_one_slip_among_many_names_is_recognised(slip: str) -> None:
    assert nearest_names(slip, [*MANY, "zebra"])[0] == "review-217"


def test_among_names_with_one_long_beginning_the_nearest_is_the_one_that_goes_on_alike() -> None:
    known = [f"annual-report-of-the-{word}" for word in ("board", "treasurer", "auditors", *map(str, range(20)))]
    assert nearest_names("annual-report-of-the-auditor", known)[0] == "annual-report-of-the-auditors"


def test_a_name_like_no_other_has_no_near_names() -> None:
    assert nearest_names("zzz", MANY) == ()


def test_of_many_near_names_three_are_given() -> None:
    assert len(nearest_names("review-21", MANY)) == 3


def test_a_name_without_end_is_looked_up_all_the_same() -> None:
    assert nearest_names("x" * 1_000_000, MANY) == ()


def test_an_empty_name_has_no_near_names() -> None:
    assert nearest_names("", MANY) == ()


def test_an_unknown_skill_says_what_was_likely_meant() -> None:
    error = SkillNotFound("shuol", ["shoal", "reef"])
    assert (error.nearest, str(error)) == (
        ("shoal",),
        "skill 'shuol' is not in the registry; did you mean 'shoal'?",
    )


def test_what_waits_for_a_person_says_how_the_verdict_is_kept() -> None:
    assert "weaver.approvals.decide('c1', 'paper', 'review', 'approved', by='NAME')" in str(
        ApprovalNeeded("c1", [("paper", "review")])
    )
