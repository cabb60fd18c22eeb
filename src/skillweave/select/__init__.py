"""Which skills this turn calls for, ranked and with evidence; knows nothing of what was given before (spec 2)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
candidates: Candidate Rejected Selection within_places
index: Kind SkillIndex build_index compile_triggers names_of spellings
own_fit: FEATURES Calibration OwnFit calibrated calibration_of fitted
lexical: Dense match_message rank_message
lexical_index: Channel LexicalIndex build_lexical_index index_terms
matchers: MatchContext Matcher Matchers Mention Prepared PreparingMatcher Thresholds prepare_matchers
mentions: find_mentions without_mentions
query: Query read_query
questions: Question question_in
ranking: Ranked Ranking rank
selection: DEFAULT MATCHERS find_matchers matcher_names select
task: check_task_rules
terms: SkillTerms body_texts brief_texts terms_of
triggers: find_triggers
""",
)
