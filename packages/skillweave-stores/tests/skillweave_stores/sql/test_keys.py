"""API keys in a database of each kind: the contract, and what is particular to a database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.skillweave_stores.sql.conftest import ByHand

from skillweave import StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave_stores.access import Scope, new_key, opens
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.keys import SqlKeys
from tests.contracts_of_ports.keys import KeyStoreContract


class TestSqlKeys(KeyStoreContract):
    @pytest_asyncio.fixture
    async def keys(self, shared_url: str) -> AsyncIterator[SqlKeys]:
        async with SqlKeys(shared_url) as keys:
            yield keys


async def test_a_key_outlives_the_store_and_its_secret_is_nowhere(url: str, by_hand: ByHand) -> None:
    key, spelled = new_key("ours", [Scope.ADMIN], now=7)
    async with SqlKeys(url) as keys:
        await keys.put(key)
    async with SqlKeys(url) as keys:
        assert await keys.find(key.id) == key
    (row,) = by_hand("SELECT * FROM api_keys")
    assert key.id in row
    assert spelled.partition(key.id)[2].strip("_") not in str(row)


async def test_a_file_that_is_not_there_has_no_keys_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    async with SqlKeys(f"sqlite:///{path}") as keys:
        assert await keys.find("0" * 16) is None
        assert await keys.list() == ()
    assert not path.exists()


@pytest.mark.parametrize(
    ("column", "value"),
    [("scopes", "everything"), ("scopes", ""), ("hash", "short"), ("name", " "), ("tenant", "a\nb")],
)
async def test_a_row_that_somebody_damaged_opens_nothing_and_is_named(
    url: str, by_hand: ByHand, column: str, value: str
) -> None:
    key, _ = new_key("ours", [Scope.READ], now=7)
    async with SqlKeys(url) as keys:
        await keys.put(key)
        by_hand(f"UPDATE api_keys SET {column} = :value", value=value)
        for asked in (keys.find(key.id), keys.list()):
            with pytest.raises(StoreUnavailable, match=rf"API key '{key.id}' in .* cannot be read .*correct its row"):
                await asked


async def test_a_key_of_a_tenant_whose_name_is_refused_by_now_is_listed_and_opens_nothing(
    url: str, by_hand: ByHand
) -> None:
    key, spelled = new_key("ours", [Scope.READ], tenant="acme", now=7)
    async with SqlKeys(url) as keys:
        await keys.put(key)
        by_hand("UPDATE api_keys SET tenant = :value", value="acme ")
        (kept,) = await keys.list()
        assert (kept.tenant, kept.revoked_at, opens(spelled, kept)) == ("'acme '", 7, True)
        assert not kept.may(Scope.READ)


@pytest.mark.parametrize("tenant", [" acme", "acme ", " "])
def test_a_tenant_that_only_looks_like_another_gets_no_key(tenant: str) -> None:
    with pytest.raises(InvalidValue, match="begins or ends with an unseen space; write"):
        new_key("ours", [Scope.READ], tenant=tenant, now=7)


async def test_a_database_that_is_shared_stays_open(url: str) -> None:
    database = Database(url)
    async with SqlKeys(database) as keys:
        await keys.put(new_key("ours", [Scope.READ], now=7)[0])
    async with SqlKeys(database) as keys:
        assert len(await keys.list()) == 1
        await database.close()
        with pytest.raises(StoreUnavailable, match="is closed"):
            await keys.list()


async def test_a_database_of_its_own_is_closed_with_it(url: str) -> None:
    keys = SqlKeys(url)
    await keys.put(new_key("ours", [Scope.READ], now=7)[0])
    await keys.close()
    await keys.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        await keys.list()


def test_a_url_that_names_no_database_is_refused() -> None:
    with pytest.raises(InvalidValue, match="redis"):
        SqlKeys("redis://localhost")


def test_what_is_shown_of_it_has_no_password() -> None:
    assert repr(SqlKeys("postgresql://me:hunter2@db/x")) == "SqlKeys('PostgreSQL at db:5432/x')"
