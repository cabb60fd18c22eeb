"""`skillweave spawn`: may a sub-agent have these skills, and what may it do with them?"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, Kept, existing, opened, require_known
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.completion import offers
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
    from skillweave.registry import Source

EXAMPLES = """
skillweave spawn feature-spec feature-build --task "Add a login form" --skills examples/skills
skillweave spawn specification-engine --task "Add a login form" --pack coding --json
skillweave spawn --no-skills --task "Summarise the log" --parent c1 --tool read_file
"""
AGENT = "The sub-agent"


def spawn(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SKILL]...",
            help="The skills that it gets, and with them only their tools. None: no restriction.",
            autocompletion=offers.skill_ids,
            show_default=False,
        ),
    ] = None,
    *,
    task: Annotated[
        str, typer.Option("--task", metavar="TEXT", help="What the sub-agent is to do.", rich_help_panel=AGENT)
    ],
    no_skills: Annotated[
        bool,
        typer.Option("--no-skills", help="Give it no skill and no tool at all.", rich_help_panel=AGENT),
    ] = False,
    label: Annotated[
        str | None, typer.Option("--label", metavar="TEXT", help="What it is called.", rich_help_panel=AGENT)
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="TEXT", help="Carried along for your host.", rich_help_panel=AGENT)
    ] = None,
    thinking: Annotated[
        str | None,
        typer.Option("--thinking", metavar="TEXT", help="Carried along for your host.", rich_help_panel=AGENT),
    ] = None,
    tool: options.Tools = None,
    spawn_id: Annotated[
        str | None,
        typer.Option(
            "--spawn-id",
            metavar="ID",
            help="The end of its conversation's id, PARENT/ID. Default: a new one.",
            rich_help_panel=options.LEDGER,
        ),
    ] = None,
    parent: Annotated[
        str | None,
        typer.Option(
            "--parent",
            metavar="CONVERSATION",
            help="Who spawns it: it gets no tool that this conversation's agent may not call now.",
            rich_help_panel=options.LEDGER,
            autocompletion=offers.conversations,
        ),
    ] = None,
    ledger: options.KeptLedger = None,
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    as_json: options.AsJson = False,
) -> Answer:
    """Check what a sub-agent would start with: skills, tools, text.

    Validates the skills and merges their rules; nothing is started or written. The exit code is 1 when the sub-agent
    may not be started, with the reasons and what to ask for instead.
    """
    import asyncio

    from skillweave.compose.spawn import SpawnRequest

    if ids and no_skills:
        raise Mistake(f"--no-skills means none, but {', '.join(ids)} is asked for; leave out one of the two")
    names = () if no_skills else tuple(ids) if ids else None
    request = SpawnRequest(task, names, label=label, model=model, thinking=thinking)
    kept = Kept(None, DEFAULT_CONVERSATION) if parent is None else existing(ledger, parent)
    sources = sources_of(skills, strict=strict, packs=pack)
    return asyncio.run(_prepared(request, sources, kept, parent, spawn_id, tool))


async def _prepared(
    request: "SpawnRequest",
    sources: Sequence["Source"],
    kept: Kept,
    parent: str | None,
    spawn_id: str | None,
    tools: Sequence[str] | None,
) -> Answer:
    from skillweave.cli.output.tally import loading_notes
    from skillweave.compose.spawn import SpawnPlan
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        if parent is not None:
            await require_known(store, kept)
        weaver = open_weaver(*sources, ledger=store)
        prepared = await weaver.prepare_spawn(request, parent=parent, spawn_id=spawn_id, tools=tools or None)
    notes = loading_notes(await weaver.snapshot())
    if isinstance(prepared, SpawnPlan):
        return Answer(prepared.to_dict, partial(_plan, prepared), notes=notes)
    return Answer(prepared.to_dict, partial(_rejection, prepared), code=MISTAKE, notes=notes)


def _plan(plan: "SpawnPlan", page: Page) -> str:
    lines = "\n".join([page.entry("ready", f"in conversation {plan.conversation}", Ink.GOOD), *_figures(plan, page)])
    if not plan.text:
        return lines
    return f"{lines}\n\n{page.entry('text', 'for its system prompt')}\n{page.excerpt(plan.text, 40)}"


def _figures(plan: "SpawnPlan", page: Page) -> Iterator[str]:
    from skillweave.cli.output.words import listed

    yield page.entry("skills", listed(plan.skills))
    yield page.entry(
        "allowed", "any tool: nothing restricts it" if plan.tools is None else listed(plan.tools, "no tool")
    )
    yield page.entry("forbidden", listed(plan.policy.forbidden_tools))
    for tool, checkpoints in plan.policy.asks.items():
        yield page.entry("approval", f"{listed(checkpoints)} before {tool}", Ink.WARN)
    for warning in plan.warnings:
        yield page.entry("warning", warning, Ink.WARN)


def _rejection(rejected: "SpawnRejected", page: Page) -> str:
    errors = [page.entry(f"{error.rule} error", error.message, Ink.BAD) for error in rejected.errors]
    warnings = [page.entry("warning", warning, Ink.WARN) for warning in rejected.result.warnings]
    head = page.entry("rejected", "the sub-agent may not be started as it is asked for", Ink.BAD)
    added = [page.entry("companion", f"{skill}: {because}") for skill, because in _added(rejected)]
    return "\n".join([head, *errors, *warnings, page.entry("instead", rejected.fix), *added])


def _added(rejected: "SpawnRejected") -> Sequence[tuple[str, str]]:
    return () if rejected.completion is None else rejected.completion.added
