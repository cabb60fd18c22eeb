"""`skillweave demo`: one conversation over the example skills, or that of a pack, over its entities and tools."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from textwrap import indent, shorten
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import Kept, kept_in, opened
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page
from skillweave.codec import Portable
from skillweave.compose.policy import Ruling
from skillweave.conversation import Message, Role, ToolResult, Turn
from skillweave.frozen import FrozenJson, as_json, freeze_mapping, thaw
from skillweave.injection import Injection
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.packs.demonstration import Demonstration, Scene, ToolUse
    from skillweave.packs.tool import Tool
    from skillweave.weaver import Weaver

EXAMPLES = {
    "demo": """
skillweave demo
skillweave demo texas-rrc
skillweave demo texas-rrc --ledger demo.db
skillweave demo --json
"""
}
SKILL = "multilingual-greetings"
SUMMARY = "Summary: the user had greetings written for Alice and Bob."
REPLY = "(the model answers)"
EVENTS: Mapping[int, Literal["nothing", "compaction", "eviction"]] = {4: "compaction", 5: "eviction"}
"""What happens before a scene of the example, by its place."""
HAPPENING = {
    "compaction": "The host compacts the history: only a summary is left of it, the skill's text is gone.",
    "eviction": f"Somebody evicts the skill, as `skillweave ledger evict CONVERSATION {SKILL}` does.",
}
EXCERPT_LINES = 12
"""So much is shown of a skill's text, and of what is known of an entity."""
ANSWER_PARTS = 6
_PATIENCE_SECONDS = 30.0
_ROLES = {Role.USER.value: "The user says", Role.ASSISTANT.value: "The model says"}


def _scenes() -> "tuple[Scene, ...]":
    from skillweave.packs.demonstration import Scene

    return (
        Scene(
            "Say bonjour to Alice",
            "A word of the message is a trigger of this skill. Its text goes into the history; of the others the model "
            "sees one line each.",
        ),
        Scene(
            "Now say hola to Bob",
            "The same skill is wanted, but its text still stands in the history: nothing is sent twice.",
        ),
        Scene(
            "What is 2+2?",
            "No skill is about this, so none is added. The catalog stands in every call with the same bytes, so that a "
            "provider's cache holds.",
        ),
        Scene(
            "Thank you!",
            "The skill is still engaged and its text is gone, so it comes back, although nothing in the message asks "
            "for it.",
        ),
        Scene(
            "Go on.",
            "What is evicted is forgotten, so it is given again. The old text counts until the host drops it from the "
            "history.",
        ),
    )


async def demo(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The demo of a pack, which shows its skills, its tools and what it knows of things.",
            show_default=False,
            autocompletion=completion.demos,
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        options.option(
            options.LEDGER,
            "--ledger URL-or-FILE",
            "Keep the conversation of a pack's demo there, so that a second run sends nothing twice. Default: nothing "
            "is kept.",
        ),
    ] = None,
) -> Answer:
    """See it work: one conversation over the example skills.

    Shows an injection, a follow-up with nothing sent twice, an unrelated question, a compacted history after which
    the skill comes back, and an eviction; each with the tokens against loading everything. With a NAME the demo of
    that pack is played instead. Nothing is written without --ledger.
    """
    from skillweave.packs.demonstration import DEMOS

    # One that is configured is for conversations of one's own.
    typed = getattr(ctx.get_parameter_source("ledger"), "name", "") == "COMMANDLINE"
    if name is None:
        if typed:
            raise Mistake("only the demo of a pack can be kept; name one: skillweave demo NAME --ledger FILE")
        shown = await _played(None, None, Kept(None, "demo"))
        return Answer(lambda: shown, partial(_text, shown, "One conversation over the example skills."))
    pack = DEMOS.make(name, lambda made: made())
    shown = await _played(name, pack, Kept(kept_in(ledger if typed else None, None).ledger, f"demo-{name}"))
    return Answer(lambda: shown, partial(_text, shown, pack.about))


