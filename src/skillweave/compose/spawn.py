"""Before a sub-agent starts: may it have these skills, and what may it do with them (spec 4.4)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillweave.compose.composition import Composition, compose_ids
from skillweave.compose.force import InForce, policy_of
from skillweave.compose.limits import limited, limits_of
from skillweave.compose.policy import ToolPolicy
from skillweave.compose.spawn_plan import Parent, SpawnPlan, SpawnRejected
from skillweave.compose.spawn_request import SpawnRequest
from skillweave.conversation import LONGEST_ID, Message, Role, Turn
from skillweave.disclose.render_agent import render_agent
from skillweave.errors import InvalidSpawn
from skillweave.frozen import EMPTY
from skillweave.registry import Snapshot
from skillweave.relations.complete import complete_skills
from skillweave.relations.validate import ValidationError, ValidationResult, validate_skills
from skillweave.relations.wording import name_shown, standing_shown

__all__ = ["Parent", "SpawnPlan", "SpawnRejected", "SpawnRequest", "check_spawn", "conversation_of", "prepare_spawn"]

HOST = "host"
"""What engages the skills of a spawn: the host names them in the sub-agent's turns."""


def prepare_spawn(
    request: SpawnRequest,
    snapshot: Snapshot,
    parent: Parent | None = None,
    *,
    spawn_id: str,
    tools: Iterable[str] | None = None,
    granted: frozenset[str] | None = None,
) -> SpawnPlan | SpawnRejected:
    """Validate, then compose; nothing starts here, and the same input gives the same answer.

    `spawn_id` makes the sub-agent's conversation `{parent}/{spawn_id}`: another one for every spawn, the same one when
    a spawn is tried again. `tools` are those that the host has for the sub-agent, None when not stated; `granted` the
    skills that it may have, None for all. Inactive skills are rejected, as the sub-agent would never be given them.
    Raises InvalidSpawn for an id that cannot be one and for tools that are no list, InvalidTurn for a parent that is no
    conversation.
    """
    conversation = conversation_of(parent, spawn_id)
    host_tools = None if tools is None else _names(tools)
    result = check_spawn(request.skills or (), snapshot, host_tools=host_tools, granted=granted)
    if not result.valid:
        return _rejected(request, result, snapshot, granted)
    composition = _composition(request, snapshot)
    policy = _policy(composition, snapshot, host_tools)
    within = policy if parent is None else limited(policy, limits_of(parent.policy))
    text = render_agent(
        request.label or "sub-agent",
        [snapshot[skill] for skill in composition.skills],
        allowed=limits_of(within).allowed,
        forbidden=within.forbidden_tools,
        steps=composition.execution_protocol,
    )
    warnings = (*result.warnings, *_withheld(policy, within, parent))
    asked = EMPTY if parent is None else parent.policy.asks
    return SpawnPlan(request, conversation, composition, within, text, warnings, asked)


def check_spawn(
    names: Sequence[str],
    snapshot: Snapshot,
    *,
    host_tools: Sequence[str] | None = None,
    granted: frozenset[str] | None = None,
) -> ValidationResult:
    """What `validate_skills` says, and an error for each skill that a sub-agent would never be given (V001)."""
    result = validate_skills(names, snapshot, host_tools=host_tools)
    useless = [error for name in names if (error := _never_given(name, snapshot, granted)) is not None]
    places = {name: place for place, name in enumerate(names)}
    errors = tuple(sorted((*useless, *result.errors), key=lambda error: places[error.skill]))
    return replace(result, valid=not errors, errors=errors)


def _never_given(name: str, snapshot: Snapshot, granted: frozenset[str] | None) -> ValidationError | None:
    skill = snapshot.get(name)
    if skill is None:
        return None
    shown = name_shown(name)
    if not skill.status.selectable:
        message = f"{shown} is {standing_shown(skill)}, so that a sub-agent would never be given it; set it to active"
        return ValidationError("INACTIVE_SKILL", message, name, "V001")
    if granted is not None and name not in granted:
        message = f"{shown} is not granted to this agent, so that no sub-agent of it can have it; leave it out"
        return ValidationError("SKILL_NOT_GRANTED", message, name, "V001")
    return None


def conversation_of(parent: Parent | None, spawn_id: str) -> str:
    """The sub-agent's own conversation, `{parent}/{spawn_id}`, with nothing before the `/` for one without a parent.

    Raises InvalidSpawn and InvalidTurn like `prepare_spawn`.
    """
    if not spawn_id or "/" in spawn_id or not spawn_id.isprintable():
        raise InvalidSpawn(f"{spawn_id[:60]!r} is no spawn id; give printable characters without `/`, such as a UUID")
    if parent is not None:
        Turn("spawn", parent.conversation, Message(Role.USER, None))  # raises for what is no conversation
    conversation = f"{parent.conversation if parent else ''}/{spawn_id}"
    if len(conversation) > LONGEST_ID:
        raise InvalidSpawn(
            f"the sub-agent's conversation would have {len(conversation)} characters, more than {LONGEST_ID}; "
            "give a shorter spawn id, or spawn from an agent that is not so deep"
        )
    return conversation


def _names(tools: Iterable[str]) -> tuple[str, ...]:
    if isinstance(tools, str):
        raise InvalidSpawn(f"tools are a list of names, not the one text {tools[:60]!r}; write [{tools[:60]!r}]")
    return tuple(dict.fromkeys(tools))


def _composition(request: SpawnRequest, snapshot: Snapshot) -> Composition:
    if request.skills is None:
        return Composition(allowed_tools=None)
    return compose_ids(request.skills, snapshot)


def _policy(composition: Composition, snapshot: Snapshot, tools: Sequence[str] | None) -> ToolPolicy:
    policy = policy_of([InForce(snapshot[skill], HOST) for skill in composition.skills], grant=tools)
    return replace(policy, allowed_tools=()) if composition.allowed_tools == () else policy


def _withheld(policy: ToolPolicy, within: ToolPolicy, parent: Parent | None) -> Iterator[str]:
    """A warning for each tool that the skills need and the parent does not hand on."""
    given = set(within.allowed_tools or ())
    for entry in policy.allowed_tools or ():
        if within.allowed_tools is not None and entry not in given and parent is not None:
            yield f"the tool {name_shown(entry)} is left out or narrowed: the agent that spawns may not use all of it"


def _rejected(
    request: SpawnRequest, result: ValidationResult, snapshot: Snapshot, granted: frozenset[str] | None
) -> SpawnRejected:
    completion = complete_skills(request.skills or (), snapshot)
    if completion.added and check_spawn(completion.skills, snapshot, granted=granted).valid:
        together = ", ".join(map(name_shown, completion.skills))
        return SpawnRejected(request, result, completion, f"ask for {together} together")
    return SpawnRejected(request, result, None, "put right each of these errors, or ask for other skills")
