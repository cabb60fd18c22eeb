"""The command `eval`, as `--help` shows it before its module is imported."""

from skillweave.extensions import CommandSpec

EVAL = CommandSpec(
    "Test whether the right skill is found, and whether it helps.",
    "skillweave_eval.commands",
    {
        "triggers": "skillweave_eval.triggers:TriggerReport",
        "ranking": "skillweave_eval.ranking:RankingReport",
        "tokens": "skillweave_eval.tokens:TokensReport",
        "fit": "skillweave_eval.fit:FitReport",
        "live": "skillweave_eval.live.report:LiveReport",
        "graph": "skillweave_eval.graph:GraphReport",
    },
)
