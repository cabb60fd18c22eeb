"""The skills that count as given, as others see them, and what follows when others change it (spec 5.4)."""

from collections.abc import Collection
from dataclasses import replace

from skillweave.disclose.block import Rung
from skillweave.skill import SKILL_ID
from skillweave.state.state import SKILL, Delivery, Record, State, evict, skill_key

ELSEWHERE = "elsewhere"
"""What the ids begin with of a block, and of a turn, that were not ours."""


def given_keys(state: State) -> frozenset[str]:
    """The keys of the skills that count as given: not claims, documents, sections or entity context."""
    return frozenset(r.key for r in state.records if r.state is Delivery.GIVEN and is_skill_key(r.key))


def is_skill_key(key: str) -> bool:
    """Whether it is the key of a skill as a whole."""
    return key.startswith(SKILL) and SKILL_ID.fullmatch(key, len(SKILL)) is not None


def with_edits(state: State, entered: Collection[str], removed: Collection[str], now: float) -> State:
    """The State after another program entered skills as given and removed others, by their keys.

    What was removed is evicted. What was entered counts as given at `now`, also where a turn only claims it; of a skill
    that was not recorded nobody knows the text, so that its record is not `known`.
    """
    for key in sorted(removed):
        state = evict(state, key)
    live = {record.key: record for record in state.records}
    for key in sorted(key for key in entered if is_skill_key(key)):
        live[key] = replace(live[key], state=Delivery.GIVEN, at=now, until=None) if key in live else _unknown(key, now)
    records = tuple(live.values())
    return state if records == state.records else replace(state, records=records)


def mark(state: State, skill_id: str, now: float) -> tuple[State, Record]:
    """The State of a host that says it has this skill in its context, given at `now`, and the record of it.

    What a turn claims of the skill is delivered then; what was given already stays as it is. Of a skill that was not
    recorded nobody knows the text.
    """
    key = skill_key(skill_id)
    old = state.record(key)
    if old is not None and old.state is Delivery.GIVEN:
        return state, old
    after = with_edits(state, (key,), (), now)
    return after, next(record for record in after.records if record.key == key)


def _unknown(key: str, now: float) -> Record:
    name = f"{ELSEWHERE}:{key}"
    return Record(key, "", Rung.FULL, name, 0, Delivery.GIVEN, name, now)
