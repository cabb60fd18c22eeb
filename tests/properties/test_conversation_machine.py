"""The promises of spec 5.4 on every backend: 100 runs each with `make test`, 10,000 with `make soak`."""

import itertools
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test
from redis import Redis

from skillweave import MemoryStore, SqliteStore, Store
from skillweave.state.sharing import given_keys
from skillweave_stores import PostgresStore, RedisStore
from skillweave_testing import ConversationMachine, ManualClock
from skillweave_testing.conversation_model import SKILLS, Given
from skillweave_testing.machine import CONVERSATION

RUNS = 25
SOAK_RUNS = int(os.environ.get("SKILLWEAVE_SOAK_RUNS", "10000"))

PATIENCE = 300.0
"""Seconds that a server may take: how busy the machine is says nothing about a promise."""


class OnMemory(ConversationMachine):
    def open_store(self, clock: ManualClock) -> Store:
        return MemoryStore(clock=clock)


class OnSqlite(ConversationMachine):
    def open_store(self, clock: ManualClock) -> Store:
        self.folder = TemporaryDirectory()
        self.sqlite = SqliteStore(Path(self.folder.name) / "state.db", clock=clock)
        return self.sqlite

    async def close_store(self) -> None:
        await self.sqlite.close()
        self.folder.cleanup()


class OnPostgres(ConversationMachine):
    """One database for all runs, emptied before each."""

    url: str

    def open_store(self, clock: ManualClock) -> Store:
        self.postgres = PostgresStore(self.url, clock=clock, timeout=PATIENCE)
        self.runner.run(self.postgres.count())
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DELETE FROM states")
            connection.execute("DELETE FROM decisions")
        return self.postgres

    async def close_store(self) -> None:
        await self.postgres.close()


class AnyEdition(int):
    """The edition of a text that nobody knows: it counts as that of now, whichever that is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int)

    __hash__ = int.__hash__


class OnRedis(ConversationMachine):
    """Beside the conversation, another program enters and removes given skills in the hash that it shares with us."""

    url: str

    def __init__(self) -> None:
        self.entered: dict[str, tuple[str, Given | None, float | None]] = {}
        self.removed: dict[str, tuple[str, Given | None, float | None]] = {}
        super().__init__()

    def open_store(self, clock: ManualClock) -> Store:
        self.client = Redis.from_url(self.url, decode_responses=True)
        self.client.flushdb()
        self.redis = RedisStore(self.url, clock=clock, call_seconds=PATIENCE)
        return self.redis

    async def close_store(self) -> None:
        self.client.close()
        await self.redis.close()

    @rule(skill_id=st.sampled_from(SKILLS))
    def another_program_removes(self, skill_id: str) -> None:
        self.last = None
        if not self.client.hdel(LEDGER, f"skill:{skill_id}"):
            return
        swaps, given, until = self.entered.pop(skill_id, NEVER)
        live = self.texts.live.get(skill_id)
        if given is not None and live is given and swaps == self._swaps():
            live.until = until  # what it took back it had said itself, and our claim stands as before
            return
        assert live is not None
        self.removed[skill_id] = (self._swaps(), live, None)
        self.texts.evict(skill_id)

    @rule(skill_id=st.sampled_from(SKILLS))
    def another_program_enters(self, skill_id: str) -> None:
        self.last = None
        if not self.client.hset(LEDGER, f"skill:{skill_id}", "injected"):
            return
        swaps, given, _ = self.removed.pop(skill_id, NEVER)
        live = self.texts.live.get(skill_id)
        if live is not None:
            self.entered[skill_id] = (self._swaps(), live, live.until)
            live.until = None
        elif given is not None and swaps == self._swaps():
            self.texts.dead[given.text] -= 1
            self.texts.live[skill_id] = given
        else:
            text = f"nobody knows it {next(self.unknown)}"
            self.texts.live[skill_id] = Given(skill_id, text, AnyEdition(), "elsewhere", None)

    def _swaps(self) -> str:
        """Another text after every swap."""
        return self.client.hget(f"skillweave:state:{{{LEDGER}}}", "writes") or ""

    unknown = itertools.count()

    @invariant()
    def others_see_what_counts_as_given(self) -> None:
        state = self.runner.run(self.weavers[1].ledger.state(CONVERSATION))
        assert set(self.client.hkeys(LEDGER)) == given_keys(state)
        assert set(self.client.hvals(LEDGER)) <= {"injected"}


LEDGER = f"skill:ledger:{CONVERSATION}"
NEVER = ("", None, None)


@pytest.fixture
def servers(postgres_tables_url: str, redis_url: str) -> None:
    OnPostgres.url, OnRedis.url = postgres_tables_url, redis_url


def run(machine: type[ConversationMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )


@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("machine", [OnMemory, OnSqlite, OnPostgres, OnRedis])
def test_no_sequence_of_events_breaks_a_promise_of_the_ledger(machine: type[ConversationMachine]) -> None:
    run(machine, RUNS)


@pytest.mark.soak
@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("machine", [OnMemory, OnSqlite, OnPostgres, OnRedis])
def test_ten_thousand_sequences_break_no_promise_of_the_ledger(machine: type[ConversationMachine]) -> None:
    run(machine, SOAK_RUNS)
    print(f"\n{machine.__name__}: {SOAK_RUNS:,} runs of up to 25 steps, no violation")
