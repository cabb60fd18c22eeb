"""The contract of what keeps the insertions of the exchange as tests: a backend is what passes them."""

import pytest

from skillweave.errors import InvalidValue
from skillweave.ledger import KEEP_ENTRIES_SECONDS, Insertions
from skillweave_testing.fakes import ManualClock
from skillweave_testing.ledger import HOSTILE_IDS, for_impossible_tenants

_DAY = 24 * 3600.0


@pytest.mark.asyncio
class InsertionsContract:
    """Inherit, and give a fixture `store` that makes a new, empty store on the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    async def test_what_was_kept_is_found_byte_for_byte(self, store: Insertions) -> None:
        kept = {"at:1": b"a\0\xff\n", "at:2": b"", "main": "ä".encode()}
        await store.keep_entries("s", kept)
        assert dict(await store.find_entries("s", [*kept, "at:3"])) == kept

    async def test_what_nobody_asked_for_is_not_found(self, store: Insertions) -> None:
        await store.keep_entries("s", {"a": b"1", "b": b"2"})
        assert dict(await store.find_entries("s", ["b"])) == {"b": b"2"}
        assert dict(await store.find_entries("s", [])) == {}

    async def test_what_is_kept_again_takes_the_place_of_what_was_there(self, store: Insertions) -> None:
        await store.keep_entries("s", {"a": b"1", "b": b"2"})
        await store.keep_entries("s", {"a": b"3"})
        assert dict(await store.find_entries("s", ["a", "b"])) == {"a": b"3", "b": b"2"}

    async def test_scopes_and_tenants_have_nothing_in_common(self, store: Insertions) -> None:
        await store.keep_entries("s", {"a": b"1"})
        await store.keep_entries("s", {"a": b"2"}, tenant="acme")
        await store.keep_entries("t", {"a": b"3"})
        assert dict(await store.find_entries("s", ["a"])) == {"a": b"1"}
        assert dict(await store.find_entries("s", ["a"], tenant="default")) == {"a": b"1"}
        assert dict(await store.find_entries("s", ["a"], tenant="acme")) == {"a": b"2"}
        assert dict(await store.find_entries("t", ["a"], tenant="acme")) == {}

    async def test_scopes_and_keys_of_any_characters_are_apart(self, store: Insertions) -> None:
        for name in HOSTILE_IDS:
            await store.keep_entries(name, {other: f"{name}|{other}".encode() for other in HOSTILE_IDS})
        for name in HOSTILE_IDS:
            found = await store.find_entries(name, HOSTILE_IDS)
            assert dict(found) == {other: f"{name}|{other}".encode() for other in HOSTILE_IDS}

    async def test_a_long_history_is_found_at_once(self, store: Insertions) -> None:
        kept = {f"at:{number}": str(number).encode() for number in range(9_000)}
        await store.keep_entries("s", kept)
        assert dict(await store.find_entries("s", kept)) == kept

    async def test_what_nobody_used_for_thirty_days_is_forgotten(self, store: Insertions, clock: ManualClock) -> None:
        await store.keep_entries("s", {"a": b"1", "b": b"2"})
        clock.advance(KEEP_ENTRIES_SECONDS - _DAY / 2)
        assert dict(await store.find_entries("s", ["a"])) == {"a": b"1"}
        clock.advance(_DAY)
        assert dict(await store.find_entries("s", ["a", "b"])) == {"a": b"1"}

    @for_impossible_tenants
    async def test_what_cannot_be_a_tenant_is_refused(self, store: Insertions, tenant: str) -> None:
        with pytest.raises(InvalidValue):
            await store.find_entries("s", ["a"], tenant=tenant)
        with pytest.raises(InvalidValue):
            await store.keep_entries("s", {"a": b"1"}, tenant=tenant)
