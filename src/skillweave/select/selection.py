"""Selection: which skills this turn calls for, ranked and with evidence (spec 2.1)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from skillweave.conversation import Message, Role, Turn, latest
from skillweave.decisions import Evidence, Outcome
from skillweave.errors import UnknownMatcher, nearest_names
from skillweave.select.candidates import MOST_EVIDENCE, Candidate, Rejected, Selection
from skillweave.select.index import Kind, SkillIndex, candidate_of, find_triggers
from skillweave.select.lexical import match_lexical
from skillweave.select.matchers import Ask, Matcher
from skillweave.select.mentions import find_mentions, match_mention, without_mentions
from skillweave.select.task import candidates_for
from skillweave.text.folding import fold_message

MATCHER = "explicit"
MARKER = re.compile(r"SKILL_SELECT:([a-zA-Z0-9_-]+)")
LONGEST_ID = 100
MOST_UNKNOWN = 50
"""So many unknown ids of a turn are told one by one; a model that writes more of them is only counted."""
SUGGESTED = 3
"""For so many unknown ids of a turn the nearest known ones are looked up, which is slow among many skills."""

_PATH = re.compile(r"[a-zA-Z0-9_/-]*")


def match_explicit(ask: Ask) -> Selection:
    """What the host named, what the model reads by a tool call, then what the latest assistant message marks.

    In first-seen order, repeats dropped.

    A marker in a user or tool message never selects. An unknown id and an inactive skill are rejected, not errors.
    """
    chosen: list[Candidate] = []
    rejected: list[Rejected] = []
    unknown = 0
    for skill_id, pieces in asked_in(ask.turn).items():
        candidate = Candidate(skill_id, 1.0, MATCHER, tuple(pieces))
        if skill_id not in ask.index.snapshot:
            unknown += 1
            if unknown <= MOST_UNKNOWN:
                rejected.append(_unknown(candidate, ask.index.snapshot if unknown <= SUGGESTED else ()))
        elif (refusal := _refusal(ask, skill_id, pieces)) is not None:
            rejected.append(Rejected(candidate, *refusal))
        else:
            chosen.append(candidate)
    if unknown > MOST_UNKNOWN:
        more = f"{unknown - MOST_UNKNOWN} more ids that no skill has are not listed"
        last = max(place for place, one in enumerate(rejected) if one.outcome is Outcome.UNKNOWN)
        rejected[last] = replace(rejected[last], reason=f"{rejected[last].reason}; {more}")
    return Selection(tuple(chosen), tuple(rejected))


def asked_in(turn: Turn) -> Mapping[str, Sequence[Evidence]]:
    """Whom the host named, the model reads, or its latest message marks, in that order, each with how."""
    asked: dict[str, list[Evidence]] = {}
    for skill_id in dict.fromkeys(turn.named):
        asked.setdefault(skill_id, []).append(Evidence("host", skill_id[:LONGEST_ID]))
    for read in turn.reads:
        asked.setdefault(read.skill_id, []).append(Evidence("read", read.skill_id[:LONGEST_ID]))
    for skill_id, evidence in _marked(_latest_of_the_model(turn)):
        pieces = asked.setdefault(skill_id, [])
        if all(piece.kind != evidence.kind for piece in pieces):
            pieces.append(evidence)
    return asked


def without_markers(text: str) -> str:
    """The text with spaces in place of markers: in a user's message they select nothing, not even as an id."""
    return MARKER.sub(lambda match: " " * len(match[0]), text)


def _latest_of_the_model(turn: Turn) -> Message | None:
    if turn.message.role is Role.ASSISTANT:
        return turn.message
    return latest(Role.ASSISTANT, turn.transcript or ())


def _marked(message: Message | None) -> Iterator[tuple[str, Evidence]]:
    """Each marker's id and place; an id with a `/` right after it is a path, which no skill has for an id."""
    text = message.text if message else ""
    for match in MARKER.finditer(text):
        end = match.end()
        if text.startswith("/", end):
            path = _PATH.match(text, end, end + LONGEST_ID)
            end = path.end() if path else end
        yield text[match.start(1) : end], Evidence("marker", text[match.start() : end][:LONGEST_ID], match.start(), end)


