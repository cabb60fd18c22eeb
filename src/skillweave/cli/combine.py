"""`skillweave compose`: several skills together, and a sub-agent that gets them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, Kept, existing, opened, require_known
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page, listed
from skillweave.codec import Portable
from skillweave.compose.composition import Composition
from skillweave.compose.spawn import SpawnPlan, SpawnRejected
from skillweave.relations.validate import Completion, ValidationResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillweave.registry import Snapshot

EXAMPLES = {
    "compose": """
skillweave compose feature-spec feature-build --skills examples/skills
skillweave compose feature-spec feature-build --mode intersection --json
skillweave compose feature-build --validate --tool run_tests
skillweave compose feature-spec feature-build --spawn "Add a login form"
skillweave compose --spawn "Summarise the log" --parent c1 --tool read_file
""",
}


async def compose(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SKILL]...",
            help="The ids of the skills. A sub-agent without any is not restricted.",
            autocompletion=completion.skill_ids,
            show_default=False,
        ),
    ] = None,
    *,
    validate: Annotated[
        bool,
        options.option(options.OUTPUT, "--validate", "Check whether they may be used together, and what is missing."),
    ] = False,
    spawn: Annotated[
        str | None,
        options.option(
            options.OUTPUT, "--spawn TASK", "Check what a sub-agent for this task would start with; nothing is started."
        ),
    ] = None,
    loading: options.Loading,
    mode: Annotated[
        Literal["union", "intersection"],
        options.option(
            options.SKILLS,
            "--mode",
            "Which tools are left: those that any of the skills allows, or those that all of them do.",
        ),
    ] = "union",
    tool: options.Tools = None,
    parent: Annotated[
        str | None,
        options.option(
            options.LEDGER,
            "--parent CONVERSATION",
            "Who spawns it: it gets no tool that this conversation's agent may not call now.",
            autocompletion=completion.conversations,
        ),
    ] = None,
    ledger: options.KeptLedger = None,
) -> Answer:
    """Merge several skills into one set of tools and steps.

    A tool that any of them forbids is forbidden. With --validate it finds unknown skills, missing companions and
    conflicts, all at once, and says which companions would make the set complete; with --spawn what a sub-agent would
    start with: skills, tools, text. The exit code is 1 where they may not be used together.
    """
    from skillweave.cli.arguments.skills import load
    from skillweave.cli.output.notes import loading_notes
    from skillweave.compose.composition import Mode, compose_ids

    if spawn is not None and not validate:
        return await _spawned(spawn, ids, loading, tool, None if parent is None else existing(ledger, parent))
    if not ids or spawn is not None:
        raise Mistake("name the skills, and one of --validate and --spawn at most; `skillweave show` lists the skills")
    snapshot = (await load(loading.sources())).snapshot
    if validate:
        return _validated(ids, snapshot, tool)
    composition = compose_ids(ids, snapshot, Mode(mode))
    return Answer(lambda: composition, partial(composed_text, composition), notes=loading_notes(snapshot))


def _validated(ids: "Sequence[str]", snapshot: "Snapshot", tools: "Sequence[str] | None") -> Answer:
    from skillweave.cli.output.notes import loading_notes
    from skillweave.relations.validate import complete_skills, validate_skills

    found = Validated(validate_skills(ids, snapshot, host_tools=tools or None), complete_skills(ids, snapshot))
    whole = validate_skills(found.completion.skills, snapshot)
    text = partial(validated_text, found, whole)
    return Answer(lambda: found, text, code=0 if found.result.valid else MISTAKE, notes=loading_notes(snapshot))


async def _spawned(
    task: str, ids: "Sequence[str] | None", loading: options.Loading, tools: "Sequence[str] | None", parent: Kept | None
) -> Answer:
    import skillweave
    from skillweave.cli.output.notes import loading_notes
    from skillweave.compose.spawn import SpawnRequest

    request = SpawnRequest(task, tuple(ids) if ids else None)
    sources = loading.sources()
    async with opened(parent or Kept(None, DEFAULT_CONVERSATION)) as store:
        if parent is not None:
            await require_known(store, parent)
        weaver = skillweave.open(*sources, ledger=store)
        whose = None if parent is None else parent.conversation
        prepared = await weaver.composition.prepare_spawn(request, parent=whose, tools=tools or None)
    notes = loading_notes(await weaver.skills.snapshot())
    if isinstance(prepared, SpawnPlan):
        return Answer(lambda: prepared, partial(plan_text, prepared), notes=notes)
    return Answer(lambda: prepared, partial(rejection_text, prepared), code=MISTAKE, notes=notes)


@dataclass(frozen=True, slots=True)
class Validated(Portable):
    """Whether skills may be used together, and which companions complete the set."""

    result: ValidationResult
    completion: Completion


def validated_text(found: Validated, whole: ValidationResult, page: Page) -> str:
    """The verdict on a set of skills, and what would complete it; `whole` is that on the completed set."""
    completed = found.completion
    if found.result.valid:
        verdict = page.entry("valid", f"{', '.join(completed.skills)} may be used together", Ink.GOOD)
    else:
        verdict = page.entry("invalid", "these skills may not be used together as they are", Ink.BAD)
    lines = [verdict, *_findings(found.result, page)]
    lines += [page.entry("companion", f"{skill}, as {because}") for skill, because in completed.added]
    if completed.added and whole.valid:
        lines.append(page.entry("complete", f"with all companions it is: {' '.join(completed.skills)}"))
    elif completed.added:
        text = "not by companions alone: with all of them the set is not valid either"
        lines.append(page.entry("complete", text, Ink.WARN))
    return "\n".join(lines)


def _findings(result: ValidationResult, page: Page) -> Iterator[str]:
    for error in result.errors:
        yield page.entry(f"{error.rule} error", error.message, Ink.BAD)
    for warning in result.warnings:
        yield page.entry("warning", warning, Ink.WARN)


def composed_text(composition: Composition, page: Page) -> str:
    """The tools and steps of a composition."""
    allowed = composition.allowed_tools
    lines = [
        page.entry("skills", listed(composition.skills)),
        page.entry("allowed", "any tool: none of them has rules" if allowed is None else listed(allowed, "no tool")),
        page.entry("forbidden", listed(composition.forbidden_tools)),
    ]
    steps = [page.entry(f"step {place}", step) for place, step in enumerate(composition.execution_protocol, 1)]
    return "\n".join([*lines, *steps])


def plan_text(plan: SpawnPlan, page: Page) -> str:
    """What a sub-agent would start with."""
    allowed = "any tool: nothing restricts it" if plan.tools is None else listed(plan.tools, "no tool")
    lines = [
        page.entry("ready", f"in conversation {plan.conversation}", Ink.GOOD),
        page.entry("skills", listed(plan.skills)),
        page.entry("allowed", allowed),
        page.entry("forbidden", listed(plan.policy.forbidden_tools)),
    ]
    for tool, checkpoints in plan.policy.asks.items():
        lines.append(page.entry("approval", f"{listed(checkpoints)} before {tool}", Ink.WARN))
    lines += [page.entry("warning", warning, Ink.WARN) for warning in plan.warnings]
    if plan.text:
        lines += ["", page.entry("text", "for its system prompt"), page.excerpt(plan.text, 40)]
    return "\n".join(lines)


def rejection_text(rejected: SpawnRejected, page: Page) -> str:
    """Why a sub-agent may not be started, and what to ask for instead."""
    head = page.entry("rejected", "the sub-agent may not be started as it is asked for", Ink.BAD)
    added = () if rejected.completion is None else rejected.completion.added
    companions = [page.entry("companion", f"{skill}: {because}") for skill, because in added]
    return "\n".join([head, *_findings(rejected.result, page), page.entry("instead", rejected.fix), *companions])
