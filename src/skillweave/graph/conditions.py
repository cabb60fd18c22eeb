"""The conditions of a graph, the same everywhere: entries, routes, trees (spec 3.1).

One class per kind says all that there is to a kind: how data spells it, when it holds, what shows it, how a drawing
words it. A new kind is one more class here, its name in `Condition`, and its shape in `schema.json`; only where a
checkup is to prove something by it, `checkup/terms.py` says by which values.
"""

import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, get_args

from skillweave.conversation import ToolResult
from skillweave.decisions import Evidence
from skillweave.errors import InvalidGraph
from skillweave.graph.guards import FailedTest, Guard, Scales, holds, read_fields, read_guard, value_at, write_guard
from skillweave.graph.move import MoveContext, PredicateContext
from skillweave.graph.scoring import EntryScoring
from skillweave.graph.shape import (
    MOST_ITEMS,
    inside,
    require_count,
    require_known_keys,
    require_list,
    require_mapping,
    require_text,
    require_texts,
    shown,
    wrong,
)
from skillweave.graph.wording import first_few, piece
from skillweave.text.search import (
    Automaton,
    BrokenPattern,
    Folded,
    MatchMode,
    Pattern,
    compile_flagged,
    fold,
    fold_message,
    in_characters,
    without_middle,
)

log = logging.getLogger("skillweave")

FLAGS = "imsu"
"""What an expression's flags are made of."""
DEEPEST_ALL = 32
"""How deep `all` may stand in `all`."""
CONDITION_FORM = "write a mapping with one kind of condition, such as {keywords: [refund]}"


Phrase: TypeAlias = tuple[str, MatchMode]
"""Folded text, and how it has to stand in the message."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """All words and expressions of a graph, compiled; `sought` has each condition's phrases by number."""

    automaton: Automaton
    sought: Mapping[Hashable, tuple[tuple[int, str], ...]]
    patterns: Mapping[Hashable, Pattern]


class Verdict(NamedTuple):
    """What became of a condition: `raised` says that its own code failed, `closed` what a guard did not let pass."""

    holds: bool
    evidence: tuple[Evidence, ...] = ()
    raised: bool = False
    closed: FailedTest | None = None


HOLDS = Verdict(holds=True)
HOLDS_NOT = Verdict(holds=False)


@dataclass(slots=True, eq=False)
class EvalContext:
    """One moment as conditions see it, for one call; the message is searched and JSON read once, when needed."""

    lexicon: Lexicon
    scales: Scales
    context: MoveContext
    scoring: EntryScoring | None = None
    _message: Folded | None = None
    _encoded: bytes | None = None
    _hits: dict[int, tuple[int, int]] | None = None
    _fields: dict[int, Mapping[str, object]] = field(default_factory=dict)

    @property
    def message(self) -> Folded:
        """The user's message, folded."""
        if self._message is None:
            self._message = fold_message(without_middle(self.context.user))
        return self._message

    @property
    def encoded(self) -> bytes:
        """The user's message, unfolded, in UTF-8."""
        if self._encoded is None:
            self._encoded = self.message.original.encode()
        return self._encoded

    @property
    def hits(self) -> Mapping[int, tuple[int, int]]:
        """The phrases of the graph that stand in the message, by number, with their folded spans."""
        if self._hits is None:
            self._hits = self.lexicon.automaton.search(self.message.text).spans if self.context.user else {}
        return self._hits

    def fields_of(self, result: ToolResult) -> Mapping[str, object]:
        """The fields of a result that is a JSON object; empty for any other result."""
        known = self._fields.get(id(result))
        if known is None:
            known = self._fields[id(result)] = read_fields(result.content)
        return known


@dataclass(frozen=True, slots=True)
class ConditionKind:
    """What every kind of condition does: `key` and keys `beside` it in data, read by `readers` into its fields."""

    # No ABC: its `isinstance` is a call of Python code, and moves are made of them. Type checkers hold kinds to this.

    key: ClassVar[str]
    beside: ClassVar[tuple[str, ...]] = ()
    readers: ClassVar[tuple[Callable[[object, str], Any], ...]] = ()

    @classmethod
    def read(cls, data: Mapping[str, object], place: str) -> Self:
        """The condition that the data at that place says, which has the kind's key; raises InvalidGraph."""
        named = zip((cls.key, *cls.beside), cls.readers, strict=True)
        return cls(*(read(data[key], inside(place, key)) for key, read in named if key in data))

    def write(self, place: str = "") -> dict[str, object]:
        """The condition as plain data; raises InvalidGraph for what data cannot carry."""
        values = [getattr(self, one.name) for one in fields(self)]
        plain = [list(value) if isinstance(value, tuple) else value for value in values]
        beside = zip(self.beside, plain[1:], strict=True)
        return {self.key: plain[0], **{key: value for key, value in beside if value}}

    @abstractmethod
    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        """Whether it holds at this moment, after that tool result where one is judged; never raises."""

    @abstractmethod
    def caption(self) -> str:
        """The condition in a few words, for a drawing."""

    def digest(self) -> list[object]:
        """What of it counts for the graph's digest: its key and its values."""
        return [self.key, *(getattr(self, one.name) for one in fields(self))]


