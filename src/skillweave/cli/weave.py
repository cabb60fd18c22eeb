"""`skillweave weave`, `match` and `why`: one turn, what the matchers say with nothing written, and what was decided."""

from collections.abc import Sequence
from functools import partial
from os import urandom
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import (
    DEFAULT_CONVERSATION,
    DEFAULT_LEDGER,
    Kept,
    databases_in,
    existing,
    opened,
    unknown_conversation,
)
from skillweave.cli.arguments.skills import indexed
from skillweave.cli.failure import UNREACHABLE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page
from skillweave.dialogue import Message, Placement, Role, Turn
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.injection import Injection
    from skillweave.registry import Snapshot
    from skillweave.select.candidates import Candidate, Selection
    from skillweave.state.port import Logged


EXAMPLES = {
    "weave": """
skillweave weave --skills examples/skills "Say bonjour to Alice"
skillweave weave --conversation c1 "Say bonjour to Alice"
skillweave weave --conversation c1 --transcript chat.json "And in German?"
skillweave weave --role assistant "SKILL_SELECT:multilingual-greetings"
skillweave weave --pack coding --coding "Add a login form"
skillweave weave --pack support-triage --conversation c1 "I was charged twice"
skillweave weave --pack support-triage --conversation c1 --result 'issue_refund={}'
skillweave weave --skills pack.yaml --agent clerk "Pay this bill"
""",
    "match": """
skillweave match --skills examples/skills "Is this invoice right?"
skillweave match --matcher triggers "Is this invoice right?"
skillweave match --mention "/invoice-checking of June"
skillweave match --pack coding --coding "Add a login form"
""",
    "why": """
skillweave why c1
skillweave why c1 multilingual-greetings
skillweave why c1 --ledger team.db --json
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
    agent: options.ForAgent = None,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    result: options.Results = None,
    memory: options.Memory = None,
    entities: options.Entities = None,
    tenant: options.EntityTenant = "",
    task: options.OfTask,
    tool: options.Tools = None,
    placement: options.Where = "history",
    selecting: options.Selecting,
    keeping: options.Keeping,
) -> Answer:
    """Say what to give to the model for a message, and why.

    Prints the skill text to add to the model's context, what it costs, which tools may be used and the reason for
    each. With --conversation nothing is given twice, from command to command. With a skill graph the first line says
    where the conversation is and what led there.
    """
    from skillweave.cli.arguments.entities import graph_if_named
    from skillweave.cli.arguments.graph import notes_of
    from skillweave.cli.arguments.turn import memory_of, message_text, read_transcript, results_of
    from skillweave.cli.output.notes import ABOUT_ENTITIES, entity_notes, graph_notes, loading_notes
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE
    from skillweave.select.triggers import MESSAGE_PARTLY_READ

    if message is None and not result:
        raise _NoMessage("missing argument 'MESSAGE'", ctx)
    kept = keeping.kept()
    said = None if message is None else message_text(message)
    turn = Turn(
        id=urandom(16).hex(),
        conversation=kept.conversation,
        message=Message(Role.TOOL if said is None else Role(role), said),
        transcript=read_transcript(transcript),
        results=results_of(result),
        memory=memory_of(memory),
        tools=tuple(tool) if tool else None,
        placement=Placement(placement),
        task=task.stated(),
    )
    graph, notes = await loading.own_graph()
    sources = loading.sources()
    async with opened(kept, sources) as store, graph_if_named(entities, tenant, sources) as known:
        weaver = await indexed(selecting.weaver(sources, store, graph, loading.kept_skills(), known), agent)
        injection = (await weaver.weave(turn)).measured_against(await weaver.skills.tokens_of_everything())
    snapshot = await weaver.skills.snapshot()
    troubles = [found for found in injection.diagnostics if found.code in (LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT)]
    worth_telling = (MESSAGE_PARTLY_READ, *ABOUT_ENTITIES)
    told = notes_of([one for one in injection.diagnostics if one in troubles or one.code in worth_telling])
    about_entities = () if entities is None else entity_notes(snapshot)
    return Answer(
        lambda: injection,
        partial(_woven_text, injection, snapshot, kept, why=_why_command(kept, loading.skills), lost=bool(troubles)),
        code=UNREACHABLE if troubles else 0,
        notes=(
            *notes,
            *loading_notes(snapshot),
            *graph_notes(snapshot, weaver.skills.given_graph),
            *about_entities,
            *told,
        ),
    )


class _NoMessage(typer.BadParameter):
    def format_message(self) -> str:
        return self.message


def _why_command(kept: Kept, skills: Sequence[str] | None) -> str:
    """The command that tells of this turn afterwards, without passwords."""
    other = "" if kept.ledger in (None, DEFAULT_LEDGER) else f" --ledger {quote(without_secrets(kept.ledger or ''))}"
    also = (f" --skills {quote(without_secrets(name))}" for name in skills or () if "://" in name)
    return f"skillweave why {quote(kept.conversation)}{other}{''.join(also)}"


def _woven_text(injection: "Injection", snapshot: "Snapshot", kept: Kept, page: Page, *, why: str, lost: bool) -> str:
    from skillweave.cli.output.turn import injection_text
    from skillweave.formats.host_keys import invocation_of

    skills = sum(invocation_of(skill).by_model for skill in snapshot.active())
    parts = injection_text(injection, page, skills=skills), _kept_text(kept, injection, page, why=why, lost=lost)
    return "\n\n".join(filter(None, parts))


def _kept_text(kept: Kept, injection: "Injection", page: Page, *, why: str, lost: bool) -> str:
    """Where to ask about this turn afterwards, if something of it is kept."""
    if kept.ledger is None:
        return ""
    ledger = without_secrets(kept.ledger)
    if lost:
        return page.entry("not kept", f"conversation {kept.conversation} in {ledger}, which does not answer", Ink.BAD)
    if not injection.decisions:
        return page.entry("kept", "nothing of this turn: no skill was considered in it")
    told = page.entry("kept", f"conversation {kept.conversation} in {ledger}; what happened in it:")
    return f"{told}\n{page.entry('', why)}"


async def match(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.")],
    *,
    loading: options.LoadingWithGraph,
    agent: options.ForAgent = None,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    task: options.OfTask,
    selecting: options.Selecting,
) -> Answer:
    """Show which skills a message calls for, and which nearly match.

    Says for each skill which matcher found it and by what words, and why others were not chosen. Nothing is written.
    What a conversation was given before makes no difference.
    """
    from skillweave.cli.arguments.graph import notes_of
    from skillweave.cli.arguments.skills import load, seen_by, working
    from skillweave.cli.arguments.turn import message_text, read_transcript
    from skillweave.cli.output.notes import graph_notes, loading_notes

    said = Message(Role(role), message_text(message))
    turn = Turn("match", DEFAULT_CONVERSATION, said, transcript=read_transcript(transcript), task=task.stated())
    graph, notes = await loading.own_graph()
    sources = loading.sources()
    snapshot = seen_by(agent, (await load(sources)).snapshot)
    if graph is None and snapshot.graph is None:
        # Without an engine: nothing is priced, and its modules take longer to load than the skills.
        with working("Indexing", len(snapshot.active())):
            selection = await selecting.selection(snapshot, turn, loading.kept_skills())
    else:
        async with opened(Kept(None, DEFAULT_CONVERSATION)) as store:
            weaver = await indexed(selecting.weaver(sources, store, graph, loading.kept_skills()), agent)
            selection = await weaver.skills.match(turn)
        graph = weaver.skills.given_graph
    notes = (*notes, *loading_notes(snapshot), *graph_notes(snapshot, graph), *notes_of(selection.diagnostics))
    return Answer(lambda: selection, partial(_matched_text, selection), notes=notes)


_SHOWN_NEAR = 2
"""So many skills below the threshold are named."""


def _matched_text(selection: "Selection", page: Page) -> str:
    from skillweave.cli.output.page import evidence_shown
    from skillweave.decisions import Outcome

    lines: list[str] = []
    for what, candidates, ink in (("chosen", selection.chosen, Ink.GOOD), ("offered", selection.offered, None)):
        for one in candidates:
            lines += [page.entry(what, _title(one), ink), page.entry("", evidence_shown(one.evidence))]
    near = 0
    for rejected in selection.rejected:
        near += rejected.outcome is Outcome.BELOW_THRESHOLD
        if rejected.outcome is not Outcome.BELOW_THRESHOLD or near <= _SHOWN_NEAR:
            head = page.entry(rejected.outcome.value, _title(rejected.candidate), Ink.FAINT)
            lines += [head, page.entry("", rejected.reason)]
    if near > _SHOWN_NEAR:
        lines.append(page.entry("", f"and {near - _SHOWN_NEAR} more (--json lists all)"))
    return "\n".join(lines) or page.wrap("No skill is about this message.")


def _title(candidate: "Candidate") -> str:
    likely = "" if candidate.probability is None else f", {candidate.probability:.0%} likely"
    return f"{candidate.skill_id} ({candidate.matcher} {candidate.score:.2f}{likely})"


async def why(
    conversation: options.KnownConversation,
    skill: Annotated[
        str | None,
        typer.Argument(metavar="SKILL", help="Only what was decided about it.", autocompletion=completion.skill_ids),
    ] = None,
    ledger: options.KeptLedger = None,
    skills: options.Skills = None,
) -> Answer:
    """Say turn by turn what was decided about which skill, and why.

    Decisions are kept for 30 days, without any text of the messages. Where the ledger is a Redis and the skills come
    from PostgreSQL, decisions are there: name both.
    """
    from skillweave.cli.output.turn import Explained, explained_text

    kept = existing(ledger, conversation)
    async with opened(kept, databases_in(skills)) as store:
        logged = await store.read(kept.conversation)
        known = bool(logged) or (await store.load(kept.conversation))[0].revision > 0
    if not known:
        raise unknown_conversation(kept)
    explained = Explained(kept.conversation, _of(logged, skill, kept.conversation))
    elsewhere = not logged and getattr(store, "decisions_elsewhere", False)
    return Answer(lambda: explained, partial(explained_text, explained), notes=(_ELSEWHERE,) if elsewhere else ())


_ELSEWHERE = "beside skills in a database, decisions are kept there; add its URL: --skills URL"


def _of(logged: Sequence["Logged"], skill: str | None, conversation: str) -> tuple["Logged", ...]:
    if skill is None:
        return tuple(logged)
    chosen = tuple(entry for entry in logged if entry.decision.skill_id == skill)
    if not chosen:
        considered = sorted({entry.decision.skill_id for entry in logged})
        names = f"those considered are {', '.join(considered[:10])}" if considered else "no skill was"
        raise Mistake(f"skill {skill[:100]!r} was never considered in conversation {conversation!r}; {names}")
    return chosen
