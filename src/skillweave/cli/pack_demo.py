"""The demo that a pack brings: its conversation, played on its sample entities with its own tools."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from shlex import quote
from textwrap import indent
from typing import TYPE_CHECKING

from skillweave.cli.arguments.entities import rules_in
from skillweave.cli.arguments.ledger import Kept, kept_in, opened
from skillweave.cli.output.page import Answer, Ink, Page, counted, tokens_shown
from skillweave.conversation import Message, Role, ToolResult, Turn
from skillweave.frozen import FrozenJson, as_json, thaw
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.cli.output.demo import CallShown, PackDemo, SceneShown
    from skillweave.compose.policy import Ruling
    from skillweave.injection import Injection
    from skillweave.packs.demonstration import Demonstration, Scene, ToolUse
    from skillweave.packs.tool import Tool
    from skillweave.weaver import Weaver

MARKER = "SKILL_SELECT:"
HEAD_LINES, CONTEXT_LINES = 10, 12
"""So much is shown of a skill's text, and of what is known of the entity."""
_PREAMBLE = 2
"""Lines of the catalog before its first skill."""
_ROLES = {Role.USER: "The user says", Role.ASSISTANT: "The model says"}


_PATIENCE_SECONDS = 30.0


async def played(name: str, ledger: str | None) -> Answer:
    """The demo of that name; without a ledger its conversation is played twice, in this process's memory.

    Raises SkillweaveError for a name that there is not, and MissingExtra where the pack's packages are not installed.
    """
    from skillweave.packs.demonstration import DEMOS

    demo = DEMOS.make(name, lambda made: made())
    kept = Kept(kept_in(ledger, None).ledger, f"demo-{name}")
    async with _weaver(demo, kept) as (weaver, tools):
        runs = [await _run(demo, weaver, tools, kept.conversation)]
        if ledger is None:
            runs.append(await _run(demo, weaver, tools, kept.conversation))
        skills = len((await weaver.skills.snapshot()).active())
    shown = _Played(name, demo, skills, tuple(runs), ledger)
    return Answer(shown.value, shown.text)


@asynccontextmanager
async def _weaver(demo: "Demonstration", kept: Kept) -> "AsyncIterator[tuple[Weaver, Mapping[str, Tool]]]":
    import skillweave
    from skillweave.settings import CatalogMode, FileAccess, Settings
    from skillweave.sources.entity_files import read_graph
    from skillweave.sources.named import packs_of

    graph = read_graph(demo.entities, rules=await rules_in(packs_of(demo.packs))).graph
    # Without the folder's name in the text every machine counts the same tokens.
    # A demo waits for all that is known, also on a machine that is busy with something else.
    settings = Settings(catalog=CatalogMode.ALWAYS, files=FileAccess.NONE, context_seconds=_PATIENCE_SECONDS)
    async with opened(kept) as store:
        weaver = skillweave.open(
            packs=demo.packs, ledger=store, settings=settings, matchers=demo.matchers, entities=graph
        )
        yield weaver, {tool.name: tool for tool in demo.tools(graph)}


async def _run(
    demo: "Demonstration", weaver: "Weaver", tools: "Mapping[str, Tool]", conversation: str
) -> "tuple[_Act, ...]":
    """The conversation once through."""
    revision = (await weaver.ledger.state(conversation)).revision
    acts: list[_Act] = []
    picked = frozenset(scene.text.partition(MARKER)[2] for scene in demo.scenes if MARKER in scene.text)
    results: tuple[ToolResult, ...] = ()
    for place, scene in enumerate(demo.scenes, start=1):
        said = Message(scene.role, scene.text)
        # Of a turn's id that was there already the answer would be the old one.
        turn = Turn(
            f"{conversation}-{revision}-{place}",
            conversation,
            said,
            results=results,
            memory=demo.memory,
            tools=tuple(tools),
        )
        injection = await weaver.weave(turn)
        calls = [await _call(one, injection, tools) for one in scene.calls]
        results = tuple(
            ToolResult(one.tool, json.dumps(as_json(one.answer))) for one in calls if one.answer is not None
        )
        acts.append(_Act(place, scene, injection, tuple(calls), picked))
    return tuple(acts)


