"""Trigger tests: which of them hold, how well each skill is found, and what stands in the way (spec 9)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from skillweave import Diagnostic
from skillweave.values import Portable, has_errors
from skillweave_eval.answers import Answer, Level, Progress, ask_all
from skillweave_eval.cases import CaseSet, unknown_labels
from skillweave_eval.findings import findings_on, in_tests
from skillweave_eval.metrics import Resampling
from skillweave_eval.ranking import Configuration, Pair, Subject, competing

if TYPE_CHECKING:
    from skillweave import Weaver


@dataclass(frozen=True, slots=True)
class TestResult(Portable):
    """What became of one test; `problems` say in words what is not as expected, none where it holds."""

    __test__: ClassVar[bool] = False  # the name is no test class's
    json_keys: ClassVar[tuple[str, ...]] = (
        *("id", "query", "expect", "any_of", "not_ as not", "given", "offered", "passed", "problems", "path", "line"),
    )

    id: str
    query: str
    expect: tuple[str, ...] | None
    any_of: bool
    not_: tuple[str, ...]
    given: tuple[str, ...]
    offered: tuple[str, ...]
    problems: tuple[str, ...] = ()
    path: str | None = None
    line: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the test holds."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class SkillScore(Portable):
    """How well one skill is found: by so many `tests` it is expected, by so many given, offered or missed.

    `wrong` counts the tests in which it is given and another or none is right. `precision` is about what was given,
    `recall` says how often it is given where it should be, `reach` how often given or offered; None where nothing is
    known of it.
    """

    skill_id: str
    tests: int
    given: int
    offered: int
    missed: int
    wrong: int
    precision: float | None
    recall: float | None
    reach: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class Threshold(Portable):
    """A figure that has to reach a value; `reached` is None where the tests say nothing of it."""

    name: str
    wanted: float
    reached: float | None

    @property
    def held(self) -> bool:
        """Whether it does."""
        return self.reached is not None and self.reached >= self.wanted


@dataclass(frozen=True, slots=True)
class TriggerReport(Portable):
    """What trigger tests show, with what is wrong with the library's triggers and descriptions beside them."""

    json_keys: ClassVar[tuple[str, ...]] = ("ok", "...")

    subject: Subject
    configuration: Configuration
    passed: int
    failed: int
    overall: SkillScore
    skills: tuple[SkillScore, ...]
    competing: tuple[Pair, ...]
    unclaimed: tuple[str, ...]
    findings: tuple[Diagnostic, ...]
    results: tuple[TestResult, ...]
    unknown_labels: tuple[str, ...] = ()
    thresholds: tuple[Threshold, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no finding is an error, and every threshold is reached, or without thresholds every test holds."""
        reached = all(one.held for one in self.thresholds) if self.thresholds else not self.failed
        return reached and not has_errors(self.findings)


@dataclass(frozen=True, slots=True)
class Demands:
    """What tests must show: `at_least` is the level that an expected skill needs; `least` has figures by name."""

    at_least: Level = Level.OFFERED
    least: Mapping[str, float] = field(default_factory=dict)


async def run_tests(
    weaver: "Weaver",
    cases: CaseSet,
    configuration: Configuration,
    demands: Demands | None = None,
    progress: Progress | None = None,
) -> TriggerReport:
    """Ask every query, look at every trigger and description, and report; without cases only the findings are made."""
    demands = demands or Demands()
    snapshot = await weaver.skills.snapshot()
    active = {skill.id: skill for skill in snapshot.active()}
    answers = await ask_all(weaver, cases.cases, progress)
    results = tuple(judge(answer, demands.at_least) for answer in answers)
    pairs = competing(answers)
    overall = overall_of(answers)
    findings = (*await findings_on(weaver, cases.cases), *in_tests(active, answers, pairs))
    silent = (one.case.id for one in answers if one.case.expect and not one.given and not one.offered)
    return TriggerReport(
        subject=Subject.of(cases, len(active), Resampling(resamples=0)),
        configuration=configuration,
        passed=sum(result.passed for result in results),
        failed=sum(not result.passed for result in results),
        overall=overall,
        skills=scores_of(answers),
        competing=pairs,
        unclaimed=tuple(silent),
        findings=findings,
        results=results,
        unknown_labels=unknown_labels(cases.cases, frozenset(snapshot)),
        thresholds=tuple(Threshold(name, least, getattr(overall, name)) for name, least in demands.least.items()),
    )


def judge(answer: Answer, at_least: Level = Level.OFFERED) -> TestResult:
    """Whether a test holds: what it expects is given, or offered where that is enough, and nothing that it forbids."""
    case = answer.case
    place = case.place
    return TestResult(
        case.id,
        case.query,
        case.expect,
        case.any_of,
        case.not_,
        answer.given,
        answer.offered,
        tuple(_problems(answer, at_least)),
        None if place is None else place.path,
        None if place is None else place.line,
    )


def _problems(answer: Answer, at_least: Level) -> Iterator[str]:
    case = answer.case
    reached = answer.given if at_least is Level.GIVEN else (*answer.given, *answer.offered)
    missing = [one for one in case.expect or () if one not in reached]
    if case.any_of and case.expect and len(missing) == len(case.expect):
        yield f"none of {', '.join(case.expect)} is {_level(at_least)}; {_instead(answer)}"
    elif not case.any_of:
        for skill_id in missing:
            yield f"{skill_id} is {answer.level(skill_id).value}{_kept_out(answer, skill_id)}; {_instead(answer)}"
    for skill_id in case.not_:
        if skill_id in answer.given:
            yield f"{skill_id} is given, and must not be"
    if case.expect == ():
        wrong = [one for one in answer.given if one not in case.fine]
        if wrong:
            yield f"{', '.join(wrong)} is given, and no skill is right"


def _level(at_least: Level) -> str:
    return "given" if at_least is Level.GIVEN else "given or offered"


def _kept_out(answer: Answer, skill_id: str) -> str:
    return " (it was chosen, and did not fit)" if skill_id in answer.kept_out else ""


def _instead(answer: Answer) -> str:
    told = [f"given: {', '.join(answer.given)}"] if answer.given else []
    told += [f"offered: {', '.join(answer.offered)}"] if answer.offered else []
    first = answer.ranked[0].skill_id if answer.ranked else None
    return "; ".join(told) or (f"nothing is given, first in the ranking is {first}" if first else "nothing is found")


def scores_of(answers: Sequence[Answer]) -> tuple[SkillScore, ...]:
    """The score of every skill that a test expects or forbids, or that is given in one, by id."""
    counts: dict[str, _Counts] = defaultdict(_Counts)
    for answer in answers:
        for skill_id in _concerned(answer):
            counts[skill_id].add(answer, skill_id)
    return tuple(counts[skill_id].score(skill_id) for skill_id in sorted(counts))


def overall_of(answers: Sequence[Answer]) -> SkillScore:
    """The score over all skills together, as that of the skill named `all`."""
    total = _Counts()
    for answer in answers:
        for skill_id in _concerned(answer):
            total.add(answer, skill_id)
    return total.score("all")


def _concerned(answer: Answer) -> Iterable[str]:
    """The ids that a test counts for; where any one is right, it is about the one that was found, else the first."""
    case = answer.case
    expected = list(case.expect or ())
    if case.any_of and expected:
        expected = [max(expected, key=lambda one: (_ORDER[answer.level(one)], -expected.index(one)))]
    unfit = {*case.fine, *(case.expect or ())}
    return dict.fromkeys((*expected, *case.not_, *(one for one in answer.given if one not in unfit)))


_ORDER = {Level.SILENT: 0, Level.OFFERED: 1, Level.GIVEN: 2}


@dataclass(slots=True)
class _Counts:
    tests: int = 0
    given: int = 0
    offered: int = 0
    wrong: int = 0

    def add(self, answer: Answer, skill_id: str) -> None:
        case, level = answer.case, answer.level(skill_id)
        if skill_id in (case.expect or ()):
            self.tests += 1
            self.given += level is Level.GIVEN
            self.offered += level is Level.OFFERED
        elif level is Level.GIVEN and (case.expect is not None or skill_id in case.not_):
            self.wrong += 1

    def score(self, skill_id: str) -> SkillScore:
        precision = _share(self.given, self.given + self.wrong)
        recall = _share(self.given, self.tests)
        both = (precision or 0.0) + (recall or 0.0)
        f1 = None if recall is None else (2 * (precision or 0.0) * recall / both if both else 0.0)
        return SkillScore(
            skill_id,
            self.tests,
            self.given,
            self.offered,
            self.tests - self.given - self.offered,
            self.wrong,
            precision,
            recall,
            _share(self.given + self.offered, self.tests),
            None if f1 is None else round(f1, 6),
        )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
