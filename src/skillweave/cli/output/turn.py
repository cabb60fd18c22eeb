"""One turn for people: the move in the skill graph, what is given, its cost, the tools that may be used, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from skillweave.cli.output.page import Ink, Page, counted, listed, shown_time
from skillweave.codec import Portable
from skillweave.compose.policy import ToolPolicy
from skillweave.decisions import Decision, Outcome
from skillweave.events.payloads import CursorMoved, ToolBlocked
from skillweave.graph.declared import ANY
from skillweave.injection import Injection, PendingCheckpoint
from skillweave.state.port import Logged

if TYPE_CHECKING:
    from skillweave.graph.move import Cursor, Move


SHOWN_LOST = 3
SHOWN_STEPS = 10


def move_text(move: "Move", reachable: tuple[str, ...], page: Page) -> Iterator[str]:
    """The move in one entry, a few of those that lost, and the skills that the model may open now."""
    label, ink = _label(move)
    yield page.entry(label, f"{_way(move)}{move.reason}", ink)
    yield from not_taken_text(move, page, SHOWN_LOST)
    raised = (piece.text for piece in move.evidence if piece.kind == "raised")
    for text in list(raised)[:SHOWN_LOST]:
        yield page.entry("raised", text, Ink.WARN)
    yield page.entry("reachable", listed(reachable))


def not_taken_text(move: "Move", page: Page, most: int | None = None) -> Iterator[str]:
    """The ways that lost and the guards that were closed, so many of each."""
    for loser in move.losers[:most]:
        yield page.entry("not taken", f"to {loser.to}, by {loser.by.value}: {loser.reason}", Ink.FAINT)
    for closed in move.guards_closed[:most]:
        from_ = "any skill" if closed.from_ == ANY else closed.from_
        yield page.entry("closed", f"{way_text(from_, closed.to)}: {closed.reason}", Ink.FAINT)


def cursor_text(cursor: "Cursor", page: Page) -> str:
    """Where a conversation stands in its skill graph, and the way there."""
    way = " -> ".join(cursor.trail[-SHOWN_STEPS:])
    earlier = "... -> " if cursor.trail[SHOWN_STEPS:] else ""
    return page.entry("at", f"{cursor.skill} in the skill graph; the way there: {earlier}{way}", Ink.STRONG)


def way_text(from_: str | None, to: str | None) -> str:
    """`triage -> refund`; what begins comes from the start."""
    return f"{from_ or 'start'} -> {to}"


def _label(move: "Move") -> tuple[str, Ink]:
    if move.moved:
        return "moved", Ink.GOOD
    if move.by.value == "stopped":
        return "stopped", Ink.WARN
    if any(piece.kind in ("leaf", "pick") for piece in move.evidence):
        return "decided", Ink.GOOD  # a tree has no cursor to be moved
    return ("nowhere yet", Ink.FAINT) if move.to is None else ("stays", Ink.STRONG)


def _way(move: "Move") -> str:
    if move.moved:
        return f"{way_text(move.from_, move.to)}, by {move.by.value}: "
    return "" if move.to is None else f"at {move.to}: "


GIVEN = frozenset({Outcome.INJECTED, Outcome.REFRESHED, Outcome.UPGRADED})
PRESENT = frozenset({Outcome.ALREADY_PRESENT, Outcome.ADOPTED, Outcome.HELD})
PASSED_OVER = frozenset({Outcome.BELOW_THRESHOLD, Outcome.NOT_AT_CURSOR, Outcome.UNREACHABLE})
"""What was merely considered: of these a reader wants to see a few."""
SHOWN_LINES = 10
SHOWN_PASSED_OVER = 3


@dataclass(frozen=True, slots=True)
class Told(Portable):
    """What became of one message of `chat`: the reply, what was decided about which skill, and the blocked calls.

    `context` are the skills whose text the last call had, `skills` those whose text was given for this message.
    `offered` are those that the model may open, `diagnostics` codes of what went wrong, `moved` steps in the graph.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("message", "reply", "skills", "context", "tokens", "offered", "tail_tokens"),
        *("decisions", "blocked", "diagnostics", "moved"),
    )

    message: str
    reply: str
    decisions: tuple[Decision, ...]
    blocked: tuple[ToolBlocked, ...]
    context: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()
    moved: tuple[CursorMoved, ...] = ()
    offered: tuple[str, ...] = ()
    tail_tokens: int = 0

    @property
    def given(self) -> tuple[Decision, ...]:
        """The decisions by which text was given that the model had in the end: a person may have rejected it."""
        given = (decision for decision in self.decisions if decision.outcome in GIVEN)
        return tuple(decision for decision in given if decision.skill_id in self.context)

    @property
    def skills(self) -> tuple[str, ...]:
        """The skills whose text was given for this message."""
        return tuple(dict.fromkeys(decision.skill_id for decision in self.given))

    @property
    def tokens(self) -> int:
        """What the text costs that was given for this message."""
        return sum(decision.tokens or 0 for decision in self.given)


@dataclass(frozen=True, slots=True)
class Explained(Portable):
    """The kept decisions of a conversation, in their order."""

    conversation: str
    decisions: tuple[Logged, ...]


