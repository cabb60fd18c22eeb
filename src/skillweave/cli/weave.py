"""`skillweave weave` and `match`: one turn, and what the matchers say with nothing written."""

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, DEFAULT_LEDGER, Kept, opened
from skillweave.cli.arguments.skills import indexed
from skillweave.cli.failure import UNREACHABLE
from skillweave.cli.output.page import Answer, Ink, Page

if TYPE_CHECKING:
    from skillweave.injection import Injection
    from skillweave.registry import Snapshot


EXAMPLES = {
    "weave": """
skillweave weave --skills examples/skills "Say bonjour to Alice"
skillweave weave --conversation c1 "Say bonjour to Alice"
skillweave weave --conversation c1 --transcript chat.json "And in German?"
skillweave weave --role assistant "SKILL_SELECT:multilingual-greetings"
skillweave weave --pack coding --coding "Add a login form"
skillweave weave --pack support-triage --conversation c1 "I was charged twice"
skillweave weave --pack support-triage --conversation c1 --result 'issue_refund={}'
""",
    "match": """
skillweave match --skills examples/skills "Is this invoice right?"
skillweave match --matcher triggers "Is this invoice right?"
skillweave match --mention "/invoice-checking of June"
skillweave match --pack coding --coding "Add a login form"
""",
}


async def weave(
    ctx: typer.Context,
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.", show_default=False),
    ] = None,
    *,
    loading: options.LoadingWithGraph,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    result: options.Results = None,
    memory: options.Memory = None,
    task: options.OfTask,
    tool: options.Tools = None,
    placement: options.Where = "history",
    turn_id: options.TurnId = None,
    selecting: options.Selecting,
    keeping: options.Keeping,
) -> Answer:
    """Say what to give to the model for a message, and why.

    Prints the skill text to add to the model's context, what it costs, which tools may be used and the reason for
    each. With --conversation nothing is given twice, from command to command. With a skill graph the first line says
    where the conversation is and what led there.
    """
    from skillweave.cli.arguments.turn import memory_of, message_text, read_transcript, results_of, turn_of
    from skillweave.cli.output.skills import graph_notes, loading_notes
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE

    if message is None and not result:
        raise _NoMessage("missing argument 'MESSAGE'", ctx)
    kept = keeping.kept()
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
        task=task.stated(),
    )
    graph, notes = await loading.own_graph()
    sources = loading.sources()
    async with opened(kept) as store:
        weaver = selecting.weaver(sources, store, graph)
        await indexed(weaver)
        injection = (await weaver.weave(turn)).measured_against(await weaver.tokens_of_everything())
    snapshot = await weaver.snapshot()
    troubles = [found for found in injection.diagnostics if found.code in (LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT)]
    told = [f"{found.message}; {found.fix}" for found in troubles]
    return Answer(
        lambda: injection,
        partial(_woven_text, injection, snapshot, kept, lost=bool(troubles)),
        code=UNREACHABLE if troubles else 0,
        notes=(*notes, *loading_notes(snapshot), *graph_notes(snapshot, weaver.graph), *told),
    )


class _NoMessage(typer.BadParameter):
    def format_message(self) -> str:
        return self.message


def _woven_text(injection: "Injection", snapshot: "Snapshot", kept: Kept, page: Page, *, lost: bool) -> str:
    from skillweave.cli.output.turn import injection_text
    from skillweave.formats.host_keys import invocation_of

    skills = sum(invocation_of(skill).by_model for skill in snapshot.active())
    parts = injection_text(injection, page, skills=skills), _kept_text(kept, injection, page, lost=lost)
    return "\n\n".join(filter(None, parts))


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


async def match(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.")],
    *,
    loading: options.LoadingWithGraph,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    task: options.OfTask,
    selecting: options.Selecting,
) -> Answer:
    """Show which skills a message calls for, and which nearly.

    Says for each skill which matcher spoke for it, with what evidence, and why others were left. Nothing is written,
    and what a conversation already has plays no part.
    """
    from skillweave.cli.arguments.turn import message_text, read_transcript, turn_of
    from skillweave.cli.output.skills import graph_notes, loading_notes
    from skillweave.cli.output.turn import matched_text, matches

    kept = Kept(None, DEFAULT_CONVERSATION)
    said = message_text(message)
    turn = turn_of(said, role, kept.conversation, transcript=read_transcript(transcript), task=task.stated())
    graph, notes = await loading.own_graph()
    sources = loading.sources()
    async with opened(kept) as store:
        weaver = selecting.weaver(sources, store, graph)
        await indexed(weaver)
        selection = await weaver.match(turn)
        fallback = (await weaver.preview(turn)).fallback
    snapshot = await weaver.snapshot()
    notes = (*notes, *loading_notes(snapshot), *graph_notes(snapshot, weaver.graph))
    return Answer(partial(matches, selection, fallback), partial(matched_text, selection, fallback), notes=notes)
