"""What an entry, route or decision requires, as sets of values and phrases, and proofs about two of them.

`Terms` are all that has to hold together. A proof may miss what is so, but says nothing that is not so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from skillweave.errors import InvalidGraph
from skillweave.graph.checkup.values import Values, compared, listed
from skillweave.graph.conditions import (
    AtIteration,
    Condition,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Predicate,
    Regex,
    UserContains,
    expression,
    leaves_of,
    phrases_of,
)
from skillweave.graph.declared import ANY, STATUSES, Decide, Entry, Route
from skillweave.graph.guards import FieldTest, Op, Scales
from skillweave.text.search import MatchMode, edges_of, fits

Place: TypeAlias = tuple[str, str]
"""Something with a value: a field that guards compare, the length of the history, the intent."""
TOOL: Place = ("field", "tool_name")
HISTORY: Place = ("history", "")
INTENT: Place = ("intent", "")
Bounds: TypeAlias = Iterable[FieldTest]
"""What is true of a field in the first place."""
ALWAYS: Bounds = (FieldTest("status", Op.IN, STATUSES), FieldTest("iteration", Op.GTE, 1))


@dataclass(frozen=True, slots=True)
class OnTool:
    """An expression that is found in the name of the tool."""

    regex: Regex


Part: TypeAlias = FieldTest | OnTool | Condition


def parts_of(condition: Condition | None) -> Iterator[Part]:
    """The parts of a condition, guards as their comparisons."""
    for leaf in leaves_of(condition):
        if isinstance(leaf, Guarded):
            yield from leaf.guard.tests
        else:
            yield leaf


def parts_of_route(route: Route) -> Iterator[Part]:
    """The parts of all conditions of a route; its tool's name and its statuses as the comparisons that they are."""
    if isinstance(route.on_tool, Regex):
        yield OnTool(route.on_tool)
    elif route.on_tool is not None:
        yield FieldTest("tool_name", Op.EQ, route.on_tool)
    if route.on_status:
        yield FieldTest("status", Op.IN, route.on_status)
    yield from parts_of(route.condition)
    if route.guard is not None:
        yield from route.guard.tests


@dataclass(frozen=True, slots=True)
class Phrases:
    """One of these phrases stands in the message."""

    phrases: frozenset[tuple[str, MatchMode]]


@dataclass(frozen=True, slots=True)
class Expression:
    """The expression is found in the message, or in the name of the tool."""

    regex: Regex
    in_tool: bool = False

    def finds(self, text: str) -> bool:
        """Whether it is found in the text; an expression that cannot be searched might be."""
        try:
            pattern = expression(self.regex)
        except InvalidGraph:
            return True
        return pattern.search(text.encode("utf-8", "replace")) is not None


@dataclass(frozen=True, slots=True)
class Code:
    """The host's own code returns true; `number` is the identity of the code."""

    number: int


Need: TypeAlias = Phrases | Expression | Code | FieldTest
"""What is no set of values; a comparison of a shape that is none stands for itself."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Everything that one declaration requires: the values that each place may have, and what else is needed."""

    values: Mapping[Place, Values]
    needs: frozenset[Need]

    @property
    def never(self) -> Place | None:
        """A place for which no value is left, so that the terms never hold; None where that is not proved."""
        return next((place for place, values in self.values.items() if values.is_empty), None)

    @cached_property
    def tools(self) -> frozenset[str] | None:
        """The names that the tool may have, None where any name is possible."""
        values = self.values.get(TOOL)
        if values is None or values.listed is None:
            return None
        return frozenset(name for _, name in values.listed if isinstance(name, str))

    @cached_property
    def in_tool(self) -> tuple[Expression, ...]:
        """The expressions that are to be found in the tool's name."""
        return tuple(need for need in self.needs if isinstance(need, Expression) and need.in_tool)


def bounds_of(source: Entry | Route | Decide) -> Bounds:
    """What is true of fields where the source is judged; for a route the current skill is known."""
    if not isinstance(source, Route):
        return ALWAYS
    op, skill = (Op.NE, source.to) if source.from_ == ANY else (Op.EQ, source.from_)
    return (*ALWAYS, FieldTest("current_skill_id", op, skill))


