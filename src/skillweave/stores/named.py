"""Ledgers, logs of decisions and entity graphs by their names: plain ones are files, URLs say what opens them."""

import os
from collections.abc import Callable

from skillweave.checking import Checked
from skillweave.extensions import Extensions
from skillweave.knowledge.entity import EntityGraph, is_graph
from skillweave.state.port import DecisionLog, Store
from skillweave.stores.memory import MemoryStore
from skillweave.tenants import tenant_of

_ON_SERVERS = dict.fromkeys(
    ("postgres", "postgresql", "redis", "redis+cluster", "rediss", "rediss+cluster", "unix"), "skillweave-stores"
)
LEDGERS: Extensions[Callable[[str], Store]] = Extensions(
    "ledgers",
    "ledger for",
    form="{}://",
    built_in={"memory": "skillweave.stores.memory:open_memory", "sqlite": "skillweave.stores.sqlite:SqliteStore"},
    satellites=_ON_SERVERS,
)
"""The name is the scheme of a URL, the value a callable that takes the rest of it."""

GRAPHS: Extensions[Callable[[str], EntityGraph]] = Extensions(
    "entities",
    "entity graph for",
    form="{}://",
    satellites=dict.fromkeys(("postgres", "postgresql", "sqlite"), "skillweave-stores"),
)
"""As for ledgers."""


def store_of(ledger: str | os.PathLike[str] | Store | None) -> Store:
    """The Store that a name stands for: a plain name is a SQLite file, None this process's memory.

    Raises InvalidValue for what is not a Store either, SkillweaveError for a scheme that nothing installed can open.
    """
    if ledger is None:
        return MemoryStore()
    if not isinstance(ledger, str | os.PathLike):
        if not all(callable(getattr(ledger, verb, None)) for verb in ("load", "swap")):
            Checked("skillweave.open").refuse("ledger", ledger, "a file name, a URL, a Store, or None")
        return ledger
    name = os.fspath(ledger)
    scheme, separator, rest = name.partition("://")
    if not separator:
        scheme, rest = "sqlite", name
    elif scheme == "sqlite":
        rest = rest.removeprefix("/")
    return LEDGERS.make(scheme, lambda opener: opener(rest))


def log_of(decisions: str | os.PathLike[str] | DecisionLog) -> DecisionLog:
    """The log of decisions that a name stands for, as names of ledgers do; raises like `store_of`."""
    if isinstance(decisions, str | os.PathLike):
        return store_of(decisions)
    if not all(callable(getattr(decisions, verb, None)) for verb in ("append", "read")):
        Checked("skillweave.open").refuse("decisions", decisions, "a file name, a URL, or a DecisionLog")
    return decisions


def entities_of(entities: str | os.PathLike[str] | EntityGraph, *, tenant: str = "") -> EntityGraph:
    """The entity graph that a name stands for: a URL of a database, in which it is the tenant's.

    One that is handed in says itself whose entities it has. Raises InvalidValue for what is no graph and no such name,
    SkillweaveError for a scheme that nothing installed can open.
    """
    whose = tenant_of(tenant)
    if not isinstance(entities, str | os.PathLike):
        if not is_graph(entities):
            Checked("skillweave.open").refuse("entities", entities, "a URL, or an EntityGraph")
        return entities
    scheme, separator, rest = os.fspath(entities).partition("://")
    if not separator:
        Checked("skillweave.open").refuse("entities", os.fspath(entities), "a URL, such as 'sqlite:///entities.db'")
    graph = GRAPHS.make(scheme, lambda opener: opener(rest))
    for_tenant = getattr(graph, "for_tenant", None)
    return for_tenant(whose) if callable(for_tenant) else graph
