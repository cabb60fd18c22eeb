"""A sub-agent prepared with what the engine knows: its skills now, the parent's policy, whoever observes."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from skillweave.compose.spawn import Parent, SpawnPlan, SpawnRejected, SpawnRequest, conversation_of, prepare_spawn
from skillweave.errors import InvalidSpawn
from skillweave.injection import CurrentPolicy, Injection
from skillweave.turn.policy import policy_at
from skillweave.weaver.engine import Engine
from skillweave.weaver.turns import nothing_said

Spawner: TypeAlias = Parent | Injection | CurrentPolicy | SpawnPlan | str
"""Who spawns: the answer to its present turn, the plan that it was started with, or the id of a conversation."""


async def prepare(
    engine: Engine,
    request: SpawnRequest | Mapping[str, object],
    spawner: Spawner | None,
    spawn_id: str | None,
    tools: Iterable[str] | None,
) -> SpawnPlan | SpawnRejected:
    """See `Weaver.prepare_spawn`."""
    asked = request if isinstance(request, SpawnRequest) else SpawnRequest.from_dict(request)
    parent = None if spawner is None else await _parent(engine, spawner)
    name = engine.announcer.new_id() if spawn_id is None else spawn_id
    snapshot, granted = await engine.snapshot(), engine.settings.granted
    prepared = prepare_spawn(asked, snapshot, parent, spawn_id=name, tools=tools, granted=granted)
    if engine.announcer.heard:
        from skillweave.weaver.spawn_events import prepared_events

        events = prepared_events(prepared, conversation_of(parent, name))
        await engine.announcer.observers.tell(events[0].conversation, events).ended()
    return prepared


async def started(engine: Engine, plan: SpawnPlan) -> None:
    """See `Weaver.spawned`."""
    if engine.announcer.heard:
        from skillweave.weaver.spawn_events import started_event

        await engine.announcer.tell(started_event(plan))


async def _parent(engine: Engine, spawner: Spawner) -> Parent:
    if isinstance(spawner, Parent):
        return spawner
    if isinstance(spawner, SpawnPlan):
        return spawner.as_parent()
    if isinstance(spawner, Injection | CurrentPolicy):
        return Parent(spawner.conversation, spawner.tools)
    if "/" in spawner:
        raise InvalidSpawn(
            f"conversation {spawner[:100]!r} can be that of a sub-agent, whose limits are not in the ledger; "
            "give its plan, or the Injection of its turn, as parent"
        )
    state, now = await engine.store.load(spawner)
    silent = nothing_said(engine.announcer.new_id(), spawner)
    return Parent(spawner, policy_at(state, await engine.library(), engine.settings, silent, now).tools)
