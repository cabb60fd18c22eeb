"""The trigger tests of the example skills hold."""

from pathlib import Path

import skillweave
from skillweave_eval import CaseSet, read_tests
from skillweave_eval.ranking import Configuration
from skillweave_eval.triggers import run_tests

TESTS = Path(__file__).parents[2] / "examples" / "evaluation" / "skills.triggers.yaml"


async def test_every_test_of_the_example_skills_holds() -> None:
    file = read_tests(TESTS)
    weaver = skillweave.open(*file.library())
    report = await run_tests(weaver, CaseSet(TESTS.name, "all rows", file.cases), Configuration(weaver.skills.matchers))
    assert report.ok, [result.problems for result in report.results if not result.passed]
