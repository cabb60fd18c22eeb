"""A sub-agent before it starts: what is asked for, whether it may be, and what it may do (spec 4.4).

The request is seed 002's SubagentSpawnRequest.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from skillweave.checking import most, require_few
from skillweave.codec import Portable, write
from skillweave.compose.composition import (
    ActiveSkill,
    Composition,
    compose_ids,
    limited,
    limits_of,
    policy_of,
    without_asks,
)
from skillweave.compose.policy import ToolPolicy
from skillweave.conversation import LONGEST_ID, MOST_NAMED, Message, Role, Turn
from skillweave.disclose.render import render_agent
from skillweave.errors import InvalidSkill, InvalidSpawn
from skillweave.frozen import as_json, freeze
from skillweave.limits import ToolLimits
from skillweave.registry import Snapshot
from skillweave.relations.rules import name_shown, standing_shown
from skillweave.relations.validate import (
    Completion,
    ValidationError,
    ValidationResult,
    complete_skills,
    require_names,
    validate_skills,
)
from skillweave.skill import EMPTY, FrozenJson, thaw

_TEXTS = ("task", "label", "model", "thinking")
_KEYS = ("task", "skills", "label", "model", "thinking")


@dataclass(frozen=True, slots=True)
class SpawnRequest(Portable):
    """A sub-agent for a task: `skills` None asks for no restriction, an empty list for no capability at all.

    `label`, `model`, `thinking` and `extra` are for whoever starts the agent; skillweave only carries them. Raises
    InvalidSpawn for a task without a word in it, for skills that are not a list, and for other values of a wrong
    type.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("task", "label?", "model?", "thinking?", "skills?")

    task: str
    skills: tuple[str, ...] | None = field(default=None, metadata=most(MOST_NAMED))
    label: str | None = None
    model: str | None = None
    thinking: str | None = None
    extra: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name == "task"):
                raise InvalidSpawn(f"`{name}` of a spawn request is {type(value).__name__}; give a text")
        if not self.task.strip():
            raise InvalidSpawn("a spawn request says nothing in `task`; say what the sub-agent is to do")
        if self.skills is not None:
            object.__setattr__(self, "skills", _skill_names(self.skills))
            require_few(self, InvalidSpawn)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """The request in JSON data; parameters that are unknown here are kept in `extra`. Raises InvalidSpawn."""
        if not isinstance(data, Mapping):
            raise InvalidSpawn(f"a spawn request is a mapping, not {type(data).__name__}; give at least `task`")
        try:
            known = cls.json_fields(data)
        except ValueError as error:
            raise InvalidSpawn(f"a parameter of a spawn request holds {error}; give JSON data") from None
        return cls(**{"task": None, **known, "extra": freeze(known["extra"])})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `from_dict` takes, what is not stated left out."""
        return {**{name: thaw(value) for name, value in self.extra.items()}, **write(self)}

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The known parameters, and the others as `extra`. Raises ValueError for what JSON does not have."""
        known = {name: data[name] for name in _KEYS if name in data}
        return {**known, "extra": as_json({name: value for name, value in data.items() if name not in _KEYS})}


def _skill_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple | str):
        raise InvalidSpawn(f"`skills` of a spawn request is {type(value).__name__}; give a list of skill ids")
    try:
        return require_names(value)
    except InvalidSkill as error:
        raise InvalidSpawn(f"`skills` of a spawn request: {error}") from None


