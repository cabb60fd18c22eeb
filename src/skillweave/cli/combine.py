"""`skillweave validate`, `compose` and `spawn`: several skills together, and a sub-agent that gets them."""

from functools import partial
from typing import Annotated, Literal

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import DEFAULT_CONVERSATION, Kept, existing, opened, require_known
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, extended

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
    from skillweave.cli.output.combine import Validated, validated_text
    from skillweave.cli.output.notes import loading_notes
    from skillweave.relations.validate import complete_skills, validate_skills

    snapshot = loading.snapshot()
    result = validate_skills(ids, snapshot, host_tools=tool or None)
    completed = complete_skills(ids, snapshot)
    whole = validate_skills(completed.skills, snapshot)
    return Answer(
        partial(extended, Validated, result, completion=completed),
        partial(validated_text, result, completed, whole),
        code=0 if result.valid else MISTAKE,
        notes=loading_notes(snapshot),
    )


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
    from skillweave.cli.output.combine import Composed, composed_text
    from skillweave.cli.output.notes import loading_notes
    from skillweave.compose.composition import Mode, compose_ids

    snapshot = loading.snapshot()
    composition = compose_ids(ids, snapshot, Mode(mode))
    data = partial(extended, Composed, composition, mode=mode)
    return Answer(data, partial(composed_text, composition), notes=loading_notes(snapshot))


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
    import skillweave
    from skillweave.cli.output.combine import plan_text, rejection_text
    from skillweave.cli.output.notes import loading_notes
    from skillweave.compose.spawn import SpawnPlan, SpawnRequest

    if ids and no_skills:
        raise Mistake(f"--no-skills means none, but {', '.join(ids)} is asked for; leave out one of the two")
    names = () if no_skills else tuple(ids) if ids else None
    request = SpawnRequest(task, names, label=label, model=model, thinking=thinking)
    kept = Kept(None, DEFAULT_CONVERSATION) if parent is None else existing(ledger, parent)
    sources = loading.sources()
    async with opened(kept) as store:
        if parent is not None:
            await require_known(store, kept)
        weaver = skillweave.open(*sources, ledger=store)
        prepared = await weaver.composition.prepare_spawn(request, parent=parent, spawn_id=spawn_id, tools=tool or None)
    notes = loading_notes(await weaver.skills.snapshot())
    if isinstance(prepared, SpawnPlan):
        return Answer(lambda: prepared, partial(plan_text, prepared), notes=notes)
    return Answer(lambda: prepared, partial(rejection_text, prepared), code=MISTAKE, notes=notes)