@dataclass(frozen=True, slots=True)
class Keywords(ConditionKind):
    """One of the words or phrases stands in the user's message, between word boundaries, in any letter case."""

    words: tuple[str, ...]
    key: ClassVar[str] = "keywords"
    readers = (partial(require_texts, fix="write a list of words or phrases"),)

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        return _first_hit(self, "keyword", ctx)

    def caption(self) -> str:
        return f"says {', '.join(first_few(f'“{piece(word)}”' for word in self.words))}"


@dataclass(frozen=True, slots=True)
class Regex(ConditionKind):
    """The expression is found in the user's message; `flags` are of `i` (any case), `m`, `s` and `u` (ignored)."""

    source: str
    flags: str = ""
    key: ClassVar[str] = "regex"
    beside: ClassVar[tuple[str, ...]] = ("flags",)

    @classmethod
    def read(cls, data: Mapping[str, object], place: str) -> Self:
        source = require_text(data["regex"], inside(place, "regex"), "write a regular expression")
        flags = data.get("flags", "")
        if not isinstance(flags, str) or set(flags) - set(FLAGS) or len(set(flags)) < len(flags):
            raise wrong(inside(place, "flags"), f"it is {shown(flags)}", f"write letters of {FLAGS!r}, each once")
        regex = cls(source, str(flags))
        try:
            expression(regex)
        except InvalidGraph as error:
            where = inside(place, "regex")
            raise InvalidGraph(f"{where}: {error}", place=where) from error
        return regex

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        match = ctx.lexicon.patterns[self].search(ctx.encoded)
        if match is None:
            return HOLDS_NOT
        start, end = in_characters(ctx.encoded, *match.span())
        return _shown_by(Evidence("expression", self.source, start, end))

    def caption(self) -> str:
        return f"/{piece(self.source)}/{piece(self.flags)}"


@dataclass(frozen=True, slots=True)
class UserContains(ConditionKind):
    """The user's message contains the text, also inside words, in any letter case."""

    text: str
    key: ClassVar[str] = "user_contains"
    readers = (partial(require_text, fix="write the text to look for"),)

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        return _first_hit(self, "contains", ctx)

    def caption(self) -> str:
        return f"contains “{piece(self.text)}”"


@dataclass(frozen=True, slots=True)
class HistoryMin(ConditionKind):
    """The history has at least so many messages."""

    messages: int
    key: ClassVar[str] = "history_min"
    readers = (partial(require_count, least=0),)

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        if len(ctx.context.history) < self.messages:
            return HOLDS_NOT
        return _shown_by(Evidence("history", f"at least {self.messages} messages"))

    def caption(self) -> str:
        return f"≥ {self.messages} messages"


@dataclass(frozen=True, slots=True)
class AtIteration(ConditionKind):
    """It is the model's n-th call since the user spoke, counted from 1."""

    iteration: int
    key: ClassVar[str] = "iteration"
    readers = (partial(require_count, least=1),)

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        if ctx.context.iteration != self.iteration:
            return HOLDS_NOT
        return _shown_by(Evidence("iteration", f"iteration {self.iteration}"))

    def caption(self) -> str:
        return f"iteration {self.iteration}"


def _read_members(value: object, place: str) -> tuple["Condition", ...]:
    members = require_list(value, place, "write a list of conditions")
    return tuple(_read_data(member, inside(place, number)) for number, member in enumerate(members))


@dataclass(frozen=True, slots=True)
class AllOf(ConditionKind):
    """Every one of the conditions holds."""

    members: tuple["Condition", ...]
    key: ClassVar[str] = "all"
    readers = (_read_members,)

    def write(self, place: str = "") -> dict[str, object]:
        return {"all": [_write(member, _member(place, number)) for number, member in enumerate(self.members)]}

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        """Whether all parts hold; the first that does not ends the judging."""
        evidence: list[Evidence] = []
        for part in leaves_of(self):
            verdict = part.judge(ctx, result)
            if not verdict.holds:
                return verdict
            evidence += verdict.evidence
        return Verdict(holds=True, evidence=tuple(evidence))

    def caption(self) -> str:
        return " and ".join(filter(None, first_few(part.caption() for part in leaves_of(self))))


