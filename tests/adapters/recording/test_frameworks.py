"""Each framework with its real client classes: no request is refused, and what was sent before stays as it was."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from skillweave.testing.hosts import Sent
from skillweave.testing.hosts.play import FILING, GREETINGS, INVOICES
from tests.adapters.recording.agents import FRAMEWORKS, Made
from tests.adapters.recording.play import play
from tests.adapters.recording.prefix import share

PLAYED = [name for name in FRAMEWORKS if not name.startswith("agent_framework")]


@pytest.mark.parametrize("made", [FRAMEWORKS[name] for name in PLAYED], ids=PLAYED)
async def test_a_long_conversation_is_taken_by_the_provider_and_keeps_its_prefix(made: Made, tmp_path: Path) -> None:
    played = await play(made, tmp_path)
    assert played.refusals == []
    assert sorted(played.ran) == [*(f"search({text})" for text in "abcdef"), "submit(F2)"]
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
