"""What a condition of a graph says, as frozen values; the same everywhere: entries, routes, trees (spec 3.1)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, TypeAlias

from skillweave.graph.guards import Guard

if TYPE_CHECKING:
    from skillweave.graph.move import Look


@dataclass(frozen=True, slots=True)
class Keywords:
    """One of the words or phrases stands in the user's message, between word boundaries, in any letter case."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Regex:
    """The expression is found in the user's message; `flags` are of `i` (any case), `m`, `s` and `u` (ignored)."""

    source: str
    flags: str = ""


@dataclass(frozen=True, slots=True)
class UserContains:
    """The user's message contains the text, also inside words, in any letter case."""

    text: str


@dataclass(frozen=True, slots=True)
class HistoryMin:
    """The history has at least so many messages."""

    messages: int


@dataclass(frozen=True, slots=True)
class AtIteration:
    """It is the model's n-th call since the user spoke, counted from 1."""

    iteration: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of the conditions holds."""

    members: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """The graph's scorer judges that this is what the user wants; `examples` are phrases that mean it."""

    intent: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guarded:
    """A guard as a condition of its own."""

    guard: Guard


@dataclass(frozen=True, slots=True)
class Predicate:
    """Code of the host's own, which data cannot carry; it may return anything that is true or false, or raise."""

    call: "Callable[[Look], object]"

    @property
    def name(self) -> str:
        """How the code is called in drawings and messages; of an object that can be called, its class."""
        has_name = isinstance(self.call, type | FunctionType | MethodType | BuiltinFunctionType)
        return str((self.call if has_name else type(self.call)).__qualname__)


Condition: TypeAlias = Keywords | Regex | UserContains | HistoryMin | AtIteration | AllOf | Intent | Guarded | Predicate


def leaves_of(condition: Condition | None) -> Iterator[Condition]:
    """The condition's parts that are no `all`, in order; none for no condition."""
    waiting = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AllOf):
            waiting.extend(reversed(part.members))
        else:
            yield part