def example_skills() -> Path:
    """The folder of example skills; raises Mistake where they were not installed."""
    package = Path(__file__).parents[1]
    for folder in (package / "examples" / "skills", package.parents[1] / "examples" / "skills"):
        if folder.is_dir():
            return folder
    raise Mistake("the example skills are not installed; install skillweave again, or name a folder with --skills")


@asynccontextmanager
async def _opened(pack: "Demonstration | None", kept: Kept) -> "AsyncIterator[tuple[Weaver, Mapping[str, Tool]]]":
    import skillweave
    from skillweave.settings import CatalogMode, FileAccess, Settings

    if pack is None:
        # Without the folder's name in the text every machine counts the same tokens.
        yield skillweave.open(example_skills(), settings=Settings(files=FileAccess.NONE)), {}
        return
    from skillweave.cli.arguments.entities import rules_in
    from skillweave.sources.entity_files import read_graph
    from skillweave.sources.named import packs_of

    graph = read_graph(pack.entities, rules=await rules_in(packs_of(pack.packs))).graph
    # A demo waits for all that is known, also on a machine that is busy with something else.
    settings = Settings(catalog=CatalogMode.ALWAYS, files=FileAccess.NONE, context_seconds=_PATIENCE_SECONDS)
    async with opened(kept) as store:
        weaver = skillweave.open(
            packs=pack.packs, ledger=store, settings=settings, matchers=pack.matchers, entities=graph
        )
        yield weaver, {tool.name: tool for tool in pack.tools(graph)}


async def _played(name: str | None, pack: "Demonstration | None", kept: Kept) -> "Demo":
    """The conversation once through. A pack's has no transcript: a second process knows the ledger alone."""
    steps: list[DemoTurn] = []
    history: tuple[Message, ...] = ()
    results: tuple[ToolResult, ...] = ()
    async with _opened(pack, kept) as (weaver, tools):
        # Of a turn's id that was there already the answer would be the old one.
        revision = (await weaver.ledger.state(kept.conversation)).revision
        everything = await weaver.skills.tokens_of_everything()
        for place, scene in enumerate(_scenes() if pack is None else pack.scenes, start=1):
            event = EVENTS.get(place, "nothing") if pack is None else "nothing"
            if event == "compaction":
                history = (Message(Role.SYSTEM, SUMMARY),)
            elif event == "eviction":
                await weaver.evict(kept.conversation, SKILL)
            said = Message(scene.role, scene.text)
            turn = Turn(
                f"{kept.conversation}-{revision}-{place}",
                kept.conversation,
                said,
                transcript=(*history, said) if pack is None else None,
                results=results,
                memory={} if pack is None else pack.memory,
                tools=tuple(tools) or None,
            )
            injection = (await weaver.weave(turn)).measured_against(everything)
            history = (*history, said, *injection.messages, Message(Role.ASSISTANT, REPLY))
            calls = tuple([await _called(one, injection, tools) for one in scene.calls])
            answers = ((one.tool, one.answer) for one in calls if one.answer is not None)
            results = tuple(ToolResult(tool, json.dumps(as_json(answer))) for tool, answer in answers)
            spent = weaver.settings.budget.usable - injection.tokens.left
            role, text = scene.role.value, scene.text
            steps.append(DemoTurn(place, event, role, text, scene.lesson, spent, injection, calls))
        skills = len((await weaver.skills.snapshot()).active())
    given = sum(step.injection.tokens.injected for step in steps)
    tokens, whole = sum(step.tokens_in_call for step in steps), everything * len(steps)
    totals = DemoTotals(len(steps), given, tokens, whole, _saved(tokens, whole))
    return Demo(name, skills, tuple(steps), totals, without_secrets(kept.ledger) if kept.ledger else None)


async def _called(use: "ToolUse", injection: "Injection", tools: "Mapping[str, Tool]") -> "DemoCall":
    """The call as a host makes it: judged first, and run only where it is allowed."""
    arguments = dict(use.arguments)
    verdict = injection.tools.authorize(use.tool, arguments, host_tools=tuple(tools))
    answer = freeze_mapping(await tools[use.tool].call(arguments)) if verdict.ruling is Ruling.ALLOW else None
    return DemoCall(use.tool, use.arguments, verdict.ruling, verdict.message, answer)


