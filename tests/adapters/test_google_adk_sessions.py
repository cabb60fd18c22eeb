"""Skill text in the sessions of ADK's own session services: in order, once, and once for runs at the same time."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from google.adk.events.event import Event
from google.adk.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from skillweave.adapters.google_adk import is_skill_event
from skillweave_testing.hosts.play import FILING, INVOICES
from tests.adapters.hosts.google_adk_agent import answer
from tests.adapters.test_google_adk import INVOICE, SUBMIT, Office

pytestmark = [pytest.mark.asyncio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

SERVICES: dict[str, Callable[[Path], BaseSessionService]] = {
    "memory": lambda folder: InMemorySessionService(),
    "database": lambda folder: DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/sessions.db"),
    "sqlite": lambda folder: SqliteSessionService(f"{folder}/sessions.db"),
}


@pytest.fixture(params=SERVICES)
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    made, service = Office(tmp_path), SERVICES[request.param](tmp_path)
    made.sessions = service  # type: ignore[assignment]
    yield made
    if isinstance(service, DatabaseSessionService):
        await service.close()


def kind(event: Event) -> str:
    return "skill" if is_skill_event(event) else event.author


async def test_a_skill_stands_between_the_request_and_the_reply(office: Office) -> None:
    await office.say(office.agent(), INVOICE)
    await office.say(office.agent(), "Thanks")
    assert [kind(event) for event in await office.events()] == ["user", "skill", "Office", "user", "Office"]


async def test_every_call_begins_with_the_call_before_it(office: Office) -> None:
    for text in (INVOICE, "Say bonjour", "Thanks"):
        await office.say(office.agent(), text)
    calls = [sent.messages for sent in office.script.sent]
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(calls))


async def test_after_an_approval_the_text_stands_in_the_call_once(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    await office.say(office.agent(), "Submit it")
    yes = types.Content(role="user", parts=[answer(await office.question(), {"confirmed": True})])
    assert await office.say(office.agent(), yes) == "Submitted."
    await office.say(office.agent(), "Prepare the filing for June")
    assert [sent.times(FILING) for sent in office.script.sent] == [1] * len(office.script.sent)


async def test_of_two_runs_of_a_session_at_once_one_writes_the_text_and_both_models_have_it(tmp_path: Path) -> None:
    office = Office(tmp_path)  # other services refuse the run that is late
    await asyncio.gather(office.say(office.agent(), INVOICE), office.say(office.agent(), INVOICE))
    assert [kind(event) for event in await office.events()].count("skill") == 1
    await office.say(office.agent(), "And this invoice?")
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1, 1, 1]
