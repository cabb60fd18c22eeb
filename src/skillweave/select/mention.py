"""The matcher `mention`: skills that the user asks for as `/skill-id` or `$skill-id` (spec 2.1)."""

import re

from skillweave.decisions import Evidence, Outcome
from skillweave.formats.arguments import LONGEST_ARGUMENTS, takes_arguments
from skillweave.select.ask import Ask
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.mentions import Mention
from skillweave.select.trigger_index import MOST_EVIDENCE
from skillweave.skill import Skill

MATCHER = "mention"
_UNKEPT = re.compile("[\0\ud800-\udfff]")
"""NUL and halves of surrogate pairs: the ledger keeps arguments, and not every store can keep these."""


def match_mention(ask: Ask) -> Selection:
    """What the user mentions, in first-seen order, repeats dropped; what follows the first one are its arguments.

    Only a user's message mentions anything, and no `never` phrase vetoes it. An inactive skill, and one whose
    `user-invocable` is false, is rejected; a name that no skill has is ordinary text.
    """
    mentioned: dict[str, list[Mention]] = {}
    for mention in ask.mentions:
        mentioned.setdefault(mention.skill_id, []).append(mention)
    chosen: list[Candidate] = []
    rejected: list[Rejected] = []
    for skill_id, mentions in mentioned.items():
        skill = ask.kit.snapshot[skill_id]
        candidate = _candidate(skill, mentions)
        refusal = _refusal(ask, skill)
        if refusal is None:
            chosen.append(candidate)
        else:
            rejected.append(Rejected(candidate, *refusal))
    return Selection(tuple(chosen), tuple(rejected))


def _candidate(skill: Skill, mentions: list[Mention]) -> Candidate:
    evidence = [Evidence(MATCHER, skill.id, mention.start, mention.end) for mention in mentions[:MOST_EVIDENCE]]
    if not takes_arguments(skill):
        return Candidate(skill.id, 1.0, MATCHER, tuple(evidence))
    words = mentions[0].words
    if len(words) > LONGEST_ARGUMENTS:
        evidence.insert(1, Evidence("arguments", f"cut to {LONGEST_ARGUMENTS:,} of {len(words):,} characters"))
        words = words[:LONGEST_ARGUMENTS].rstrip()
    return Candidate(skill.id, 1.0, MATCHER, tuple(evidence[:MOST_EVIDENCE]), _UNKEPT.sub("\ufffd", words))


def _refusal(ask: Ask, skill: Skill) -> tuple[Outcome, str] | None:
    if not skill.status.selectable:
        return Outcome.INACTIVE, f"the skill is {skill.status.value}; only active ones are given"
    invocation = ask.kit.invocation(skill.id)
    if not invocation.by_user:
        return Outcome.FORBIDDEN, f"its `user-invocable` is false: {invocation.openings(skill.id)}"
    if not ask.reaches(skill.id):
        return Outcome.UNREACHABLE, "it is not among the skills allowed in this turn"
    return None
