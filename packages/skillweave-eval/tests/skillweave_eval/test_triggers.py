"""Trigger tests: which hold, the scores of skills, and the report."""

from xml.etree import ElementTree as ET

import pytest
from tests.skillweave_eval.libraries import COFFEE, TEA, answer, case, weaver_of
from tests.skillweave_eval.test_findings import PACK

from skillweave_eval import CaseSet, Level
from skillweave_eval.junit import junit_xml
from skillweave_eval.ranking import Configuration
from skillweave_eval.triggers import Demands, TriggerReport, judge, overall_of, run_tests, scores_of


@pytest.mark.parametrize(
    ("asked", "problems"),
    [
        (answer(given=["tea"]), ()),
        (answer(offered=["tea"]), ()),
        (answer(silent=["coffee"]), ("tea is silent; nothing is given, first in the ranking is coffee",)),
        (answer(), ("tea is silent; nothing is found",)),
        (answer(given=["tea"], not_=("tea",), expect=None), ("tea is given, and must not be",)),
        (answer(offered=["tea"], not_=("tea",), expect=None), ()),
        (answer(given=["tea"], expect=()), ("tea is given, and no skill is right",)),
        (answer(given=["tea"], expect=(), fine=("tea",)), ()),
        (answer(offered=["tea"], expect=()), ()),
        (answer(given=["tea"], expect=("tea", "coffee")), ("coffee is silent; given: tea",)),
        (answer(given=["tea"], expect=("tea", "coffee"), any_of=True), ()),
        (answer(given=["x"], expect=("a", "b"), any_of=True), ("none of a, b is given or offered; given: x",)),
    ],
)
def test_a_test_holds_or_says_what_is_not_as_expected(asked: object, problems: tuple[str, ...]) -> None:
    result = judge(asked)  # type: ignore[arg-type]
    assert (result.problems, result.passed) == (problems, not problems)


def test_an_offer_is_not_enough_where_giving_is_required() -> None:
    assert judge(answer(offered=["tea"]), Level.GIVEN).problems == ("tea is offered; offered: tea",)


def test_a_score_counts_what_is_given_offered_missed_and_wrong() -> None:
    answers = [
        answer(given=["tea"]),
        answer(offered=["tea"]),
        answer(),
        answer(given=["tea"], expect=("coffee",)),
        answer(given=["tea"], expect=None, not_=("tea",)),
    ]
    (coffee, tea) = scores_of(answers)
    assert (tea.tests, tea.given, tea.offered, tea.missed, tea.wrong) == (3, 1, 1, 1, 2)
    assert tea.precision == tea.recall == pytest.approx(1 / 3, abs=1e-5)
    assert tea.reach == pytest.approx(2 / 3, abs=1e-5)
    assert tea.f1 == pytest.approx(1 / 3, abs=1e-5)
    assert (coffee.recall, coffee.precision, coffee.f1) == (0, None, 0)
    assert overall_of(answers).tests == 4


def test_where_any_one_is_right_the_others_are_not_missed() -> None:
    scores = scores_of([answer(given=["b"], expect=("a", "b"), any_of=True)])
    assert [(one.skill_id, one.missed) for one in scores] == [("b", 0)]


async def report_on(*cases: object, demands: Demands | None = None) -> TriggerReport:
    weaver = weaver_of(*PACK)
    given = CaseSet("pack.triggers.yaml", "all rows", tuple(cases))  # type: ignore[arg-type]
    return await run_tests(weaver, given, Configuration(weaver.skills.matchers), demands)


RELEASE = case("We need a release plan for Friday", ["release"], not_=("rollout",), id="friday")
NOTHING = case("dunno what", ["stuff"], id="dunno")


async def test_skills_that_compete_are_told_with_their_queries() -> None:
    report = await report_on(RELEASE, case("Write the release plan", ["rollout"], id="write"))
    (pair,) = report.competing
    assert (pair.first, pair.second, pair.queries) == ("release", "rollout", ("friday", "write"))
    told = [one.message for one in report.findings if one.code == "competing-skills"]
    assert told == ["'release' and 'rollout' compete: 2 queries"]


async def test_queries_that_nothing_claims_and_skills_that_are_never_found_are_told() -> None:
    report = await report_on(NOTHING)
    assert report.unclaimed == ("dunno",)
    assert {"never-found", "unclaimed-query"} <= {one.code for one in report.findings}


async def test_a_broken_trigger_fails_a_report_whose_tests_all_hold() -> None:
    report = await report_on(case("Some tea please"))
    assert (report.failed, report.ok) == (0, False)


async def test_thresholds_take_the_place_of_single_tests() -> None:
    cases = CaseSet("t", "all rows", (case("Some tea please"), case("dunno what", ["coffee"])))
    weaver = weaver_of(TEA, COFFEE)
    configuration = Configuration(weaver.skills.matchers)
    assert not (await run_tests(weaver, cases, configuration)).ok
    reached = await run_tests(weaver, cases, configuration, Demands(least={"recall": 0.5}))
    missed = await run_tests(weaver, cases, configuration, Demands(least={"recall": 0.6, "precision": 0.9}))
    assert (reached.ok, missed.ok) == (True, False)
    assert [(one.name, one.held) for one in missed.thresholds] == [("recall", False), ("precision", True)]


async def test_labels_of_unknown_skills_are_told() -> None:
    assert (await report_on(case("Some tea", ["teaa"]))).unknown_labels == ("teaa",)


async def test_a_report_travels() -> None:
    report = await report_on(RELEASE, NOTHING)
    assert TriggerReport.from_dict(report.to_dict()) == report


async def test_junit_has_a_case_for_each_test_and_for_each_broken_trigger() -> None:
    root = ET.fromstring(junit_xml(await report_on(RELEASE, NOTHING, case("Some tea \x00 please", id="odd\x01"))))
    tests, triggers = root.findall("testsuite")
    assert (tests.get("tests"), tests.get("failures"), triggers.get("failures")) == ("3", "2", "2")
    failures = [one.find("failure") for one in tests.findall("testcase")]
    assert [None if one is None else one.get("message") for one in failures] == [
        "rollout is given, and must not be",
        "stuff is silent; nothing is found",
        None,
    ]
