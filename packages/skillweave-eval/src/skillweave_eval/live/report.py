"""How much better answers are with the skill than without it, and what that cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from skillweave.values import Portable
from skillweave_eval.live.models import Usage
from skillweave_eval.live.prompts import Prompt
from skillweave_eval.live.runs import Arm, Models, Outcome, Run
from skillweave_eval.metrics import Interval, Resampling, mean_interval


@dataclass(frozen=True, slots=True)
class AssertionShown(Portable):
    """An assertion of a prompt: by whom it is decided, and in how many judged answers it holds in each arm."""

    json_keys: ClassVar[tuple[str, ...]] = (
        *("text", "by", "with_met as with", "with_judged", "without_met as without", "without_judged"),
    )

    text: str
    by: str
    with_met: int
    with_judged: int
    without_met: int
    without_judged: int


@dataclass(frozen=True, slots=True)
class PromptShown(Portable):
    """One prompt: the share of its assertions that hold with the skill and without, None where nobody could say."""

    json_keys: ClassVar[tuple[str, ...]] = (
        *("skill_id", "id", "prompt", "with_skill as with", "without_skill as without", "assertions"),
    )

    skill_id: str
    id: str
    prompt: str
    with_skill: float | None
    without_skill: float | None
    assertions: tuple[AssertionShown, ...]


@dataclass(frozen=True, slots=True)
class Effect(Portable):
    """The mean over prompts of the share of assertions that hold, in both arms, and the difference between them."""

    json_keys: ClassVar[tuple[str, ...]] = (
        *("skill_id", "prompts", "with_skill as with", "without_skill as without", "difference"),
    )

    skill_id: str
    prompts: int
    with_skill: float
    without_skill: float
    difference: Interval


@dataclass(frozen=True, slots=True)
class Spent(Portable):
    """What one part of the evaluation took; `cost` is None without prices."""

    what: str
    usage: Usage
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class LiveReport(Portable):
    """What skills bring to the answers of a model.

    `effects` has a line for each skill, and with several of them one named `all`. A prompt counts when both arms were
    judged. `by_model` assertions were judged by the model `judge`, `by_program` ones by looking. `stopped` is why not
    everything was run.
    """

    data: str
    model: str
    judge: str
    samples: int
    seed: int
    resamples: int
    runs: int
    failed: int
    by_model: int
    by_program: int
    effects: tuple[Effect, ...]
    spent: tuple[Spent, ...]
    prompts: tuple[PromptShown, ...]
    errors: tuple[str, ...] = ()
    stopped: str | None = None


def report_runs(
    data: str, prompts: Sequence[Prompt], outcome: Outcome, models: Models, samples: int, resampling: Resampling
) -> LiveReport:
    """The report on what was run."""
    shown = tuple(_prompt(prompt, outcome.runs) for prompt in prompts)
    verdicts = [verdict for run in outcome.runs for verdict in run.verdicts if verdict.met is not None]
    errors = [f"{run.skill_id} {run.prompt_id} ({run.arm.value}): {run.error}" for run in outcome.runs if run.error]
    return LiveReport(
        data=data,
        model=models.answering.named,
        judge=models.judging.named,
        samples=samples,
        seed=resampling.seed,
        resamples=resampling.resamples,
        runs=len(outcome.runs),
        failed=len(errors),
        by_model=sum(verdict.by == "model" for verdict in verdicts),
        by_program=sum(verdict.by == "program" for verdict in verdicts),
        effects=tuple(_effects(shown, resampling)),
        spent=_spent(outcome.runs, models),
        prompts=shown,
        errors=tuple(errors),
        stopped=outcome.stopped,
    )


def _effects(prompts: Sequence[PromptShown], resampling: Resampling) -> Iterator[Effect]:
    groups = {skill: [one for one in prompts if one.skill_id == skill] for skill in (one.skill_id for one in prompts)}
    if len(groups) > 1:
        groups["all"] = list(prompts)
    for name, members in groups.items():
        pairs = [(one.with_skill, one.without_skill) for one in members]
        both = [(one, other) for one, other in pairs if one is not None and other is not None]
        if both:
            difference = mean_interval([one - other for one, other in both], resampling)
            first, second = (round(sum(arm) / len(both), 6) for arm in zip(*both, strict=True))
            yield Effect(name, len(both), first, second, difference)


def _prompt(prompt: Prompt, runs: Sequence[Run]) -> PromptShown:
    own = [run for run in runs if (run.skill_id, run.prompt_id) == (prompt.skill_id, prompt.id)]
    arms = {arm: [run for run in own if run.arm is arm and run.share is not None] for arm in Arm}
    assertions = tuple(
        AssertionShown(
            one.text,
            next((run.verdicts[number].by for run in own if len(run.verdicts) > number), "model"),
            *(count for arm in Arm for count in _held(arms[arm], number)),
        )
        for number, one in enumerate(prompt.assertions)
    )
    first, second = _mean(arms[Arm.WITH]), _mean(arms[Arm.WITHOUT])
    return PromptShown(prompt.skill_id, prompt.id, prompt.text, first, second, assertions)


def _held(runs: Sequence[Run], number: int) -> tuple[int, int]:
    judged = [run.verdicts[number].met for run in runs if run.verdicts[number].met is not None]
    return sum(map(bool, judged)), len(judged)


def _mean(runs: Sequence[Run]) -> float | None:
    shares = [run.share for run in runs if run.share is not None]
    return round(sum(shares) / len(shares), 6) if shares else None


def _spent(runs: Sequence[Run], models: Models) -> tuple[Spent, ...]:
    answers = {f"answers {arm.value} the skill": [run.usage for run in runs if run.arm is arm] for arm in Arm}
    priced = models.prices.input or models.prices.output
    found = []
    for what, usages in {**answers, "judging": [run.judge_usage for run in runs]}.items():
        total = reduce(Usage.plus, usages, Usage())
        found.append(Spent(what, total, round(models.prices.of(total), 6) if priced else None))
    return tuple(found)
