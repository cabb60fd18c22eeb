"""Several skills together, and a sub-agent that gets them, as JSON and for people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from skillweave.cli.output.page import Ink, Page, listed
from skillweave.compose.composition import Composition
from skillweave.compose.spawn import SpawnPlan, SpawnRejected
from skillweave.relations.validate import Completion, ValidationResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated(ValidationResult):
    """Whether skills may be used together, and which companions complete the set."""

    json_keys: ClassVar[tuple[str, ...]] = (*ValidationResult.json_keys, "completion")

    completion: Completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed(Composition):
    """What several skills allow and prescribe together, and how their tools were put together."""

    json_keys: ClassVar[tuple[str, ...]] = (*Composition.json_keys, "mode")

    mode: Literal["union", "intersection"]


def validated_text(result: ValidationResult, completed: Completion, whole: ValidationResult, page: Page) -> str:
    """The verdict on a set of skills, and what would complete it; `whole` is that on the completed set."""
    errors = [page.entry(f"{error.rule} error", error.message, Ink.BAD) for error in result.errors]
    warnings = [page.entry("warning", warning, Ink.WARN) for warning in result.warnings]
    if result.valid:
        verdict = page.entry("valid", f"{', '.join(completed.skills)} may be used together", Ink.GOOD)
    else:
        verdict = page.entry("invalid", "these skills may not be used together as they are", Ink.BAD)
    return "\n".join([verdict, *errors, *warnings, *_companions(completed, whole, page)])


def _companions(completed: Completion, whole: ValidationResult, page: Page) -> Iterator[str]:
    for skill, because in completed.added:
        yield page.entry("companion", f"{skill}, as {because}")
    if not completed.added:
        return
    if whole.valid:
        yield page.entry("complete", f"with all companions it is: {' '.join(completed.skills)}")
    else:
        yield page.entry("complete", "not by companions alone: with all of them the set is not valid either", Ink.WARN)


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
    lines = "\n".join([page.entry("ready", f"in conversation {plan.conversation}", Ink.GOOD), *_figures(plan, page)])
    if not plan.text:
        return lines
    return f"{lines}\n\n{page.entry('text', 'for its system prompt')}\n{page.excerpt(plan.text, 40)}"


def _figures(plan: SpawnPlan, page: Page) -> Iterator[str]:
    yield page.entry("skills", listed(plan.skills))
    yield page.entry(
        "allowed", "any tool: nothing restricts it" if plan.tools is None else listed(plan.tools, "no tool")
    )
    yield page.entry("forbidden", listed(plan.policy.forbidden_tools))
    for tool, checkpoints in plan.policy.asks.items():
        yield page.entry("approval", f"{listed(checkpoints)} before {tool}", Ink.WARN)
    for warning in plan.warnings:
        yield page.entry("warning", warning, Ink.WARN)


def rejection_text(rejected: SpawnRejected, page: Page) -> str:
    """Why a sub-agent may not be started, and what to ask for instead."""
    errors = [page.entry(f"{error.rule} error", error.message, Ink.BAD) for error in rejected.errors]
    warnings = [page.entry("warning", warning, Ink.WARN) for warning in rejected.result.warnings]
    head = page.entry("rejected", "the sub-agent may not be started as it is asked for", Ink.BAD)
    added = [page.entry("companion", f"{skill}: {because}") for skill, because in _added(rejected)]
    return "\n".join([head, *errors, *warnings, page.entry("instead", rejected.fix), *added])


def _added(rejected: SpawnRejected) -> Sequence[tuple[str, str]]:
    return () if rejected.completion is None else rejected.completion.added
