"""`skillweave gateway` as a process: its lines point clients at it; and what it refuses before it listens."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

from skillweave_testing.hosts import Script
from tests.recording.server import KEY, RecordingServer

SKILL = """---
name: greetings
description: Greets people in their language. Use for bonjour.
---
Greet in the language that was used.
"""


def test_it_needs_nothing_but_skills_and_an_upstream(tmp_path: Path) -> None:
    (tmp_path / "skills" / "greetings").mkdir(parents=True)
    (tmp_path / "skills" / "greetings" / "SKILL.md").write_text(SKILL)
    with RecordingServer(Script()) as server:
        given = [
            "gateway",
            "--skills",
            str(tmp_path / "skills"),
            "--upstream",
            server.anthropic,
            "--port",
            "0",
            "--json",
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "skillweave", *given, "--store", str(tmp_path / "s.db")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            with OpenAI(base_url=f"{told['addresses'][0]}/gateway/default/v1", api_key=KEY) as client:
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Say bonjour"}])
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()
        assert told["upstreams"] == ["default"]
        assert "- greetings:" in server.script.last.system


def test_what_cannot_be_an_upstream_is_refused_by_its_name(cli: Any, tmp_path: Path) -> None:
    for given, why in (
        ((), "no provider is named"),
        (("--upstream", "x=ftp://a"), "is no address"),
        (("--upstream", "X!=https://a"), "--upstream is 'X!=https://a'"),
        (("--upstream", "x=https://a", "--upstream", "x=https://b"), "is there twice"),
        (
            ("--upstream", "x=https://a", "--upstream-key", "x=NO_SUCH_VARIABLE"),
            "there is no variable NO_SUCH_VARIABLE",
        ),
        (("--upstream", "x=https://a", "--upstream-key", "y=HOME"), "there is no such upstream"),
    ):
        done = cli("gateway", *given, "--store", str(tmp_path / "s.db"))
        assert (done.code, why in done.err) == (1, True), done.err
