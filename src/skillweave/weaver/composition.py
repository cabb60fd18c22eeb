"""The verbs about skills by name: those for a task, whether they go together, a sub-agent with them, their output."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from skillweave.blocking import M, Verb
from skillweave.compose.composition import Composition, Mode, compose_ids, limited
from skillweave.compose.spawn import Parent, SpawnPlan, SpawnRejected, SpawnRequest, conversation_of, prepare_spawn
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import nothing_said
from skillweave.errors import InvalidSpawn
from skillweave.frozen import FrozenDict
from skillweave.injection import CurrentPolicy, Injection
from skillweave.relations.task import TaskSelection, explain_task
from skillweave.relations.validate import Completion, ValidationResult, complete_skills, validate_skills
from skillweave.task import Task
from skillweave.turn.policy import policy_at
from skillweave.weaver.engine import Engine, View

Spawner: TypeAlias = Parent | Injection | CurrentPolicy | SpawnPlan | str
"""Who spawns: the answer to its present turn, the plan that it was started with, or the id of a conversation."""


class CompositionView(View[M]):
    """`weaver.composition`: skills by name, whatever a conversation holds, and sub-agents with them."""

    @Verb
    async def select(self, task: Task) -> list[str]:
        """Returns the ids of the skills that task rules give for the task, companions included; no part of a set.

        `explain` says why, also of what is left out. `max_skills` is a limit of turns and plays no part.
        """
        return list((await _explained(self._engine, task)).skills)

    @Verb
    async def explain(self, task: Task) -> TaskSelection:
        """Returns the skills for the task, each with its reason, and why others that a rule names are left out."""
        return await _explained(self._engine, task)

    @Verb
    async def complete(self, names: Iterable[str]) -> Completion:
        """Returns the names with all companions that they require, each with the rule that asks for it.

        Raises InvalidSkill for names that are not texts; unknown ones stay for `validate` to report.
        """
        return complete_skills(names, await self._engine.snapshot())

    @Verb
    async def validate(self, names: Iterable[str], host_tools: Iterable[str] | None = None) -> ValidationResult:
        """Says whether these skills may be used together: every error, not the first one, and warnings.

        With `host_tools` it also warns of tools that the host does not have. Raises InvalidSkill like `complete`.
        """
        return validate_skills(names, await self._engine.snapshot(), host_tools=host_tools)

    @Verb
    async def compose(self, names: Iterable[str], mode: Mode | str = Mode.UNION) -> Composition:
        """Returns what the skills allow, forbid and prescribe together; nothing is validated.

        `mode` is `union` or `intersection`. Raises SkillNotFound for an unknown id, InvalidSkill like `complete`.
        """
        return compose_ids(names, await self._engine.snapshot(), Mode(mode))

    @Verb
    async def check_output(self, skill_id: str, output: object) -> tuple[Diagnostic, ...]:
        """Returns what of an output breaks the skill's output contract; valid without a finding of level error.

        See `skillweave.contracts.output.check_output`. Raises SkillNotFound, and MissingExtra without `jsonschema`.
        """
        from skillweave.contracts.output import check_output

        skill = (await self._engine.snapshot())[skill_id]
        return await asyncio.to_thread(check_output, skill, output)

    @Verb
    async def prepare_spawn(
        self,
        request: SpawnRequest | Mapping[str, object],
        *,
        parent: Spawner | None = None,
        spawn_id: str | None = None,
        tools: Iterable[str] | None = None,
    ) -> SpawnPlan | SpawnRejected:
        """Decides whether a sub-agent may be started, and with what; observers are told, nothing is started.

        The limits of a plan are written into the State of the sub-agent's conversation, in place of those of an earlier
        plan for it: whoever runs its turns is held to them.

        `parent` is the agent that spawns: the Injection of its turn, the SpawnPlan that it was started with, or the id
        of a conversation; the sub-agent gets no more than it. `spawn_id` is new where none is given. `tools` are those
        that the host has for the sub-agent. Raises InvalidSpawn for a request or an id that cannot be read,
        StoreUnavailable where rules cannot be looked up or limits not be kept: then nothing may start.
        """
        engine = self._engine
        asked = request if isinstance(request, SpawnRequest) else SpawnRequest.from_dict(request)
        above = None if parent is None else await _parent(engine, parent)
        name = engine.new_id() if spawn_id is None else spawn_id
        snapshot, granted = await engine.snapshot(), engine.settings.granted
        prepared = prepare_spawn(asked, snapshot, above, spawn_id=name, tools=tools, granted=granted)
        if isinstance(prepared, SpawnPlan):
            limits = prepared.limits
            await engine.change(prepared.conversation, lambda state, _: replace(state, limits=limits))
        if engine.observers.listening:
            from skillweave.weaver.events import prepared_events

            events = prepared_events(prepared, conversation_of(above, name))
            await engine.observers.tell(events[0].conversation, events).ended()
        return prepared

    @Verb
    async def spawned(self, plan: SpawnPlan) -> None:
        """Tells observers that the host has started the sub-agent of this plan."""
        if self._engine.observers.listening:
            from skillweave.weaver.events import started_event

            event = started_event(plan)
            await self._engine.observers.tell(event.conversation, (event,)).ended()


async def _explained(engine: Engine, task: Task) -> TaskSelection:
    snapshot, settings = await engine.snapshot(), engine.settings
    return explain_task(task, (*settings.task_rules, *snapshot.task_rules), snapshot, granted=settings.granted)


async def _parent(engine: Engine, spawner: Spawner) -> Parent:
    if isinstance(spawner, Parent):
        return spawner
    if isinstance(spawner, Injection | CurrentPolicy):
        return _as_parent(spawner)
    conversation = spawner.conversation if isinstance(spawner, SpawnPlan) else spawner
    state, now = await engine.watched.ledger.load(conversation, tenant=engine.tenant)
    if isinstance(spawner, SpawnPlan):
        # It may come from a client, which may have written it itself.
        return Parent(conversation, limited(spawner.policy, state.limits))
    if "/" in spawner and state.limits is None:
        raise InvalidSpawn(
            f"conversation {spawner[:100]!r} can be that of a sub-agent, whose limits are not in the ledger; "
            "give its plan, or the Injection of its turn, as parent"
        )
    silent = nothing_said(engine.new_id(), spawner)
    return _as_parent(policy_at(state, await engine.library(), engine.matchers, silent, now))


def _as_parent(now: Injection | CurrentPolicy) -> Parent:
    # Of a sub-agent's asks some belong to whoever spawned it, under names that its own skills may have too.
    if "/" in now.conversation:
        return Parent(now.conversation, now.tools)
    asking: dict[str, dict[str, tuple[str, ...]]] = {}
    for one in now.checkpoints:
        if one.blocking and one.before is not None:
            owners = asking.setdefault(one.before, {})
            owners[one.name] = (*owners.get(one.name, ()), one.skill_id)
    return Parent(
        now.conversation, now.tools, FrozenDict({entry: FrozenDict(owners) for entry, owners in asking.items()})
    )
