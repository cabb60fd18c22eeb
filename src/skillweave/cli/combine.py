"""`skillweave validate`, `compose` and `spawn`: several skills together, and a sub-agent that gets them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, Kept, existing, opened, require_known
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page

if TYPE_CHECKING:
    from skillweave.compose.composition import Composition
    from skillweave.compose.spawn import SpawnPlan, SpawnRejected
    from skillweave.relations.validate import Completion, ValidationResult


EXAMPLES = {
    "validate": """
skillweave validate feature-spec feature-build --skills examples/skills
skillweave validate feature-build --skills examples/skills --tool run_tests
""",
    "compose": """
skillweave compose feature-spec feature-build --skills examples/skills
skillweave compose feature-spec feature-build --mode intersection --json
""",
    "spawn": """
skillweave spawn feature-spec feature-build --task "Add a login form" --skills examples/skills
skillweave spawn specification-engine --task "Add a login form" --pack coding --json
skillweave spawn --no-skills --task "Summarise the log" --parent c1 --tool read_file
""",
}


def validate(
    ids: Annotated[
        list[str], typer.Argument(metavar="SKILL", help="The ids of the skills.", autocompletion=completion.skill_ids)
    ],
    *,
    loading: options.Loading,
    tool: options.Tools = None,
) -> Answer:
    """Check whether skills may be used together.

    Finds unknown skills, missing companions and conflicts, all of them at once, and says which companions would make
    the set complete, each with the reason. The exit code is 1 for an invalid set. With --tool it also warns of tools
    that the host does not have.
    """
    from skillweave.cli.output.loading import loading_notes
    from skillweave.relations.validate import complete_skills, validate_skills

    snapshot = loading.snapshot()
    result = validate_skills(ids, snapshot, host_tools=tool or None)
    completed = complete_skills(ids, snapshot)
    whole = validate_skills(completed.skills, snapshot)
    data, text = partial(_validated_data, result, completed), partial(_validated_text, result, completed, whole)
    return Answer(data, text, code=0 if result.valid else MISTAKE, notes=loading_notes(snapshot))


def _validated_data(result: "ValidationResult", completed: "Completion") -> dict[str, object]:
    return {**result.to_dict(), "completion": completed.to_dict()}


def _validated_text(result: "ValidationResult", completed: "Completion", whole: "ValidationResult", page: Page) -> str:
    errors = [page.entry(f"{error.rule} error", error.message, Ink.BAD) for error in result.errors]
    warnings = [page.entry("warning", warning, Ink.WARN) for warning in result.warnings]
    if result.valid:
        verdict = page.entry("valid", f"{', '.join(completed.skills)} may be used together", Ink.GOOD)
    else:
        verdict = page.entry("invalid", "these skills may not be used together as they are", Ink.BAD)
    return "\n".join([verdict, *errors, *warnings, *_companions(completed, whole, page)])


def _companions(completed: "Completion", whole: "ValidationResult", page: Page) -> Iterator[str]:
    for skill, because in completed.added:
        yield page.entry("companion", f"{skill}, as {because}")
    if not completed.added:
        return
    if whole.valid:
        yield page.entry("complete", f"with all companions it is: {' '.join(completed.skills)}")
    else:
        yield page.entry("complete", "not by companions alone: with all of them the set is not valid either", Ink.WARN)


def compose(
    ids: Annotated[
        list[str], typer.Argument(metavar="SKILL", help="The ids of the skills.", autocompletion=completion.skill_ids)
    ],
    *,
    loading: options.Loading,
    mode: Annotated[
        Literal["union", "intersection"],
        options.option(
            options.SKILLS,
            "--mode",
            "Which tools are left: those that any of the skills allows, or those that all of them do.",
        ),
    ] = "union",
) -> Answer:
    """Merge several skills into one set of tools and steps.

    A tool that any of them forbids is forbidden. Whether they may be used together at all is what `validate` says.
    """
    from skillweave.cli.output.loading import loading_notes
    from skillweave.compose.composition import Mode, compose_ids

    snapshot = loading.snapshot()
    composition = compose_ids(ids, snapshot, Mode(mode))
    data = partial(_composed_data, composition, mode)
    return Answer(data, partial(_composed_text, composition), notes=loading_notes(snapshot))


def _composed_data(composition: "Composition", mode: str) -> dict[str, object]:
    return {**composition.to_dict(), "mode": mode}


def _composed_text(composition: "Composition", page: Page) -> str:
    from skillweave.cli.output.page import listed

    allowed = composition.allowed_tools
    lines = [
        page.entry("skills", listed(composition.skills)),
        page.entry("allowed", "any tool: none of them has rules" if allowed is None else listed(allowed, "no tool")),
        page.entry("forbidden", listed(composition.forbidden_tools)),
    ]
    steps = [page.entry(f"step {place}", step) for place, step in enumerate(composition.execution_protocol, 1)]
    return "\n".join([*lines, *steps])


AGENT = "The sub-agent"


async def spawn(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SKILL]...",
            help="The skills that it gets, and with them only their tools. None: no restriction.",
            autocompletion=completion.skill_ids,
            show_default=False,
        ),
    ] = None,
    *,
    task: Annotated[str, options.option(AGENT, "--task TEXT", "What the sub-agent is to do.")],
    no_skills: Annotated[bool, options.option(AGENT, "--no-skills", "Give it no skill and no tool at all.")] = False,
    label: Annotated[str | None, options.option(AGENT, "--label TEXT", "What it is called.")] = None,
    model: Annotated[str | None, options.option(AGENT, "--model TEXT", "Carried along for your host.")] = None,
    thinking: Annotated[str | None, options.option(AGENT, "--thinking TEXT", "Carried along for your host.")] = None,
    tool: options.Tools = None,
    spawn_id: Annotated[
        str | None,
        options.option(
            options.LEDGER, "--spawn-id ID", "The end of its conversation's id, PARENT/ID. Default: a new one."
        ),
    ] = None,
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
    loading: options.Loading,
) -> Answer:
    """Check what a sub-agent would start with: skills, tools, text.

    Validates the skills and merges their rules; nothing is started or written. The exit code is 1 when the sub-agent
    may not be started, with the reasons and what to ask for instead.
    """
    from skillweave.cli.output.loading import loading_notes
    from skillweave.compose.spawn import SpawnPlan, SpawnRequest
    from skillweave.factory import open_weaver

    if ids and no_skills:
        raise Mistake(f"--no-skills means none, but {', '.join(ids)} is asked for; leave out one of the two")
    names = () if no_skills else tuple(ids) if ids else None
    request = SpawnRequest(task, names, label=label, model=model, thinking=thinking)
    kept = Kept(None, DEFAULT_CONVERSATION) if parent is None else existing(ledger, parent)
    sources = loading.sources()
    async with opened(kept) as store:
        if parent is not None:
            await require_known(store, kept)
        weaver = open_weaver(*sources, ledger=store)
        prepared = await weaver.prepare_spawn(request, parent=parent, spawn_id=spawn_id, tools=tool or None)
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
    from skillweave.cli.output.page import listed

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
