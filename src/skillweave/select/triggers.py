"""The matcher `triggers`: declared keywords, verbs, patterns, and ids (spec 2.1)."""

from skillweave.decisions import Outcome
from skillweave.select.ask import Ask
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.trigger_index import Kind, candidate_of


def match_triggers(ask: Ask) -> Selection:
    """Every skill that a trigger speaks for, in the order of spec 2.2.

    Where `lexical` takes part too, an id of one word is only evidence for it; alone, every id selects. A `never` phrase
    vetoes.
    """
    message = ask.message
    if message is None:
        return Selection()
    chosen: list[Candidate] = []
    rejected: list[Rejected] = []
    for match in ask.triggered:
        if not match.hits or (match.kind is Kind.WORD_ID and "lexical" in ask.matchers):
            continue
        candidate = candidate_of(match, ask.kit.active[match.position].id, message)
        if match.vetoes:
            rejected.append(Rejected(candidate, Outcome.VETOED, "one of its `never` phrases is in the message"))
        elif not ask.reaches(candidate.skill_id):
            rejected.append(Rejected(candidate, Outcome.UNREACHABLE, "it is not among the skills allowed in this turn"))
        else:
            chosen.append(candidate)
    return Selection(tuple(chosen), tuple(rejected))
