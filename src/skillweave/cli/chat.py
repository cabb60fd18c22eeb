"""`skillweave chat`: a conversation with a real model."""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from skillweave.cli import options
from skillweave.cli.arguments.ledger import Kept, opened
from skillweave.cli.arguments.skills import indexed
from skillweave.cli.arguments.turn import message_text
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Flow, Ink, Stream, page_for, printable
from skillweave.conversation import Placement
from skillweave.errors import SkillweaveError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from skillweave.cli.chat_agent import Talk
    from skillweave.cli.output.turn import Told
    from skillweave.graph import SkillGraph
    from skillweave.registry import Source
    from skillweave.settings import Settings

EXAMPLES = {
    "chat": """
skillweave chat --model anthropic:claude-sonnet-5
skillweave chat --model openai:gpt-5 --conversation c1 --system "You work in an office."
skillweave chat --model ollama:llama3.2 -m "Say bonjour to Alice" -m "And to Bob?" --json
"""
}


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
    catalog: options.Catalog = "auto",
    max_skills: options.MaxSkills = 3,
    budget: options.Tokens = 25_000,
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
    from skillweave.cli.arguments.turn import settings_of
    from skillweave.cli.chat_model import open_model
    from skillweave.cli.chat_terminal import say

    if not model:
        raise Mistake("no model is named; add --model provider:name, such as --model anthropic:claude-sonnet-5")
    said = None if message is None else tuple(map(_text, message))
    kept = keeping.kept()
    sources = loading.sources()
    settings = settings_of(catalog=catalog, max_skills=max_skills, budget=budget)
    graph, notes = asyncio.run(loading.own_graph())
    for note in notes:
        say(f"skillweave: {printable(note)}\n")
    talking = opened_talk(
        open_model(model),
        model,
        kept,
        sources,
        settings,
        graph=graph,
        entities=entities,
        tenant=tenant,
        system=system,
        placement=placement,
    )
    return Stream(answers(talking, said) if as_json else _conversed(talking, said, quiet=quiet))


def converse(talk: "Talk", messages: Sequence[str] | None = None, *, quiet: bool = False) -> None:
    """Say the messages, or what comes from standard input, and print what is replied.

    At the prompt the conversation goes on after a message that failed; elsewhere the error ends it.
    """
    from skillweave.cli.chat_terminal import fitted_to_terminal, say, summary, trouble

    last: list[Told] = []
    at_prompt = not messages and sys.stdin.isatty()
    for text in _coming(talk, messages, last):
        try:
            last[:] = [_replied(talk, text)]
        except SkillweaveError as error:
            if not at_prompt:
                raise
            say(f"skillweave: {printable(str(error))}\n")
            continue
        if not quiet:
            say(f"{fitted_to_terminal(summary(last[-1]))}\n", Ink.FAINT)
        for line in trouble(last[-1]):
            say(f"skillweave: {line}\n")


def answers(talking: "AbstractContextManager[Talk]", messages: Sequence[str] | None = None) -> Iterator[Answer]:
    """The same as data, one answer for each message."""
    from skillweave.cli.chat_terminal import ask_person

    last: list[Told] = []
    with talking as talk:
        for text in _coming(talk, messages, last):
            told = talk.say(text, ask_person, lambda _: None)
            last[:] = [told]
            yield _as_answer(told)


@contextmanager
def opened_talk(
    model: "BaseChatModel",
    named: str,
    kept: Kept,
    sources: "Sequence[Source]",
    settings: "Settings",
    *,
    graph: "SkillGraph | None" = None,
    entities: str | None = None,
    tenant: str = "",
    system: str | None = None,
    placement: str = Placement.HISTORY.value,
) -> Iterator["Talk"]:
    """The conversation with that model; the ledger is closed at the end, and so are the entities that are named.

    What was wrong with the skills is said first. Raises StoreUnavailable for a ledger that does not answer.
    """
    import skillweave
    from skillweave.cli.arguments.entities import graph_if_named
    from skillweave.cli.chat_agent import Happened, Talk
    from skillweave.cli.chat_terminal import say
    from skillweave.cli.output.notes import graph_notes, loading_notes

    happened = Happened()
    with asyncio.Runner() as runner:
        opening = AsyncExitStack()
        try:
            store = runner.run(opening.enter_async_context(opened(kept, sources)))
            known = runner.run(opening.enter_async_context(graph_if_named(entities, tenant, sources)))
            weaver = skillweave.open(
                *sources,
                ledger=store,
                settings=settings,
                graph=graph,
                entities=known,
                observers=[happened.observer],
            )
            opening.callback(weaver.sync.close)
            runner.run(store.load(kept.conversation))
            runner.run(indexed(weaver))
            snapshot = runner.run(weaver.skills.snapshot())
            for note in (*loading_notes(snapshot), *graph_notes(snapshot, graph)):
                say(f"skillweave: {printable(note)}\n")
            yield Talk(
                model, weaver, kept.conversation, happened, named=named, system=system, placement=Placement(placement)
            )
        finally:
            runner.run(opening.aclose())


def _as_answer(told: "Told") -> Answer:
    from skillweave.cli.chat_terminal import trouble

    return Answer(lambda: told, lambda _: told.reply, notes=tuple(trouble(told)))


def _replied(talk: "Talk", text: str) -> "Told":
    from skillweave.cli.chat_terminal import ask_person

    open_line = False
    flow = Flow(page_for(sys.stdout).width) if sys.stdout.isatty() else None

    def show(piece: str) -> None:
        nonlocal open_line
        text = printable(piece)
        sys.stdout.write(text if flow is None else flow.add(text))
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


def _conversed(
    talking: "AbstractContextManager[Talk]", messages: Sequence[str] | None, *, quiet: bool
) -> Iterator[Answer]:
    """Everything is printed as it comes, so there is no answer left; a failure is told as that of a stream."""
    with talking as talk:
        converse(talk, messages, quiet=quiet)
    yield from ()


def _coming(talk: "Talk", messages: Sequence[str] | None, last: "Sequence[Told]") -> Iterable[str]:
    from skillweave.cli.chat_terminal import piped, typed

    if messages:
        return messages
    return typed(talk, last) if sys.stdin.isatty() else piped()


def _text(given: str) -> str:
    text = message_text(given)
    if not text.strip():
        raise Mistake("a --message is empty; say something in it, or leave it out")
    return text