def _refusal(ask: Ask, skill_id: str, pieces: Iterable[Evidence]) -> tuple[Outcome, str] | None:
    """Why a known skill is not given: what is closed to the model, no marker and no reading opens, only the host."""
    status = ask.index.snapshot[skill_id].status
    if not status.selectable:
        return Outcome.INACTIVE, f"the skill is {status.value}; only active ones are given"
    invocation = ask.index.invocation(skill_id)
    if not invocation.by_model and all(piece.kind != "host" for piece in pieces):
        return Outcome.FORBIDDEN, f"its `disable-model-invocation` is true: {invocation.openings(skill_id)}"
    if not ask.reaches(skill_id):
        return Outcome.UNREACHABLE, "it is not among the skills allowed in this turn"
    return None


def _unknown(candidate: Candidate, known: Iterable[str]) -> Rejected:
    reason = "no skill has this id"
    if near := nearest_names(candidate.skill_id, known):
        reason += f"; did you mean {' or '.join(repr(name) for name in near)}?"
    shown = replace(candidate, skill_id=candidate.skill_id[:LONGEST_ID])
    return Rejected(shown, Outcome.UNKNOWN, reason)


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
        candidate = candidate_of(match, ask.index.active[match.position].id, message)
        if match.vetoes:
            rejected.append(Rejected(candidate, Outcome.VETOED, "one of its `never` phrases is in the message"))
        elif not ask.reaches(candidate.skill_id):
            rejected.append(Rejected(candidate, Outcome.UNREACHABLE, "it is not among the skills allowed in this turn"))
        else:
            chosen.append(candidate)
    return Selection(tuple(chosen), tuple(rejected))


def match_task(ask: Ask) -> Selection:
    """The skills of every rule that holds for the turn's task; a rule of which one skill cannot be given gives none.

    Stops no other matcher, `lexical` included: the task is the same in every turn, while each message of it may call
    for something else.
    """
    if ask.turn.task is None:
        return Selection()
    return candidates_for(ask.turn.task, ask.index.task_rules, ask.index.snapshot, ask.within)


MATCHERS: Mapping[str, Matcher] = MappingProxyType(
    {
        "explicit": match_explicit,
        "mention": match_mention,
        "task": match_task,
        "triggers": match_triggers,
        "lexical": match_lexical,
    }
)
"""The built-in matchers by name, in the order in which they are asked."""
DEFAULT = ("explicit", "task", "triggers", "lexical")
"""Without `mention`: not every host means a skill when its user writes a `/` or a `$`."""


def select(
    index: SkillIndex,
    turn: Turn,
    *,
    within: frozenset[str] | None = None,
    matchers: Sequence[str] = DEFAULT,
) -> Selection:
    """The skills that a turn calls for, best first, and those that were considered and rejected, each with evidence.

    Every skill stands in at most one of the two. `within` limits what can be chosen. Pure: it knows nothing of what
    was given before, and the same input gives the same output under any hash seed.

    Raises:
        UnknownMatcher: a name in `matchers` is no matcher's.
    """
    names = _checked(tuple(matchers))
    said = turn.message.text if turn.message.role is Role.USER else None
    mentions = find_mentions(said, index.mention_names()) if said and "mention" in names else ()
    message = None if said is None else fold_message(without_mentions(without_markers(said), mentions))
    triggered = tuple(find_triggers(index.triggers, message)) if message else ()
    chosen: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    for name in names:
        answer = MATCHERS[name](Ask(index, turn, within, names, message, triggered, tuple(chosen.values()), mentions))
        for candidate in answer.chosen:
            known = chosen.get(candidate.skill_id)
            chosen[candidate.skill_id] = _joined(known, candidate) if known else candidate
        for refusal in answer.rejected:
            rejected.setdefault(refusal.candidate.skill_id, refusal)
    left = [refusal for skill_id, refusal in rejected.items() if skill_id not in chosen]
    return Selection(tuple(chosen.values()), tuple(left))


@lru_cache(maxsize=64)
def _checked(matchers: tuple[str, ...]) -> tuple[str, ...]:
    for name in matchers:
        if name not in MATCHERS:
            raise UnknownMatcher(name, MATCHERS)
    return tuple(name for name in MATCHERS if name in matchers)


def _joined(first: Candidate, second: Candidate) -> Candidate:
    """The first matcher's verdict, with the second's evidence added, and the arguments of whichever has some.

    Whoever speaks for the skill alone frees it from the set that a task rule gives it with.
    """
    evidence = tuple(dict.fromkeys((*first.evidence, *second.evidence)))
    arguments = second.arguments if first.arguments is None else first.arguments
    together = min(first.together, second.together, key=len)
    return replace(first, evidence=evidence[:MOST_EVIDENCE], arguments=arguments, together=together)
