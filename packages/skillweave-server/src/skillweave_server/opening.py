"""The composition root of the service: from paths, names and URLs to a Service with all its parts."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave import (
    Embedder,
    Matcher,
    Observer,
    Settings,
    Source,
    SqliteStore,
    Store,
    TokenCounter,
    Weaver,
    WhenUnknown,
)
from skillweave.approvals import ApprovalBook
from skillweave.entities import EntityGraph, graph_of_entities
from skillweave.errors import InvalidValue
from skillweave.events import EventStream, StreamObserver, Wanted
from skillweave.graph import SkillGraph
from skillweave.ledger import WorkingMemory
from skillweave.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave.selection import Tiktoken, with_embedder
from skillweave.skills import Strictness
from skillweave.sources import Progress, SkillSource, packs_of, source_of
from skillweave.stores import MemoryEventStream, SplitStore
from skillweave.values import CacheFolder, Checked, without_secrets
from skillweave.weaver import OnStoreFailure
from skillweave_server.middleware import trace_observers
from skillweave_server.options import ServiceOptions
from skillweave_server.rates import SharedCounters, shared_counters
from skillweave_server.service import Service
from skillweave_server.tenant_registry import CommonRegistry, SharedSource, TenantRegistry
from skillweave_server.unsealed import DisabledApprovals
from skillweave_stores.approvals.key import read_or_make_key

if TYPE_CHECKING:
    from skillweave_stores.sql.database import Database
    from skillweave_stores.sql.skills import SqlSource

DEFAULT_STORE = Path(".skillweave") / "service.db"
"""Where everything is kept unless it is said otherwise."""
KEY_SUFFIX = ".approvals-key"
"""What the name of the file with the key of the log of approvals ends with, beside a store in a file."""
LOG_CONNECTIONS = 4
"""Connections of the log of decisions, which is written in batches, and seldom read."""
READINESS = "skillweave-ready"
"""The conversation that is read to see whether its store answers; nothing is ever kept of it."""
_STORES = "a file name or postgresql://user:password@host/name"


class Entry(StrEnum):
    """Who is let in: those with an API key, or everybody who reaches the service."""

    KEYS = "keys"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Place:
    """Where everything is kept that is to last: a SQLite file at `path`, or a PostgreSQL database, then None."""

    url: str
    path: Path | None

    @property
    def shown(self) -> str:
        """How messages call it, without a password."""
        return without_secrets(self.url) if self.path is None else str(self.path)


@dataclass(frozen=True, slots=True)
class _CommonSkills:
    """The skills of all tenants, and the Weaver that compiles them and runs no turn."""

    registry: CommonRegistry
    weaver: Weaver


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the Weavers of all tenants have in common."""

    own: "SqlSource"
    common: _CommonSkills
    sources: tuple[Source, ...]
    store: Store
    events: EventStream
    wanted: Wanted
    entities: EntityGraph
    graph: SkillGraph | None
    settings: Settings | None
    counter: TokenCounter
    matchers: Sequence[str | Matcher]
    on_store_failure: OnStoreFailure
    when_unknown: WhenUnknown
    observers: tuple[Observer, ...]
    cache: str | os.PathLike[str] | None


def place_of(store: str | os.PathLike[str]) -> Place:
    """The place that a file name, `sqlite:///path` or `postgresql://...` stands for; raises InvalidValue."""
    name = os.fspath(store)
    if not name:
        raise InvalidValue(f"the name of the store is empty; give {_STORES}")
    scheme, separator, rest = name.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return Place(f"postgresql://{rest}", None)
    if separator and scheme != "sqlite":
        raise InvalidValue(
            f"a service cannot be kept in {without_secrets(name)!r:.200}; give {_STORES} as the store, and a Redis "
            "beside it"
        )
    # It may be called from another folder by the time that it is opened.
    path = Path(rest.removeprefix("/") if separator else name).absolute()
    return Place(f"sqlite:///{path}", path)


