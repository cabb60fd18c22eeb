"""Each framework with its real client classes: no request is refused, and what was sent before stays as it was."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from skillweave_testing.hosts import Says, Script, Sent, tool_call
from skillweave_testing.hosts.play import FILING, GREETINGS, INVOICES
from tests.adapters.recording.agents import FRAMEWORKS, Made
from tests.adapters.recording.plain_agent import PLAIN
from tests.adapters.recording.play import play
from tests.adapters.recording.prefix import share
from tests.recording.server import RecordingServer

HOSTS = {**PLAIN, **FRAMEWORKS}


@pytest.mark.parametrize("made", HOSTS.values(), ids=HOSTS)
async def test_a_long_conversation_is_taken_by_the_provider_and_keeps_its_prefix(made: Made, tmp_path: Path) -> None:
    played = await play(made, tmp_path)
    assert played.refusals == []
    assert {f"search({text})" for text in "abcde"} < set(played.ran)
    assert [ran for ran in played.ran if ran.startswith("submit")] == ["submit(F2)"]
    assert played.calls[-1].times(GREETINGS) == 1
    assert max(sent.times(text) for sent in played.calls for text in (INVOICES, FILING)) == 1
    calls = [without_authors(sent) for sent in played.calls]
    assert set(share(calls).breaks) == changed_instructions(calls)


def changed_instructions(calls: Sequence[Sent]) -> set[int]:
    """The calls whose instructions are not those of the call before; history placement has none."""
    return {number for number, (before, now) in enumerate(pairwise(calls), 1) if before.system != now.system}


def without_authors(sent: Sent) -> Sent:
    """The call without the name that the Agent Framework writes beside its own replies once their run has ended."""
    messages = [json.loads(message) for message in sent.messages]
    kept = [{key: value for key, value in message.items() if key != "name"} for message in messages]
    return replace(sent, messages=tuple(map(json.dumps, kept)))


async def test_what_the_model_thought_goes_back_with_what_it_said(tmp_path: Path) -> None:
    played = await play(PLAIN["plain lists, responses"], tmp_path, thinks=True)
    assert played.refusals == []
    assert share(played.calls).breaks == ()


@pytest.mark.soak
def test_a_conversation_goes_on_in_another_process(tmp_path: Path) -> None:
    script = Script(Says(asks=(tool_call("search", text="a"), tool_call("search", text="b"))), "It is right.", "Yes.")
    with RecordingServer(script) as server:
        for message in ("Is this invoice right?", "Is this invoice really right?"):
            command = [sys.executable, "-m", "tests.adapters.recording.plain_agent", "responses", server.anthropic]
            subprocess.run([*command, str(tmp_path), message], check=True, timeout=60)
    assert server.refusals == []
    assert script.last.times(INVOICES) == 1
    assert share(script.sent).breaks == ()
