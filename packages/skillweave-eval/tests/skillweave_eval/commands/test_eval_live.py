"""`skillweave eval --live`: with a skill and without it, at a real server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_eval.live.judging_model import Model

from skillweave_testing.hosts import Sent
from tests.recording.server import RecordingServer

EVALS = {
    "skill_name": "tea",
    "evals": [
        {"id": 1, "prompt": "Green tea?", "assertions": ["Is careful", {"type": "contains", "value": "care"}]},
        {"id": 2, "prompt": "Black tea?", "assertions": [{"type": "not_contains", "value": "idea"}]},
    ],
}


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[RecordingServer]:
    with RecordingServer(model) as server:
        yield server


@pytest.fixture
def options(
    server: RecordingServer, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, ...]:
    """The options for the small skills, one of which has prompts, at a server of the test."""
    (small / "tea" / "evals").mkdir()
    (small / "tea" / "evals" / "evals.json").write_text(json.dumps(EVALS))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecretkey0")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "ak-verysecretkey0")
    results = tmp_path / "live.jsonl"
    return ("--skills", small, "--base-url", server.openai, "--results", results, "--resamples", "50")


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("spelling", [("eval", "--live"), ("eval", "live")])
def test_the_difference_and_the_cost_are_told(
    cli: Any, options: tuple[object, ...], provider: str, spelling: tuple[str, ...]
) -> None:
    done = cli(*spelling, "--model", f"{provider}:m1", *options, "--price-in", "1", "--price-out", "5")
    assert (done.code, done.err) == (0, "")
    said = " ".join(done.out.split())
    assert f"{provider}:m1; each prompt 1 time, with the skill and without" in said
    assert f"4 verdicts by program, 2 by the model {provider}:m1 as the judge" in said
    assert "tea 2 1.000 0.000 +1.000 +1.000 to +1.000" in said
    assert "answers with the skill 2 200 80 20 0.0003" in said
    assert "paired bootstrap over prompts, 50 resamples, seed 0" in said


def test_the_report_is_published_json_and_a_page(cli: Any, options: tuple[object, ...], tmp_path: Path) -> None:
    html = tmp_path / "live.html"
    data = cli("eval", "live", "--model", "openai:m1", *options, "--html", html, "--json").data
    (effect,) = data["effects"]
    assert (effect["with"], effect["without"], effect["difference"]["value"]) == (1.0, 0.0, 1.0)
    assert [one["id"] for one in data["prompts"]] == ["1", "2"]
    assert "With the skill and without" in html.read_text(encoding="utf-8")


def test_another_model_judges(cli: Any, server: RecordingServer, options: tuple[object, ...]) -> None:
    cli("eval", "live", "--model", "openai:m1", "--judge", "openai:m2", *options)
    asked = {(one.data["model"], b"You judge" in one.body) for one in server.requests}
    assert asked == {("m1", False), ("m2", True)}


def test_the_same_command_goes_on_where_it_ended(
    cli: Any, model: Model, server: RecordingServer, options: tuple[object, ...]
) -> None:
    server.failures.append((400, {}))
    first = cli("eval", "live", "--model", "openai:m1", *options)
    assert first.code == 1
    assert "HTTP 400" in first.err and "the same command goes on from there" in first.err
    answered = len(model.answered)
    assert cli("eval", "live", "--model", "openai:m1", *options).code == 0
    assert len(model.answered) == answered + 1


def test_no_key_is_printed_or_kept(
    cli: Any, server: RecordingServer, options: tuple[object, ...], tmp_path: Path
) -> None:
    server.failures.append((401, {}))
    done = cli("eval", "live", "--model", "openai:m1", *options, "--json")
    assert "verysecret" not in done.out + done.err + (tmp_path / "live.jsonl").read_text()


def test_a_limit_stops_before_it_is_crossed(cli: Any, model: Model, options: tuple[object, ...]) -> None:
    done = cli("eval", "live", "--model", "openai:m1", *options, "--limit-tokens", "10")
    assert (done.code, model.sent) == (1, [])
    assert "the limit of tokens or cost is reached" in done.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "no model is named"),
        (("--model", "openai"), "names no model"),
        (("--model", "openai:m1", "--max-cost", "1"), "add --price-in"),
        (("--model", "openai:m1", "--skill", "tee"), "'tee'"),
        (("--model", "openai:m1", "--skill", "coffee"), "no skill has prompts"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    cli: Any, options: tuple[object, ...], more: tuple[str, ...], told: str
) -> None:
    done = cli("eval", "--live", *options, *more)
    assert done.code == 1
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_ctrl_c_gives_what_is_done(model: Model, options: tuple[object, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "skillweave", "eval", "--live", "--model", "openai:m1", "--concurrency", "1"]
    running = subprocess.Popen(
        [*command, *map(str, options), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
    )

    def answer(_: Sent) -> str:
        if len(model.answered) == 3:
            running.send_signal(signal.SIGINT)
            running.wait(60)
        return "With care."

    model.answer = answer
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert out, err
    data = json.loads(out)
    assert (data["stopped"], data["runs"]) == ("it was interrupted", 2)
    assert len((tmp_path / "live.jsonl").read_text().splitlines()) == 2
    assert b"goes on from there" in err