@dataclass(frozen=True, slots=True)
class Intent(ConditionKind):
    """The graph's scorer judges that this is what the user wants; `examples` are phrases that mean it."""

    intent: str
    examples: tuple[str, ...] = ()
    key: ClassVar[str] = "intent"
    beside: ClassVar[tuple[str, ...]] = ("examples",)
    readers = (
        partial(require_text, fix="name what the user wants"),
        partial(require_texts, fix="write phrases that mean the intent"),
    )

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        if ctx.scoring is None or ctx.scoring.intent != self.intent:
            return HOLDS_NOT
        return _shown_by(Evidence("intent", self.intent))

    def caption(self) -> str:
        return f"intent: {piece(self.intent)}"


@dataclass(frozen=True, slots=True)
class Guarded(ConditionKind):
    """A guard as a condition of its own: it reads the tool result that is judged, or else the last one."""

    guard: Guard
    key: ClassVar[str] = "guard"
    readers = (read_guard,)

    def write(self, place: str = "") -> dict[str, object]:
        return {"guard": write_guard(self.guard, inside(place, "guard"))}

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        tools = ctx.context.tools
        return judge_guard(self.guard, ctx, result or (tools[-1] if tools else None))

    def caption(self) -> str:
        return self.guard.caption()

    def digest(self) -> list[object]:
        return [self.key, self.guard.digest()]


@dataclass(frozen=True, slots=True)
class Predicate(ConditionKind):
    """Code of the host's own, which data cannot carry; it may return anything that is true or false, or raise."""

    call: Callable[[PredicateContext], object]
    key: ClassVar[str] = "code"

    @property
    def name(self) -> str:
        """How the code is called in drawings and messages; of an object that can be called, its class."""
        has_name = isinstance(self.call, type | FunctionType | MethodType | BuiltinFunctionType)
        return str((self.call if has_name else type(self.call)).__qualname__)

    @classmethod
    def read(cls, data: Mapping[str, object], place: str) -> Self:
        raise wrong(place, "a condition that is code cannot be read from data", CONDITION_FORM)

    def write(self, place: str = "") -> dict[str, object]:
        rule = f"the condition is code ({self.name[:60]}), which data cannot carry"
        raise wrong(place, rule, "say it with keywords, regex or guard, or keep this graph in Python")

    def judge(self, ctx: EvalContext, result: ToolResult | None = None) -> Verdict:
        try:
            answer = self.call(PredicateContext(ctx.context, result))
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()
                return self._failed("is async, and conditions are judged without waiting")
            held = bool(answer)
        except Exception as error:  # the host's own code may raise anything, and must not end the turn
            log.warning("condition %s raised and counts as no match", self.name, exc_info=True)
            return self._failed(type(error).__name__)
        return _shown_by(Evidence("predicate", self.name)) if held else HOLDS_NOT

    def _failed(self, what: str) -> Verdict:
        return Verdict(holds=False, evidence=(Evidence("raised", f"{self.name}: {what}"),), raised=True)

    def caption(self) -> str:
        name = self.name.rpartition(".")[2]
        return "code" if name == "<lambda>" else f"{piece(name)}()"

    def digest(self) -> list[object]:
        return [self.key, self.name]


Condition: TypeAlias = Keywords | Regex | UserContains | HistoryMin | AtIteration | AllOf | Intent | Guarded | Predicate
Phrased: TypeAlias = Keywords | UserContains
"""The conditions that look for phrases."""

KINDS: Mapping[str, type[Condition]] = {kind.key: kind for kind in get_args(Condition) if kind is not Predicate}
"""Every kind of condition that data can carry, by its key."""


def leaves_of(condition: Condition | None) -> Iterator[Condition]:
    """The condition's parts that are no `all`, in order; none for no condition."""
    waiting = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AllOf):
            waiting.extend(reversed(part.members))
        else:
            yield part


def intents_of(condition: Condition | None) -> tuple[Intent, ...]:
    """The intents that a condition asks for."""
    return tuple(leaf for leaf in leaves_of(condition) if isinstance(leaf, Intent))


