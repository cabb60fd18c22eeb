"""What asking for a sub-agent comes to: a plan to start it with, or a rejection that says why (spec 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from skillweave.codec import Portable
from skillweave.compose.composition import Composition
from skillweave.compose.limits import limits_of, without_asks
from skillweave.compose.policy import ToolPolicy
from skillweave.compose.spawn_request import SpawnRequest
from skillweave.conversation import Message, Role, Turn
from skillweave.frozen import EMPTY
from skillweave.limits import ToolLimits
from skillweave.relations.complete import Completion
from skillweave.relations.validate import ValidationError, ValidationResult


@dataclass(frozen=True, slots=True)
class Parent(Portable):
    """The agent that spawns: its conversation, and what it may call now (`Injection.tools` of its turn)."""

    conversation: str
    policy: ToolPolicy


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
