"""Statements that write a row in place of the one with its key, for both kinds of database."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave_stores.sql.tables import Row

Inserting: TypeAlias = postgresql.Insert | sqlite.Insert


async def put_row(connection: AsyncConnection, table: type[Row], row: Mapping[str, Any]) -> None:
    """Insert a row, in place of the one with its key."""
    await connection.execute(replacing(insert_into(connection, table).values(**row), table))


def insert_into(connection: AsyncConnection, table: type[Row]) -> Inserting:
    """Returns an INSERT that takes ON CONFLICT, which the two databases spell alike."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def replacing(statement: Inserting, table: type[Row]) -> Inserting:
    """The statement that replaces the row with the same key, where it would fail otherwise."""
    key = [one.name for one in table.__table__.primary_key]
    taken = {one.name: statement.excluded[one.name] for one in table.__table__.c if one.name not in key}
    if not taken:
        return statement.on_conflict_do_nothing()
    return statement.on_conflict_do_update(index_elements=key, set_=taken)
