"""How much better answers are with the skill than without it, and what that cost."""

from collections.abc import Sequence
from dataclasses import dataclass
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
        *("skill_id", "id", "prompt", "with_skill as with", "without_skill as without", "assertions", "left_out"),
    )

    skill_id: str
    id: str
    prompt: str
    with_skill: float | None
    without_skill: float | None
    assertions: tuple[AssertionShown, ...]
    left_out: tuple[str, ...] = ()


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
        effects=_effects(shown, resampling),
        spent=_spent(outcome.runs, models),
        prompts=shown,
        errors=tuple(errors),
        stopped=outcome.stopped,
    )


def _effects(prompts: Sequence[PromptShown], resampling: Resampling) -> tuple[Effect, ...]:
    skills = list(dict.fromkeys(prompt.skill_id for prompt in prompts))
    groups = [(skill, [one for one in prompts if one.skill_id == skill]) for skill in skills]
    if len(skills) > 1:
        groups.append(("all", list(prompts)))
    found = (_effect(name, members, resampling) for name, members in groups)
    return tuple(effect for effect in found if effect is not None)


def _effect(name: str, prompts: Sequence[PromptShown], resampling: Resampling) -> Effect | None:
    pairs = [
        (one.with_skill, one.without_skill)
        for one in prompts
        if one.with_skill is not None and one.without_skill is not None
    ]
    if not pairs:
        return None
    count = len(pairs)
    difference = mean_interval([with_skill - without for with_skill, without in pairs], resampling)
    first, second = sum(pair[0] for pair in pairs) / count, sum(pair[1] for pair in pairs) / count
    return Effect(name, count, round(first, 6), round(second, 6), difference)


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
    return PromptShown(
        prompt.skill_id,
        prompt.id,
        prompt.text,
        _mean(arms[Arm.WITH]),
        _mean(arms[Arm.WITHOUT]),
        assertions,
        prompt.left_out,
    )


def _held(runs: Sequence[Run], number: int) -> tuple[int, int]:
    judged = [run.verdicts[number].met for run in runs if run.verdicts[number].met is not None]
    return sum(map(bool, judged)), len(judged)


def _mean(runs: Sequence[Run]) -> float | None:
    shares = [run.share for run in runs if run.share is not None]
    return round(sum(shares) / len(shares), 6) if shares else None


def _spent(runs: Sequence[Run], models: Models) -> tuple[Spent, ...]:
    answers = {arm: [run.usage for run in runs if run.arm is arm] for arm in Arm}
    parts = [
        *((f"answers {arm.value} the skill", usages, models.prices) for arm, usages in answers.items()),
        ("judging", [run.judge_usage for run in runs], models.judge_prices),
    ]
    found = []
    for what, usages, prices in parts:
        total = Usage()
        for usage in usages:
            total = total.plus(usage)
        priced = prices.input or prices.output
        found.append(Spent(what, total, round(prices.of(total), 6) if priced else None))
    return tuple(found)
