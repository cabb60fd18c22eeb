"""What is stored of a conversation may be anything: a hand has edited it, or a disk has bitten it."""

import asyncio
import contextlib
import copy
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillweave
from skillweave import Decision, SqliteStore, State, Weaver
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.ledger import Writes
from skillweave.state.codec import decision_from_json, decision_to_json, state_from_json, state_to_json
from skillweave_testing.fakes import WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE

_SKILLS = (
    {"id": "a", "description": "d", "triggers": {"keywords": ["go"]}, "text": {"instructions": "How."}},
    {"id": "b", "description": "d", "requires": ["a"], "checkpoints": ["review"], "text": {"instructions": "More."}},
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**400), 10**400])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["given", "claimed", "skill:a", "full", "\ud800", "sw-", "a/b"])
)
_ANY = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner))


def _places(data: object, place: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Every place inside JSON data."""
    if place:
        yield place
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inner in items:
        yield from _places(inner, (*place, key))


@st.composite
def _damaged(draw: st.DrawFn, text: str) -> str:
    """The JSON text with something else, or nothing, in one to three places."""
    data: Any = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(data))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        around = data
        for step in way:
            around = around[step]
        if draw(st.booleans()):
            around[last] = draw(_ANY)
        else:
            del around[last]
    return json.dumps(data)


async def _use(path: Path) -> None:
    """What a host does with a conversation; nothing but our own errors may come out of it."""
    async with SqliteStore(path) as store:
        weaver = skillweave.open(*copy.deepcopy(_SKILLS), ledger=store, counter=WordCounter())
        for verb in (weaver.ledger.state("c"), weaver.why("c"), weaver.current_policy("c"), weaver.confirm("c", "t")):
            with contextlib.suppress(SkillweaveError):
                await verb
        await weaver.weave("go", conversation="c", turn_id="t")
        await weaver.weave("go", conversation="c", turn_id="t2", transcript=[])


def _stored(path: Path, column: str, document: str, table: str = "states") -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"UPDATE {table} SET {column} = ?", (document,))
    connection.close()


async def _fill(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))


@settings(max_examples=60)
@given(document=_damaged(state_to_json(FULL_STATE)))
def test_a_damaged_conversation_is_read_or_named_and_no_verb_stumbles_over_it(document: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        asyncio.run(_fill(path))
        _stored(path, "document", document)
        asyncio.run(_use(path))


@given(document=_damaged(decision_to_json(DECISION)))
def test_a_damaged_decision_is_read_or_named(document: str) -> None:
    with contextlib.suppress(StoreUnavailable):
        assert isinstance(decision_from_json(document), Decision)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"v": 1, "told": ' * 5_000, "", "null", "[]", "9" * 5_000])
def test_what_no_reader_gets_through_is_named_with_the_remedy(text: str) -> None:
    with pytest.raises(StoreUnavailable, match="ledger clear CONVERSATION"):
        state_from_json(text)
    with pytest.raises(StoreUnavailable, match="name another ledger"):
        decision_from_json(text)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "1" + "0" * 400])
def test_a_time_that_no_clock_shows_is_named(number: str) -> None:
    document = state_to_json(FULL_STATE).replace('"at":', f'"at":{number},"was":', 1)
    with pytest.raises(StoreUnavailable, match="ledger clear CONVERSATION"):
        state_from_json(document)


async def test_a_conversation_whose_own_number_is_damaged_goes_on_by_that_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await _fill(path)
    _stored(path, "document", state_to_json(State(revision=7)))
    async with SqliteStore(path) as store:
        assert (await store.load("c"))[0].revision == 1
        weaver = Weaver((await _weaver(store)).skills.registry, store)
        assert (await weaver.weave("go", conversation="c")).revision == 2


async def _weaver(store: SqliteStore) -> Weaver:
    return skillweave.open(*copy.deepcopy(_SKILLS), ledger=store, counter=WordCounter())


async def test_a_row_whose_number_is_damaged_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await _fill(path)
    _stored(path, "revision", "many")
    _stored(path, "at", "noon", "decisions")
    async with SqliteStore(path) as store:
        with pytest.raises(StoreUnavailable, match=r"conversation 'c' in the table states .*revision 'many'"):
            await store.load("c")
        with pytest.raises(StoreUnavailable, match=r"conversation 'c' in the table decisions .*time 'noon'"):
            await store.read("c")
