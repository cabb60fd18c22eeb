"""What asking for a sub-agent comes to: a plan to start it with, or a rejection that says why (spec 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skillweave.compose.composition import Composition
from skillweave.compose.limits import limits_of, without_asks
from skillweave.compose.policy import ToolPolicy
from skillweave.compose.spawn_request import SpawnRequest
from skillweave.conversation import Message, Role, Turn
from skillweave.limits import ToolLimits, no_checkpoints
from skillweave.relations.complete import Completion
from skillweave.relations.validate import ValidationError, ValidationResult


@dataclass(frozen=True, slots=True)
class Parent:
    """The agent that spawns: its conversation, and what it may call now (`Injection.tools` of its turn)."""

    conversation: str
    policy: ToolPolicy


@dataclass(frozen=True, slots=True)
class SpawnPlan:
    """A sub-agent that may be started, and all that it has to be started with.

    `conversation` is its own: it has its own context. `tools` are the entries that its turns are granted, None when
    nothing restricts them; `policy.offers(names)` filters a host's list. `limits` belong to each of its turns, and
    bound what it spawns itself. `text` is for its system prompt, empty when there is nothing to say. `parent_asks` are
    those checkpoints in the policy that its parent has to ask about; the others are of its own skills.
    """

    request: SpawnRequest
    conversation: str
    composition: Composition
    policy: ToolPolicy
    text: str
    warnings: tuple[str, ...] = ()
    parent_asks: Mapping[str, tuple[str, ...]] = field(default_factory=no_checkpoints, hash=False)

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

    def to_dict(self) -> dict[str, object]:
        """The JSON form; `request` is what was asked for, `limits` are those of `ToolLimits.from_dict`."""
        return {
            "state": "validated",
            "conversation": self.conversation,
            "request": self.request.to_dict(),
            "skills": list(self.skills),
            "composition": self.composition.to_dict(),
            "policy": self.policy.to_dict(),
            "tools": None if self.tools is None else list(self.tools),
            "limits": self.limits.to_dict(),
            "text": self.text,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class SpawnRejected:
    """Nothing may start; `result` has the structured errors of seed 002, `fix` says what to ask for instead.

    `completion` is the same list of skills with all companions, None where even that is not valid.
    """

    request: SpawnRequest
    result: ValidationResult
    completion: Completion | None
    fix: str

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

    def to_dict(self) -> dict[str, object]:
        """The JSON form `{state, request, valid, errors, warnings, completion, fix}`."""
        return {
            "state": "rejected",
            "request": self.request.to_dict(),
            **self.result.to_dict(),
            "completion": None if self.completion is None else self.completion.to_dict(),
            "fix": self.fix,
        }
