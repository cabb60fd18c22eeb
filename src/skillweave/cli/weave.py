"""`skillweave weave`: one turn."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, kept_in, opened
from skillweave.cli.arguments.memory import memory_of
from skillweave.cli.arguments.message import message_text
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.arguments.transcript import read_transcript
from skillweave.cli.arguments.working import indexed
from skillweave.cli.failure import UNREACHABLE
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.conversation import Turn
    from skillweave.injection import Injection
    from skillweave.registry import Snapshot, Source
    from skillweave.weaver import Weaver

EXAMPLES = """
skillweave weave --skills examples/skills "Say bonjour to Alice"
skillweave weave --conversation c1 "Say bonjour to Alice"
skillweave weave --conversation c1 --transcript chat.json "And in German?"
skillweave weave --role assistant "SKILL_SELECT:multilingual-greetings"
skillweave weave --pack coding --coding "Add a login form"
skillweave weave --pack support-triage --conversation c1 "I was charged twice"
skillweave weave --pack support-triage --conversation c1 --result 'issue_refund={}'
"""


def weave(
    ctx: typer.Context,
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.", show_default=False),
    ] = None,
    skills: options.Skills = None,
    pack: options.Packs = None,
    graph: options.Graph = None,
    strict: options.Strict = False,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    result: options.Results = None,
    memory: options.Memory = None,
    task: options.TaskText = None,
    risk: options.Risk = None,
    coding: options.Coding = False,
    tool: options.Tools = None,
    placement: options.Where = "history",
    turn_id: options.TurnId = None,
    catalog: options.Catalog = "fallback",
    matcher: options.Matchers = None,
    mention: options.Mention = False,
    max_skills: options.MaxSkills = 3,
    budget: options.Tokens = 8000,
    conversation: options.Conversation = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Say what to give to the model for a message, and why.

    Prints the skill text to add to the model's context, what it costs, which tools may be used and the reason for
    each. With --conversation nothing is given twice, from command to command. With a skill graph the first line says
    where the conversation is and what led there.
    """
    import asyncio

    from skillweave.cli.arguments.graph import graph_of
    from skillweave.cli.arguments.results import results_of
    from skillweave.cli.arguments.turn import matchers_of, settings_of, task_of, turn_of, weaver_over

    if message is None and not result:
        raise _NoMessage("missing argument 'MESSAGE'", ctx)
    kept = kept_in(ledger, conversation)
    turn = turn_of(
        None if message is None else message_text(message),
        role,
        kept.conversation,
        turn_id=turn_id,
        transcript=read_transcript(transcript),
        results=results_of(result),
        memory=memory_of(memory),
        tools=tool,
        placement=placement,
        task=task_of(task, risk, coding=coding),
    )
    settings = settings_of(catalog=catalog, max_skills=max_skills, budget=budget)
    own, notes = graph_of(graph)
    open_over = partial(weaver_over, settings=settings, matchers=matchers_of(matcher, mention=mention), graph=own)
    answer = asyncio.run(_woven(sources_of(skills, strict=strict, packs=pack), turn, open_over, kept))
    return replace(answer, notes=(*notes, *answer.notes))


class _NoMessage(typer.BadParameter):
    def format_message(self) -> str:
        return self.message


async def _woven(sources: Sequence["Source"], turn: "Turn", open_over: Callable[..., "Weaver"], kept: Kept) -> Answer:
    from skillweave.cli.output.graph_notes import graph_notes
    from skillweave.cli.output.tally import loading_notes

    async with opened(kept) as store:
        weaver = open_over(sources, store)
        await indexed(weaver)
        injection = (await weaver.weave(turn)).measured_against(await weaver.tokens_of_everything())
    snapshot = await weaver.snapshot()
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE

    troubles = [found for found in injection.diagnostics if found.code in (LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT)]
    return Answer(
        injection.to_dict,
        partial(_text, injection, snapshot, partial(_kept_text, kept, injection, lost=bool(troubles))),
        code=UNREACHABLE if troubles else 0,
        notes=(
            *loading_notes(snapshot),
            *graph_notes(snapshot, weaver.graph),
            *(f"{found.message}; {found.fix}" for found in troubles),
        ),
    )


def _text(injection: "Injection", snapshot: "Snapshot", kept: Callable[[Page], str], page: Page) -> str:
    from skillweave.cli.output.injection import injection_text
    from skillweave.formats.host_keys import invocation_of

    skills = sum(invocation_of(skill).by_model for skill in snapshot.active())
    return "\n\n".join(filter(None, (injection_text(injection, page, skills=skills), kept(page))))


def _kept_text(kept: Kept, injection: "Injection", page: Page, *, lost: bool) -> str:
    """Where to ask about this turn afterwards, if something of it is kept."""
    if kept.ledger is None:
        return ""
    if lost:
        return page.entry(
            "not kept", f"conversation {kept.conversation} in {kept.ledger}, which does not answer", Ink.BAD
        )
    if not injection.decisions:
        return page.entry("kept", "nothing of this turn: no skill was considered in it")
    other = "" if kept.ledger == DEFAULT_LEDGER else f" --ledger {quote(kept.ledger)}"
    told = page.entry("kept", f"conversation {kept.conversation} in {kept.ledger}; what happened in it:")
    return f"{told}\n{page.entry('', f'skillweave why {quote(kept.conversation)}{other}')}"
