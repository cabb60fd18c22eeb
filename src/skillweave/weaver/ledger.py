"""What is kept of a conversation, looked at and changed without a turn, and what leaves it then (spec 5.5)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from skillweave.blocking import M, Verb
from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.errors import InvalidValue, SkillNotFound, UnreadableState
from skillweave.events.event import Cause
from skillweave.injection import Drop
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.state.port import Store
from skillweave.state.sharing import is_skill_key, mark
from skillweave.state.state import (
    ARTIFACT,
    DOCUMENT,
    SKILL,
    Record,
    State,
    Writes,
    clear,
    disengage,
    evict,
    full_key,
    skill_key,
    skill_of,
    unload,
)
from skillweave.weaver.engine import Engine, View


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


class LedgerView(View[M]):
    """`weaver.ledger`: what is kept of each conversation."""

    @property
    def store(self) -> Store:
        """Where conversations are kept."""
        return self._engine.store

    @property
    def tenant(self) -> str:
        """Whose conversations these are; the empty text for the default tenant, also when it was called `default`."""
        return self._engine.tenant

    @Verb
    async def state(self, conversation: str) -> State:
        """Returns all that is kept about a conversation."""
        state, _ = await self._engine.store.load(conversation, tenant=self._engine.tenant)
        return state

    @Verb
    async def clear(self, conversation: str) -> bool:
        """Forgets everything about a conversation but its decisions, also one that cannot be read any more.

        False when nothing was known.
        """
        engine = self._engine
        try:
            return await engine.change(conversation, lambda state, _: clear(state), cause=Cause.CLEARED)
        except UnreadableState as error:
            return await engine.store.swap(conversation, error.revision, Writes(State()), tenant=engine.tenant)

    @Verb
    async def mark(self, conversation: str, key: str) -> Record:
        """Notes that the host has this skill in its context already, so that it is not given; returns the record of it.

        `key` is a skill's id or its ledger key. A transcript without the skill's text goes before it: then the skill is
        given when wanted. Again changes nothing. Raises SkillNotFound, and InvalidValue for another kind of key.
        """
        full = full_key(key)
        if not is_skill_key(full):
            raise InvalidValue(
                f"weaver.ledger.mark: {key[:100]!r} is not the key of a skill; give a skill's id, as what else stands "
                "in a context is known by its text alone"
            )
        skill_id = (await self._engine.snapshot())[full.removeprefix(SKILL)].id
        record, _ = await self._engine.step(
            conversation, lambda state, now: mark(state, skill_id, now), cause=Cause.EVICTED
        )
        return record

    @Verb
    async def disengage(self, conversation: str, skill_id: str) -> Left:
        """Ends what a skill asks for: from the next turn on neither its tool rules nor its checkpoints are in force.

        Its text may stay; wanted again, it is not given twice. A host that drops messages but sends no transcripts
        calls `unload` instead. A later match engages the skill again. Raises SkillNotFound for an id that neither the
        registry nor the conversation knows.
        """
        _LEAVING.text("skill_id", skill_id)
        return await _without_skill(self._engine, conversation, skill_id, disengage)

    @Verb
    async def unload(self, conversation: str, key: str) -> Left:
        """Lets a text go: all texts of a skill, which is disengaged too, or the one text of another ledger key.

        `key` is a skill's id, or `artifact:{skill}/{id}`, `section:{skill}/{number}`,
        `document:{skill}/{id}#{number}`, `context:{entity}:{section}`.
        The texts count until a transcript shows them gone, and are given anew when wanted. Raises like `disengage`.
        """
        kind, colon, rest = _LEAVING.text("key", key).partition(":")
        if colon and f"{kind}{colon}" != SKILL:
            return await _left(self._engine, conversation, partial(_without, key), partial(_text_left, key))
        return await _without_skill(self._engine, conversation, rest if colon else key, unload)


_LEAVING = Checked("weaver.ledger")


async def _without_skill(
    engine: Engine, conversation: str, skill_id: str, leave: Callable[[State, str], State]
) -> Left:
    snapshot = await engine.snapshot()

    def change(state: State) -> State:
        _require_known(skill_id, snapshot, state)
        return leave(state, skill_id)

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


def _text_left(key: str, before: State, after: State) -> Left:
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
