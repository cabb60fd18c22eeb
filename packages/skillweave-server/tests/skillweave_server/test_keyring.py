"""Keys that came with requests: remembered for a while, compared always, never longer than they count."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from skillweave import StoreUnavailable
from skillweave_server import keyring
from skillweave_server.keyring import KeyRing
from skillweave_stores.access import ApiKey, KeyStore, Scope, new_key, opens
from skillweave_stores.sql.keys import SqlKeys

SECONDS = 30.0
KEY, SPELLED = new_key("ours", [Scope.READ], tenant="acme", now=1.0, random=bytes(range(40)))
UNKNOWN = new_key("nobody's", [Scope.READ], now=1.0, random=bytes(40))[1]
WRONG = f"{SPELLED[:-1]}{'A' if SPELLED[-1] != 'A' else 'B'}"
NO_KEYS = ("", "sw_", "Bearer", "sw_0123456789abcdef_", f"{SPELLED} ", f"{SPELLED}\n", SPELLED.upper(), f"x{SPELLED}")


class Asked:
    """A store in between, which counts what it is asked, and can be silent."""

    def __init__(self, store: KeyStore) -> None:
        self.store = store
        self.ids: list[str] = []
        self.is_silent = False

    async def put(self, key: ApiKey) -> None:
        await self.store.put(key)

    async def find(self, key_id: str) -> ApiKey | None:
        self.ids.append(key_id)
        if self.is_silent:
            raise StoreUnavailable("the store is silent", retry_after=1.0)
        return await self.store.find(key_id)

    async def list(self) -> Sequence[ApiKey]:
        return await self.store.list()


class Ring:
    """A ring with a clock to set, and all texts that it compared."""

    def __init__(self, store: Asked) -> None:
        self.store = store
        self.now = 1_000.0
        self.compared: list[tuple[str, ApiKey | None]] = []
        self.ring = KeyRing(store, SECONDS, clock=lambda: self.now, compare=self._compare)

    def _compare(self, spelled: str, kept: ApiKey | None) -> bool:
        self.compared.append((spelled, kept))
        return opens(spelled, kept)


@pytest_asyncio.fixture
async def made(tmp_path: Path) -> AsyncIterator[Ring]:
    async with SqlKeys(f"sqlite:///{tmp_path / 'keys.db'}") as keys:
        await keys.put(KEY)
        yield Ring(Asked(keys))


async def test_a_key_opens_with_its_own_text_only(made: Ring) -> None:
    assert await made.ring.owner(SPELLED) == KEY
    assert await made.ring.owner(WRONG) is None
    assert await made.ring.owner(UNKNOWN) is None


async def test_the_store_is_asked_once_while_the_answer_counts(made: Ring) -> None:
    for seconds in (0.0, 10.0, 19.9):
        made.now += seconds
        assert await made.ring.owner(SPELLED) == KEY
    assert made.store.ids == [KEY.id]
    made.now += 0.1
    assert await made.ring.owner(SPELLED) == KEY
    assert made.store.ids == [KEY.id] * 2


async def test_a_wrong_text_of_a_known_key_costs_no_trip(made: Ring) -> None:
    await made.ring.owner(SPELLED)
    assert await made.ring.owner(WRONG) is None
    assert made.store.ids == [KEY.id]


async def test_a_key_that_was_revoked_opens_nothing_after_the_time_for_which_it_counts(made: Ring) -> None:
    await made.ring.owner(SPELLED)
    await made.store.put(replace(KEY, revoked_at=2.0))
    made.now += SECONDS - 0.1
    assert await made.ring.owner(SPELLED) == KEY
    made.now += 0.1
    assert await made.ring.owner(SPELLED) is None


async def test_a_key_that_was_made_late_opens_after_the_time_for_which_its_absence_counts(made: Ring) -> None:
    key, spelled = new_key("late", [Scope.READ], now=1.0)
    assert await made.ring.owner(spelled) is None
    await made.store.put(key)
    assert await made.ring.owner(spelled) is None
    assert made.store.ids == [key.id]
    made.now += SECONDS
    assert await made.ring.owner(spelled) == key


async def test_a_key_is_compared_whether_it_is_known_or_not(made: Ring) -> None:
    for spelled in (SPELLED, WRONG, UNKNOWN, *NO_KEYS):
        made.compared.clear()
        await made.ring.owner(spelled)
        known = KEY if spelled in (SPELLED, WRONG) else None
        assert made.compared == [(spelled, known)]


@pytest.mark.parametrize("spelled", NO_KEYS)
async def test_what_is_no_key_is_never_asked_for(made: Ring, spelled: str) -> None:
    assert await made.ring.owner(spelled) is None
    assert made.store.ids == []


async def test_a_silent_store_stops_those_only_who_are_not_remembered(made: Ring) -> None:
    await made.ring.owner(SPELLED)
    made.store.is_silent = True
    assert await made.ring.owner(SPELLED) == KEY
    with pytest.raises(StoreUnavailable):
        await made.ring.owner(UNKNOWN)
    made.now += SECONDS
    with pytest.raises(StoreUnavailable):
        await made.ring.owner(SPELLED)
    made.store.is_silent = False
    assert await made.ring.owner(SPELLED) == KEY


async def test_ids_that_somebody_guesses_push_no_key_out(made: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "MOST_REMEMBERED", 4)
    await made.ring.owner(SPELLED)
    guessed = [f"sw_{number:016x}_{'A' * 43}" for number in range(20)]
    for spelled in guessed:
        await made.ring.owner(spelled)
    made.store.ids.clear()
    assert await made.ring.owner(SPELLED) == KEY
    assert await made.ring.owner(guessed[-1]) is None
    assert made.store.ids == []
    # Of the guesses only the last four are kept.
    await made.ring.owner(guessed[0])
    assert len(made.store.ids) == 1


async def test_more_keys_than_are_remembered_are_asked_for_again(made: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "MOST_REMEMBERED", 2)
    pairs = [new_key(f"key {number}", [Scope.READ], now=1.0) for number in range(3)]
    for key, spelled in pairs:
        await made.store.put(key)
        assert await made.ring.owner(spelled) == key
    made.store.ids.clear()
    for key, spelled in reversed(pairs):
        assert await made.ring.owner(spelled) == key
    assert made.store.ids == [pairs[0][0].id]
