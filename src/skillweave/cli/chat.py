"""`skillweave chat`: a conversation with a real model."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

from skillweave.cli import options
from skillweave.cli.arguments.ledger import Kept, opened
from skillweave.cli.arguments.reading import input_lines
from skillweave.cli.arguments.skills import indexed
from skillweave.cli.arguments.turn import decoded, message_text
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Stream, counted, listed, page_for, printable
from skillweave.conversation import Placement
from skillweave.errors import SkillweaveError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from skillweave.cli.chat_agent import Talk
    from skillweave.cli.output.turn import Told
    from skillweave.graph import SkillGraph
    from skillweave.registry import Source

EXAMPLES = {
    "chat": """
skillweave chat --model anthropic:claude-sonnet-5
skillweave chat --model openai:gpt-5 --conversation c1 --system "You work in an office."
skillweave chat --model ollama:llama3.2 -m "Say bonjour to Alice" -m "And to Bob?" --json
"""
}
PROMPT = "> "
COMMANDS = "/why says what was decided about the last message, /skills lists the skills, /quit ends the conversation"


def chat(
    model: options.Model = None,
    system: Annotated[str | None, options.option(options.MODEL, "--system TEXT", "The system prompt.")] = None,
    message: Annotated[
        list[str] | None,
        options.option(
            options.MODEL,
            "--message -m TEXT",
            "Say this, print the reply and end. Repeatable. Without it: each line of standard input, or what you type.",
        ),
    ] = None,
    *,
    loading: options.LoadingWithGraph,
    entities: options.Entities = None,
    tenant: options.EntityTenant = "",
    placement: options.Where = "history",
    selecting: options.Selecting,
    keeping: options.Keeping,
    quiet: Annotated[bool, options.option(options.OUTPUT, "--quiet -q", "Say nothing about the skills.")] = False,
    as_json: options.AsJson = False,
) -> Stream:
    """Talk to a model that is given the right skills.

    Needs the extra skillweave[langchain] and the package of the model's provider. Beside each reply a line on stderr
    says which skills were given, and why, which were only offered, and what that costs. The history lives in this
    process only: a conversation that is kept by --conversation goes on with its skills and verdicts, and texts that
    are gone with the history are given again. Where a skill has a checkpoint, you are asked. Type /quit to end, or
    press Ctrl-C.
    """
    if not model:
        raise Mistake("no model is named; add --model provider:name, such as --model anthropic:claude-sonnet-5")
    said = None if message is None else tuple(map(message_text, message))
    if said is not None and not all(map(str.strip, said)):
        raise Mistake("a --message is empty; say something in it, or leave it out")
    from skillweave.cli.chat_agent import open_model

    graph, notes = asyncio.run(loading.own_graph())
    for note in notes:
        _note(note)
    talking = opened_talk(
        open_model(model),
        model,
        keeping.kept(),
        loading.sources(),
        selecting,
        graph=graph,
        entities=entities,
        tenant=tenant,
        system=system,
        placement=placement,
    )
    return Stream(answers(talking, said) if as_json else _conversed(talking, said, quiet=quiet))


@contextmanager
def opened_talk(
    model: "BaseChatModel",
    named: str,
    kept: Kept,
    sources: "Sequence[Source]",
    selecting: "options.Selecting",
    *,
    graph: "SkillGraph | None" = None,
    entities: str | None = None,
    tenant: str = "",
    system: str | None = None,
    placement: str = Placement.HISTORY.value,
) -> Iterator["Talk"]:
    """The conversation with that model, after what is wrong with the skills; closes what it opened at the end."""
    from skillweave.cli.arguments.entities import graph_if_named
    from skillweave.cli.chat_agent import Happened, Talk
    from skillweave.cli.output.notes import graph_notes, loading_notes

    happened = Happened()
    with asyncio.Runner() as runner:
        opening = AsyncExitStack()
        try:
            store = runner.run(opening.enter_async_context(opened(kept, sources)))
            known = runner.run(opening.enter_async_context(graph_if_named(entities, tenant, sources)))
            weaver = selecting.weaver(sources, store, graph, None, known, observers=[happened.observer])
            opening.callback(weaver.sync.close)
            runner.run(store.load(kept.conversation))
            runner.run(indexed(weaver))
            snapshot = runner.run(weaver.skills.snapshot())
            for note in (*loading_notes(snapshot), *graph_notes(snapshot, graph)):
                _note(note)
            yield Talk(model, named, weaver, kept.conversation, happened, system, Placement(placement))
        finally:
            runner.run(opening.aclose())


def _conversed(
    talking: "AbstractContextManager[Talk]", messages: Sequence[str] | None, *, quiet: bool
) -> Iterator[Answer]:
    """Everything is printed as it comes, so there is no answer left; a failure is told as that of a stream."""
    with talking as talk:
        converse(talk, messages, quiet=quiet)
    yield from ()


def converse(talk: "Talk", messages: Sequence[str] | None = None, *, quiet: bool = False) -> None:
    """Says the messages, or standard input, and prints the replies; at the prompt an error does not end it."""
    last: list[Told] = []
    at_prompt = not messages and sys.stdin.isatty()
    for text in _coming(talk, messages, last):
        try:
            last[:] = [_replied(talk, text)]
        except SkillweaveError as error:
            if not at_prompt:
                raise
            _note(str(error))
            continue
        if not quiet:
            line = summary(last[-1])
            say(page_for(sys.stderr).wrap(line) if sys.stderr.isatty() else line, Ink.FAINT)
        for line in trouble(last[-1]):
            _note(line)


def answers(talking: "AbstractContextManager[Talk]", messages: Sequence[str] | None = None) -> Iterator[Answer]:
    """The same as data, one answer for each message."""
    last: list[Told] = []
    with talking as talk:
        for text in _coming(talk, messages, last):
            last[:] = [told := talk.say(text, ask_person, lambda _: None)]
            yield Answer(lambda told=told: told, lambda _: "", notes=tuple(trouble(told)))  # type: ignore[misc]


def _coming(talk: "Talk", messages: Sequence[str] | None, last: "Sequence[Told]") -> Iterable[str]:
    if messages:
        return messages
    if sys.stdin.isatty():
        return _typed(talk, last)
    lines = (decoded(line, "standard input").strip() for line in input_lines("a message"))
    return filter(None, lines)


def _replied(talk: "Talk", text: str) -> "Told":
    open_line = False

    def show(piece: str) -> None:
        nonlocal open_line
        sys.stdout.write(printable(piece))
        sys.stdout.flush()
        open_line = not piece.endswith("\n")

    def ask(question: Mapping[str, Any]) -> Mapping[str, object]:
        if open_line:
            show("\n")
        return ask_person(question)

    try:
        told = talk.say(text, ask, show)
    except SkillweaveError:
        if open_line:
            show("\n")
        raise
    show("\n")
    return told


def summary(told: "Told") -> str:
    """What was done for one message, in one line."""
    from skillweave.cli.output.turn import way_text

    given = [f"{one.skill_id} ({one.reason}), {counted(one.tokens or 0, 'token')}" for one in told.given]
    there = [skill_id for skill_id in told.context if skill_id not in told.skills]
    moved = [f"{way_text(step.from_skill, step.to_skill)} ({step.by})" for step in told.moved]
    blocked = [f"{one.tool} ({one.code})" for one in told.blocked]
    named = (("moved", moved), ("given", given), ("in the context", there), ("blocked", blocked))
    parts = [f"{what} {listed(names)}" for what, names in named if names] or ["no skill"]
    if told.tail_tokens:
        what = f"offered {listed(told.offered)}" if told.offered else "said which skills there are"
        parts.append(f"{what} at the end of the call, {counted(told.tail_tokens, 'token')}")
    return printable("; ".join(parts))


def trouble(told: "Told") -> Iterator[str]:
    """What its user must know beside the skills: that the ledger did not keep what was done."""
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE

    if {LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT} & set(told.diagnostics):
        yield (
            "the ledger does not answer, so nothing of this is kept, and what was decided earlier may not hold; "
            "check that you can write to it, then start again"
        )


def _typed(talk: "Talk", last: Sequence["Told"]) -> Iterator[str]:
    """What a person types, until /quit or the end of input; other commands are answered here."""
    from skillweave.cli.output.turn import decisions_text

    page = page_for(sys.stderr)
    say(COMMANDS, Ink.FAINT)
    while (line := _line()) is not None and (text := line.strip()) != "/quit":
        try:
            text = decoded(text.encode("utf-8", "surrogateescape"), "the line")
        except Mistake as error:
            _note(str(error))
            continue
        if text == "/why":
            lines = decisions_text(last[-1].decisions if last else (), page)
            say("\n".join(lines) or "No skill was considered yet.")
        elif text == "/skills":
            skills = talk.weaver.sync.skills.snapshot().active()
            say("\n".join(page.entry(skill.id, skill.description or "") for skill in skills))
        elif text.startswith("/") and text[1:].isalpha():
            say(f"{text[:40]} is no command: {COMMANDS}.")
        elif text:
            yield text


def _line() -> str | None:
    if not sys.stdout.isatty():  # `input` would write its prompt among the answers
        say(PROMPT, end="")
        return sys.stdin.readline() or None
    with suppress(ImportError):
        import readline  # noqa: F401 - lets a person edit the line, where the system has it
    # The usual way to end would leave the terminal as the line editor needs it: without echo.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(PROMPT)
    except EOFError:
        say("")
        return None
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, handler)
        signal.raise_signal(signal.SIGINT)
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


def ask_person(question: Mapping[str, Any]) -> Mapping[str, object]:
    """Ask whoever sits at the terminal to approve or reject; raises Mistake where nobody does, or nobody answers."""
    from skillweave.cli.output.turn import checkpoint_text
    from skillweave.injection import PendingCheckpoint

    pending = [PendingCheckpoint.from_dict(one) for one in question["checkpoints"]]
    if not sys.stdin.isatty():
        one = pending[0]
        raise Mistake(
            f"checkpoint {one.name!r} of skill {one.skill_id!r} waits for a person, and no terminal is here to ask at; "
            "with --conversation, decide by "
            f"`skillweave ledger approve {question['conversation']} {one.skill_id} {one.name}` and the same --skills "
            "and --ledger, then say it again"
        )
    page = page_for(sys.stderr)
    if problem := question.get("problem"):
        say(page.entry("not taken", str(problem), Ink.WARN))
    for one in pending:
        say(checkpoint_text(one, page, of=one.skill_id))
    verdicts = {"a": "approved", "approve": "approved", "r": "rejected", "reject": "rejected"}
    while (verdict := verdicts.get(_asked("approve or reject? [a/r] ").lower())) is None:
        pass
    name = os.environ.get("USER", "")
    return {"verdict": verdict, "by": _asked(f"your name{f' [{name}]' if name else ''}: ") or name}


def _asked(prompt: str) -> str:
    say(prompt, end="")
    line = sys.stdin.readline()
    if not line:
        raise Mistake("nobody answered at the checkpoint; send a message to be asked again")
    return line.strip()


def _note(text: str) -> None:
    say(f"skillweave: {printable(text)}")


def say(text: str, ink: Ink | None = None, end: str = "\n") -> None:
    """Text beside the conversation, on stderr."""
    sys.stderr.write(f"{text if ink is None else page_for(sys.stderr).paint(text, ink)}{end}")
    sys.stderr.flush()