def explained_text(explained: Explained, page: Page) -> str:
    """The decisions turn by turn, each turn with its time."""
    turns: dict[str, list[Logged]] = {}
    for one in explained.decisions:
        turns.setdefault(one.turn_id, []).append(one)
    parts = []
    for turn_id, logged in turns.items():
        head = page.paint(f"turn {turn_id}, {shown_time(logged[0].at)}", Ink.STRONG)
        parts.append("\n".join([head, *decisions_text([one.decision for one in logged], page)]))
    return "\n\n".join(parts) or page.wrap("No skill was considered in any turn of this conversation.")


def injection_text(injection: Injection, page: Page, *, skills: int) -> str:
    """The whole turn; `skills` is how many a message can select from."""
    move = injection.move
    parts = [
        "" if move is None else "\n".join(move_text(move, injection.reachable, page)),
        "\n".join(decisions_text(injection.decisions, page)) or page.wrap(_nothing(skills)),
        "\n".join(_figures(injection, page, skills)),
        *_texts(injection, page),
    ]
    return "\n\n".join(part for part in parts if part)


def decisions_text(decisions: Sequence[Decision], page: Page) -> Iterator[str]:
    """Each decision with its reason, and a few of the skills that were merely considered."""
    passed_over = 0
    for decision in decisions:
        if decision.outcome in PASSED_OVER:
            passed_over += 1
            if passed_over > SHOWN_PASSED_OVER:
                continue
        yield decision_text(decision, page)
    if passed_over > SHOWN_PASSED_OVER:
        yield page.entry("", f"and {passed_over - SHOWN_PASSED_OVER} more (--json lists all)")


def decision_text(decision: Decision, page: Page) -> str:
    """One decision: the outcome, the skill and what it costs; below it the reason."""
    title = decision.skill_id
    if decision.tokens is not None:
        title += f", {counted(decision.tokens, 'token')}"
    elif decision.score is not None and decision.outcome in PASSED_OVER:
        title += f" ({decision.matcher} {decision.score:.2f})"
    ink = Ink.GOOD if decision.outcome in GIVEN else Ink.FAINT if decision.outcome in PASSED_OVER else Ink.STRONG
    if decision.outcome not in GIVEN | PRESENT | PASSED_OVER:
        ink = Ink.WARN
    head = page.entry(decision.outcome.value, title, ink)
    return f"{head}\n{page.entry('', decision.reason)}"


def tools_text(tools: ToolPolicy) -> str:
    """What may be called, in one sentence."""
    if tools.allowed_tools is None:
        if not tools.denied_tools:
            return "any that the host offers; no skill restricts them"
        return f"any that the host offers, except {listed(tools.denied_tools)}"
    sentence = f"only {listed(tools.allowed_tools)}" if tools.allowed_tools else "none"
    return f"{sentence}; never {listed(tools.denied_tools)}" if tools.denied_tools else sentence


def checkpoint_text(checkpoint: PendingCheckpoint, page: Page, of: str = "") -> str:
    """What waits for a person, and who asks what; `of` is the skill whose checkpoint it is, where that is not plain."""
    when = f" before {checkpoint.before}" if checkpoint.before else ""
    who = f", by the {checkpoint.reviewer}" if checkpoint.reviewer else ""
    asks = f": {checkpoint.asks}" if checkpoint.asks else ""
    return page.entry("approval", f"{checkpoint.name}{of and ' of '}{of}{when}{who}{asks}", Ink.WARN)


def spent_text(injection: Injection) -> str:
    """What this turn adds to the call, and how much of it is no skill's text."""
    tokens = injection.tokens
    other = " and ".join(what for what, text in (("catalog", injection.catalog), ("tail", injection.tail)) if text)
    share = f" ({tokens.catalog:,} for the {other})" if tokens.catalog else ""
    return f"{tokens.injected + tokens.catalog:,} added{share}"


def _figures(injection: Injection, page: Page, skills: int) -> Iterator[str]:
    tokens = injection.tokens
    yield page.entry("tools", tools_text(injection.tools))
    if injection.tools.preapproved_tools:
        yield page.entry("", f"may run without asking where you consent: {listed(injection.tools.preapproved_tools)}")
    for checkpoint in injection.checkpoints:
        yield checkpoint_text(checkpoint, page)
    yield page.entry("tokens", f"{spent_text(injection)}, {tokens.left:,} of the budget left")
    if skills:
        noun = "the one skill" if skills == 1 else f"all {skills:,} skills"
        yield page.entry("", f"loading {noun} would take {tokens.everything:,}: {tokens.saved_percent}% saved")
    for drop in injection.drop:
        whose = f"message {drop.message_id} of {drop.skill_id} ({counted(drop.tokens, 'token')})"
        what = f"{whose}: take it out of the history, its room is used already"
        yield page.entry("drop", what, Ink.WARN)


def _nothing(skills: int) -> str:
    return "No skill is about this message." if skills else "No skill is loaded that a message selects."


def _texts(injection: Injection, page: Page) -> Iterator[str]:
    for message in injection.messages:
        head = page.entry("message", f"{message.id} ({message.role.value})")
        yield f"{head}\n{page.excerpt(message.text, SHOWN_LINES)}"
    if injection.instructions:
        head = page.entry("system prompt", "the catalog" if injection.instructions == injection.catalog else "")
        yield f"{head}\n{page.excerpt(injection.instructions, SHOWN_LINES)}"
    if injection.tail:
        what = "the shortlist" if injection.fallback is None else injection.fallback.kind.value
        head = page.entry("tail", f"{what}, for the end of this call only")
        yield f"{head}\n{page.excerpt(injection.tail, SHOWN_LINES)}"