def _saved(spent: int, everything: int) -> float:
    return round(100 * (1 - spent / everything), 1) if everything else 0.0


def _text(shown: "Demo", about: str, page: Page) -> str:
    totals = shown.totals
    head = (
        f"{about} To load all {shown.skills} skills would take {totals.everything // totals.calls:,} tokens of every "
        "call to the model."
    )
    total = (
        f"Together: {totals.tokens:,} tokens of skills in {totals.calls} calls instead of {totals.everything:,}, "
        f"{totals.saved_percent}% less. {totals.given:,} tokens were given."
    )
    seen: set[str] = set()
    acts = [_act(step, seen, page) for step in shown.steps]
    return "\n\n".join([page.wrap(head), *acts, page.paint(page.wrap(total), Ink.GOOD), _next(shown)])


def _act(step: "DemoTurn", seen: set[str], page: Page) -> str:
    number = f"{step.step}. "
    margin, inner = " " * len(number), page.inset(len(number))
    happening = inner.wrap(HAPPENING.get(step.event, ""))
    said = page.paint(inner.wrap(f"{_ROLES[step.role]}: {step.message}"), Ink.STRONG)
    lines = [*([happening] if happening else []), said, *_lines(step, seen, inner)]
    return number + indent("\n".join(lines), margin).removeprefix(margin)


def _lines(step: "DemoTurn", seen: set[str], page: Page) -> Iterator[str]:
    """What became of the turn; a text is shown when it is given for the first time."""
    from skillweave.cli.output.turn import PASSED_OVER, checkpoint_text, decision_text, spent_text, tools_text
    from skillweave.disclose.render import CONTEXT_HEADING

    injection = step.injection
    for decision in injection.decisions:
        if decision.outcome not in PASSED_OVER:
            yield decision_text(decision, page)
    if injection.skills:
        yield page.entry("tools", tools_text(injection.tools))
    for checkpoint in injection.checkpoints:
        yield checkpoint_text(checkpoint, page)
    if injection.fallback is not None:
        yield page.entry("fallback", injection.fallback.text)
    for text in (message.text for message in injection.messages if message.text not in seen):
        seen.add(text)
        head, found, context = text.partition(f"\n{CONTEXT_HEADING}\n")
        yield page.excerpt(head, EXCERPT_LINES)
        if found:
            yield page.excerpt(f"{CONTEXT_HEADING}\n{context}", EXCERPT_LINES)
    for call in step.calls:
        yield from _call_lines(call, page)
    yield page.entry("tokens", spent_text(injection))
    saved = _saved(step.tokens_in_call, injection.tokens.everything or 0)
    yield page.entry("", f"{step.tokens_in_call:,} in this call, {saved}% less than all skills")
    yield page.wrap(step.lesson)


def _call_lines(call: "DemoCall", page: Page) -> Iterator[str]:
    arguments = json.dumps(as_json(call.arguments), ensure_ascii=False)
    yield page.entry("the model calls", f"{call.tool}({arguments})", Ink.STRONG)
    if call.answer is None:
        yield page.entry(call.ruling.value, call.reason, Ink.WARN)
        return
    parts = (f"{key}: {json.dumps(thaw(value), ensure_ascii=False)}" for key, value in call.answer.items() if value)
    for label, part in zip(("answer", *[""] * (ANSWER_PARTS - 1)), parts, strict=False):
        yield page.entry(label, shorten(part, 120, placeholder=" ..."))


def _next(shown: "Demo") -> str:
    if shown.demo is not None:
        where = quote(shown.ledger) if shown.ledger else "demo.db"
        again = f"skillweave demo {shown.demo} --ledger {where}"
        return f"Where the conversation is kept, a second run sends nothing twice:\n  {again}"
    return """\
Now with a folder of your own, one SKILL.md in each folder below it:
  skillweave weave --skills DIR "what you would ask your agent"
  skillweave weave --skills DIR --conversation c1 "..."    keeps what was given
  skillweave check --skills DIR                            finds what is wrong"""


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
    """One turn: what came before it, what it shows, what was given and called; tokens are those in its call."""

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
