"""Questions about several skills, about a tool call, and about a sub-agent, as they are asked of the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.api.turn_request import one_key
from skillweave.codec import Portable
from skillweave.compose.composition import Mode
from skillweave.compose.spawn import SpawnPlan, SpawnRequest
from skillweave.dialogue import LONGEST_ID, Message, Placement
from skillweave.errors import InvalidSkill, InvalidSpawn, InvalidTurn
from skillweave.limits import ToolLimits

MOST_NAMED = 1_000
"""Skills, or tools of a host, that one question names."""


@dataclass(frozen=True, slots=True)
class ComposeRequest(Portable):
    """Which skills to merge; `mode` is `union` or `intersection`. Raises InvalidSkill for more than 1,000."""

    json_keys: ClassVar[tuple[str, ...]] = ("skills", "mode?")
    json_exact: ClassVar[bool] = True

    skills: tuple[str, ...]
    mode: Mode = Mode.UNION

    def __post_init__(self) -> None:
        _require_few(self.skills)


@dataclass(frozen=True, slots=True)
class ValidateRequest(Portable):
    """Which skills are to be used together, and the tools that the host has, None where it does not say.

    Raises InvalidSkill for more than 1,000 skills.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("skills", "host_tools?")
    json_exact: ClassVar[bool] = True

    skills: tuple[str, ...]
    host_tools: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _require_few(self.skills)


@dataclass(frozen=True, slots=True)
class AuthorizeRequest(Portable):
    """A tool call that is to be judged by what holds in the conversation now.

    `call_id` is the model's id of the call, by which a person's yes to it is known; `parameters` are the names that the
    tool takes, `host_tools` the tools that the host has. `tools`, `limits` and `placement` are those of the
    conversation's turns.
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
    parameters: tuple[str, ...] | None = None
    host_tools: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    limits: ToolLimits | None = None
    placement: Placement = Placement.HISTORY


@dataclass(frozen=True, slots=True)
class SpawnQuestion(Portable):
    """A sub-agent that is to be started: the request, and who spawns.

    `parent` is the id of the conversation that spawns, or `plan` the plan that a sub-agent was itself started with;
    without both nobody's limits hold. `tools` are those that the host has for the sub-agent, None where it does not
    say. Without a `spawn_id` the spawn has the Idempotency-Key as its id, else a new one. Raises InvalidSpawn for both
    `parent` and `plan`.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("request", "parent?", "plan?", "tools?", "spawn_id?")
    json_exact: ClassVar[bool] = True

    request: SpawnRequest
    parent: str | None = None
    plan: SpawnPlan | None = None
    tools: tuple[str, ...] | None = None
    spawn_id: str | None = None

    def __post_init__(self) -> None:
        if self.parent is not None and self.plan is not None:
            raise InvalidSpawn("a spawn has `parent` and `plan`; give one of the two, as one agent spawns it")

    def id_with(self, key: str | None) -> str | None:
        """The id of the spawn, None for a new one; `key` is the Idempotency-Key. Raises InvalidSpawn for two ids."""
        return one_key("spawn has the id", self.spawn_id, key, InvalidSpawn) or None


@dataclass(frozen=True, slots=True)
class ToolCallRequest(Portable):
    """A call of one of skillweave's own tools, as the model made it.

    `arguments` None stands for what was no JSON object. `call_id` makes the call repeatable; without one it has the
    Idempotency-Key. `transcript` is what the model was sent and said until now; `tools`, `limits` and `placement` are
    those of the conversation's turns.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("name", "arguments", "call_id?", "transcript?"),
        *("tools?", "limits?", "placement?"),
    )
    json_exact: ClassVar[bool] = True

    name: str
    arguments: Mapping[str, object] | None = field(hash=False)
    call_id: str | None = None
    transcript: tuple[Message, ...] | None = None
    tools: tuple[str, ...] | None = None
    limits: ToolLimits | None = None
    placement: Placement | None = None

    def __post_init__(self) -> None:
        if self.call_id is not None and len(self.call_id) > LONGEST_ID:
            raise InvalidTurn(f"the `call_id` has {len(self.call_id):,} characters; give at most {LONGEST_ID}")


def _require_few(skills: tuple[str, ...]) -> None:
    if len(skills) > MOST_NAMED:
        raise InvalidSkill(f"{len(skills):,} skills are named; name at most {MOST_NAMED:,}")
