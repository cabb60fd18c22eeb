"""What a turn yields: the text to place, the tools in force, and the reasons (spec 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.compose.policy import ToolPolicy
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import Message, Placement
from skillweave.disclose.block import Rung
from skillweave.graph.move import Move
from skillweave.skill import CheckpointScope
from skillweave.state.state import FallbackKind

LEDGER_UNAVAILABLE = "ledger-unavailable"
"""The code of the diagnostic of a turn in which the ledger did not answer."""
DECISIONS_NOT_KEPT = "decisions-not-kept"
"""The code of the diagnostic of a turn that is complete, and whose decisions `why` will not know."""


@dataclass(frozen=True, slots=True)
class Fallback(Portable):
    """What the tail says when nothing matched or the user asked what there is; never part of the history."""

    kind: FallbackKind
    text: str


@dataclass(frozen=True, slots=True)
class Block(Portable):
    """A text given in this turn: `id` is its message's, `keys` are the ledger's rows that it carries."""

    id: str
    skill_id: str
    rung: Rung
    keys: tuple[str, ...]
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Drop(Portable):
    """A block that the host is to take out of the history; its tokens count again where a transcript still shows it."""

    skill_id: str
    message_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class PendingCheckpoint(Portable):
    """A checkpoint that nobody has decided yet, of a skill in force, or of a rejected one that still guards a tool.

    `digest` is that of the skill's text as it is now, with the arguments that stand in it: hand it to
    `weaver.approvals.decide`, so that a person's verdict never falls on a text that the person did not see. With the
    scope `call` each call before which it stands is decided by itself, so that it is pending as long as its skill is
    there.
    """

    skill_id: str
    name: str
    before: str | None
    blocking: bool
    reviewer: str | None
    asks: str | None
    digest: str = ""
    scope: CheckpointScope = CheckpointScope.CALL

    @property
    def per_call(self) -> bool:
        """Whether each call has to be decided by itself."""
        return self.before is not None and self.scope != CheckpointScope.CONVERSATION


@dataclass(frozen=True, slots=True)
class TokenReport(Portable):
    """Tokens of this turn: of catalog and tail, of what is injected, and what is left of the budget.

    `tail` are those of `catalog` that stand at the end of this call only. `by_tier` has the keys `1`, `2`, `3` and
    `3.5`; `encoding` and `exact` say what kind of tokens these are. `everything` is what the whole catalog and the
    instructions of every active skill would take, None while nobody has counted it;
    `injection.measured_against(await weaver.skills.tokens_of_everything())` has it.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("catalog", "tail", "injected", "by_tier", "by_skill", "left"),
        *("everything", "saved_percent", "encoding", "exact"),
    )

    catalog: int
    injected: int
    by_tier: Mapping[str, int] = field(hash=False)
    by_skill: Mapping[str, int] = field(hash=False)
    left: int
    encoding: str
    exact: bool
    everything: int | None = None
    tail: int = 0

    @property
    def saved_percent(self) -> float | None:
        """How much less this turn adds than loading everything would, in percent; 0 for an empty library.

        None while `everything` is not counted.
        """
        if self.everything is None:
            return None
        return round(100 * (1 - (self.catalog + self.injected) / self.everything), 1) if self.everything else 0.0


@dataclass(frozen=True, slots=True)
class CacheReport(Portable):
    """How much of the text that skillweave placed before keeps its bytes, so that a provider's prompt cache holds.

    `prefix_tokens` were there in the turn before, `stable_tokens` of them still are, from the start and unbroken.
    """

    prefix_tokens: int
    stable_tokens: int


class _Ruled(Portable):
    """What holds for an answer with a tool policy."""

    __slots__ = ()
    checkpoints: tuple[PendingCheckpoint, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def without_ledger(self) -> bool:
        """Whether the ledger did not answer, so that rules and verdicts of earlier turns may be missing here."""
        return any(diagnostic.code == LEDGER_UNAVAILABLE for diagnostic in self.diagnostics)

    @property
    def waits(self) -> bool:
        """Whether a person must decide before the model acts: a blocking checkpoint that stands before no one tool."""
        return any(checkpoint.blocking and checkpoint.before is None for checkpoint in self.checkpoints)


@dataclass(frozen=True, slots=True)
class CurrentPolicy(_Ruled):
    """What the agent may call between two turns, and the checkpoints that wait for a person.

    `revision` is that of the State that it was read from, None while the ledger does not answer. `rejected` are the
    texts in the history that a person's no takes out.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "waits")

    turn_id: str
    conversation: str
    placement: Placement
    generation: int
    revision: int | None
    tools: ToolPolicy
    checkpoints: tuple[PendingCheckpoint, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    rejected: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class Injection(_Ruled):
    """The answer to one turn.

    `messages` are to be appended to the history (history placement), `instructions` belong into the system prompt: the
    catalog where it stands in every call, and in call placement every block in force. `tail` is text for the end of
    this call only, after the whole history, so that nothing before it changes: the shortlist of the `offered` skills,
    or the fallback. `blocks` are the texts given in this turn, `drop` what the host is to take out of the history,
    whose room is used already (in answer to a read that did not fit: what may go before it is read again). `move` is
    what the turn did in the skill graph, None without one, and `reachable` are the skills that the model may open
    there. `revision` is that of the conversation's State after the turn, None where nothing was stored. `present` are
    the skills whose text the ledger says is in the context after this turn, `rejected` the texts in the history that a
    person's no takes out.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("turn_id", "conversation", "placement", "generation", "messages", "instructions", "catalog"),
        *("tail", "offered", "fallback", "skills"),
        *("decisions", "tools", "checkpoints", "waits", "drop", "tokens", "cache", "diagnostics", "move", "reachable"),
        "...",
    )

    turn_id: str
    conversation: str
    placement: Placement
    generation: int
    messages: tuple[Message, ...]
    instructions: str
    catalog: str
    fallback: Fallback | None
    blocks: tuple[Block, ...]
    drop: tuple[Drop, ...]
    tools: ToolPolicy
    checkpoints: tuple[PendingCheckpoint, ...]
    decisions: tuple[Decision, ...]
    tokens: TokenReport
    cache: CacheReport
    diagnostics: tuple[Diagnostic, ...] = ()
    move: Move | None = None
    reachable: tuple[str, ...] = ()
    revision: int | None = None
    present: tuple[str, ...] = ()
    rejected: tuple[Drop, ...] = ()
    tail: str = ""
    offered: tuple[str, ...] = ()

    def measured_against(self, everything: int) -> "Injection":
        """The answer with what loading everything would take, as `weaver.skills.tokens_of_everything()` says, in it."""
        return replace(self, tokens=replace(self.tokens, everything=everything))

    @property
    def policy(self) -> CurrentPolicy:
        """The tool policy and the checkpoints of this turn, without its texts."""
        return CurrentPolicy(
            self.turn_id,
            self.conversation,
            self.placement,
            self.generation,
            self.revision,
            self.tools,
            self.checkpoints,
            self.diagnostics,
            self.rejected,
        )

    @property
    def leaving(self) -> tuple[Drop, ...]:
        """The texts that are to leave the history now: those of rejected skills, and those that make room."""
        return (*self.rejected, *self.drop)

    @property
    def skills(self) -> tuple[str, ...]:
        """The ids of the skills whose text is given in this turn: more of it than the line of a catalog."""
        return tuple(dict.fromkeys(block.skill_id for block in self.blocks if block.rung > Rung.CATALOG))
