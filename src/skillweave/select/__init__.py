"""Which skills this turn calls for, ranked and with evidence; knows nothing of what was given before (spec 2)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.select.candidates import Candidate, Rejected, Selection
    from skillweave.select.index import SkillIndex, build_index
    from skillweave.select.matchers import MatchContext, Matcher, Matchers, Prepared, PreparingMatcher, prepare_matchers
    from skillweave.select.selection import find_matchers, matcher_names, select

__all__ = [
    "Candidate",
    "MatchContext",
    "Matcher",
    "Matchers",
    "Prepared",
    "PreparingMatcher",
    "Rejected",
    "Selection",
    "SkillIndex",
    "build_index",
    "find_matchers",
    "matcher_names",
    "prepare_matchers",
    "select",
]

__getattr__ = door(
    __name__,
    """
calibration: CALIBRATIONS FEATURES LEXICAL Calibration
candidates: Candidate Rejected Selection within_places
index: Kind SkillIndex build_index compile_triggers find_triggers names_of spellings
fitting: brier fit_calibration
lexical: Dense Ranked Ranking match_message rank_message
lexical_index: body_texts brief_texts build_lexical_index rank
matchers: MatchContext Matcher Matchers Mention Prepared PreparingMatcher Thresholds prepare_matchers
mentions: find_mentions without_mentions
questions: Question question_in
selection: DEFAULT MATCHERS find_matchers matcher_names select
task: check_task_rules
""",
)
