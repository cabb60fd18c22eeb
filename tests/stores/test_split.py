import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

import skillweave
from skillweave import MemoryStore, SqliteStore, State, StoreUnavailable
from skillweave.decisions import Decision
from skillweave.errors import InvalidValue
from skillweave.ledger import DecisionLog, Logged, TurnDecisions, Writes
from skillweave.stores import SplitStore, split
from skillweave_testing import LedgerContract, ManualClock
from skillweave_testing.fakes import WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE

SKILL = {"id": "pay", "description": "d", "triggers": {"keywords": ["invoice"]}}


class AtOnce(SplitStore):
    """One that writes decisions at once, as the contract's clock stands still between two calls."""

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        swapped = await super().swap(conversation, expected_revision, writes, tenant=tenant)
        await self._flush()
        return swapped

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        await super().append(conversation, turn_id, decisions, tenant=tenant)
        await self._flush()


class TestSplitStore(LedgerContract):
    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[SplitStore]:
        async with AtOnce(MemoryStore(clock=clock), MemoryStore(clock=clock)) as store:
            yield store


class Log:
    """A log that counts its trips, and can be down."""

    def __init__(self) -> None:
        self.kept: list[TurnDecisions] = []
        self.batches: list[int] = []
        self.tries = 0
        self.down = False
        self.closed = False

    async def append_all(self, turns: Sequence[TurnDecisions]) -> None:
        self.tries += 1
        await asyncio.sleep(0)
        if self.down:
            raise StoreUnavailable("down", retry_after=1.0)
        self.batches.append(len(turns))
        self.kept += turns

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        await self.append_all((TurnDecisions(tenant, conversation, turn_id, tuple(decisions)),))

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        return tuple(
            Logged(turn.turn_id, 0.0, decision)
            for turn in self.kept
            if (turn.tenant, turn.conversation) == (tenant, conversation)
            for decision in turn.decisions
        )

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> Log:
    monkeypatch.setattr(split, "BATCH_SECONDS", 0.0)
    monkeypatch.setattr(split, "LONGEST_PAUSE", 0.01)
    return Log()


@pytest_asyncio.fixture
async def store(decisions: Log) -> AsyncIterator[SplitStore]:
    async with SplitStore(MemoryStore(), decisions, most_waiting=5) as store:
        yield store


def turn(number: int, decisions: int = 1) -> Writes:
    return Writes(State(), f"t{number}", (DECISION,) * decisions)


async def _written(decisions: Log, turns: int) -> None:
    while len(decisions.kept) < turns:  # noqa: ASYNC110 - the log tells nobody
        await asyncio.sleep(0.001)


async def test_a_swap_makes_no_trip_to_the_log(store: SplitStore, decisions: Log) -> None:
    assert await store.swap("c", 0, turn(1))
    assert decisions.tries == 0


async def test_decisions_of_several_turns_are_written_together_soon_after(store: SplitStore, decisions: Log) -> None:
    for number in range(3):
        assert await store.swap("c", number, turn(number))
    await _written(decisions, 3)
    assert decisions.batches == [3]


async def test_a_swap_that_lost_logs_nothing(store: SplitStore, decisions: Log) -> None:
    await store.swap("c", 0, turn(1))
    assert not await store.swap("c", 0, turn(2))
    assert [entry.turn_id for entry in await store.read("c")] == ["t1"]


async def test_the_store_of_states_gets_no_decisions(store: SplitStore) -> None:
    await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))
    assert (await store.states.read("c"), (await store.states.load("c"))[0].revision) == ((), 1)


async def test_closing_writes_what_waits_and_closes_both(decisions: Log) -> None:
    async with SplitStore(MemoryStore(), decisions) as store:
        await store.append("c", "t", [DECISION])
    assert ([one.turn_id for one in decisions.kept], decisions.closed) == (["t"], True)


async def test_after_closing_nothing_more_is_taken(store: SplitStore) -> None:
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.append("c", "t", [DECISION])


