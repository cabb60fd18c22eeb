"""Which skills apply to the conversation, and for how long (spec 5.4: lifecycles)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from skillweave.ledger.state import Engaged, State

RECENT_MESSAGES = 3
"""How many user messages without a match a skill stays engaged for in the lifecycle `recent`."""

_STRENGTH = ("lexical", "triggers", "graph", "task", "mention", "host", "explicit")


class Lifecycle(StrEnum):
    """How long a skill stays engaged: for the whole conversation, or while it was matched recently."""

    CONVERSATION = "conversation"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class Match:
    """A skill that this turn called for, and the matcher that did."""

    skill_id: str
    by: str


def engaged_before(state: State, turn_id: str) -> tuple[Engaged, ...]:
    """What was engaged before this turn; a replay finds the same as the first run did."""
    return tuple(entry for entry in state.engaged if entry.since != turn_id)


def aged(engaged: Iterable[Engaged], matched: Iterable[str]) -> tuple[Engaged, ...]:
    """One user message later: matched skills start counting anew."""
    now = frozenset(matched)
    return tuple(replace(entry, idle=0 if entry.skill_id in now else entry.idle + 1) for entry in engaged)


def engage(engaged: Sequence[Engaged], matches: Iterable[Match], turn_id: str) -> tuple[Engaged, ...]:
    """Enter what this turn matched, in the order of first engagement; a stronger matcher replaces a weaker one."""
    entries = {entry.skill_id: entry for entry in engaged}
    for match in matches:
        known = entries.get(match.skill_id)
        if known is None:
            entries[match.skill_id] = Engaged(match.skill_id, match.by, turn_id)
        else:
            entries[match.skill_id] = replace(known, idle=0, by=max(known.by, match.by, key=_strength))
    return tuple(entries.values())


def lasting(engaged: Iterable[Engaged], lifecycle: Lifecycle) -> tuple[Engaged, ...]:
    """What has not left because of its age."""
    if lifecycle is Lifecycle.CONVERSATION:
        return tuple(engaged)
    return tuple(entry for entry in engaged if entry.idle <= RECENT_MESSAGES)


def by_recency(engaged: Iterable[Engaged]) -> tuple[Engaged, ...]:
    """Most recently matched first; among equals, the later engaged one."""
    latest_first = tuple(engaged)[::-1]
    return tuple(sorted(latest_first, key=lambda entry: entry.idle))


def _strength(by: str) -> int:
    return _STRENGTH.index(by) if by in _STRENGTH else 0
