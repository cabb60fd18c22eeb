"""Whether a condition holds at a moment, and what shows it; nothing that it does ever raises (spec 3.1, 3.2)."""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from skillweave.conversation import ToolResult
from skillweave.decisions import Evidence
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
from skillweave.graph.context import Look, MoveContext
from skillweave.graph.guards import MISSING, FieldTest, Guard, Missing, holds, type_name
from skillweave.graph.lexicon import Lexicon, Phrased
from skillweave.graph.scales import Scales
from skillweave.graph.scoring import EntryScoring
from skillweave.text.folding import Folded, fold_message
from skillweave.text.search import in_characters

log = logging.getLogger("skillweave")

LONGEST_RESULT = 1_000_000
"""Characters of a tool result whose fields are read; a guard on a field of a longer one does not hold."""
TOO_LONG = Missing()
"""What a field of such a result is."""


class Closed(NamedTuple):
    """The comparison for which a guard does not hold, and what was found in place of its value; lives for one move."""

    test: FieldTest
    found: object

    @property
    def reason(self) -> str:
        """Why it does not hold, without what was found."""
        return f"{self.test}: {_why_not(self.test, self.found)}"


class Verdict(NamedTuple):
    """What became of a condition: `raised` says that its own code failed, `closed` what a guard did not let pass."""

    holds: bool
    evidence: tuple[Evidence, ...] = ()
    raised: bool = False
    closed: Closed | None = None


HOLDS = Verdict(holds=True)
HOLDS_NOT = Verdict(holds=False)


@dataclass(slots=True, eq=False)
class Sight:
    """One moment as conditions see it; lives for one call, in which nothing is worked out twice."""

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
            self._message = fold_message(self.context.user)
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
            self._hits = self.lexicon.automaton.find(self.message.text) if self.context.user else {}
        return self._hits

    def fields_of(self, result: ToolResult) -> Mapping[str, object]:
        """The fields of a result that is a JSON object; empty for any other result."""
        known = self._fields.get(id(result))
        if known is None:
            known = self._fields[id(result)] = _read_fields(result.content)
        return known


def judge(condition: Condition, sight: Sight, result: ToolResult | None = None) -> Verdict:
    """Whether the condition holds; a part of `all` that does not ends the judging."""
    if not isinstance(condition, AllOf):
        return _JUDGES[type(condition)](condition, sight, result)
    evidence: list[Evidence] = []
    for part in leaves_of(condition):
        verdict = _JUDGES[type(part)](part, sight, result)
        if not verdict.holds:
            return verdict
        evidence += verdict.evidence
    return Verdict(holds=True, evidence=tuple(evidence))


def judge_guard(guard: Guard, sight: Sight, result: ToolResult | None) -> Verdict:
    """Whether all comparisons hold; `closed` is the first that does not."""
    for test in guard.tests:
        found = _found(test.field, sight, result)
        if not holds(test, found, sight.scales):
            return Verdict(holds=False, closed=Closed(test, found))
    return Verdict(holds=True, evidence=(Evidence("guard", str(guard)),))


def _phrases(condition: Phrased, sight: Sight, _: ToolResult | None) -> Verdict:
    hits = sight.hits
    if not hits:
        return HOLDS_NOT
    for number, word in sight.lexicon.sought[condition]:
        span = hits.get(number)
        if span is not None:
            kind = "keyword" if isinstance(condition, Keywords) else "contains"
            return Verdict(holds=True, evidence=(Evidence(kind, word, *sight.message.span(*span)),))
    return HOLDS_NOT


def _regex(condition: Regex, sight: Sight, _: ToolResult | None) -> Verdict:
    match = sight.lexicon.patterns[condition].search(sight.encoded)
    if match is None:
        return HOLDS_NOT
    start, end = in_characters(sight.encoded, *match.span())
    return Verdict(holds=True, evidence=(Evidence("expression", condition.source, start, end),))


def _history_min(condition: HistoryMin, sight: Sight, _: ToolResult | None) -> Verdict:
    if len(sight.context.history) < condition.messages:
        return HOLDS_NOT
    return Verdict(holds=True, evidence=(Evidence("history", f"at least {condition.messages} messages"),))


def _at_iteration(condition: AtIteration, sight: Sight, _: ToolResult | None) -> Verdict:
    if sight.context.iteration != condition.iteration:
        return HOLDS_NOT
    return Verdict(holds=True, evidence=(Evidence("iteration", f"iteration {condition.iteration}"),))


def _intent(condition: Intent, sight: Sight, _: ToolResult | None) -> Verdict:
    scoring = sight.scoring
    if scoring is None or scoring.intent != condition.intent:
        return HOLDS_NOT
    return Verdict(holds=True, evidence=(Evidence("intent", condition.intent),))


def _guarded(condition: Guarded, sight: Sight, result: ToolResult | None) -> Verdict:
    tools = sight.context.tools
    return judge_guard(condition.guard, sight, result or (tools[-1] if tools else None))


def _predicate(condition: Predicate, sight: Sight, result: ToolResult | None) -> Verdict:
    try:
        answer = condition.call(Look(sight.context, result))
        if inspect.isawaitable(answer):
            return _raised(condition, "is async, and conditions are judged without waiting", answer)
        held = bool(answer)
    except Exception as error:  # the host's own code may raise anything, and must not end the turn
        log.warning("condition %s raised and counts as no match", condition.name, exc_info=True)
        return _raised(condition, type(error).__name__)
    return Verdict(holds=True, evidence=(Evidence("predicate", condition.name),)) if held else HOLDS_NOT


def _raised(condition: Predicate, what: str, waiting: object = None) -> Verdict:
    if inspect.iscoroutine(waiting):
        waiting.close()
    return Verdict(holds=False, evidence=(Evidence("raised", f"{condition.name}: {what}"),), raised=True)


_JUDGES: Mapping[type, Callable[[Any, Sight, ToolResult | None], Verdict]] = {
    Keywords: _phrases,
    UserContains: _phrases,
    Regex: _regex,
    HistoryMin: _history_min,
    AtIteration: _at_iteration,
    Intent: _intent,
    Guarded: _guarded,
    Predicate: _predicate,
}


def _found(name: str, sight: Sight, result: ToolResult | None) -> object:
    context = sight.context
    match name:
        case "iteration":
            return context.iteration
        case "user_message":
            return context.user
        case "current_skill_id":
            return MISSING if context.current is None else context.current
        case _ if result is None:
            return MISSING
        case "tool_name":
            return result.tool
        case "result":
            return result.content
        case "status":
            return result.status
        case _ if len(result.content) > LONGEST_RESULT:
            return TOO_LONG
        case _:
            return sight.fields_of(result).get(name, MISSING)


def _read_fields(content: str) -> Mapping[str, object]:
    if not content.lstrip().startswith("{"):
        return {}
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # prose that begins with a brace is no JSON, and has no fields
        return {}
    return data if isinstance(data, dict) else {}


def _why_not(test: FieldTest, found: object) -> str:
    if found is TOO_LONG:
        return f"the result is longer than {LONGEST_RESULT:,} characters"
    if found is MISSING:
        return "there is no such field"
    wanted = test.value if isinstance(test.value, tuple) else (test.value,)
    if all(type_name(value) != type_name(found) for value in wanted):
        return f"it is {type_name(found)}"
    return "it does not hold"
