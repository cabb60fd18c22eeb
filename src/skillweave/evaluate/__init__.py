"""Whether the right skill is found: trigger tests, ranking, tokens, graphs, and models with and without a skill."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.evaluate.answers import Answer, Level, ask_all
    from skillweave.evaluate.cases import Case, CaseSet
    from skillweave.evaluate.metrics import Resampling
    from skillweave.evaluate.ranking import RankingReport, report_on
    from skillweave.evaluate.reading import read_labelled, read_tests

__all__ = [
    "Answer",
    "Case",
    "CaseSet",
    "Level",
    "RankingReport",
    "Resampling",
    "ask_all",
    "read_labelled",
    "read_tests",
    "report_on",
]

__getattr__ = door(
    __name__,
    """
answers: Answer Level Place ask ask_all
cases: Case CaseSet unknown_labels
metrics: MEASURES Difference Figure Interval Resampling differences_of figures_of groups_of
ranking: Asked Configuration RankingReport Subject histograms_of reliability_of report_on
reading: SUFFIXES Labelled TestFile find_tests read_benchmark read_labelled read_tests
""",
)
