"""Every prompt answered with its skill and without it, judged, and written down at once (spec 9)."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skillweave import SkillweaveError
from skillweave.errors import InvalidData
from skillweave.values import Portable
from skillweave_eval.live.judging import JUDGE, by_program, question_for, verdicts_in
from skillweave_eval.live.models import Caller, Endpoint, ModelFailed, Reply, Usage
from skillweave_eval.live.prompts import Assertion, Prompt
from skillweave_eval.live.spending import Limits, Prices, Purse

if TYPE_CHECKING:
    from skillweave import TokenCounter

JUDGINGS = 2
"""So often a judge is asked whose reply is not a verdict."""
OVER = "the limit of tokens or cost is reached"
FRAMING = 200
"""Tokens that a provider may add to a request."""


class Arm(StrEnum):
    """Whether the model had the skill."""

    WITH = "with"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True)
class Verdict(Portable):
    """Whether an assertion holds of an answer, None where nobody could say; `by` program or model."""

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
class Models:
    """Who answers and who judges, each with its prices."""

    answering: Endpoint
    judging: Endpoint
    prices: Prices
    judge_prices: Prices


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made: `system` is the text of the skill, empty without it."""

    prompt: Prompt
    arm: Arm
    sample: int
    system: str
    key: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The runs that are there in the end, how many of them were there before, and why it ended early, if it did."""

    runs: tuple[Run, ...]
    known: int = 0
    stopped: str | None = None


def jobs_for(
    prompts: Sequence[Prompt], texts: Mapping[str, str], models: Models, samples: int, longest: int
) -> list[Job]:
    """Every run of the prompts, the two arms of a prompt side by side; `texts` are those of the skills by id."""
    jobs: list[Job] = []
    for prompt in prompts:
        for sample in range(samples):
            for arm in Arm:
                system = texts[prompt.skill_id] if arm is Arm.WITH else ""
                jobs.append(Job(prompt, arm, sample, system, _key(prompt, system, sample, models, longest)))
    return jobs


def _key(prompt: Prompt, system: str, sample: int, models: Models, longest: int) -> str:
    said = [prompt.to_dict(), system, sample, longest]
    asked = [(one.named, one.url, one.wire.value) for one in (models.answering, models.judging)]
    return sha256(json.dumps([said, asked], sort_keys=True).encode()).hexdigest()[:24]


class Results:
    """A file of runs, one JSON object a line, each written as soon as it is done.

    Raises:
        InvalidData: the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = {} if path is None or not path.is_file() else {run.key: run for run in _read(path)}

    def get(self, key: str) -> Run | None:
        """The run that was made before, be it one that failed; None where there was none."""
        return self._known.get(key)

    def add(self, run: Run) -> None:
        """Keep a run for good."""
        self._known[run.key] = run
        if self._path is None:
            return
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


