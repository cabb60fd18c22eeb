"""Bringing a database to the tables of this version: once, whoever comes first, all of it or nothing."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, NullPool, create_engine, event, text

from skillweave import StoreUnavailable
from skillweave_stores.sql.revisions import NEWEST, revision_of
from skillweave_stores.sql.tables import make_tables

MIGRATIONS = Path(__file__).parent / "migrations"
LOCK_SECONDS = 60
"""How long a process waits while another one migrates."""
_LOCK_KEY = 0x736B_696C_6C77
"""What processes that migrate one PostgreSQL lock; the letters `skillw`."""
_ONLY_ADDED = (None, "0001", "0002")
"""Revisions since which tables were only added."""
_one_at_a_time = Lock()
"""Alembic's operations are one object for the process."""


def migrate(
    url: URL, connect_args: dict[str, Any], place: str, opened: Callable[[Any], None] = lambda _: None
) -> tuple[str | None, str]:
    """Makes the tables, or runs the migrations that they lack, in one transaction; the revisions before and after.

    Data stays. Processes that migrate at the same time wait for each other. `opened` is told the driver's connection.
    Raises StoreUnavailable, naming the place, for a database that a newer version has migrated, and DBAPIError for one
    that does not answer.
    """
    engine = create_engine(url, poolclass=NullPool, connect_args=connect_args)
    event.listen(engine, "connect", lambda connection, _: opened(connection))
    try:
        with _one_at_a_time, engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                # The driver begins no transaction for changes of tables; with its own turned off, ours holds them too.
                connection.connection.dbapi_connection.isolation_level = None  # type: ignore[union-attr]
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            return _migrated(connection, place)
    finally:
        engine.dispose()


def require_known(revision: str | None, place: str) -> None:
    """Raises StoreUnavailable for a revision that this version has no migration to."""
    known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    if revision not in known.union(_ONLY_ADDED):
        raise StoreUnavailable(
            f"{place} was migrated by a newer skillweave (revision {revision}, this version knows "
            f"{NEWEST}); upgrade skillweave, or name another database"
        )


def _migrated(connection: Connection, place: str) -> tuple[str | None, str]:
    before = revision_of(connection)
    require_known(before, place)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        if before in _ONLY_ADDED:
            make_tables(connection)
            command.stamp(config, "head", purge=True)
        else:
            command.upgrade(config, "head")
        after = revision_of(connection)
        if after is None:
            raise RuntimeError(f"{place} has no revision after its migration; this is a mistake of skillweave")
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return before, after
