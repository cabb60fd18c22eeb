"""Which revision the tables of a database have; without Alembic, which takes half a second to import."""

from sqlalchemy import Connection, inspect, text

NEWEST = "0004"
"""The revision that this version works with: that of the last file in `migrations/versions`."""
_TABLE = "alembic_version"


def revision_of(connection: Connection) -> str | None:
    """The revision of the database's tables; None where there are none of ours."""
    if not inspect(connection).has_table(_TABLE):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {_TABLE}"))  # noqa: S608 - our own constant
    return found
