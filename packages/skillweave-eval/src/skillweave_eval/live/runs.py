"""Every prompt answered with its skill and without it, judged, and written down at once."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from skillweave import SkillweaveError
from skillweave.errors import InvalidData
from skillweave.values import Portable
from skillweave_eval.live.judging import JUDGE, by_program, question_for, verdicts_in
from skillweave_eval.live.models import Model, ModelFailed, Reply, Usage
from skillweave_eval.live.prompts import Prompt

if TYPE_CHECKING:
    from skillweave.selection import TokenCounter

JUDGINGS = 2
"""How often a judge is asked whose reply is no verdict."""
OVER = "the limit of tokens or cost is reached"
INTERRUPTED = "it was interrupted"
FRAMING = 200
"""Tokens that a provider may add to a request."""


class Arm(StrEnum):
    """Whether the model had the skill."""

    WITH = "with"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True)
class Verdict(Portable):
    """Whether an assertion holds of an answer, None if nobody could say; `by` program or model."""

    text: str
    met: bool | None
    by: Literal["program", "model"]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Run(Portable):
    """One answer and its verdicts; `key` is the same for the same request to the same models.

    `error` is why there is no answer or no verdict; such a run is tried again the next time.
    """

    key: str
    skill_id: str
    prompt_id: str
    arm: Arm
    sample: int
    answer: str = ""
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = field(default_factory=Usage)
    judge_usage: Usage = field(default_factory=Usage)
    cut: bool = False
    error: str | None = None

    @property
    def share(self) -> float | None:
        """The share of the assertions that hold, of those that somebody could judge."""
        judged = [one.met for one in self.verdicts if one.met is not None]
        return sum(judged) / len(judged) if judged else None


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency; cached input counts like other input, so nothing costs more."""

    input: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        """The cost of calls."""
        return (usage.input * self.input + usage.output * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class Models:
    """Who answers and who judges, what their tokens cost, and what all calls together may take; None for no limit."""

    answering: Model
    judging: Model
    prices: Prices = field(default_factory=Prices)
    most_tokens: int | None = None
    most_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made: `system` is the text of the skill, empty without it; `run` has no answer yet."""

    prompt: Prompt
    system: str
    run: Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The runs that are there in the end, how many of them were there before, and why it ended early, if it did."""

    runs: tuple[Run, ...]
    known: int = 0
    stopped: str | None = None


def jobs_for(prompts: Sequence[Prompt], texts: Mapping[str, str], models: Models, samples: int) -> list[Job]:
    """Returns every run of the prompts, the two arms of a prompt side by side; `texts` has the skills' texts by id."""
    asked = [(one.named, one.url, one.longest_answer) for one in (models.answering, models.judging)]
    jobs: list[Job] = []
    for prompt in prompts:
        for sample in range(samples):
            for arm in Arm:
                system = texts[prompt.skill_id] if arm is Arm.WITH else ""
                said = json.dumps([prompt.to_dict(), system, sample, asked], sort_keys=True)
                key = sha256(said.encode()).hexdigest()[:24]
                jobs.append(Job(prompt, system, Run(key, prompt.skill_id, prompt.id, arm, sample)))
    return jobs


class Results:
    """A file of runs, one JSON object a line, each written as soon as it is done.

    Raises:
        InvalidData: the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = {} if path is None or not path.is_file() else {run.key: run for run in _read(path)}

    def get(self, key: str) -> Run | None:
        """Returns the run that was made before, be it one that failed; None if there was none."""
        return self._known.get(key)

    def add(self, run: Run) -> None:
        """Keep a run for good."""
        self._known[run.key] = run
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(run.to_dict())}\n")


def _read(path: Path) -> Iterator[Run]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield Run.from_dict(json.loads(line))
        except (ValueError, SkillweaveError) as error:
            if number == len(lines):  # a line that was cut off when the machine went down
                return
            raise InvalidData(f"{path}:{number}: this is not a result: {error}; name another --results FILE") from None


class OverLimit(Exception):
    """A call might cross the limit of tokens or cost."""


async def run_jobs(
    jobs: Sequence[Job],
    models: Models,
    results: Results,
    counter: "TokenCounter",
    *,
    concurrency: int = 4,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Make the runs that are not there yet, at most `concurrency` at once, until all are done or a limit is reached.

    Cancelled, as by Ctrl-C, it returns what is done; that is in the file of results too.
    """
    runs = {job.run.key: run for job in jobs if (run := results.get(job.run.key)) is not None and run.error is None}
    known = len(runs)
    waiting = iter([job for job in jobs if job.run.key not in runs])
    bench = Bench(models, counter)

    stopped: list[str] = []

    async def work() -> None:
        for job in waiting:
            try:
                run = await bench.run(job, results.get(job.run.key))
            except OverLimit:
                stopped.append(OVER)
                return
            results.add(run)
            runs[run.key] = run
            if run.error == OVER:
                stopped.append(OVER)
            if progress is not None:
                progress(len(runs), len(jobs))

    async with AsyncExitStack() as stack:
        for model in {models.answering, models.judging}:
            await stack.enter_async_context(model)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, concurrency)):
                    group.create_task(work())
        except asyncio.CancelledError:
            stopped.insert(0, INTERRUPTED)
    return Outcome(tuple(runs[job.run.key] for job in jobs if job.run.key in runs), known, next(iter(stopped), None))


