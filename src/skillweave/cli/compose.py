"""`skillweave compose`: what several skills allow and prescribe together."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load_snapshot
from skillweave.cli.completion import offers
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Page

if TYPE_CHECKING:
    from skillweave.compose.composition import Composition

EXAMPLES = """
skillweave compose feature-spec feature-build --skills examples/skills
skillweave compose feature-spec feature-build --mode intersection --json
"""


def compose(
    ids: Annotated[
        list[str], typer.Argument(metavar="SKILL", help="The ids of the skills.", autocompletion=offers.skill_ids)
    ],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    mode: Annotated[
        Literal["union", "intersection"],
        typer.Option(
            "--mode",
            help="Which tools are left: those that any of the skills allows, or those that all of them do.",
            rich_help_panel=options.SKILLS,
        ),
    ] = "union",
    as_json: options.AsJson = False,
) -> Answer:
    """Merge several skills into one set of tools and steps.

    A tool that any of them forbids is forbidden. Whether they may be used together at all is what `validate` says.
    """
    from skillweave.cli.output.tally import loading_notes
    from skillweave.compose.composition import Mode, compose_ids

    snapshot = load_snapshot(skills, strict=strict, packs=pack)
    composition = compose_ids(ids, snapshot, Mode(mode))
    data = partial(_data, composition, mode)
    return Answer(data, partial(_text, composition), notes=loading_notes(snapshot))


def _data(composition: "Composition", mode: str) -> dict[str, object]:
    return {**composition.to_dict(), "mode": mode}


def _text(composition: "Composition", page: Page) -> str:
    from skillweave.cli.output.words import listed

    allowed = composition.allowed_tools
    lines = [
        page.entry("skills", listed(composition.skills)),
        page.entry("allowed", "any tool: none of them has rules" if allowed is None else listed(allowed, "no tool")),
        page.entry("forbidden", listed(composition.forbidden_tools)),
    ]
    steps = [page.entry(f"step {place}", step) for place, step in enumerate(composition.execution_protocol, 1)]
    return "\n".join([*lines, *steps])
