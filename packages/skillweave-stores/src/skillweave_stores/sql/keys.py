"""The service's API keys in a SQLite file or a PostgreSQL database (spec 8)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from skillweave import StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave.values import DEFAULT_TENANT, tenant_of
from skillweave_stores.access import ApiKey, Scope
from skillweave_stores.sql.database import InDatabase
from skillweave_stores.sql.documents import is_storable_text
from skillweave_stores.sql.tables import ApiKeyRow
from skillweave_stores.sql.upserts import put_row

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


class SqlKeys(InDatabase):
    """API keys of all tenants in a database: `sqlite:///path` or `postgresql://user:password@host/name`.

    `database` is a URL, or a Database that several stores share. The first call makes the tables, or brings them up to
    date; a file that is not there holds nothing, and only `put` makes it. Raises InvalidValue for a URL that cannot be
    read. All methods raise StoreUnavailable, which
    names the server but no password.
    """

    async def put(self, key: ApiKey) -> None:
        """Keep a key under its id, in place of the one that is there."""
        row = {
            "id": key.id,
            "tenant": key.tenant or DEFAULT_TENANT,
            "name": key.name,
            "scopes": " ".join(sorted(key.scopes)),
            "hash": key.hash,
            "created_at": float(key.created_at),
            "revoked_at": None if key.revoked_at is None else float(key.revoked_at),
        }

        async def work(connection: "AsyncConnection") -> None:
            await put_row(connection, ApiKeyRow, row)

        await self._database.write(work)

    async def find(self, key_id: str) -> ApiKey | None:
        """The key with that id, revoked or not; None where there is none. One round trip."""
        if not is_storable_text(key_id):
            return None
        found = await self._rows(select(*_COLUMNS).where(ApiKeyRow.id == key_id))
        return self._key_of(found[0]) if found else None

    async def list(self) -> Sequence[ApiKey]:
        """All keys, by their tenant and then by when they were made."""
        found = map(self._key_of, await self._rows(select(*_COLUMNS)))
        return tuple(sorted(found, key=lambda key: (key.tenant, key.created_at, key.id)))

    def _key_of(self, row: Any) -> ApiKey:  # noqa: ANN401 - a row, written by hand perhaps
        try:
            scopes = frozenset(map(Scope, row.scopes.split()))
            tenant, revoked_at = row.tenant, row.revoked_at
            if tenant != tenant.strip():  # of before such names were refused: it is listed, and opens nothing
                tenant, revoked_at = repr(tenant), row.created_at if revoked_at is None else revoked_at
            return ApiKey(row.id, tenant_of(tenant), row.name, scopes, row.hash, row.created_at, revoked_at)
        except (InvalidValue, ValueError, AttributeError) as error:
            raise StoreUnavailable(
                f"the API key {row.id!r:.40} in {self.place} cannot be read ({error!s:.200}); correct its row in the "
                "table api_keys, or remove it"
            ) from error


_COLUMNS = tuple(ApiKeyRow.__table__.c)