async def _call(use: "ToolUse", injection: "Injection", tools: "Mapping[str, Tool]") -> "_Call":
    """The call as a host makes it: judged first, and run only where it is allowed."""
    from skillweave.compose.policy import Ruling
    from skillweave.frozen import freeze_mapping

    arguments = dict(use.arguments)
    verdict = injection.tools.authorize(use.tool, arguments, host_tools=tuple(tools))
    answer = freeze_mapping(await tools[use.tool].call(arguments)) if verdict.ruling is Ruling.ALLOW else None
    return _Call(use, verdict.ruling, verdict.message, answer)


@dataclass(frozen=True, slots=True)
class _Call:
    use: "ToolUse"
    ruling: "Ruling"
    reason: str
    answer: "Mapping[str, FrozenJson] | None"

    @property
    def tool(self) -> str:
        return self.use.tool

    def value(self) -> "CallShown":
        from skillweave.cli.output.demo import CallShown

        return CallShown(self.use.tool, self.use.arguments, self.ruling, self.reason, self.answer)

    def text(self, page: Page) -> Iterator[str]:
        arguments = json.dumps(as_json(self.use.arguments), ensure_ascii=False)
        yield page.entry("the model calls", f"{self.use.tool}({arguments})", Ink.STRONG)
        if self.answer is None:
            yield page.entry(self.ruling.value, self.reason, Ink.WARN)
            return
        label = "answer"
        for key in self.use.shows or self.answer:
            if self.answer[key]:
                yield page.entry(label, f"{key}: {_in_words(self.answer[key])}")
                label = ""


@dataclass(frozen=True, slots=True)
class _Act:
    """One played turn; `picked` are the skills that the model picks somewhere in the conversation."""

    place: int
    scene: "Scene"
    injection: "Injection"
    calls: tuple[_Call, ...]
    picked: frozenset[str]

    @property
    def added(self) -> int:
        return self.injection.tokens.injected

    def value(self) -> "SceneShown":
        from skillweave.cli.output.demo import SceneShown

        calls = tuple(call.value() for call in self.calls)
        scene = self.scene
        return SceneShown(self.place, scene.role.value, scene.text, scene.lesson, self.injection, calls)

    def text(self, page: Page) -> str:
        number = f"{self.place}. "
        margin, inner = " " * len(number), page.inset(len(number))
        said = page.paint(inner.wrap(f"{_ROLES[self.scene.role]}: {self.scene.text}"), Ink.STRONG)
        lines = "\n".join([said, *self._lines(inner)])
        return number + indent(lines, margin).removeprefix(margin)

    def _lines(self, page: Page) -> Iterator[str]:
        from skillweave.cli.output.turn import PASSED_OVER, checkpoint_text, decision_text, tools_text

        injection = self.injection
        for decision in injection.decisions:
            if decision.outcome not in PASSED_OVER:
                yield decision_text(decision, page)
        if self.place == 1:
            yield page.entry("system prompt", "the catalog, in every call with the same bytes")
            yield _catalog_text(injection.catalog, self.picked, page)
        for message in injection.messages:
            yield from _message_text(message.text, page)
        if injection.skills:
            yield page.entry("tools", tools_text(injection.tools))
        for checkpoint in injection.checkpoints:
            yield checkpoint_text(checkpoint, page)
        for call in self.calls:
            yield from call.text(page)
        yield page.entry("tokens", f"{self.added:,} given; the catalog in every call has {injection.tokens.catalog:,}")
        yield page.wrap(self.scene.lesson)


