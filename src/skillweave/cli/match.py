"""`skillweave match`: what the matchers say, with nothing written."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, Kept, opened
from skillweave.cli.arguments.message import message_text
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.arguments.transcript import read_transcript
from skillweave.cli.arguments.working import indexed
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.conversation import Turn
    from skillweave.injection import Fallback
    from skillweave.registry import Source
    from skillweave.select.candidates import Candidate, Selection
    from skillweave.weaver import Weaver

EXAMPLES = """
skillweave match --skills examples/skills "Is this invoice right?"
skillweave match --matcher triggers "Is this invoice right?"
skillweave match --mention "/invoice-checking of June"
skillweave match --pack coding --coding "Add a login form"
"""


def match(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What was just said; - reads standard input.")],
    skills: options.Skills = None,
    pack: options.Packs = None,
    graph: options.Graph = None,
    strict: options.Strict = False,
    role: options.Speaker = "user",
    transcript: options.Transcript = None,
    task: options.TaskText = None,
    risk: options.Risk = None,
    coding: options.Coding = False,
    catalog: options.Catalog = "fallback",
    matcher: options.Matchers = None,
    mention: options.Mention = False,
    max_skills: options.MaxSkills = 3,
    budget: options.Tokens = 8000,
    as_json: options.AsJson = False,
) -> Answer:
    """Show which skills a message calls for, and which nearly.

    Says for each skill which matcher spoke for it, with what evidence, and why others were left. Nothing is written,
    and what a conversation already has plays no part.
    """
    import asyncio

    from skillweave.cli.arguments.graph import graph_of
    from skillweave.cli.arguments.turn import matchers_of, settings_of, task_of, turn_of, weaver_over

    kept = Kept(None, DEFAULT_CONVERSATION)
    turn = turn_of(
        message_text(message),
        role,
        kept.conversation,
        transcript=read_transcript(transcript),
        task=task_of(task, risk, coding=coding),
    )
    settings = settings_of(catalog=catalog, max_skills=max_skills, budget=budget)
    own, notes = graph_of(graph)
    open_over = partial(weaver_over, settings=settings, matchers=matchers_of(matcher, mention=mention), graph=own)
    answer = asyncio.run(_matched(sources_of(skills, strict=strict, packs=pack), turn, open_over, kept))
    return replace(answer, notes=(*notes, *answer.notes))


async def _matched(sources: Sequence["Source"], turn: "Turn", open_over: Callable[..., "Weaver"], kept: Kept) -> Answer:
    from skillweave.cli.output.graph_notes import graph_notes
    from skillweave.cli.output.tally import loading_notes

    async with opened(kept) as store:
        weaver = open_over(sources, store)
        await indexed(weaver)
        selection = await weaver.match(turn)
        fallback = (await weaver.preview(turn)).fallback
    snapshot = await weaver.snapshot()
    notes = (*loading_notes(snapshot), *graph_notes(snapshot, weaver.graph))
    return Answer(partial(_data, selection, fallback), partial(_text, selection, fallback), notes=notes)


def _data(selection: "Selection", fallback: "Fallback | None") -> dict[str, object]:
    return {
        "chosen": [_candidate(candidate) for candidate in selection.chosen],
        "rejected": [{**_candidate(one.candidate), "reason": one.reason} for one in selection.rejected],
        "fallback": None if fallback is None else fallback.to_dict(),
    }


def _candidate(candidate: "Candidate") -> dict[str, object]:
    return {
        "skill_id": candidate.skill_id,
        "score": candidate.score,
        "matcher": candidate.matcher,
        "evidence": [piece.to_dict() for piece in candidate.evidence],
    }


def _text(selection: "Selection", fallback: "Fallback | None", page: Page) -> str:
    from skillweave.cli.output.words import evidence_shown

    lines: list[str] = []
    for candidate in selection.chosen:
        lines.append(page.entry("chosen", _title(candidate), Ink.GOOD))
        lines.append(page.entry("", evidence_shown(candidate.evidence)))
    for rejected in selection.rejected:
        lines.append(page.entry(rejected.outcome.value, _title(rejected.candidate), Ink.FAINT))
        lines.append(page.entry("", rejected.reason))
    parts = ["\n".join(lines) or page.wrap("No skill is about this message.")]
    if fallback is not None:
        parts.append(f"{page.entry('fallback', fallback.kind.value)}\n{page.excerpt(fallback.text, 10)}")
    return "\n\n".join(parts)


def _title(candidate: "Candidate") -> str:
    return f"{candidate.skill_id} ({candidate.matcher} {candidate.score:.2f})"
