"""Whether the right skill is found: trigger tests, ranking, tokens, graphs, and models with and without a skill."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave_eval.answers import Answer, Level, ask_all
    from skillweave_eval.cases import Case, CaseSet
    from skillweave_eval.metrics import Resampling
    from skillweave_eval.ranking import RankingReport, report_on
    from skillweave_eval.reading import read_labelled, read_tests

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
findings: Pair alike competing findings_on in_tests
fit: Aims FitReport FittedFile applied fit_answers
graph: GraphReport play_scripts
junit: junit_xml
live.judging: JUDGE by_program question_for verdicts_in
live.models: Caller Endpoint ModelFailed Usage Wire endpoint_of
live.prompts: Assertion Check Prompt find_prompts named_skill read_prompts
live.report: LiveReport report_runs
live.runs: Arm Job Models Outcome Results Run Verdict jobs_for run_jobs
live.setup: Material gather_material
live.spending: Limits Prices Purse
metrics: MEASURES Difference Figure Interval Resampling differences_of figures_of groups_of
page: page_of
ranking: Asked Configuration Confusion RankingReport Subject confusions_of histograms_of reliability_of report_on
reading: SUFFIXES Labelled TestFile find_tests read_benchmark read_labelled read_tests
tokens: Talk TokensReport count_tokens read_talks
triggers: Demands SkillScore TestResult TriggerReport judge overall_of run_tests scores_of
""",
)