class Bench:
    """Makes runs, and sends nothing that could cross a limit."""

    def __init__(self, models: Models, counter: "TokenCounter") -> None:
        self._models = models
        self.answering = models.answering
        self._counter = counter
        self._tokens: float = inf if models.most_tokens is None else models.most_tokens
        self._cost = inf if models.most_cost is None else models.most_cost
        self._open = 0
        self._changed = asyncio.Condition()

    async def run(self, job: Job, before: Run | None) -> Run:
        """Returns the run, with its error if it failed; raises OverLimit if already the question would cross a limit.

        `before` is an earlier attempt, whose answer is not asked for again.
        """
        if before is not None and before.answer:
            answered = replace(before, verdicts=(), error=None)
        else:
            try:
                reply = await self.asked(self._models.answering, job.system, job.prompt.text)
            except ModelFailed as failure:
                return replace(job.run, error=str(failure))
            answered = replace(job.run, answer=reply.text, usage=reply.usage, cut=reply.cut)
        return await self._judged(job.prompt, answered)

    async def asked(self, model: Model, system: str, text: str) -> Reply:
        """Returns the model's answer; raises ModelFailed, and OverLimit where asking could cross a limit."""
        asked = self._counter.count(system) + self._counter.count(text) + FRAMING
        async with self._reserved(Usage(1, asked, model.longest_answer)) as taken:
            reply = await model.ask(system, text)
            # What failed, or says nothing of what it took, may have been paid for.
            if reply.usage.input or reply.usage.output:
                taken.append(reply.usage)
        return reply

    @asynccontextmanager
    async def _reserved(self, most: Usage) -> AsyncIterator[list[Usage]]:
        """Set aside the most that a call may take; at the end what it took counts, if it is put into the list.

        Waits for calls under way, which may give something back.
        """
        async with self._changed:
            while most.input + most.output > self._tokens or self._models.prices.of(most) > self._cost:
                if not self._open:
                    raise OverLimit
                await self._changed.wait()
            self._spend(most, 1)
            self._open += 1
        taken: list[Usage] = []
        try:
            yield taken
        finally:
            self._open -= 1
            if taken:
                self._spend(most, -1)
                self._spend(taken[0], 1)
            async with self._changed:
                self._changed.notify_all()

    def _spend(self, usage: Usage, times: int) -> None:
        self._tokens -= times * (usage.input + usage.output)
        self._cost -= times * self._models.prices.of(usage)

    async def _judged(self, prompt: Prompt, run: Run) -> Run:
        """The run with a verdict on each assertion, and why some have none."""
        found = [by_program(one, run.answer) for one in prompt.assertions]
        asked = [number for number, met in enumerate(found) if met is None]
        told: Mapping[int, tuple[bool, str]] = {}
        if asked:
            question = question_for(prompt, [prompt.assertions[number] for number in asked], run.answer)
            told, usage, error = await self._asked_judge(question, len(asked))
            run = replace(run, judge_usage=run.judge_usage.plus(usage), error=error)
        verdicts = [Verdict(one.text, met, "program") for one, met in zip(prompt.assertions, found, strict=True)]
        for place, number in enumerate(asked, start=1):
            met, why = told.get(place, (None, ""))
            verdicts[number] = Verdict(prompt.assertions[number].text, met, "model", why)
        return replace(run, verdicts=tuple(verdicts))

    async def _asked_judge(self, question: str, count: int) -> tuple[Mapping[int, tuple[bool, str]], Usage, str | None]:
        """The verdicts by number, what they took, and why there are none."""
        usage = Usage()
        for _ in range(JUDGINGS):
            try:
                reply = await self.asked(self._models.judging, JUDGE, question)
            except ModelFailed as failure:
                return {}, usage, f"the judge failed: {failure}"
            except OverLimit:
                return {}, usage, OVER
            usage = usage.plus(reply.usage)
            verdicts = verdicts_in(reply.text, count)
            if verdicts is not None:
                return verdicts, usage, None
        return {}, usage, "the judge's reply holds no verdict on every expectation"
