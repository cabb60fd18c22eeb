"""`skillweave weave`: one turn."""

from collections.abc import Callable, Sequence
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
    from skillweave.settings import Settings

EXAMPLES = """
skillweave weave --skills examples/skills "Say bonjour to Alice"
skillweave weave --conversation c1 "Say bonjour to Alice"
skillweave weave --conversation c1 --transcript chat.json "And in German?"
skillweave weave --role assistant "SKILL_SELECT:multilingual-greetings"
skillweave weave --pack coding --coding "Add a login form"
"""


def weave(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.")],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
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
    each. With --conversation nothing is given twice, from command to command.
    """
    import asyncio

    from skillweave.cli.arguments.turn import matchers_of, settings_of, task_of, turn_of

    kept = kept_in(ledger, conversation)
    turn = turn_of(
        message_text(message),
        role,
        kept.conversation,
        turn_id=turn_id,
        transcript=read_transcript(transcript),
        memory=memory_of(memory),
        tools=tool,
        placement=placement,
        task=task_of(task, risk, coding=coding),
    )
    settings = settings_of(catalog=catalog, max_skills=max_skills, budget=budget)
    matchers = matchers_of(matcher, mention=mention)
    return asyncio.run(_woven(sources_of(skills, strict=strict, packs=pack), turn, settings, matchers, kept))


async def _woven(
    sources: Sequence["Source"], turn: "Turn", settings: "Settings", matchers: Sequence[str] | None, kept: Kept
) -> Answer:
    from skillweave.cli.arguments.turn import weaver_over
    from skillweave.cli.output.tally import loading_notes

    async with opened(kept) as store:
        weaver = weaver_over(sources, store, settings, matchers)
        await indexed(weaver)
        injection = await weaver.weave(turn)
    snapshot = await weaver.snapshot()
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE

    troubles = [found for found in injection.diagnostics if found.code in (LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT)]
    return Answer(
        injection.to_dict,
        partial(_text, injection, snapshot, partial(_kept_text, kept, injection, lost=bool(troubles))),
        code=UNREACHABLE if troubles else 0,
        notes=(*loading_notes(snapshot), *(f"{found.message}; {found.fix}" for found in troubles)),
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
