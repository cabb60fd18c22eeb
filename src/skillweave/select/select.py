"""Selection: which skills this turn calls for, ranked and with evidence (spec 2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from skillweave.conversation import Role, Turn
from skillweave.errors import UnknownMatcher
from skillweave.select.ask import Ask, Matcher
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.explicit import match_explicit, without_markers
from skillweave.select.kit import Kit
from skillweave.select.lexical import match_lexical
from skillweave.select.mention import match_mention
from skillweave.select.mentions import find_mentions, without_mentions
from skillweave.select.task import match_task
from skillweave.select.trigger_index import MOST_EVIDENCE, find_triggers
from skillweave.select.triggers import match_triggers
from skillweave.text.folding import fold_message

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
    kit: Kit,
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
    mentions = find_mentions(said, kit.mention_names()) if said and "mention" in names else ()
    message = None if said is None else fold_message(without_mentions(without_markers(said), mentions))
    triggered = tuple(find_triggers(kit.triggers, message)) if message else ()
    chosen: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    for name in names:
        answer = MATCHERS[name](Ask(kit, turn, within, names, message, triggered, tuple(chosen.values()), mentions))
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
