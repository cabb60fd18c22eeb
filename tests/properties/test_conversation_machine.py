"""The promises of spec 5.4 on every backend: 100 runs each with `make test`, 10,000 with `make soak`."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from skillweave import MemoryStore, SqliteStore, Store
from skillweave.testing import ConversationMachine, ManualClock

RUNS = 100
SOAK_RUNS = int(os.environ.get("SKILLWEAVE_SOAK_RUNS", "10000"))


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


@pytest.mark.parametrize("machine", [OnMemory, OnSqlite])
def test_no_sequence_of_events_breaks_a_promise_of_the_ledger(machine: type[ConversationMachine]) -> None:
    run(machine, RUNS)


@pytest.mark.soak
@pytest.mark.parametrize("machine", [OnMemory, OnSqlite])
def test_ten_thousand_sequences_break_no_promise_of_the_ledger(machine: type[ConversationMachine]) -> None:
    run(machine, SOAK_RUNS)
    print(f"\n{machine.__name__}: {SOAK_RUNS:,} runs of up to 25 steps, no violation")
