"""The conversation of `demo`, as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from skillweave.codec import Portable
from skillweave.compose.policy import Ruling
from skillweave.frozen import FrozenJson
from skillweave.injection import Injection


@dataclass(frozen=True, slots=True)
class DemoCall(Portable):
    """A call of a tool: the ruling on it with its reason, and the answer, null where it was not allowed."""

    tool: str
    arguments: Mapping[str, FrozenJson]
    ruling: Ruling
    reason: str
    answer: Mapping[str, FrozenJson] | None


@dataclass(frozen=True, slots=True)
class DemoTurn(Portable):
    """One turn: what happened before it, who said what, what it shows, what was given, and what the model called then.

    `tokens_in_call` are those of skills in the model call that it prepares.
    """

    step: int
    event: Literal["nothing", "compaction", "eviction"]
    role: str
    message: str
    lesson: str
    tokens_in_call: int
    injection: Injection
    calls: tuple[DemoCall, ...]


@dataclass(frozen=True, slots=True)
class DemoTotals(Portable):
    """Tokens of skills in all calls, against loading every skill into each of them; `given` went into the history."""

    calls: int
    given: int
    tokens: int
    everything: int
    saved_percent: float


@dataclass(frozen=True, slots=True)
class Demo(Portable):
    """The conversation; `demo` names the pack's demo, and `ledger` is where it is kept."""

    demo: str | None
    skills: int
    steps: tuple[DemoTurn, ...]
    totals: DemoTotals
    ledger: str | None