def phrases_of(condition: Condition) -> Sequence[Phrase]:
    """The folded phrases that the condition looks for, with the way in which they have to stand in the message."""
    if isinstance(condition, Keywords):
        return [(spaced(word), MatchMode.WORD) for word in condition.words]
    return [(fold(condition.text), MatchMode.SUBSTRING)] if isinstance(condition, UserContains) else []


def spaced(text: str) -> str:
    """The folded text with one space between two words."""
    return " ".join(fold(text).split())


@lru_cache(maxsize=4096)
def expression(regex: Regex) -> Pattern:
    """The compiled expression; raises InvalidGraph for one that the linear-time engine refuses."""
    try:
        return compile_flagged(regex.source, regex.flags)
    except BrokenPattern as error:
        raise InvalidGraph(f"the expression {regex.source[:100]!r} cannot be used: {error}. {error.fix}") from error


def read_condition(value: Mapping[str, object] | Condition, place: str) -> Condition:
    """The condition at that place, as data or as a value. Raises InvalidGraph naming the place and the fix."""
    _require_bounded(value, place)
    return _read(value, place)


def write_condition(condition: Condition, place: str = "") -> dict[str, object]:
    """The condition as plain data; raises InvalidGraph for code, which data cannot carry."""
    _require_bounded(condition, place)
    return _write(condition, place)


def judge_guard(guard: Guard, ctx: EvalContext, result: ToolResult | None) -> Verdict:
    """Whether all comparisons hold; `closed` is the first that does not."""
    for test in guard.tests:
        found = value_at(test.field, ctx.context, result, ctx.fields_of)
        if not holds(test, found, ctx.scales):
            return Verdict(holds=False, closed=FailedTest(test, found))
    return Verdict(holds=True, evidence=(Evidence("guard", str(guard)),))


def _shown_by(evidence: Evidence) -> Verdict:
    return Verdict(holds=True, evidence=(evidence,))


def _first_hit(condition: Phrased, kind: str, ctx: EvalContext) -> Verdict:
    hits = ctx.hits
    for number, word in ctx.lexicon.sought[condition] if hits else ():
        span = hits.get(number)
        if span is not None:
            return _shown_by(Evidence(kind, word, *ctx.message.span(*span)))
    return HOLDS_NOT


def _read(value: object, place: str) -> Condition:
    if isinstance(value, Predicate):
        return value
    if isinstance(value, AllOf):
        return AllOf(tuple(_read(member, _member(place, number)) for number, member in enumerate(value.members)))
    return _read_data(_write(value, place) if isinstance(value, ConditionKind) else value, place)


def _read_data(value: object, place: str) -> Condition:
    data = require_mapping(value, place, CONDITION_FORM)
    kinds = [kind for key, kind in KINDS.items() if key in data]
    if len(kinds) > 1:
        both = " and ".join(key for key in data if key in KINDS)
        raise wrong(place, f"it has {both} in one condition", "put each into a condition of its own under `all`")
    if not kinds:
        stray = next((kind for kind in KINDS.values() if any(key in data for key in kind.beside)), None)
        if stray is not None:
            raise wrong(place, f"`{stray.beside[0]}` stands without `{stray.key}`", f"add `{stray.key}`")
        if not data:
            raise wrong(place, "the condition is empty", CONDITION_FORM)
        require_known_keys(data, tuple(KINDS), place)
    kind = kinds[0]
    require_known_keys(data, (kind.key, *kind.beside), place)
    return kind.read(data, place)


def _write(condition: object, place: str) -> dict[str, object]:
    if not isinstance(condition, ConditionKind):
        raise wrong(place, f"it is {shown(condition)}, which is no condition", CONDITION_FORM)
    return condition.write(place)


def _member(place: str, number: int) -> str:
    return inside(inside(place, "all"), number)


def _require_bounded(value: object, place: str) -> None:
    """Refuse `all` that is nested too deeply or has too many members; walked level by level, as it may be deep."""
    level, depth, seen = [value], 0, 0
    while level := [member for one in level for member in _members(one)]:
        depth += 1
        seen += len(level)
        if depth > DEEPEST_ALL:
            raise wrong(place, f"`all` is nested deeper than {DEEPEST_ALL} levels", "put the conditions into one list")
        if seen > MOST_ITEMS:
            raise wrong(place, f"`all` has more than {MOST_ITEMS:,} conditions", "split the entry or route")


def _members(value: object) -> list[object]:
    if isinstance(value, AllOf):
        return list(value.members)
    members = value.get("all") if isinstance(value, Mapping) else None
    return list(members) if isinstance(members, list | tuple) else []
