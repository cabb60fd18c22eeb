"""What stands at an arrow or in a diamond when its author gave no label (spec 3.6)."""

from collections.abc import Iterator
from itertools import islice

from skillweave.graph.conditions import (
    AllOf,
    AtIteration,
    Condition,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Predicate,
    Regex,
    UserContains,
    leaves_of,
)
from skillweave.graph.declared import Decide, Entry, Route
from skillweave.graph.drawing.printable import printable
from skillweave.graph.guards import FieldTest, Guard, shown

LONGEST_CAPTION = 100
"""So many characters a derived caption has at most."""

_LONGEST_PIECE = 32
_MOST = 3


def entry_caption(entry: Entry) -> str:
    """The label of an entry, or what lets a conversation begin there; a base entry says that it is one."""
    if entry.label is not None:
        return entry.label
    caption = "" if entry.condition is None else condition_caption(entry.condition)
    if entry.base:
        return f"base: {caption}" if caption else "base"
    return caption


def decision_caption(node: Decide) -> str:
    """The label of a decision, or its condition."""
    return condition_caption(node.condition) if node.label is None else node.label


def route_caption(route: Route) -> str:
    """The label of a route, or all that has to hold for it; empty for a route that only the model takes."""
    if route.label is not None:
        return route.label
    when = [] if route.condition is None else [condition_caption(route.condition)]
    if route.guard is not None:
        when.append(_guard(route.guard) or "always")
    parts = [_result(route), " and ".join(when)]
    caption = " when ".join(part for part in parts if part)
    priority = f" (priority {route.priority})" if route.priority else ""
    return printable(caption, LONGEST_CAPTION - len(priority)) + priority


def condition_caption(condition: Condition) -> str:
    """A condition in a few words."""
    words = _few(_words(part) for part in leaves_of(condition))
    return printable(" and ".join(filter(None, words)) or "always", LONGEST_CAPTION)


def _result(route: Route) -> str:
    statuses = " or ".join(_few(_piece(status) for status in route.on_status))
    if route.on_tool is None:
        return f"status {statuses}" if statuses else ""
    tool = _piece(route.on_tool) if isinstance(route.on_tool, str) else _expression(route.on_tool)
    return f"on {tool}: {statuses}" if statuses else f"on {tool}"


def _words(condition: Condition) -> str:
    match condition:
        case Keywords(words):
            return f"says {', '.join(_few(_quoted(word) for word in words))}"
        case Regex():
            return _expression(condition)
        case UserContains(text):
            return f"contains {_quoted(text)}"
        case HistoryMin(messages):
            return f"≥ {messages} messages"
        case AtIteration(iteration):
            return f"iteration {iteration}"
        case Intent(intent):
            return f"intent: {_piece(intent)}"
        case Guarded(guard):
            return _guard(guard)
        case Predicate():
            return _code(condition)
        case AllOf():
            return ""


def _guard(guard: Guard) -> str:
    return " and ".join(_few(_test(test) for test in guard.tests))


def _test(test: FieldTest) -> str:
    if not isinstance(test.value, tuple):
        return str(FieldTest(_piece(test.field), test.op, _piece(shown(test.value))))
    few = tuple(_few(_piece(shown(value)) for value in test.value))
    return str(FieldTest(_piece(test.field), test.op, few))


def _code(predicate: Predicate) -> str:
    name = predicate.name.rpartition(".")[2]
    return "code" if name == "<lambda>" else f"{_piece(name)}()"


def _expression(regex: Regex) -> str:
    return f"/{_piece(regex.source)}/{_piece(regex.flags)}"


def _quoted(text: str) -> str:
    return f"“{_piece(text)}”"


def _piece(text: str) -> str:
    return printable(text, _LONGEST_PIECE)


def _few(pieces: Iterator[str]) -> list[str]:
    first = list(islice(pieces, _MOST))
    more = sum(1 for _ in pieces)
    return [*first, f"+{more} more"] if more else first
