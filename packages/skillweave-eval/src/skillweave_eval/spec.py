"""The commands `eval` and `phrases`, as `--help` shows it before their modules are imported."""

from skillweave.extensions import CommandSpec

EVAL = CommandSpec(
    "Test whether the right skill is found, and whether it helps.",
    "skillweave_eval.commands",
    {
        "triggers": "skillweave_eval.triggers:TriggerReport",
        "ranking": "skillweave_eval.ranking:RankingReport",
        "tokens": "skillweave_eval.tokens:TokensReport",
        "fit": "skillweave_eval.fit:FitReport",
        "learn": "skillweave_eval.learning.proof:LearnReport skillweave_eval.learning.proof:RolledBack",
        "live": "skillweave_eval.live.report:LiveReport",
        "graph": "skillweave_eval.graph:GraphReport",
    },
)
PHRASES = CommandSpec(
    "Write what people would type, so that skills are found.",
    "skillweave_eval.commands.phrases",
    {
        "write": "skillweave_eval.phrases.writing:WrittenReport skillweave_eval.phrases.writing:DryReport",
        "check": "skillweave_eval.phrases.checking:CheckReport",
    },
)
