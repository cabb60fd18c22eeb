"""The hash of given skills, written by two of our processes and by another program, in whatever order."""

import asyncio

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from redis import Redis

from skillweave import Record, State
from skillweave.ledger import Delivery, Writes
from skillweave.state.sharing import given_keys
from skillweave.turns import Rung
from skillweave_stores import RedisStore

HASH, STATE = "skill:ledger:c", "skillweave:state:{skill:ledger:c}"
KEYS = tuple(f"skill:{name}" for name in "abcd")


class SharedHash(RuleBasedStateMachine):
    """Whatever happens between a load and its swap: no edit is lost, and no write of ours is taken for an edit."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.client = Redis.from_url(self.url, decode_responses=True)
        self.client.flushdb()
        self.store = RedisStore(self.url)
        self.loaded: dict[int, State] = {}
        self.fields: set[str] = set()
        self.turns = 0

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()
        self.client.close()

    @rule(process=st.integers(0, 1))
    def load(self, process: int) -> None:
        state, _ = self.runner.run(self.store.load("c"))
        assert given_keys(state) == self.fields, "a load shows what every program has made of it"
        assert self.runner.run(self.store.load("c"))[0] == state, "a second one finds nothing new"
        self.loaded[process] = state

    @precondition(lambda self: self.loaded)
    @rule(process=st.integers(0, 1), given=st.sets(st.sampled_from(KEYS)), kept=st.booleans())
    def swap(self, process: int, given: set[str], kept: bool) -> None:
        """A turn that gives and drops skills; `kept` ones keep the records that they have."""
        before = self.loaded.get(process)
        if before is None:
            return
        self.turns += 1
        old = {record.key: record for record in before.records} if kept else {}
        after = State(records=tuple(old.get(key, self._record(key)) for key in sorted(given)))
        newest = int(self.client.hget(STATE, "revision") or 0)
        won = self.runner.run(self.store.swap("c", before.revision, Writes(after)))
        assert won == (before.revision == newest)
        if won:
            seen = given_keys(before)
            self.fields = (self.fields | (given - seen)) - (seen - given)
        self._same()

    @rule(key=st.sampled_from(KEYS))
    def another_program_enters(self, key: str) -> None:
        self.client.hset(HASH, key, "injected")
        self.fields.add(key)

    @rule(key=st.sampled_from(KEYS))
    def another_program_removes(self, key: str) -> None:
        self.client.hdel(HASH, key)
        self.fields.discard(key)

    @rule()
    def another_program_deletes_all(self) -> None:
        self.client.delete(HASH)
        self.fields = set()

    def _same(self) -> None:
        assert set(self.client.hkeys(HASH)) == self.fields

    def _record(self, key: str) -> Record:
        turn = f"turn-{self.turns}"
        return Record(key, "d", Rung.FULL, f"carrier-{turn}-{key}", 1, Delivery.GIVEN, turn, 0.0)


@pytest.fixture
def shared(redis_url: str) -> type[SharedHash]:
    SharedHash.url = redis_url
    return SharedHash


def test_no_edit_is_lost_and_no_write_of_ours_is_taken_for_one(shared: type[SharedHash]) -> None:
    run_state_machine_as_test(
        shared,
        settings=settings(
            max_examples=100,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
