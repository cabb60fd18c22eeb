"""A recording server, and a conversation of each form, streamed and not."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import skillweave
from skillweave_testing.hosts import Script
from skillweave_testing.hosts.play import SKILLS
from tests.exchange.talks import TALKS, Talk
from tests.recording.server import RecordingServer


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    """A provider with a scripted model."""
    with RecordingServer(Script()) as made:
        yield made
        assert made.refusals == []


@pytest.fixture(params=[False, True], ids=["at once", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether replies are streamed."""
    return bool(request.param)


@pytest.fixture(params=TALKS, ids=[one.form for one in TALKS])
def begin(request: pytest.FixtureRequest, server: RecordingServer, stream: bool) -> Iterator[Callable[..., Talk]]:
    """Begins a conversation of one of the forms; without skills those of the play."""

    def begun(*skills: Any, tools: Sequence[str] = ("search", "write"), **options: Any) -> Talk:
        made: Talk = request.param(server, weaver_of(*skills), tools, stream=stream, **options)
        talks.append(made)
        return made

    talks: list[Talk] = []
    yield begun
    for one in talks:
        one.client.close()


def weaver_of(*skills: Any, **options: Any) -> skillweave.Weaver:
    """A weaver over these skills, or those of the play."""
    if skills and isinstance(skills[0], skillweave.Weaver):
        return skills[0]
    return skillweave.open(*(skills or SKILLS), **options)
