"""Short ways to make graphs and moments, and to ask them, for the tests of moving."""

from collections.abc import Callable, Iterable
from types import MappingProxyType

from skillweave import Evidence, Message, Role, ToolResult
from skillweave.graph import (
    Condition,
    Declared,
    Entry,
    EntryScoring,
    FieldTest,
    GraphSkill,
    Guard,
    Guarded,
    Keywords,
    MoveContext,
    Op,
    Predicate,
    PredicateContext,
    Route,
    SkillGraph,
)
from skillweave.graph.compiled import compile_lexicon
from skillweave.graph.conditions import EvalContext, Verdict
from skillweave.graph.guards import Scalar, Scales

RISK: Scales = MappingProxyType({"risk": ("low", "medium", "high", "critical")})


def said(*words: str) -> Keywords:
    """The user says one of the words."""
    return Keywords(words)


def where(field: str, op: Op | str, value: Scalar | tuple[Scalar, ...]) -> Guard:
    """A guard of one comparison."""
    return Guard((FieldTest(field, Op(op), value),))


def guarded(field: str, op: Op | str, value: Scalar | tuple[Scalar, ...]) -> Guarded:
    """The same as a condition."""
    return Guarded(where(field, op, value))


def answer(tool: str = "t", content: str = "ok", status: str = "success") -> ToolResult:
    """What a tool answered."""
    return ToolResult(tool, content, status)


def messages(count: int) -> tuple[Message, ...]:
    """A history of that length."""
    return tuple(Message(Role.USER, "x") for _ in range(count))


def graph(entries: Iterable[Entry] = (), routes: Iterable[Route] = (), **rest: object) -> SkillGraph:
    """A graph of entries and routes, unchecked."""
    return SkillGraph.of(Declared((), tuple(entries), tuple(routes), listed=False, **rest), check="off")  # type: ignore[arg-type]


def skills(*ids: str) -> tuple[GraphSkill, ...]:
    """Skills that are ids only."""
    return tuple(map(GraphSkill, ids))


def verdict(
    condition: Condition,
    context: MoveContext | None = None,
    result: ToolResult | None = None,
    scales: Scales = RISK,
    scoring: EntryScoring | None = None,
) -> Verdict:
    """What becomes of a condition at a moment."""
    lexicon = compile_lexicon(Declared(entries=(Entry("a", condition),)))
    return condition.judge(EvalContext(lexicon, scales, context or MoveContext(), scoring), result)


def code(call: Callable[[PredicateContext], object]) -> Predicate:
    """A condition of the host's own."""
    return Predicate(call)


def raises(_: PredicateContext) -> object:
    """Code that fails with somebody's words in its text."""
    raise ValueError("no look at all")


class Unclear:
    """Neither true nor false."""

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


def pieces(evidence: Iterable[Evidence]) -> list[tuple[str, str]]:
    """Evidence without its places."""
    return [(piece.kind, piece.text) for piece in evidence]
