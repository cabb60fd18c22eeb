"""`skillweave validate`: may these skills be used together?"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load_snapshot
from skillweave.cli.completion import offers
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.relations.validate import Completion, ValidationResult

EXAMPLES = """
skillweave validate feature-spec feature-build --skills examples/skills
skillweave validate feature-build --skills examples/skills --tool run_tests
"""


def validate(
    ids: Annotated[
        list[str], typer.Argument(metavar="SKILL", help="The ids of the skills.", autocompletion=offers.skill_ids)
    ],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    tool: options.Tools = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Check whether skills may be used together.

    Finds unknown skills, missing companions and conflicts, all of them at once, and says which companions would make
    the set complete, each with the reason. The exit code is 1 for an invalid set. With --tool it also warns of tools
    that the host does not have.
    """
    from skillweave.cli.output.tally import loading_notes
    from skillweave.relations.validate import complete_skills, validate_skills

    snapshot = load_snapshot(skills, strict=strict, packs=pack)
    result = validate_skills(ids, snapshot, host_tools=tool or None)
    completion = complete_skills(ids, snapshot)
    whole = validate_skills(completion.skills, snapshot)
    data, text = partial(_data, result, completion), partial(_text, result, completion, whole)
    return Answer(data, text, code=0 if result.valid else MISTAKE, notes=loading_notes(snapshot))


def _data(result: "ValidationResult", completion: "Completion") -> dict[str, object]:
    return {**result.to_dict(), "completion": completion.to_dict()}


def _text(result: "ValidationResult", completion: "Completion", whole: "ValidationResult", page: Page) -> str:
    errors = [page.entry(f"{error.rule} error", error.message, Ink.BAD) for error in result.errors]
    warnings = [page.entry("warning", warning, Ink.WARN) for warning in result.warnings]
    if result.valid:
        verdict = page.entry("valid", f"{', '.join(completion.skills)} may be used together", Ink.GOOD)
    else:
        verdict = page.entry("invalid", "these skills may not be used together as they are", Ink.BAD)
    return "\n".join([verdict, *errors, *warnings, *_companions(completion, whole, page)])


def _companions(completion: "Completion", whole: "ValidationResult", page: Page) -> Iterator[str]:
    for skill, because in completion.added:
        yield page.entry("companion", f"{skill}, as {because}")
    if not completion.added:
        return
    if whole.valid:
        yield page.entry("complete", f"with all companions it is: {' '.join(completion.skills)}")
    else:
        yield page.entry("complete", "not by companions alone: with all of them the set is not valid either", Ink.WARN)
