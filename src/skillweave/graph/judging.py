"""What conditions are judged against at one moment, and what comes of it (spec 3.1, 3.2)."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from skillweave.conversation import ToolResult
from skillweave.decisions import Evidence
from skillweave.graph.guards import MISSING, FieldTest, Guard, Missing, Scales, holds, type_name
from skillweave.graph.move import MoveContext
from skillweave.graph.scoring import EntryScoring
from skillweave.text.search import Automaton, Folded, Pattern, fold_message, without_middle

LONGEST_RESULT = 1_000_000
"""Characters of a tool result whose fields are read; a guard on a field of a longer one does not hold."""
TOO_LONG = Missing()
"""What a field of such a result is."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """All words and expressions of a graph, compiled once, so that a message is searched for them in one pass.

    `sought` has for a condition its phrases by the numbers under which the automaton reports them, each with the words
    that were declared; `patterns` are the expressions, those that are searched in the names of tools among them. Safe
    to share between threads.
    """

    automaton: Automaton
    sought: Mapping[Hashable, tuple[tuple[int, str], ...]]
    patterns: Mapping[Hashable, Pattern]


class FailedTest(NamedTuple):
    """The comparison for which a guard does not hold, and what was found in place of its value; lives for one move."""

    test: FieldTest
    found: object

    @property
    def reason(self) -> str:
        """Why it does not hold, without what was found, so that it may be kept."""
        wanted = self.test.value if isinstance(self.test.value, tuple) else (self.test.value,)
        if self.found is TOO_LONG:
            why = f"the result is longer than {LONGEST_RESULT:,} characters"
        elif self.found is MISSING:
            why = "there is no such field"
        elif all(type_name(value) != type_name(self.found) for value in wanted):
            why = f"it is {type_name(self.found)}"
        else:
            why = "it does not hold"
        return f"{self.test}: {why}"


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
    """One moment with the graph's lexicon and scales, as conditions see it; lives for one call.

    The message is folded and searched, and a result's JSON is read, when the first condition asks, and only once.
    """

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
            self._hits = self.lexicon.automaton.find(self.message.text) if self.context.user else {}
        return self._hits

    def fields_of(self, result: ToolResult) -> Mapping[str, object]:
        """The fields of a result that is a JSON object; empty for any other result."""
        known = self._fields.get(id(result))
        if known is None:
            known = self._fields[id(result)] = _read_fields(result.content)
        return known


def judge_guard(guard: Guard, ctx: EvalContext, result: ToolResult | None) -> Verdict:
    """Whether all comparisons hold; `closed` is the first that does not."""
    for test in guard.tests:
        found = _found(test.field, ctx, result)
        if not holds(test, found, ctx.scales):
            return Verdict(holds=False, closed=FailedTest(test, found))
    return Verdict(holds=True, evidence=(Evidence("guard", str(guard)),))


def _found(name: str, ctx: EvalContext, result: ToolResult | None) -> object:
    context = ctx.context
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
            return ctx.fields_of(result).get(name, MISSING)


def _read_fields(content: str) -> Mapping[str, object]:
    if not content.lstrip().startswith("{"):
        return {}
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # prose that begins with a brace is not JSON, and has no fields
        return {}
    return data if isinstance(data, dict) else {}