async def run_jobs(
    jobs: Sequence[Job],
    models: Models,
    caller: Caller,
    results: Results,
    counter: "TokenCounter",
    *,
    limits: Limits | None = None,
    concurrency: int = 4,
    stop: asyncio.Event | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Make the runs that are not there yet, at most so many at once, until all are done, a limit is reached or `stop`.

    What is done when it stops is in the answer, and in the file of results.
    """
    runs = {job.key: run for job in jobs if (run := results.get(job.key)) is not None and run.error is None}
    known = len(runs)
    waiting = iter([job for job in jobs if job.key not in runs])
    bench = _Bench(models, caller, Purse(limits or Limits()), counter)
    stop = stop or asyncio.Event()
    spent: list[str] = []

    async def work() -> None:
        for job in waiting:
            if stop.is_set() or spent:
                return
            run = await bench.run(job, results.get(job.key))
            if run is None or run.error == OVER:
                spent.append(OVER)
            if run is not None:
                results.add(run)
                runs[job.key] = run
            if progress is not None:
                progress(len(runs), len(jobs))

    workers = [asyncio.create_task(work()) for _ in range(max(1, concurrency))]
    ending = asyncio.create_task(stop.wait())
    everything = asyncio.gather(*workers)
    try:
        both: set[asyncio.Future[Any]] = {everything, ending}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if everything.done():
            everything.result()
    finally:
        for task in (ending, *workers):
            task.cancel()
        await asyncio.gather(ending, everything, return_exceptions=True)
    done = tuple(runs[job.key] for job in jobs if job.key in runs)
    why = "it was interrupted" if stop.is_set() else next(iter(spent), None)
    return Outcome(done, known, why)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What a run needs."""

    models: Models
    caller: Caller
    purse: Purse
    counter: "TokenCounter"

    async def run(self, job: Job, before: Run | None = None) -> Run | None:
        """The run, with its error where it failed; None where already the question would go over the limit.

        `before` is an earlier attempt, whose answer need not be asked for again.
        """
        empty = Run(job.key, job.prompt.skill_id, job.prompt.id, job.arm, job.sample)
        if before is not None and before.answer:
            answered = replace(before, verdicts=(), error=None)
        else:
            try:
                reply = await self._asked(self.models.answering, self.models.prices, job.system, job.prompt.text)
            except ModelFailed as failure:
                return replace(empty, error=str(failure))
            if reply is None:
                return None
            answered = replace(empty, answer=reply.text, usage=reply.usage, cut=reply.cut)
        return await self._judged(job.prompt, answered)

    async def _asked(self, endpoint: Endpoint, prices: Prices, system: str, text: str) -> Reply | None:
        """The reply, None where it might go over the limit; raises ModelFailed."""
        asked = self.counter.count(system) + self.counter.count(text) + FRAMING
        most = Usage(1, asked, self.caller.longest_answer)
        if not await self.purse.reserve(most, prices):
            return None
        taken = most  # what failed, or says nothing of what it took, may have been paid for
        try:
            reply = await self.caller.ask(endpoint, system, text)
            if reply.usage.input or reply.usage.output:
                taken = reply.usage
        finally:
            await self.purse.settle(most, taken, prices)
        return reply

    async def _judged(self, prompt: Prompt, run: Run) -> Run:
        """The run with a verdict on each assertion, and why some have none."""
        found = {number: by_program(one, run.answer) for number, one in enumerate(prompt.assertions)}
        open_ = [number for number, met in found.items() if met is None]
        told: Mapping[int, tuple[bool, str]] = {}
        if open_:
            asked = [prompt.assertions[number] for number in open_]
            judged, usage, error = await self._asked_judge(question_for(prompt, asked, run.answer), len(asked))
            run = replace(run, judge_usage=run.judge_usage.plus(usage), error=error)
            told = {open_[number - 1]: verdict for number, verdict in judged.items() if number <= len(open_)}
        verdicts = (_verdict(one, found[number], told.get(number)) for number, one in enumerate(prompt.assertions))
        return replace(run, verdicts=tuple(verdicts))

    async def _asked_judge(self, question: str, count: int) -> tuple[Mapping[int, tuple[bool, str]], Usage, str | None]:
        """The verdicts by number, what they took, and why there are none."""
        usage = Usage()
        for _ in range(JUDGINGS):
            try:
                reply = await self._asked(self.models.judging, self.models.judge_prices, JUDGE, question)
            except ModelFailed as failure:
                return {}, usage, f"the judge failed: {failure}"
            if reply is None:
                return {}, usage, OVER
            usage = usage.plus(reply.usage)
            verdicts = verdicts_in(reply.text, count)
            if verdicts is not None:
                return verdicts, usage, None
        return {}, usage, "the judge's reply holds no verdict on every expectation"


def _verdict(assertion: Assertion, met: bool | None, told: tuple[bool, str] | None) -> Verdict:  # noqa: FBT001
    if met is not None:
        return Verdict(assertion.text, met, "program")
    if told is None:
        return Verdict(assertion.text, None, "model")
    return Verdict(assertion.text, told[0], "model", told[1])