async def test_what_cannot_be_written_is_tried_again(store: SplitStore, decisions: Log) -> None:
    decisions.down = True
    await store.swap("c", 0, turn(1))
    while decisions.tries < 3:  # noqa: ASYNC110 - the log tells nobody
        await asyncio.sleep(0.001)
    decisions.down = False
    await _written(decisions, 1)
    assert [one.turn_id for one in decisions.kept] == ["t1"]


async def test_while_the_log_is_down_why_says_so(store: SplitStore, decisions: Log) -> None:
    decisions.down = True
    await store.swap("c", 0, turn(1))
    with pytest.raises(StoreUnavailable, match="down"):
        await store.read("c")
    decisions.down = False
    assert len(await store.read("c")) == 1


async def test_beyond_the_bound_the_oldest_are_dropped_with_a_word(
    store: SplitStore, decisions: Log, caplog: pytest.LogCaptureFixture
) -> None:
    decisions.down = True
    for number in range(9):
        await store.append("c", f"t{number}", [DECISION])
    decisions.down = False
    assert [entry.turn_id for entry in await store.read("c")] == ["t4", "t5", "t6", "t7", "t8"]
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == 2
    assert said[0].startswith("the log of decisions does not answer, and 5 of them wait: from now on")
    assert said[1] == "the decisions of 4 turns were dropped while their log did not answer"


async def test_closing_while_the_log_is_down_says_how_many_are_lost(
    decisions: Log, caplog: pytest.LogCaptureFixture
) -> None:
    decisions.down = True
    async with SplitStore(MemoryStore(), decisions) as store:
        await store.append("c", "t1", [DECISION])
        await store.append("c", "t2", [DECISION])
    assert decisions.closed
    assert "the decisions of 2 turns were not logged: down" in caplog.text