def terms_of(parts: Iterable[Part], scales: Scales, bounds: Bounds = ALWAYS) -> Terms:
    """What the parts require together, within the values that places can have."""
    values: dict[Place, Values] = {}
    needs: set[Need] = set()
    for part in parts:
        asked = asked_values(part, scales)
        if asked is None:
            needs.add(_need(part))
            continue
        place, wanted = asked
        values[place] = values[place].meet(wanted) if place in values else wanted
    for bound in bounds:
        place = ("field", bound.field)
        allowed = compared(bound, scales) if place in values else None
        if allowed is not None:
            values[place] = values[place].meet(allowed)
    return Terms(values, frozenset(needs))


def asked_values(part: Part, scales: Scales) -> tuple[Place, Values] | None:
    """The place that a part is about, and the values that it asks for; None for a part that is no set of values."""
    match part:
        case FieldTest():
            place, wanted = ("field", part.field), compared(part, scales)
        case AtIteration(iteration):
            place, wanted = ("field", "iteration"), listed((iteration,))
        case HistoryMin(messages):
            place, wanted = HISTORY, compared(FieldTest("", Op.GTE, messages), scales)
        case Intent(intent):
            place, wanted = INTENT, listed((intent,))
        case _:
            return None
    return None if wanted is None else (place, wanted)


def _need(part: Part) -> Need:
    match part:
        case Keywords() | UserContains():
            return Phrases(frozenset(phrases_of(part)))
        case Regex():
            return Expression(_plain(part))
        case OnTool(regex):
            return Expression(_plain(regex), in_tool=True)
        case Predicate(call):
            return Code(id(call))
        case FieldTest():
            return part
        case _:
            return Code(id(part))


def _plain(regex: Regex) -> Regex:
    """The expression with those flags only that change what it finds, in one order."""
    return Regex(regex.source, "".join(flag for flag in "ims" if flag in regex.flags))


def implies(terms: Terms, other: Terms) -> bool:
    """Whether `other` surely hold wherever `terms` hold."""
    for place, wanted in other.values.items():
        values = terms.values.get(place)
        if values is None or not values.within(wanted):
            return False
    return all(_has(terms, need) for need in other.needs)


def stands_in(phrase: tuple[str, MatchMode], longer: tuple[str, MatchMode]) -> bool:
    """Whether a message that has the longer phrase has the phrase too."""
    text, mode = phrase
    whole, whole_mode = longer
    if phrase == longer or (mode is MatchMode.SUBSTRING and text in whole):
        return True
    return whole_mode is MatchMode.WORD and mode is MatchMode.WORD and _as_word(text, whole)


def _has(terms: Terms, need: Need) -> bool:
    if need in terms.needs:
        return True
    if isinstance(need, Expression) and need.in_tool:
        tools = terms.tools
        return tools is not None and all(map(need.finds, tools))
    if isinstance(need, Phrases):
        own = (one.phrases for one in terms.needs if isinstance(one, Phrases))
        return any(all(any(stands_in(short, long) for short in need.phrases) for long in longs) for longs in own)
    return False


@lru_cache(maxsize=4096)
def _as_word(text: str, whole: str) -> bool:
    # Where the phrase ends with the longer one, both ask the same of the text around them: the last letters are equal.
    edges = edges_of(text)
    start = whole.find(text) if text else -1
    while start >= 0:
        if fits(whole, start, start + len(text), edges):
            return True
        start = whole.find(text, start + 1)
    return False


def disjoint(one: Terms, other: Terms) -> bool:
    """Whether tools, statuses, values or intents prove that both never hold for one result; words prove nothing."""
    shared = one.values.keys() & other.values.keys()
    if any(not one.values[place].overlaps(other.values[place]) for place in shared):
        return True
    tools, expressions = one.tools if other.tools is None else other.tools, (*one.in_tool, *other.in_tool)
    return tools is not None and not any(all(need.finds(tool) for need in expressions) for tool in tools)
