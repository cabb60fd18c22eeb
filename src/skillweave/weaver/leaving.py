"""Skills and texts that leave a conversation without a turn, and what becomes of them (spec 5.5)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.errors import SkillNotFound
from skillweave.events.event import Cause
from skillweave.injection import Drop
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.state.state import (
    ARTIFACT,
    DOCUMENT,
    SKILL,
    Record,
    State,
    disengage,
    evict,
    skill_key,
    skill_of,
    unload,
)
from skillweave.weaver.engine import Engine


@dataclass(frozen=True, slots=True)
class Left(Portable):
    """What `disengage` or `unload` did to a skill, or to one text of it.

    `key` is the ledger key that it is about; `disengaged` says that the skill was engaged in its own right until now.
    `evicted` are the keys that are forgotten: given again when they are wanted. `drops` are the messages that the host
    may take out of the history. `needed_by` are engaged skills that require this one, so that it stays in force, or
    comes back with the next turn, as their companion. All are empty for what was not there.
    """

    key: str
    disengaged: bool = False
    evicted: tuple[str, ...] = ()
    drops: tuple[Drop, ...] = ()
    needed_by: tuple[str, ...] = ()


_LEAVING = Checked("weaver.…")


async def disengage_skill(engine: Engine, conversation: str, skill_id: str) -> Left:
    """End the engagement; raises SkillNotFound for an id that neither the registry nor the conversation knows."""
    _LEAVING.text("skill_id", skill_id)
    snapshot = await engine.snapshot()

    def change(state: State) -> State:
        _require_known(skill_id, snapshot, state)
        return disengage(state, skill_id)

    return await _left(engine, conversation, change, partial(skill_left, skill_id, snapshot))


async def unload_text(engine: Engine, conversation: str, key: str) -> Left:
    """Let a text go: all of a skill, or what one other key is about. Raises SkillNotFound like `disengage_skill`."""
    kind, colon, rest = _LEAVING.text("key", key).partition(":")
    if colon and f"{kind}{colon}" != SKILL:
        return await _left(engine, conversation, partial(_without, key), partial(text_left, key))
    skill_id = rest if colon else key
    snapshot = await engine.snapshot()

    def change(state: State) -> State:
        _require_known(skill_id, snapshot, state)
        return unload(state, skill_id)

    return await _left(engine, conversation, change, partial(skill_left, skill_id, snapshot))


def skill_left(skill_id: str, snapshot: Snapshot, before: State, after: State) -> Left:
    """What the step from one State to the other did to the skill, and to those that were there for its sake only."""
    engaged = [entry.skill_id for entry in after.engaged]
    wanted = _with_companions(engaged, snapshot)
    gone = _with_companions([skill_id], snapshot) - wanted
    evicted = _evicted(before, after)
    old = {record.carrier for record in before.records if record.key in evicted}
    return Left(
        key=skill_key(skill_id),
        disengaged=any(entry.skill_id == skill_id for entry in (*before.engaged, *before.restraining))
        and skill_id not in engaged,
        evicted=evicted,
        drops=_drops(after, lambda record: record.carrier in old or skill_of(record.key) in gone),
        needed_by=tuple(other for other in engaged if skill_id in _with_companions([other], snapshot) - {other}),
    )


def text_left(key: str, before: State, after: State) -> Left:
    """The same for one text; a message that shows something else too is not to be dropped."""
    evicted = _evicted(before, after)
    live = {record.carrier for record in after.records}
    old = {record.carrier for record in before.records if record.key in evicted} - live
    return Left(key, evicted=evicted, drops=_drops(after, lambda record: record.carrier in old))


async def _left(
    engine: Engine, conversation: str, change: Callable[[State], State], compare: Callable[[State, State], Left]
) -> Left:
    def step(state: State, _: float) -> tuple[State, Left]:
        after = change(state)
        return after, compare(state, after)

    left, _ = await engine.step(conversation, step, cause=Cause.UNLOADED)
    return left


def _without(key: str, state: State) -> State:
    kind, _, name = key.partition(":")
    document = f"{DOCUMENT}{name}" if f"{kind}:" == ARTIFACT else None
    for record in state.records:
        if record.key == key or record.key.rpartition("#")[0] == document:
            state = evict(state, record.key)
    return state


def _evicted(before: State, after: State) -> tuple[str, ...]:
    left = {record.key for record in after.records}
    return tuple(record.key for record in before.records if record.key not in left)


def _drops(state: State, chosen: Callable[[Record], bool]) -> tuple[Drop, ...]:
    everything = (*(old.record for old in state.superseded), *state.records)
    texts = [record for record in everything if record.known]
    carriers = dict.fromkeys(record.carrier for record in texts if chosen(record))
    return tuple(
        Drop(_skill_in(carrier, texts), carrier, sum(r.tokens for r in texts if r.carrier == carrier))
        for carrier in carriers
    )


def _skill_in(carrier: str, texts: Iterable[Record]) -> str:
    return next((found for r in texts if r.carrier == carrier and (found := skill_of(r.key)) is not None), "")


def _with_companions(skill_ids: Iterable[str], snapshot: Snapshot) -> set[str]:
    heads = list(skill_ids)
    return {*heads, *(requirement.rule.skill for requirement in all_requirements(heads, snapshot))}


def _require_known(skill_id: str, snapshot: Snapshot, state: State) -> None:
    texts = (*state.records, *(old.record for old in state.superseded))
    wanted = (entry.skill_id for entry in (*state.engaged, *state.restraining))
    named = {*wanted, *(skill_of(record.key) for record in texts)}
    if skill_id not in snapshot.skills and skill_id not in named:
        raise SkillNotFound(skill_id, {*snapshot.skills, *(name for name in named if name)})