@dataclass(frozen=True, slots=True)
class Parent(Portable):
    """The agent that spawns: its conversation, and what it may call now (`Injection.tools` of its turn).

    `asking` are, by tool entry and then by checkpoint, the skills that ask there, where these are known: a sub-agent
    with the same skills is asked at the same checkpoints, and what a person says about its call there counts.
    """

    conversation: str
    policy: ToolPolicy
    asking: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default=EMPTY, hash=False)

    def asks_beside(self, skills: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """What it asks before tools, but for what those skills ask in its place."""
        same = {
            (entry, name)
            for entry, owners_of in self.asking.items()
            for name, owners in owners_of.items()
            if set(owners) <= set(skills)
        }
        return without_asks(self.policy.asks, same)


@dataclass(frozen=True, slots=True)
class SpawnPlan(Portable):
    """A sub-agent that may be started, and all that it has to be started with.

    `conversation` is its own: it has its own context. `tools` are the entries that its turns are granted, None when
    nothing restricts them; `policy.offers(names)` filters a host's list. `limits` belong to each of its turns, and
    bound what it spawns itself. `text` is for its system prompt, empty when there is nothing to say. `parent_asks` are
    those checkpoints in the policy that its parent has to ask about; the others are of its own skills.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("state", "conversation", "request", "skills", "composition", "policy", "tools", "limits", "text", "warnings"),
        "parent_asks?",
    )
    state: ClassVar[str] = "validated"

    request: SpawnRequest
    conversation: str
    composition: Composition
    policy: ToolPolicy
    text: str
    warnings: tuple[str, ...] = ()
    parent_asks: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)

    @property
    def skills(self) -> tuple[str, ...]:
        """The ids of its skills, which its turns name."""
        return self.composition.skills

    @property
    def limits(self) -> ToolLimits:
        """What no turn of it, and nothing that it spawns, may exceed."""
        theirs = {(tool, name) for tool, names in self.parent_asks.items() for name in names}
        own = without_asks(self.policy.asks, theirs)
        return replace(limits_of(self.policy), asks=self.parent_asks, own_asks=own)

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The tool entries that its turns are granted, None when nothing restricts them."""
        return self.limits.allowed

    def as_parent(self) -> Parent:
        """The sub-agent as one that spawns in its turn."""
        return Parent(self.conversation, self.policy)

    def turn(self, message: str | Message, turn_id: str) -> Turn:
        """A turn of the sub-agent with its skills, its tools and its limits; `replace` adds what else a host knows."""
        said = Message(Role.USER, message) if isinstance(message, str) else message
        return Turn(turn_id, self.conversation, said, named=self.skills, tools=self.tools, limits=self.limits)


@dataclass(frozen=True, slots=True)
class SpawnRejected(Portable):
    """Nothing may start; `result` has the structured errors of seed 002, `fix` says what to ask for instead.

    `completion` is the same list of skills with all companions, None where even that is not valid.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("state", "request", "valid", "errors", "warnings", "completion", "fix")
    state: ClassVar[str] = "rejected"

    request: SpawnRequest
    result: ValidationResult
    completion: Completion | None
    fix: str

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data with the result as one value."""
        return {**data, "result": data}

    @property
    def valid(self) -> bool:
        """Never: that the request is rejected."""
        return self.result.valid

    @property
    def warnings(self) -> tuple[str, ...]:
        """What blocks nothing, and deserves a look."""
        return self.result.warnings

    @property
    def errors(self) -> tuple[ValidationError, ...]:
        """Every error, in the order of the skills."""
        return self.result.errors

    @property
    def message(self) -> str:
        """The rejection in words, for the agent that asked."""
        errors = "; ".join(error.message for error in self.errors)
        end = "" if errors.endswith("?") else "."
        return f"the sub-agent is not started: {errors}{end} To have it started, {self.fix}"


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
    Raises InvalidSpawn for an unusable id and for tools that are not a list, InvalidTurn for a parent that is no
    conversation.
    """
    conversation = conversation_of(parent, spawn_id)
    host_tools = None if tools is None else _names(tools)
    asked = request.skills
    closed = frozenset[str]() if parent is None else parent.policy.elsewhere.closed_skills
    result = check_spawn(asked or (), snapshot, host_tools=host_tools, granted=granted, closed=closed)
    if not result.valid:
        return _rejected(request, result, snapshot, granted, closed)
    composition = Composition(allowed_tools=None) if asked is None else compose_ids(asked, snapshot)
    active = [ActiveSkill(snapshot[skill], deliberate=True) for skill in composition.skills]
    policy = policy_of(active, grant=host_tools)
    if composition.allowed_tools == ():
        policy = replace(policy, allowed_tools=())
    within = policy if parent is None else limited(policy, limits_of(parent.policy))
    text = render_agent(
        request.label or "sub-agent",
        [one.skill for one in active],
        allowed=limits_of(within).allowed,
        forbidden=within.forbidden_tools,
        steps=composition.execution_protocol,
    )
    warnings = (*result.warnings, *_withheld(policy, within))
    parent_asks = EMPTY if parent is None else parent.asks_beside(composition.skills)
    return SpawnPlan(request, conversation, composition, within, text, warnings, parent_asks)


def check_spawn(
    names: Sequence[str],
    snapshot: Snapshot,
    *,
    host_tools: Sequence[str] | None = None,
    granted: frozenset[str] | None = None,
    closed: frozenset[str] = frozenset(),
) -> ValidationResult:
    """What `validate_skills` says, and an error for each skill that a sub-agent would never be given (V001).

    `closed` are the skills that its parent may not open where it stands in the skill graph.
    """
    result = validate_skills(names, snapshot, host_tools=host_tools)
    useless = [error for name in names if (error := _never_given(name, snapshot, granted, closed)) is not None]
    places = {name: place for place, name in enumerate(names)}
    errors = tuple(sorted((*useless, *result.errors), key=lambda error: places[error.skill]))
    return replace(result, valid=not errors, errors=errors)


def _never_given(
    name: str, snapshot: Snapshot, granted: frozenset[str] | None, closed: frozenset[str]
) -> ValidationError | None:
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
    if name in closed:
        message = (
            f"{shown} cannot be opened where the agent that spawns stands in the skill graph, so that no sub-agent "
            "of it can have it; leave it out, or spawn from its own place"
        )
        return ValidationError("SKILL_NOT_REACHABLE", message, name, "V001")
    return None


def conversation_of(parent: Parent | None, spawn_id: str) -> str:
    """The sub-agent's own conversation, `{parent}/{spawn_id}`, with nothing before the `/` for one without a parent.

    Raises InvalidSpawn and InvalidTurn like `prepare_spawn`.
    """
    if not spawn_id or "/" in spawn_id or not spawn_id.isprintable():
        raise InvalidSpawn(f"{spawn_id[:60]!r} is not a spawn id; use printable characters without `/`, as in a UUID")
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


def _withheld(policy: ToolPolicy, within: ToolPolicy) -> Iterator[str]:
    """A warning for each tool that the skills need and the parent does not hand on."""
    given = frozenset(within.allowed_tools or ())
    for entry in policy.allowed_tools or ():
        if within.allowed_tools is not None and entry not in given:
            yield f"the tool {name_shown(entry)} is left out or narrowed: the agent that spawns may not use all of it"


def _rejected(
    request: SpawnRequest,
    result: ValidationResult,
    snapshot: Snapshot,
    granted: frozenset[str] | None,
    closed: frozenset[str],
) -> SpawnRejected:
    completion = complete_skills(request.skills or (), snapshot)
    if completion.added and check_spawn(completion.skills, snapshot, granted=granted, closed=closed).valid:
        together = ", ".join(map(name_shown, completion.skills))
        return SpawnRejected(request, result, completion, f"ask for {together} together")
    return SpawnRejected(request, result, None, "correct each of these errors, or ask for other skills")