async def test_an_id_that_no_log_may_be_able_to_hold_does_not_hold_up_the_others(
    store: SplitStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert await store.swap("a\0b", 0, turn(1))
    assert await store.swap("c", 0, turn(2))
    assert (await store.read("a\0b"), len(await store.read("c"))) == ((), 1)
    assert "unprintable" in caplog.text


class Choosy(Log):
    """A log that cannot hold the name of one conversation, and of no other."""

    async def append_all(self, turns: Sequence[TurnDecisions]) -> None:
        if any(turn.conversation == "\N{SNOWMAN}" for turn in turns):
            raise StoreUnavailable("cannot hold all characters")
        await super().append_all(turns)


async def test_a_turn_that_the_log_never_takes_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    decisions = Choosy()
    async with SplitStore(MemoryStore(), decisions) as store:
        await store.swap("\N{SNOWMAN}", 0, turn(1))
        await store.swap("c", 0, turn(2))
        with caplog.at_level(logging.WARNING):
            assert len(await store.read("c")) == 1
        assert "the decisions of 1 turns are not logged" in caplog.text
        assert "cannot hold all characters" in caplog.text
        assert not store._waiting


async def test_a_log_that_takes_nothing_makes_everything_wait(decisions: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(turns: Sequence[TurnDecisions]) -> None:
        raise StoreUnavailable("does not allow this user to do that")

    async with SplitStore(MemoryStore(), decisions) as store:
        with monkeypatch.context() as refusing:
            refusing.setattr(decisions, "append_all", refuse)
            for number in range(20):
                await store.swap(f"c{number}", 0, turn(number))
            with pytest.raises(StoreUnavailable, match="does not allow"):
                await store.read("c1")
        assert len(await store.read("c1")) == 1
        assert len(decisions.kept) == 20


def test_a_loop_that_ends_writes_what_waits(decisions: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "BATCH_SECONDS", 60.0)
    store = SplitStore(MemoryStore(), decisions)
    assert asyncio.run(store.swap("c", 0, turn(1)))
    assert [one.turn_id for one in decisions.kept] == ["t1"]


async def test_a_forked_child_leaves_to_its_parent_what_waits_there(store: SplitStore, decisions: Log) -> None:
    await store.append("c", "t1", [DECISION])
    store._process = os.getpid() + 1  # as it looks in the child
    await store.append("c", "t2", [DECISION])
    assert [entry.turn_id for entry in await store.read("c")] == ["t2"]


async def test_a_log_without_batches_gets_one_turn_after_the_other() -> None:
    async with SplitStore(MemoryStore(), MemoryStore()) as store:
        await store.append("c", "t1", [DECISION])
        await store.append("c", "t2", [DECISION], tenant="a")
        assert [entry.turn_id for entry in await store.read("c")] == ["t1"]
        assert [entry.turn_id for entry in await store.read("c", tenant="a")] == ["t2"]


# -- who logs where ----------------------------------------------------------------------------------------------


class Rather(MemoryStore):
    """A ledger that would rather have decisions elsewhere."""

    decisions_elsewhere = True


class Shelf(skillweave.MemorySource):
    """A source whose database can keep decisions too."""

    def __init__(self, offered: DecisionLog | None) -> None:
        super().__init__()
        self._offered = offered

    def decision_log(self) -> DecisionLog | None:
        return self._offered


def test_decisions_go_to_the_first_source_that_offers_a_log_where_the_ledger_would_rather_have_it_so() -> None:
    decisions = Log()
    store = skillweave.open(SKILL, Shelf(None), Shelf(decisions), Shelf(Log()), ledger=Rather()).ledger.store
    assert isinstance(store, SplitStore)
    assert store.decisions is decisions


@pytest.mark.parametrize("sources", [(SKILL,), (SKILL, Shelf(None))])
def test_decisions_stay_in_the_ledger_where_no_source_offers_a_log(
    sources: tuple[skillweave.sources.SkillSource, ...],
) -> None:
    ledger = Rather()
    assert skillweave.open(*sources, ledger=ledger).ledger.store is ledger


def test_decisions_stay_in_a_ledger_that_keeps_them_well() -> None:
    ledger = MemoryStore()
    assert skillweave.open(Shelf(Log()), ledger=ledger).ledger.store is ledger


async def test_where_decisions_go_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "why.db"
    async with skillweave.open(SKILL, decisions=path, counter=WordCounter()) as weaver:
        await weaver.weave("an invoice", conversation="c", turn_id="t")
        assert [entry.decision.skill_id for entry in await weaver.why("c")] == ["pay"]
    async with SqliteStore(path) as kept:
        assert ([entry.turn_id for entry in await kept.read("c")], await kept.count()) == (["t"], 0)


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"decisions=.*a file name, a URL, or a DecisionLog"):
        skillweave.open(SKILL, decisions=7)  # type: ignore[arg-type]


_ENDS_WITHOUT_CLOSE = """
import sys
import skillweave
from skillweave import MemoryStore
from skillweave.stores import SplitStore

class File(MemoryStore):
    async def append(self, conversation, turn_id, decisions, *, tenant=""):
        with open(sys.argv[1], "a") as file:
            file.write(f"{conversation} {len(decisions)}\\n")

skill = {"id": "greet", "description": "d", "triggers": {"keywords": ["hello"]}}
weaver = skillweave.open(skill, ledger=SplitStore(MemoryStore(), File()))
weaver.sync.weave("hello", conversation="c")
"""


def test_a_program_that_ends_without_closing_writes_the_decisions_that_wait(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _ENDS_WITHOUT_CLOSE, str(tmp_path / "log")], timeout=60, check=True)
    assert (tmp_path / "log").read_text() == "c 1\n"


_WITHOUT_CLOSE = {
    "the blocking twin": "weaver.sync.weave('hello', conversation='c')",
    "asyncio.run": "asyncio.run(weaver.weave('hello', conversation='c'))",
    "a loop that is never ended": "loop = asyncio.new_event_loop(); "
    "loop.run_until_complete(weaver.weave('hello', conversation='c'))",
}


@pytest.mark.parametrize("turn", _WITHOUT_CLOSE.values(), ids=_WITHOUT_CLOSE)
def test_a_program_that_never_closes_keeps_its_decisions(turn: str, tmp_path: Path) -> None:
    file = tmp_path / "decisions.db"
    skills = {"id": "greet", "description": "Greets", "triggers": ["hello"]}
    script = f"import asyncio, skillweave\nweaver = skillweave.open({skills}, decisions={str(file)!r})\n{turn}"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM decisions").fetchone() == (1,)
