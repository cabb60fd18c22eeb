"""`skillweave eval live`: the answers of a model with a skill and without it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave import commands
from skillweave.commands import MISTAKE, Answer, Mistake
from skillweave_eval.commands.shared import EVALUATION, Html, Resampled, positive, progress, write_page

if TYPE_CHECKING:
    from skillweave_eval.live.runs import Models

BY_SIGNAL = 130
"""What shells answer for a program that Ctrl-C ended."""
SHOWN_ERRORS = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Which models answer and judge, where they are, and what may be spent."""

    model: commands.Model = None
    judge: Annotated[
        str | None,
        commands.option(commands.MODEL, "--judge PROVIDER:NAME", "Which model judges. Default: the one that answers"),
    ] = None
    base_url: Annotated[
        str | None,
        commands.option(commands.MODEL, "--base-url URL", "Where the model is. Default: PROVIDER_BASE_URL, or its own"),
    ] = None
    limit_tokens: Annotated[
        int | None,
        commands.option(
            EVALUATION, "--limit-tokens N", "Send nothing that could take more in all.", parser=commands.whole_number
        ),
    ] = None
    max_cost: Annotated[
        float | None,
        commands.option(EVALUATION, "--max-cost X", "Send nothing that could cost more in all.", parser=positive),
    ] = None
    price_in: Annotated[
        float, commands.option(EVALUATION, "--price-in X", "What a million tokens sent cost.", parser=positive)
    ] = 0.0
    price_out: Annotated[
        float, commands.option(EVALUATION, "--price-out X", "What a million tokens answered cost.", parser=positive)
    ] = 0.0

    def models(self, longest_answer: int | None = None) -> "Models":
        """The model and the judge; raises Mistake without a model or prices, SkillweaveError if one cannot be asked."""
        from skillweave_eval.live.models import LONGEST_ANSWER, Model
        from skillweave_eval.live.runs import Models, Prices

        if not self.model:
            raise Mistake("no model is named; add --model provider:name, such as --model openai:gpt-5-mini")
        if self.max_cost is not None and not (self.price_in or self.price_out):
            raise Mistake(
                "--max-cost needs to know what tokens cost; add --price-in and --price-out, per million tokens"
            )
        answering = Model(self.model, base_url=self.base_url, longest_answer=longest_answer or LONGEST_ANSWER)
        judging = answering
        if self.judge is not None:
            same = self.judge.partition(":")[0] == self.model.partition(":")[0]
            judging = Model(self.judge, base_url=self.base_url if same else None)
        prices = Prices(self.price_in, self.price_out)
        return Models(answering, judging, prices, self.limit_tokens, self.max_cost)


async def live(
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROMPTS]...",
            help="Files of evaluation prompts. Default: the evals/evals.json in each skill's folder.",
            show_default=False,
        ),
    ] = None,
    *,
    loading: commands.Loading,
    skill: Annotated[
        list[str] | None, commands.option(commands.SKILLS, "--skill ID", "Only the prompts of this skill. Repeatable.")
    ] = None,
    asking: Asking,
    samples: Annotated[
        int, commands.option(EVALUATION, "--samples N", "How often each prompt is run.", parser=commands.whole_number)
    ] = 1,
    concurrency: Annotated[
        int, commands.option(EVALUATION, "--concurrency N", "Calls at the same time.", parser=commands.whole_number)
    ] = 4,
    results: Annotated[
        str,
        commands.option(
            EVALUATION, "--results FILE", "Where every run is kept as it is done; what stands there is not run again."
        ),
    ] = ".skillweave/live.jsonl",
    resampled: Resampled,
    budget: commands.Tokens = 25000,
    html: Html = None,
) -> Answer:
    """Compare a model with a skill and without it.

    Lets it answer the evaluation prompts that the skill brings along, both ways.

    Assertions that a program can look up are looked up, all others are judged by a model, which does not learn whether
    the skill was there. Prints the difference with its interval, and what it cost. Works with every server that speaks
    the format of OpenAI; the key is read from PROVIDER_API_KEY. Ctrl-C ends it with what is done, and
    the same command goes on from there.
    """
    import skillweave
    from skillweave import Budget, CatalogMode, Settings
    from skillweave.commands import loading_notes
    from skillweave_eval.commands.output import live_text
    from skillweave_eval.live.prompts import gather_material
    from skillweave_eval.live.report import report_runs
    from skillweave_eval.live.runs import INTERRUPTED, Results, jobs_for, run_jobs
    from skillweave_eval.metrics import Resampling

    models = asking.models()
    settings = Settings(budget=Budget(total=budget, per_skill=budget), catalog=CatalogMode.NEVER)
    weaver = skillweave.open(*loading.sources(), settings=settings)
    material = await gather_material(weaver, [Path(one) for one in prompts or ()], skill or ())
    jobs = jobs_for(material.prompts, material.texts, models, max(1, samples))
    with progress("Asking") as tell, ended_by_ctrl_c():
        outcome = await run_jobs(
            jobs, models, Results(Path(results)), weaver.skills.counter, concurrency=concurrency, progress=tell
        )
    resampling = Resampling(resampled.seed, resampled.resamples)
    report = report_runs(material.data, material.prompts, outcome, models, max(1, samples), resampling)
    write_page(html, report)
    notes = [*loading_notes(await weaver.skills.snapshot()), *material.notes, *report.errors[:SHOWN_ERRORS]]
    if report.stopped is not None or report.failed:
        notes.append(f"not everything was run; what is done is in {results}, and the same command goes on from there")
    code = BY_SIGNAL if report.stopped == INTERRUPTED else MISTAKE if report.failed or not report.effects else 0
    return Answer(lambda: report, partial(live_text, report), code=code, notes=tuple(notes))


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Cancel the current task at the first Ctrl-C; the second one ends the program."""
    import asyncio

    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)

    def first(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