def key_file_of(place: Place) -> Path | None:
    """The file with the key of the log of approvals beside a store in a file; None for a database."""
    return None if place.path is None else Path(f"{place.path}{KEY_SUFFIX}")


def open_service(
    *skills: SkillSource,
    packs: Sequence[str] = (),
    store: str | os.PathLike[str] = DEFAULT_STORE,
    redis: str | None = None,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
    entities: str | os.PathLike[str] | EntityGraph | None = None,
    graph: SkillGraph | None = None,
    matchers: Sequence[str | Matcher] = DEFAULT_MATCHERS,
    embedder: str | Embedder | None = None,
    strictness: Strictness = Strictness.LENIENT,
    approval_key_file: str | os.PathLike[str] | None = None,
    on_store_failure: OnStoreFailure = OnStoreFailure.CONTINUE,
    when_unknown: WhenUnknown = WhenUnknown.DENY,
    observers: Sequence[Observer] = (),
    options: ServiceOptions | None = None,
    entry: Entry = Entry.KEYS,
    progress: Progress | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Service:
    """A Service with all its parts; nothing is read or connected before it is made ready.

    `skills` and `packs` are for all tenants, and read once. A tenant's own, which are published to the store, go before
    them. `store` is a SQLite file, or `postgresql://...`, for everything that is to last. With `redis`, a URL, that
    has conversations, working memory and events, and several services on both are one. `entities` is an entity graph
    in place of that of the store. `matchers`, `embedder`, `counter`, `settings`, `on_store_failure`, `when_unknown`
    and `observers` are as for `skillweave.open`.

    `approval_key_file` has the key that seals the log of approvals. A store in a file needs none: one is made beside
    it. Services on one PostgreSQL need the same file, which must be there; without it they keep no approvals.

    Raises InvalidValue for what cannot be a store, a Redis or a key file, and what `skillweave.open` raises.
    """
    from skillweave_stores.sql.database import Database
    from skillweave_stores.sql.entities import SqlGraph
    from skillweave_stores.sql.keys import SqlKeys
    from skillweave_stores.sql.skills import SqlSource

    checked = Checked("open_service")
    strict, place = checked.member("strictness", strictness, Strictness), place_of(store)
    kept = None if cache is None else CacheFolder(Path(cache))
    given: tuple[Source, ...] = (*(source_of(one, strict, progress, kept) for one in skills), *packs_of(packs))
    database = Database(place.url)
    own = SqlSource(database, name="store")
    known = SqlGraph(database) if entities is None else graph_of_entities(entities)
    kept_in = _with_redis(place, redis) if redis is not None else _without_redis(place, database)
    # One for all: what it reads is there once.
    counting = Tiktoken() if counter is None else counter
    sources = tuple(SharedSource(one) for one in given)
    common = CommonRegistry(sources)
    parts = _Parts(
        own=own,
        common=_CommonSkills(common, Weaver(common, kept_in.store, settings, counter=counting, cache=cache)),
        sources=sources,
        store=kept_in.store,
        events=kept_in.events,
        wanted=kept_in.wanted,
        entities=known,
        graph=graph,
        settings=settings,
        counter=counting,
        matchers=matchers if embedder is None else with_embedder(matchers, embedder),
        on_store_failure=on_store_failure,
        when_unknown=when_unknown,
        observers=tuple(observers),
        cache=cache,
    )
    return Service(
        partial(_make_weaver, parts),
        memory=kept_in.memory,
        events=kept_in.events,
        approvals=_approvals(place, approval_key_file, database),
        keys=SqlKeys(database) if checked.member("entry", entry, Entry) is Entry.KEYS else None,
        skills=own,
        options=options or ServiceOptions(),
        when_unknown=when_unknown,
        counters=kept_in.counters,
        checks={"database": database.revision, **kept_in.checks},
        reading_ahead=kept_in.reading_ahead,
        shared=(kept_in.store, *parts.sources, known, database),
    )


@dataclass(frozen=True, slots=True)
class _KeptIn:
    """Where conversations, working memory and events are; `wanted` are the events that the stream has to be told."""

    store: Store
    memory: WorkingMemory
    events: EventStream
    wanted: Wanted
    checks: Mapping[str, Callable[[], Awaitable[object]]]
    counters: SharedCounters | None = None
    reading_ahead: Callable[[], AbstractContextManager[None]] = nullcontext


def conversations_in(place: Place, redis: str | None = None) -> Store:
    """Returns the store in which a service on these keeps its conversations."""
    if redis is not None:
        from skillweave_stores.redis.store import RedisStore

        return RedisStore(redis)
    if place.path is not None:
        return SqliteStore(place.path)
    from skillweave_stores.sql.conversations import PostgresStore

    return PostgresStore(place.url)


def _without_redis(place: Place, database: "Database") -> _KeptIn:
    from skillweave_stores.sql.working_memory import SqlWorkingMemory

    store = conversations_in(place)
    checks = {"conversations": partial(store.load, READINESS)}
    return _KeptIn(store, SqlWorkingMemory(database), MemoryEventStream(), Wanted.EVERYTHING, checks)


def _with_redis(place: Place, redis: str) -> _KeptIn:
    from skillweave_stores.redis.events import RedisEventStream
    from skillweave_stores.redis.store import EventKeeping, RedisStore, reading_ahead
    from skillweave_stores.redis.working_memory import RedisWorkingMemory

    states = RedisStore(redis, events=EventKeeping.STREAM)
    store, memory = SplitStore(states, _log(place)), RedisWorkingMemory(redis, store=states)
    events, counters = RedisEventStream(redis), shared_counters(redis)
    checks = {"redis": partial(store.load, READINESS)}
    return _KeptIn(store, memory, events, Wanted.UNKEPT, checks, counters, reading_ahead)


def _log(place: Place) -> Store:
    """The log of decisions beside conversations in a Redis."""
    if place.path is not None:
        return SqliteStore(place.path)
    from skillweave_stores.sql.conversations import PostgresStore

    return PostgresStore(place.url, connections=LOG_CONNECTIONS)


def _approvals(place: Place, key_file: str | os.PathLike[str] | None, database: "Database") -> ApprovalBook:
    """The book of approvals with its seal; raises InvalidValue for a file that has no key, or is not there."""
    from skillweave_stores.sql.approvals import SqlApprovals

    if place.path is None and key_file is not None and not Path(key_file).exists():
        # Made here it would be another one on each machine, and the log of one would look broken to all others.
        raise InvalidValue(
            f"the key file {os.fspath(key_file)} is not there; all services on one database seal the log of "
            "approvals with the same key: copy it here, or make the first with "
            f"`(umask 077; openssl rand -hex 32 > {os.fspath(key_file)})`"
        )
    beside = key_file_of(place)
    named = Path(key_file) if key_file is not None else beside
    return DisabledApprovals() if named is None else SqlApprovals(database, key=read_or_make_key(named))


def _make_weaver(parts: _Parts, tenant: str) -> Weaver:
    """The Weaver of a tenant: its own skills go before those of all tenants."""
    for_tenant = getattr(parts.entities, "for_tenant", None)
    telling = StreamObserver(parts.events, tenant=tenant, wanted=parts.wanted)
    common = parts.common
    return Weaver(
        TenantRegistry(parts.own.for_tenant(tenant), parts.sources, common.registry),
        parts.store,
        parts.settings,
        counter=parts.counter,
        like=common.weaver,
        entities=for_tenant(tenant) if callable(for_tenant) else parts.entities,
        graph=parts.graph,
        matchers=parts.matchers,
        on_store_failure=parts.on_store_failure,
        when_unknown=parts.when_unknown,
        observers=(telling, *trace_observers(), *parts.observers),
        tenant=tenant,
        cache=parts.cache,
    )
