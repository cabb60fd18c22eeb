"""`skillweave eval live`: the answers of a model with a skill and without it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave import commands
from skillweave.commands import MISTAKE, Answer, Mistake
from skillweave_eval.commands.shared import EVALUATION, Html, Resampled, positive, progress, write_page

if TYPE_CHECKING:
    import asyncio

    from skillweave_eval.live.models import Endpoint
    from skillweave_eval.live.runs import Models
    from skillweave_eval.live.spending import Limits


INTERRUPTED = 130


SHOWN_ERRORS = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Which models answer and judge, and where they are."""

    model: commands.Model = None
    judge: Annotated[
        str | None,
        commands.option(commands.MODEL, "--judge PROVIDER:NAME", "Which model judges. Default: the one that answers"),
    ] = None
    base_url: Annotated[
        str | None,
        commands.option(commands.MODEL, "--base-url URL", "Where the model is. Default: PROVIDER_BASE_URL, or its own"),
    ] = None
    judge_base_url: Annotated[
        str | None,
        commands.option(commands.MODEL, "--judge-base-url URL", "Where the judge is, where it is elsewhere."),
    ] = None
    wire: Annotated[
        Literal["openai", "anthropic"] | None,
        commands.option(commands.MODEL, "--wire", "The format that the model's server speaks. Default: its provider's"),
    ] = None
    timeout: Annotated[
        float, commands.option(commands.MODEL, "--timeout SECONDS", "For how long one call may take.", parser=positive)
    ] = 120.0
    longest_answer: Annotated[
        int,
        commands.option(
            commands.MODEL, "--longest-answer N", "Tokens that an answer may have.", parser=commands.whole_number
        ),
    ] = 4096

    def endpoints(self) -> "tuple[Endpoint, Endpoint]":
        """The model and the judge; raises Mistake without a model, SkillweaveError where one cannot be asked."""
        from skillweave_eval.live.models import Wire, endpoint_of

        if not self.model:
            raise Mistake("no model is named; add --model provider:name, such as --model openai:gpt-5-mini")
        wire = None if self.wire is None else Wire(self.wire)
        answering = endpoint_of(self.model, base_url=self.base_url, wire=wire)
        if self.judge is None:
            return answering, answering
        same = self.judge.partition(":")[0] == self.model.partition(":")[0]
        url = self.judge_base_url or (self.base_url if same else None)
        return answering, endpoint_of(self.judge, base_url=url, wire=wire if same else None)


@dataclass(frozen=True, slots=True)
class Paying:
    """What may be spent, and what a million tokens cost."""

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
    judge_price_in: Annotated[
        float | None, commands.option(EVALUATION, "--judge-price-in X", "The same for the judge.", parser=positive)
    ] = None
    judge_price_out: Annotated[
        float | None, commands.option(EVALUATION, "--judge-price-out X", "The same for the judge.", parser=positive)
    ] = None

    def models(self, answering: "Endpoint", judging: "Endpoint") -> "Models":
        """The models with their prices; raises Mistake for a limit of cost without prices."""
        from skillweave_eval.live.runs import Models
        from skillweave_eval.live.spending import Prices

        prices = Prices(self.price_in, self.price_out)
        own = self.judge_price_in is not None or self.judge_price_out is not None
        judged = Prices(self.judge_price_in or 0.0, self.judge_price_out or 0.0) if own else prices
        if self.max_cost is not None and not (prices.input or prices.output):
            raise Mistake(
                "--max-cost needs to know what tokens cost; add --price-in and --price-out, per million tokens"
            )
        return Models(answering, judging, prices, judged)

    def limits(self) -> "Limits":
        """The limits of all calls together."""
        from skillweave_eval.live.spending import Limits

        return Limits(self.limit_tokens, self.max_cost)


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
    paying: Paying,
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
    the OpenAI or the Anthropic format; the key is read from PROVIDER_API_KEY. Ctrl-C ends it with what is done, and
    the same command goes on from there.
    """
    import skillweave
    from skillweave import Budget, CatalogMode, Settings
    from skillweave.commands import loading_notes
    from skillweave_eval.commands.output import live_text
    from skillweave_eval.live.models import Caller
    from skillweave_eval.live.report import report_runs
    from skillweave_eval.live.runs import Results, jobs_for, run_jobs
    from skillweave_eval.live.setup import gather_material
    from skillweave_eval.metrics import Resampling

    models = paying.models(*asking.endpoints())
    settings = Settings(budget=Budget(total=budget, per_skill=budget), catalog=CatalogMode.NEVER)
    weaver = skillweave.open(*loading.sources(), settings=settings)
    material = await gather_material(weaver, [Path(one) for one in prompts or ()], skill or ())
    jobs = jobs_for(material.prompts, material.texts, models, max(1, samples), asking.longest_answer)
    async with Caller(timeout=asking.timeout, longest_answer=asking.longest_answer) as caller:
        with progress("Asking") as tell, interruptible() as stop:
            outcome = await run_jobs(
                jobs,
                models,
                caller,
                Results(Path(results)),
                weaver.skills.counter,
                limits=paying.limits(),
                concurrency=concurrency,
                stop=stop,
                progress=tell,
            )
    resampling = Resampling(resampled.seed, resampled.resamples)
    report = report_runs(material.data, material.prompts, outcome, models, max(1, samples), resampling)
    write_page(html, report)
    notes = [*loading_notes(await weaver.skills.snapshot()), *material.notes, *report.errors[:SHOWN_ERRORS]]
    if report.stopped is not None or report.failed:
        notes.append(f"not everything was run; what is done is in {results}, and the same command goes on from there")
    code = INTERRUPTED if stop.is_set() else MISTAKE if report.failed or not report.effects else 0
    return Answer(lambda: report, partial(live_text, report), code=code, notes=tuple(notes))


@contextmanager
def interruptible() -> "Iterator[asyncio.Event]":
    """An event that the first Ctrl-C sets; the second one ends the program."""
    import asyncio

    event, loop = asyncio.Event(), asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)

    def first(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        loop.call_soon_threadsafe(event.set)

    signal.signal(signal.SIGINT, first)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
