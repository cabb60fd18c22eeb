"""Prompts run with a skill and without it, at a real server."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock

import pytest
from tests.skillweave_eval.live.judging_model import Model, judges, text_of

from skillweave.errors import InvalidData
from skillweave.tokens.counter import Tiktoken
from skillweave_eval import Resampling
from skillweave_eval.live import models as endpoints
from skillweave_eval.live.models import Usage
from skillweave_eval.live.prompts import Assertion, Check, Prompt
from skillweave_eval.live.report import LiveReport, report_runs
from skillweave_eval.live.runs import Arm, Job, Models, Outcome, Prices, Results, jobs_for, run_jobs
from skillweave_testing.hosts import Sent
from tests.recording.server import RecordingServer

ASSERTIONS = (Assertion("Is careful"), Assertion("care", Check.CONTAINS, ("care",)))
PROMPTS = tuple(Prompt("tea", str(number), f"Tea {number}?", ASSERTIONS) for number in range(4))
TEXTS = {"tea": "Brew it with care."}
PRICES = Prices(1.0, 5.0)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[RecordingServer]:
    with RecordingServer(model) as server:
        yield server


@pytest.fixture
def models(server: RecordingServer) -> Models:
    endpoint = endpoints.Model("local:m1", base_url=server.openai, longest_answer=100)
    return Models(endpoint, endpoint, PRICES)


def jobs(models: Models, samples: int = 1) -> list[Job]:
    return jobs_for(PROMPTS, TEXTS, models, samples)


async def run(models: Models, path: Path | None = None, *, concurrency: int = 2, samples: int = 1) -> Outcome:
    return await run_jobs(jobs(models, samples), models, Results(path), Tiktoken(), concurrency=concurrency)


def report(models: Models, outcome: Outcome, samples: int = 1) -> LiveReport:
    return report_runs("evals.json", PROMPTS, outcome, models, samples, Resampling(resamples=200))


async def test_every_prompt_is_answered_with_the_skill_and_without_it(model: Model, models: Models) -> None:
    outcome = await run(models)
    assert [(one.prompt_id, one.arm) for one in outcome.runs[:2]] == [("0", Arm.WITH), ("0", Arm.WITHOUT)]
    assert sorted((text_of(one), one.system) for one in model.answered) == sorted(
        (prompt.text, system) for prompt in PROMPTS for system in ("", "Brew it with care.")
    )
    assert {one.arm: one.share for one in outcome.runs} == {Arm.WITH: 1.0, Arm.WITHOUT: 0.0}


async def test_the_judge_is_asked_only_what_no_program_decides(model: Model, models: Models) -> None:
    await run(models)
    judged = [text_of(sent) for sent in model.sent if judges(sent)]
    assert len(judged) == 8
    assert all(text.endswith("Expectations:\n1. Is careful") for text in judged)


async def test_the_report_has_the_difference_its_interval_and_the_cost(models: Models) -> None:
    told = report(models, await run(models))
    (effect,) = told.effects
    assert (effect.skill_id, effect.prompts, effect.with_skill, effect.without_skill) == ("tea", 4, 1.0, 0.0)
    assert (effect.difference.value, effect.difference.low, effect.difference.high) == (1.0, 1.0, 1.0)
    with_skill, without, judging = told.spent
    assert with_skill.usage == without.usage == Usage(4, 400, 40, 160)
    assert judging.usage.calls == 8
    assert with_skill.cost == pytest.approx((400 * 1 + 40 * 5) / 1e6)
    assert (told.by_program, told.by_model, told.failed, told.stopped) == (8, 8, 0, None)
    assert LiveReport.from_dict(told.to_dict()) == told


async def test_samples_are_means_of_a_prompt_and_no_prompts_of_their_own(model: Model, models: Models) -> None:
    said = iter([True, False] * 100)
    model.judge = lambda _, text: next(said)
    told = report(models, await run(models, samples=3, concurrency=1), samples=3)
    assert told.effects[0].prompts == 4
    assert {one.assertions[0].with_judged for one in told.prompts} == {3}


async def test_without_prices_nothing_is_said_of_cost(models: Models) -> None:
    free = Models(models.answering, models.judging)
    assert {one.cost for one in report(free, await run(free)).spent} == {None}


async def test_what_was_run_is_not_run_again(model: Model, models: Models, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "live.jsonl"
    first = await run(models, path)
    asked = len(model.sent)
    again = await run(models, path)
    assert (again.runs, again.known, len(model.sent)) == (first.runs, 8, asked)


async def test_another_model_is_another_run(models: Models) -> None:
    other = replace(models, answering=endpoints.Model("local:m2", base_url=models.answering.url))
    assert not {one.run.key for one in jobs(models)} & {one.run.key for one in jobs(other)}


async def test_a_run_that_failed_is_told_and_tried_again(
    server: RecordingServer, models: Models, tmp_path: Path
) -> None:
    server.failures.append((400, {}))
    first = await run(models, tmp_path / "r.jsonl", concurrency=1)
    told = report(models, first)
    assert (told.failed, told.effects[0].prompts) == (1, 3)
    assert told.errors[0].startswith("tea 0 (with): local:m1 gave no answer: HTTP 400")
    assert report(models, await run(models, tmp_path / "r.jsonl")).failed == 0


async def test_an_answer_is_kept_where_only_its_judging_failed(model: Model, models: Models, tmp_path: Path) -> None:
    judge = model.judge
    model.judge = lambda _, text: "no verdict"  # type: ignore[assignment,return-value]
    assert report(models, await run(models, tmp_path / "r.jsonl")).failed == 8
    answered = len(model.answered)
    model.judge = judge
    told = report(models, await run(models, tmp_path / "r.jsonl"))
    assert (told.failed, len(model.answered)) == (0, answered)


async def test_a_limit_of_tokens_is_never_crossed(model: Model, models: Models) -> None:
    outcome = await run(replace(models, most_tokens=700), concurrency=4)
    taken = sum(one.input + one.output for run in outcome.runs for one in (run.usage, run.judge_usage))
    assert 0 < taken <= 700
    assert outcome.stopped == "the limit of tokens or cost is reached"
    assert len(outcome.runs) < 8


async def test_a_limit_that_one_call_would_cross_sends_nothing(model: Model, models: Models) -> None:
    outcome = await run(replace(models, most_cost=0.000001))
    assert (outcome.runs, model.sent) == ((), [])


async def test_when_it_is_stopped_what_is_done_is_there(model: Model, models: Models, tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    running = asyncio.create_task(run(models, tmp_path / "r.jsonl", concurrency=1))

    def answer(_: Sent) -> str:
        if len(model.answered) == 3:
            loop.call_soon_threadsafe(running.cancel)
        return "With care."

    model.answer = answer
    outcome = await running
    assert outcome.stopped == "it was interrupted"
    assert 2 <= len(outcome.runs) < 8
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == len(outcome.runs)
    assert len((await run(models, tmp_path / "r.jsonl")).runs) == 8


async def test_no_more_calls_run_at_once_than_are_wanted(model: Model, models: Models) -> None:
    together, most, lock = 0, 0, Lock()

    def answer(_: Sent) -> str:
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        time.sleep(0.02)
        with lock:
            together -= 1
        return "With care."

    model.answer = answer
    await run(models, concurrency=2)
    assert most == 2


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"key": "a')
    assert Results(path).get("a") is None


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"message": "x"}) + "\n" + json.dumps({}))
    with pytest.raises(InvalidData, match=r"r\.jsonl:1: this is not a result"):
        Results(path)
