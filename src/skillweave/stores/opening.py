"""What URLs of databases open, for entry points: light, as the packages behind them are imported on first use."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillweave.errors import MissingExtra
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.formats.strictness import Strictness
    from skillweave.stores.sql.conversations import PostgresStore
    from skillweave.stores.sql.entities import SqlGraph
    from skillweave.stores.sql.skills import SqlSource

_PACKAGES = (
    *("sqlalchemy", "greenlet", "alembic", "aiosqlite", "tenacity", "psycopg", "redis"),
    *("fastapi", "starlette", "limits", "prometheus_client", "httpx", "httpx_sse"),
)
"""What the extras `sql`, `postgres`, `redis`, `service` and `client` bring, by the names that are imported."""


def postgres_ledger(rest: str) -> "PostgresStore":
    """The ledger for `postgresql://rest`; raises MissingExtra, and InvalidValue for what cannot be read."""
    from skillweave.stores.sql.conversations import PostgresStore

    return PostgresStore(f"postgresql://{rest}")


def postgres_source(rest: str, *, strictness: "Strictness") -> "SqlSource":
    """The skills for `postgresql://rest`, which are read leniently; raises like `postgres_ledger`."""
    url = _needing_postgres(rest)
    from skillweave.stores.sql.skills import SqlSource

    return SqlSource(url, name="postgresql")


def sqlite_source(rest: str, *, strictness: "Strictness") -> "SqlSource":
    """The skills for `sqlite:///path`, in two slashes as in three; raises like `postgres_ledger`."""
    from skillweave.stores.sql.skills import SqlSource

    return SqlSource(f"sqlite:///{rest.removeprefix('/')}", name="sqlite")


def postgres_graph(rest: str) -> "SqlGraph":
    """The entity graph for `postgresql://rest`; raises like `postgres_ledger`."""
    url = _needing_postgres(rest)
    from skillweave.stores.sql.entities import SqlGraph

    return SqlGraph(url)


def sqlite_graph(rest: str) -> "SqlGraph":
    """The entity graph for `sqlite:///path`, in two slashes as in three; raises like `postgres_ledger`."""
    from skillweave.stores.sql.entities import SqlGraph

    return SqlGraph(f"sqlite:///{rest.removeprefix('/')}")


def _needing_postgres(rest: str) -> str:
    """The URL; raises MissingExtra, for the extra that brings the packages of `sql` too."""
    with needing("postgres", without_secrets(f"postgresql://{rest}")):
        import psycopg  # noqa: F401 - looked for first
    return f"postgresql://{rest}"


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Where packages of the extra are imported; raises MissingExtra, which says `what` needs it, for one that is not
    there.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES and "pq wrapper" not in str(error):
            raise
        raise MissingExtra(what, package if package in _PACKAGES else "psycopg[binary]", extra) from error
