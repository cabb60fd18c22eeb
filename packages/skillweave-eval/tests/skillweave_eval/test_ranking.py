"""The report on labelled queries."""

from tests.skillweave_eval.libraries import answer, case

from skillweave_eval import CaseSet, RankingReport, Resampling, report_on
from skillweave_eval.ranking import Asked, Configuration, competing, reliability_of

ANSWERS = [
    answer(given=["tea"], offered=["coffee"], probabilities=[0.95, 0.2], id="1", kind="plain"),
    answer(given=["coffee"], silent=["tea"], probabilities=[0.9, 0.15], id="2", kind="vague"),
]
CASES = CaseSet("drinks", "dev", tuple(one.case for one in ANSWERS))
FIRST = Asked(Configuration(("lexical",)), ANSWERS)


def test_a_report_says_what_its_figures_are_about() -> None:
    subject = report_on(CASES, ["tea", "coffee"], FIRST, resampling=Resampling(7, 50)).subject
    assert (subject.data, subject.split, subject.queries, subject.right, subject.none) == ("drinks", "dev", 2, 2, 0)
    assert (subject.skills, subject.seed, subject.resamples) == (2, 7, 50)


def test_labels_that_no_skill_has_are_told() -> None:
    assert report_on(CASES, ["coffee"], FIRST, resampling=Resampling(resamples=0)).unknown_labels == ("tea",)


def test_a_second_configuration_is_compared() -> None:
    better = [answer(given=["tea"], id="1"), answer(given=["tea"], id="2")]
    second = Asked(Configuration(("triggers",)), better)
    report = report_on(CASES, ["tea"], FIRST, second, Resampling(resamples=0))
    assert report.against == second.configuration
    told = {one.name: (one.first, one.second, one.change.value) for one in report.differences}
    assert told["right_given"] == (0.5, 1.0, 0.5)


def test_a_report_travels() -> None:
    report = report_on(CASES, ["tea"], FIRST, FIRST, Resampling(resamples=20))
    assert RankingReport.from_dict(report.to_dict()) == report


def test_reliability_counts_skills_by_their_probability() -> None:
    told = [(one.low, one.count, one.probability, one.right) for one in reliability_of(ANSWERS)]
    assert told == [(0.1, 1, 0.15, 1.0), (0.2, 1, 0.2, 0.0), (0.9, 2, 0.925, 0.5)]


def test_a_probability_of_one_is_in_the_last_bin() -> None:
    (one,) = reliability_of([answer(given=["tea"], probabilities=[1.0])])
    assert (one.low, one.high) == (0.9, 1.0)


def test_harmless_skills_compete_with_none() -> None:
    assert competing([answer(given=["milk"], fine=("milk",))]) == ()


def test_a_skill_ranked_first_competes_only_where_the_right_one_is_not_given() -> None:
    assert [one.first for one in competing([answer(silent=["coffee", "tea"])])] == ["coffee"]
    assert competing([answer(given=["tea"], silent=["coffee"])]) == ()


def test_groups_are_told_by_kind() -> None:
    names = [group.name for group in report_on(CASES, ["tea"], FIRST, resampling=Resampling(resamples=0)).groups]
    assert names == ["kind plain", "kind vague"]


def test_a_case_names_every_label() -> None:
    assert case(expect=("a",), not_=("b",), fine=("c", "a")).named == ("a", "b", "c")
