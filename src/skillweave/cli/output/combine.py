"""Several skills together, and a sub-agent that gets them, as JSON and for people."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillweave.cli.output.page import Ink, Page, listed
from skillweave.codec import Portable
from skillweave.compose.composition import Composition
from skillweave.compose.spawn import SpawnPlan, SpawnRejected
from skillweave.relations.validate import Completion, ValidationResult


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
