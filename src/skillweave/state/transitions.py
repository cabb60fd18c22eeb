"""The pure steps from one State to the next: claim, confirm, release, evict, adopt (spec 5.4).

None of them touches `revision`: the store does when it swaps.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from skillweave.state.state import Delivery, Record, State, Superseded, skill_of

CLAIM_SECONDS = 60.0
"""How long a claim suppresses others when its turn never comes back."""


def claim(state: State, records: Sequence[Record]) -> State:
    """Enter records, given or claimed; what they replace is superseded, what is there already stays as it is."""
    for record in records:
        state = _enter(state, record)
    return state


def adopt(state: State, record: Record) -> State:
    """Enter the record of a text that the transcript shows although nothing was recorded."""
    return _enter(state, replace(record, state=Delivery.GIVEN, until=None, told=""))


def confirm(state: State, holder: str, now: float) -> State:
    """What this turn claimed was delivered; other holders' records stay as they are."""
    return _changed(state, lambda record: _open_claim(record, holder), _given_at(now))


def release(state: State, holder: str) -> State:
    """What this turn claimed was not delivered after all; what it had superseded stands again."""
    return _withdraw(state, lambda record: _open_claim(record, holder))


def hold(state: State, holder: str) -> State:
    """What this turn claimed waits for a person and does not expire, until `resume`, `confirm` or `release`."""
    return _changed(state, lambda r: _open_claim(r, holder) and r.until is not None, lambda r: replace(r, until=None))


def held_keys(state: State, holder: str) -> tuple[str, ...]:
    """The keys of this turn's claims that wait for a person."""
    return tuple(record.key for record in state.records if _open_claim(record, holder) and record.until is None)


def resume(state: State, waits: Callable[[str], bool], now: float) -> State:
    """The turns that wait for a person have 60 s to deliver, but for those with a claim on a skill that still waits."""
    held = [record for record in state.records if record.state is Delivery.CLAIMED and record.until is None]
    waiting = {record.holder for record in held if (skill_id := skill_of(record.key)) is not None and waits(skill_id)}
    free = {record.key for record in held if record.holder not in waiting}
    return _changed(state, lambda r: r.key in free, lambda r: replace(r, until=now + CLAIM_SECONDS))


def reject(state: State, skill_id: str) -> State:
    """A person said no: what is claimed of the skill was not delivered, what was given is evicted, and it has left."""
    carriers = {record.carrier for record in state.records if skill_of(record.key) == skill_id}

    def undelivered(record: Record) -> bool:
        return record.state is Delivery.CLAIMED and (record.carrier in carriers or skill_of(record.key) == skill_id)

    return unload(_withdraw(state, undelivered), skill_id)


def unload(state: State, skill_id: str) -> State:
    """The skill has left and its blocks are to go, with whatever else stands in them."""
    carriers = {record.carrier for record in state.records if skill_of(record.key) == skill_id}
    for key in [record.key for record in state.records if record.carrier in carriers]:
        state = evict(state, key)
    return disengage(state, skill_id)


def disengage(state: State, skill_id: str) -> State:
    """The skill no longer applies; what was given of it stays recorded, so that its text is not given twice.

    A cursor on it goes, so that the skill graph begins again.
    """
    kept = tuple(entry for entry in state.engaged if entry.skill_id != skill_id)
    cursor = None if state.cursor is not None and state.cursor.skill == skill_id else state.cursor
    return state if (kept, cursor) == (state.engaged, state.cursor) else replace(state, engaged=kept, cursor=cursor)


def expire(state: State, now: float) -> State:
    """Drop the claims whose time is over, so that a crashed turn never blocks a skill for longer."""
    return _withdraw(state, lambda record: record.expired_at(now))


def evict(state: State, key: str) -> State:
    """Forget the key, so that it is given again when wanted; its old text is never adopted again."""
    record = state.record(key)
    if record is None:
        return state
    kept = tuple(other for other in state.records if other.key != key)
    return replace(state, records=kept, superseded=(*state.superseded, Superseded(record, "")))


def clear(state: State) -> State:
    """Forget everything about the conversation but its revision, so that a lost swap is still noticed."""
    return State(revision=state.revision)


def _enter(state: State, record: Record) -> State:
    old = state.record(record.key)
    if old is not None and _same_giving(old, record):
        return state
    kept = tuple(other for other in state.records if other.key != record.key)
    superseded = state.superseded
    if old is not None and old.carrier != record.carrier:
        superseded = (*superseded, Superseded(old, record.carrier))
    return replace(state, records=(*kept, record), superseded=superseded)


def _open_claim(record: Record, holder: str) -> bool:
    return record.holder == holder and record.state is Delivery.CLAIMED


def _same_giving(old: Record, new: Record) -> bool:
    return (old.key, old.digest, old.rung, old.carrier, old.holder) == (
        new.key,
        new.digest,
        new.rung,
        new.carrier,
        new.holder,
    ) and (old.state is Delivery.GIVEN or new.state is Delivery.CLAIMED)


def _withdraw(state: State, condition: Callable[[Record], bool]) -> State:
    gone = tuple(record for record in state.records if condition(record))
    if not gone:
        return state
    kept = tuple(record for record in state.records if not condition(record))
    live = {record.key for record in kept}
    carriers = {record.carrier for record in gone}
    back = tuple(s.record for s in state.superseded if s.by in carriers and s.record.key not in live)
    staying = tuple(s for s in state.superseded if s.by not in carriers)
    # What comes back may itself be a claim that is to be withdrawn.
    return _withdraw(replace(state, records=(*kept, *back), superseded=staying), condition)


def _changed(state: State, condition: Callable[[Record], bool], change: Callable[[Record], Record]) -> State:
    if not any(condition(record) for record in state.records):
        return state
    return replace(state, records=tuple(change(r) if condition(r) else r for r in state.records))


def _given_at(now: float) -> Callable[[Record], Record]:
    return lambda record: replace(record, state=Delivery.GIVEN, at=now, until=None)