def _catalog_text(catalog: str, picked: frozenset[str], page: Page) -> str:
    """How the catalog begins, and its lines about the skills that are picked later."""
    lines = catalog.splitlines()
    shown = [line for place, line in enumerate(lines) if place < _PREAMBLE or line[2:].partition(":")[0] in picked]
    rest = f"... {len(lines) - len(shown):,} more lines"
    return page.excerpt("\n".join([*shown, rest]), len(shown) + 1)


def _in_words(value: FrozenJson) -> str:
    """A list of texts with semicolons, anything else as JSON."""
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return "; ".join(str(one).rstrip(".") for one in value)
    return json.dumps(thaw(value), ensure_ascii=False)


def _message_text(text: str, page: Page) -> Iterator[str]:
    """The beginning of what is given, and what is known of the entity, which stands at its end."""
    from skillweave.disclose.render import CONTEXT_HEADING

    head, found, context = text.partition(f"\n{CONTEXT_HEADING}\n")
    yield page.excerpt(head, HEAD_LINES)
    if found:
        yield page.excerpt(f"{CONTEXT_HEADING}\n{context}", CONTEXT_LINES)


@dataclass(frozen=True, slots=True)
class _Played:
    name: str
    demo: "Demonstration"
    skills: int
    runs: tuple[tuple[_Act, ...], ...]
    ledger: str | None

    def value(self) -> "PackDemo":
        from skillweave.cli.output.demo import PackDemo, RunShown

        runs = tuple(RunShown(tuple(act.value() for act in run), _added(run)) for run in self.runs)
        return PackDemo(self.name, self.skills, runs, None if self.ledger is None else without_secrets(self.ledger))

    def text(self, page: Page) -> str:
        head = f"{self.demo.about} The pack has {counted(self.skills, 'skill')}."
        # What the scenes show is not seen where everything was given before, by an earlier command.
        first, *others = self.runs
        parts = [self._first(first, page) if _added(first) else self._again(first, page)]
        parts += [self._again(run, page) for run in others]
        return "\n\n".join([page.wrap(head), *parts, self._next()])

    def _first(self, run: "Sequence[_Act]", page: Page) -> str:
        total = f"Together: {tokens_shown(_added(run))} of skills and entities for {len(run)} turns."
        return "\n\n".join([*(act.text(page) for act in run), page.paint(page.wrap(total), Ink.GOOD)])

    def _again(self, run: "Sequence[_Act]", page: Page) -> str:
        where = f", which {without_secrets(self.ledger)} keeps," if self.ledger else ""
        lines = [page.wrap(f"The same conversation{where} goes on, and all of it is said once more:"), ""]
        for act in run:
            lines += [page.wrap(f"{act.place}. {_ROLES[act.scene.role]}: {act.scene.text}")]
            lines += [page.entry(f"   {tokens_shown(act.added)}", _outcomes(act.injection))]
        total = tokens_shown(_added(run))
        said = (
            f"Together: {total}. Nothing is sent twice." if not _added(run) else f"Together: {total}, of what changed."
        )
        return "\n".join([*lines, "", page.paint(page.wrap(said), Ink.GOOD)])

    def _next(self) -> str:
        if self.ledger is not None:
            again = f"skillweave demo {self.name} --ledger {quote(without_secrets(self.ledger))}"
            return f"Run it again, and nothing is sent twice:\n  {again}"
        return (
            "To see the same in a second process, keep the conversation, and run it twice:\n"
            f"  skillweave demo {self.name} --ledger demo.db"
        )


def _added(run: "Sequence[_Act]") -> int:
    return sum(act.added for act in run)


def _outcomes(injection: "Injection") -> str:
    from skillweave.cli.output.turn import PASSED_OVER

    shown = [one for one in injection.decisions if one.outcome not in PASSED_OVER]
    return ", ".join(f"{one.skill_id} {one.outcome.value}" for one in shown) or "nothing is wanted"
