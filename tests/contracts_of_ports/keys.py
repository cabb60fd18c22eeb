"""The contract of a store of API keys as tests: a backend is what passes them."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from skillweave_stores.access import ApiKey, KeyStore, Scope, new_key, opens

IMPOSSIBLE_IDS = ("", " ", "\0", "\ud800", "a" * 10_000, "0123456789abcdeF", "'; DROP TABLE api_keys; --", "%", "Ω")
"""What no key has as its id, and may be asked about all the same."""


@pytest.mark.asyncio
class KeyStoreContract:
    """Inherit, and give a fixture `keys`: a store, which may hold other keys already."""

    @pytest.fixture
    def keys(self) -> KeyStore:
        """The store under test."""
        raise NotImplementedError("a subclass gives the store")

    @pytest.fixture
    def tenant(self) -> str:
        """A tenant of whose keys the store has none."""
        return f"tenant-{uuid4().hex}"

    async def test_a_key_that_was_never_put_is_not_found(self, keys: KeyStore, tenant: str) -> None:
        assert await keys.find(_key(tenant).id) is None

    @pytest.mark.parametrize("scopes", [list(Scope), [Scope.READ], [Scope.WRITE, Scope.WEAVE]], ids=len)
    async def test_a_key_comes_back_equal(self, keys: KeyStore, tenant: str, scopes: list[Scope]) -> None:
        key, spelled = new_key("Größe “1”, 'x'", scopes, tenant=tenant, now=1_700_000_000.123456)
        await keys.put(key)
        found = await keys.find(key.id)
        assert found == key
        assert opens(spelled, found)

    async def test_a_key_of_the_default_tenant_comes_back_equal(self, keys: KeyStore) -> None:
        key = _key("default")
        await keys.put(key)
        assert await keys.find(key.id) == key
        assert key in await keys.list()

    async def test_a_key_that_is_put_again_takes_the_place_of_the_one_before(self, keys: KeyStore, tenant: str) -> None:
        key = _key(tenant)
        await keys.put(key)
        changed = replace(key, name="another", scopes=frozenset({Scope.ADMIN}), revoked_at=2.5)
        await keys.put(changed)
        assert await keys.find(key.id) == changed
        assert [one for one in await keys.list() if one.tenant == tenant] == [changed]
        await keys.put(key)
        assert await keys.find(key.id) == key

    async def test_a_revoked_key_is_found_with_the_time_at_which_it_was(self, keys: KeyStore, tenant: str) -> None:
        key = replace(_key(tenant), revoked_at=1e9 + 0.25)
        await keys.put(key)
        found = await keys.find(key.id)
        assert found is not None
        assert found.revoked_at == 1e9 + 0.25
        assert [one for one in await keys.list() if one.tenant == tenant] == [key]

    async def test_keys_are_listed_by_tenant_and_then_by_when_they_were_made(self, keys: KeyStore, tenant: str) -> None:
        tenants = [f"Z{tenant}", f"a{tenant}", f"é{tenant}", tenant]
        made = [_key(one, now) for one in tenants for now in (10.0, 9.0, 1e9)]
        for key in made:
            await keys.put(key)
        found = [one for one in await keys.list() if one.tenant in tenants]
        assert found == sorted(made, key=lambda key: (key.tenant, key.created_at))

    async def test_keys_of_the_default_tenant_come_first(self, keys: KeyStore, tenant: str) -> None:
        theirs, ours = _key(f"!{tenant}"), _key("")
        await keys.put(theirs)
        await keys.put(ours)
        found = list(await keys.list())
        assert found.index(ours) < found.index(theirs)

    @pytest.mark.parametrize("impossible", IMPOSSIBLE_IDS, ids=lambda text: ascii(text)[:40])
    async def test_what_is_no_id_is_not_found(self, keys: KeyStore, tenant: str, impossible: str) -> None:
        await keys.put(_key(tenant))
        assert await keys.find(impossible) is None

    async def test_a_key_is_found_by_its_whole_id_only(self, keys: KeyStore, tenant: str) -> None:
        key = _key(tenant)
        await keys.put(key)
        for other in (key.id[:-1], f"{key.id}0", key.id.upper() + " ", f" {key.id}"):
            assert await keys.find(other) is None

    async def test_keys_that_are_put_at_once_are_all_kept(self, keys: KeyStore, tenant: str) -> None:
        made = [_key(tenant, float(number)) for number in range(16)]
        await asyncio.gather(*map(keys.put, made))
        assert [one for one in await keys.list() if one.tenant == tenant] == made


def _key(tenant: str, now: float = 1_000.0) -> ApiKey:
    return new_key("a key", [Scope.WEAVE, Scope.READ], tenant=tenant, now=now)[0]
