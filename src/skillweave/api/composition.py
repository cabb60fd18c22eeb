"""Questions about several skills, about a tool call, and about a sub-agent, as they are asked of the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.api.turn_request import one_key
from skillweave.checking import most, require_few
from skillweave.codec import Portable
from skillweave.compose.composition import Mode
from skillweave.compose.spawn import SpawnPlan, SpawnRequest
from skillweave.conversation import LONGEST_ID, MOST_MESSAGES, MOST_NAMED, Message, Placement
from skillweave.errors import InvalidSkill, InvalidSpawn, InvalidTurn
from skillweave.limits import MOST_ENTRIES, ToolLimits


@dataclass(frozen=True, slots=True)
class ComposeRequest(Portable):
    """Which skills to merge; `mode` is `union` or `intersection`. Raises InvalidSkill for more than 1,000."""

    json_keys: ClassVar[tuple[str, ...]] = ("skills", "mode?")
    json_exact: ClassVar[bool] = True

    skills: tuple[str, ...] = field(metadata=most(MOST_NAMED))
    mode: Mode = Mode.UNION

    def __post_init__(self) -> None:
        require_few(self, InvalidSkill)


@dataclass(frozen=True, slots=True)
class ValidateRequest(Portable):
    """Skills to be used together, and the host's tools, None if not stated. Raises InvalidSkill over 1,000 skills."""

    json_keys: ClassVar[tuple[str, ...]] = ("skills", "host_tools?")
    json_exact: ClassVar[bool] = True

    skills: tuple[str, ...] = field(metadata=most(MOST_NAMED))
    host_tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))

    def __post_init__(self) -> None:
        require_few(self, InvalidSkill)


@dataclass(frozen=True, slots=True)
class AuthorizeRequest(Portable):
    """A tool call that is to be judged by what holds in the conversation now.

    A person's yes is known by the `call_id`; `parameters` are names that the tool takes, `host_tools` the host's.
    `tools`, `limits` and `placement` are those of the conversation's turns.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("conversation", "tool", "arguments?", "call_id?", "parameters?", "host_tools?"),
        *("tools?", "limits?", "placement?"),
    )
    json_exact: ClassVar[bool] = True

    conversation: str
    tool: str
    arguments: Mapping[str, object] | None = field(default=None, hash=False)
    call_id: str | None = None
    parameters: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    host_tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    limits: ToolLimits | None = None
    placement: Placement = Placement.HISTORY

    def __post_init__(self) -> None:
        require_few(self, InvalidTurn, self.limits)


@dataclass(frozen=True, slots=True)
class SpawnQuestion(Portable):
    """A sub-agent that is to be started: the request, and who spawns. Raises InvalidSpawn.

    `parent` is the id of the conversation, or `plan` the plan that its own sub-agent was started with; without both
    nobody's limits hold. Without a `spawn_id` the Idempotency-Key is the id of the spawn, else it has a new one.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("request", "parent?", "plan?", "tools?", "spawn_id?")
    json_exact: ClassVar[bool] = True

    request: SpawnRequest
    parent: str | None = None
    plan: SpawnPlan | None = None
    tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    spawn_id: str | None = None

    def __post_init__(self) -> None:
        require_few(self, InvalidSpawn)
        if self.parent is not None and self.plan is not None:
            raise InvalidSpawn("a spawn has `parent` and `plan`; give one of the two, as one agent spawns it")

    def id_with(self, key: str | None) -> str | None:
        """The id of the spawn, None for a new one; `key` is the Idempotency-Key. Raises InvalidSpawn for two ids."""
        return one_key("spawn has the id", self.spawn_id, key, InvalidSpawn) or None


@dataclass(frozen=True, slots=True)
class ToolCallRequest(Portable):
    """A call of one of skillweave's own tools, as the model made it.

    `arguments` None stands for what was no JSON object. `call_id`, else the Idempotency-Key, makes the call repeatable.
    `transcript` is what the model was sent and said until now.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("name", "arguments", "call_id?", "transcript?"),
        *("tools?", "limits?", "placement?"),
    )
    json_exact: ClassVar[bool] = True

    name: str
    arguments: Mapping[str, object] | None = field(hash=False)
    call_id: str | None = None
    transcript: tuple[Message, ...] | None = field(default=None, metadata=most(MOST_MESSAGES))
    tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    limits: ToolLimits | None = None
    placement: Placement | None = None

    def __post_init__(self) -> None:
        require_few(self, InvalidTurn, self.limits)
        if self.call_id is not None and len(self.call_id) > LONGEST_ID:
            raise InvalidTurn(f"the `call_id` has {len(self.call_id):,} characters; give at most {LONGEST_ID}")
