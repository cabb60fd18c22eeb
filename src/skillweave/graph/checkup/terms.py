"""What has to hold together, as sets of values and phrases that can be compared with another such whole."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from skillweave.errors import InvalidGraph
from skillweave.graph.checkup.parts import OnTool, Part
from skillweave.graph.checkup.values import ANY_TEXT, Numbers, Point, Values, Words, compared, listed, numbers
from skillweave.graph.conditions import AtIteration, HistoryMin, Intent, Keywords, Predicate, Regex, UserContains
from skillweave.graph.declared import ANY, STATUSES, Decide, Entry, Route
from skillweave.graph.guards import FieldTest
from skillweave.graph.lexicon import expression, phrases_of
from skillweave.graph.scales import Scales
from skillweave.text.search import MatchMode

Place: TypeAlias = tuple[str, str]
"""Something with a value: a field that guards compare, the length of the history, the intent."""

TOOL: Place = ("field", "tool_name")
HISTORY: Place = ("history", "")
INTENT: Place = ("intent", "")

_MOST_POINTS = 64

Bounds: TypeAlias = Mapping[Place, Values]
"""What a place may be in the first place."""

ALWAYS: Bounds = {
    TOOL: ANY_TEXT,
    ("field", "result"): ANY_TEXT,
    ("field", "user_message"): ANY_TEXT,
    ("field", "current_skill_id"): ANY_TEXT,
    ("field", "status"): listed(STATUSES),
    ("field", "iteration"): Values(numbers=numbers(low=(1, 0), whole=True)),
}


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
    """The host's own code says yes; the number tells one piece of code from another."""

    number: int


Need: TypeAlias = Phrases | Expression | Code | FieldTest
"""What is no set of values; a comparison of a shape that is none stands for itself."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The values that each place may have, and what else is needed; all of it together."""

    values: Mapping[Place, Values]
    needs: frozenset[Need]

    @property
    def never(self) -> Place | None:
        """A place for which no value is left, so that all of it never holds; None where that is not proved."""
        return next((place for place, values in self.values.items() if values.is_empty), None)

    @cached_property
    def tools(self) -> frozenset[str] | None:
        """The names that the tool may have, None where there is no end of them."""
        values = self.values.get(TOOL)
        return None if values is None or values.texts.outside else values.texts.listed

    @cached_property
    def points(self) -> Mapping[Place, tuple[Point, ...]]:
        """The places with few enough values to be told one by one, and these."""
        found = ((place, values.points) for place, values in self.values.items())
        return {place: points for place, points in found if points is not None and len(points) <= _MOST_POINTS}

    @cached_property
    def in_tool(self) -> tuple[Expression, ...]:
        """The expressions that are to be found in the tool's name."""
        return tuple(need for need in self.needs if isinstance(need, Expression) and need.in_tool)


def bounds_of(source: Entry | Route | Decide) -> Bounds:
    """What places may be where that is judged: a route knows the current skill, which ANY never leads to."""
    if not isinstance(source, Route):
        return ALWAYS
    from_any = source.from_ == ANY
    current = Words(frozenset((source.to if from_any else source.from_,)), outside=from_any)
    return {**ALWAYS, ("field", "current_skill_id"): Values(current)}


def terms_of(parts: Iterable[Part], scales: Scales, bounds: Bounds = ALWAYS) -> Terms:
    """What the parts ask for, where places are bound so."""
    values: dict[Place, Values] = {}
    needs: set[Need] = set()
    for part in parts:
        asked = asked_values(part, scales)
        if asked is None:
            needs.add(_need(part))
            continue
        place, wanted = asked
        before = values.get(place) or bounds.get(place)
        values[place] = wanted if before is None else before.meet(wanted)
    return _narrowed(Terms(values, frozenset(needs)))


def asked_values(part: Part, scales: Scales) -> tuple[Place, Values] | None:
    """The place that a part is about and the values that it wants there; None for what is no set of values."""
    match part:
        case FieldTest():
            wanted = compared(part, scales)
            return None if wanted is None else (("field", part.field), wanted)
        case AtIteration(iteration):
            return ("field", "iteration"), Values(numbers=Numbers(only=frozenset((iteration,))))
        case HistoryMin(messages):
            return HISTORY, Values(numbers=numbers(low=(messages, 0), whole=True))
        case Intent(intent):
            return INTENT, listed((intent,))
        case _:
            return None


def _narrowed(terms: Terms) -> Terms:
    """The same, with the names of the tool only in which its expressions are found."""
    tools, in_tool = terms.tools, terms.in_tool
    if tools is None or not in_tool:
        return terms
    names = frozenset(tool for tool in tools if all(need.finds(tool) for need in in_tool))
    return Terms({**terms.values, TOOL: Values(Words(names))}, terms.needs.difference(in_tool))


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
