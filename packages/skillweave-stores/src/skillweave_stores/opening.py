"""What URLs of databases open, for entry points: light, as the packages behind them are imported on first use."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.skills import Strictness
    from skillweave_stores.sql.conversations import PostgresStore
    from skillweave_stores.sql.entities import SqlGraph
    from skillweave_stores.sql.skills import SqlSource


def postgres_ledger(rest: str) -> "PostgresStore":
    """The ledger for `postgresql://rest`; raises InvalidValue for what cannot be read."""
    from skillweave_stores.sql.conversations import PostgresStore

    return PostgresStore(f"postgresql://{rest}")


def postgres_source(rest: str, *, strictness: "Strictness") -> "SqlSource":
    """The skills for `postgresql://rest`, which are read leniently; raises like `postgres_ledger`."""
    from skillweave_stores.sql.skills import SqlSource

    return SqlSource(f"postgresql://{rest}", name="postgresql")


def sqlite_source(rest: str, *, strictness: "Strictness") -> "SqlSource":
    """The skills for `sqlite:///path`, in two slashes as in three; raises like `postgres_ledger`."""
    from skillweave_stores.sql.skills import SqlSource

    return SqlSource(f"sqlite:///{rest.removeprefix('/')}", name="sqlite")


def postgres_graph(rest: str) -> "SqlGraph":
    """The entity graph for `postgresql://rest`; raises like `postgres_ledger`."""
    from skillweave_stores.sql.entities import SqlGraph

    return SqlGraph(f"postgresql://{rest}")


def sqlite_graph(rest: str) -> "SqlGraph":
    """The entity graph for `sqlite:///path`, in two slashes as in three; raises like `postgres_ledger`."""
    from skillweave_stores.sql.entities import SqlGraph

    return SqlGraph(f"sqlite:///{rest.removeprefix('/')}")
