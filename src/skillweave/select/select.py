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
from skillweave.select.trigger_index import MOST_EVIDENCE, find_triggers
from skillweave.select.triggers import match_triggers
from skillweave.text.folding import fold_message

MATCHERS: Mapping[str, Matcher] = MappingProxyType(
    {"explicit": match_explicit, "triggers": match_triggers, "lexical": match_lexical}
)
"""The built-in matchers by name, in the order in which they are asked."""
DEFAULT = ("explicit", "triggers", "lexical")


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
    message = fold_message(without_markers(turn.message.text)) if turn.message.role is Role.USER else None
    triggered = tuple(find_triggers(kit.triggers, message)) if message else ()
    chosen: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    for name in names:
        answer = MATCHERS[name](Ask(kit, turn, within, names, message, triggered, tuple(chosen.values())))
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
    """The first matcher's verdict, with the second's evidence added."""
    evidence = tuple(dict.fromkeys((*first.evidence, *second.evidence)))
    return replace(first, evidence=evidence[:MOST_EVIDENCE])
