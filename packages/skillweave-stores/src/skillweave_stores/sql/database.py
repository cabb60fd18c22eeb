"""A SQL database: connections for each event loop, tables brought up to date, time-outs, retries, errors in words."""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from sqlalchemy import (
    URL,
    ColumnElement,
    Double,
    Executable,
    cast,
    event,
    extract,
    func,
    literal,
    make_url,
    select,
    type_coerce,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from skillweave import StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave.ledger import ServerFacts
from skillweave.values import DEFAULT_TENANT, ClosedOnExit, tenant_of
from skillweave_stores.facts import connections_of_process
from skillweave_stores.loops import PerLoop
from skillweave_stores.sql.documents import json_text
from skillweave_stores.sql.facts import facts_of
from skillweave_stores.sql.failures import Interrupted, closed, described, still_migrating, too_late
from skillweave_stores.sql.revisions import NEWEST, revision_of

T = TypeVar("T")

CONNECTIONS = 20
"""Connections of one process and event loop; who comes when all are in use waits for one."""
SECONDS = 5.0
"""How long a call may take, with waiting for a connection, connecting and trying again."""
MIGRATION_SECONDS = 600.0
"""How long bringing the tables up to date may take, with waiting for others that do it."""
TRIES = 3
_LONGEST_PAUSE = 0.5
LARGEST = 86_400
_ONE_MOMENT = "REPEATABLE READ"
_EACH_BY_ITSELF, _TO_READ, _TO_WRITE = "", "BEGIN", "BEGIN IMMEDIATE"
"""At once for writing: a reader that turns into a writer is refused when somebody else wrote meanwhile."""
_OWN_OPTIONS = ("timeout", "connections")
SERVERS_CLOCK: ColumnElement[float] = type_coerce(
    select(cast(extract("epoch", func.clock_timestamp()), Double)).scalar_subquery(), Double
)


@dataclass(slots=True, repr=False)
class _Pool:
    """The connections of one event loop; `drivers` are the drivers' own objects of those that are open.

    `preparing` looks after the tables, once for all calls that wait for it, by the loop's clock until `patient_until`;
    `calls` are those that run.
    """

    engine: AsyncEngine
    drivers: "WeakSet[Any]" = field(default_factory=WeakSet)
    preparing: "asyncio.Task[None] | None" = None
    patient_until: float = 0.0
    calls: "set[asyncio.Future[None]]" = field(default_factory=set)

    def note(self, connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's connection in its adapter
        """Remember a connection that was opened."""
        self.drivers.add(connection.driver_connection)

    async def close(self) -> None:
        """Close all of them, in their own loop, when the calls that run have ended."""
        if self.calls:
            await asyncio.wait(self.calls)
        await self.engine.dispose()

    def abandon(self) -> None:
        """Close them although their loop has ended, where nothing can be awaited any more."""
        for driver in tuple(self.drivers):
            if self.engine.dialect.name == "postgresql":
                driver.pgconn.finish()
            else:
                driver.stop()


class Database:
    """A SQLite file or a PostgreSQL database by its URL; nothing is opened before the first call.

    `timeout` is in seconds, for one call with all that it waits for; `connections` as many as one event loop may have
    at once. Both may stand in the URL's query. The first call brings the tables up to date, which may take longer;
    calls wait `patience` seconds for that, and it goes on beside them.
    Raises InvalidValue for a URL that cannot be read.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = SECONDS,
        connections: int = CONNECTIONS,
        patience: float = MIGRATION_SECONDS,
    ) -> None:
        parsed = _parsed(url)
        self._patience = patience
        self.seconds = _number(parsed, "timeout", timeout)
        self._connections = max(1, int(_number(parsed, "connections", connections)))
        self._url = _with_driver(parsed.difference_update_query(_OWN_OPTIONS))
        self.on_postgres = self._url.get_backend_name() == "postgresql"
        self.place = _place(self._url)
        self._failures: tuple[type[Exception], ...] = (DBAPIError, NoConnection, OSError)
        if self.on_postgres:
            import psycopg

            known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
            _require_known_options(self._url, self.place, known)
            # The driver's own come through where no statement runs, as from a connection that was broken meanwhile.
            self._failures = (*self._failures, psycopg.Error)
        else:
            _require_known_options(self._url, self.place, ())
        self._pools: PerLoop[_Pool] = PerLoop(self._pool, _Pool.close, _Pool.abandon)
        self._ready = False
        self._closed = False

    @property
    def url(self) -> str:
        """The URL with its password, for another Database of the same place; never to be shown."""
        return self._url.render_as_string(hide_password=False)

    @property
    def is_missing(self) -> bool:
        """Whether it is a file that is not there; the first call that works in it makes one."""
        return not self.on_postgres and not Path(self._url.database or "").exists()

    def require_postgres(self, what: str, instead: str) -> None:
        """Raises InvalidValue where the URL names a SQLite file, which keeps no such thing."""
        if not self.on_postgres:
            raise InvalidValue(f"{self.place} is a SQLite file, which keeps no {what} here; {instead}")

    async def read(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """What the work answers, each of its statements by itself; tried again after a failure that passes.

        Raises StoreUnavailable.
        """
        return await self._run(_EACH_BY_ITSELF, work)

    async def view(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """What the work answers, all of its statements about one moment; tried again after a failure that passes.

        Raises StoreUnavailable.
        """
        return await self._run(_TO_READ, work)

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """What the work answers, in one transaction; tried again as a whole, so that it must bear being done twice.

        Raises StoreUnavailable; then nothing of it is stored, or, where the answer was lost, all.
        """
        return await self._run(_TO_WRITE, work)

    async def write_in_steps(self, work: Callable[[AsyncConnection, Callable[[], None]], Awaitable[T]]) -> T:
        """As `write`, for work of any length, whose time counts anew from each step.

        The work calls what it is given beside the connection before each of its steps. Who gives up waiting ends it at
        the next one.
        """
        call = _Call(self.seconds if self.on_postgres else None)
        return await self._run(_TO_WRITE, lambda one: work(one, call.step), call)

    async def migrate(self) -> tuple[str | None, str]:
        """Bring the tables up to date now; the revisions before and after. Raises StoreUnavailable."""
        if self._closed:
            raise closed(self.place)
        opened: list[Any] = []
        working = asyncio.create_task(asyncio.to_thread(self._migrate, opened.append))
        try:
            async with asyncio.timeout(MIGRATION_SECONDS):
                made = await asyncio.shield(working)
        except (SQLAlchemyError, OSError) as error:
            if not working.done():
                await _ended(working, opened)
                raise too_late(self.place, MIGRATION_SECONDS) from error
            raise described(error, self.place) from error
        except asyncio.CancelledError:
            await _ended(working, opened)
            raise
        self._ready = True
        return made

    async def revision(self) -> tuple[str | None, str]:
        """The revision of the tables, None where there are none, and the newest that there is; nothing is changed."""
        await asyncio.to_thread(self._make_folder)
        return await self._run(_EACH_BY_ITSELF, lambda one: one.run_sync(revision_of), self._look()), NEWEST

    async def server(self) -> ServerFacts:
        """What the server says of itself, of a file SQLite's library; nothing is changed. Raises StoreUnavailable."""
        found = await self._run(_EACH_BY_ITSELF, facts_of, self._look())
        details = (*found.details, connections_of_process(self._connections)) if self.on_postgres else ()
        return replace(found, place=self.place.removeprefix("PostgreSQL at "), details=details)

    async def close(self) -> None:
        """Give back all connections; afterwards every call raises StoreUnavailable."""
        self._closed = True
        await self._pools.close()

    async def _run(self, begin: str, work: Callable[[AsyncConnection], Awaitable[T]], call: "_Call | None" = None) -> T:
        """Runs the work in a transaction of that kind, within the time of the call."""
        if self._closed:
            raise closed(self.place)
        call = call or _Call(self.seconds if self.on_postgres else None)
        if not (self._ready or call.looks):
            await self._prepared()
        pool, running = self._pools.here(), asyncio.get_running_loop().create_future()
        pool.calls.add(running)
        try:
            async with call.limit:
                call.step()
                try:
                    return await self._once(begin, work, call)
                except Interrupted:
                    # At once, as a connection of before a restart is replaced by a new one; then with pauses.
                    return await self._retrying()(self._once, begin, work, call)
        except (TimeoutError, StoreUnavailable) as error:
            if not call.limit.expired():  # a driver that is cancelled while it connects may say so in words of its own
                raise
            connections = None if call.connected else self._connections
            raise too_late(self.place, self.seconds, connections) from error
        finally:
            pool.calls.discard(running)
            running.cancel()

    def _look(self) -> "_Call":
        return _Call(self.seconds if self.on_postgres else None, looks=True)

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            stop=stop_after_attempt(TRIES - 1),
            wait=wait_random_exponential(0.05, _LONGEST_PAUSE),
            retry=retry_if_exception_type(Interrupted),
            reraise=True,
        )

    async def _once(self, begin: str, work: Callable[[AsyncConnection], Awaitable[T]], call: "_Call") -> T:
        if self._closed:
            raise closed(self.place)
        task = asyncio.current_task()
        cancelled = task.cancelling() if task is not None else 0
        try:
            return await (self._worked(begin, work, call) if self.on_postgres else self._to_its_end(begin, work, call))
        except self._failures as error:
            if task is not None and task.cancelling() > cancelled:  # of which many at once break a connection
                raise asyncio.CancelledError from error
            raise described(error, self.place) from error

    async def _worked(self, begin: str, work: Callable[[AsyncConnection], Awaitable[T]], call: "_Call") -> T:
        async with self._pools.here().engine.connect() as connection:
            if self.on_postgres and begin != _TO_WRITE:
                level = _ONE_MOMENT if begin == _TO_READ else "AUTOCOMMIT"
                await connection.execution_options(isolation_level=level)
            call.connected = True
            if begin == _EACH_BY_ITSELF:
                return await work(connection)
            async with connection.begin():
                if not self.on_postgres:
                    await connection.exec_driver_sql(begin)
                return await work(connection)

    async def _to_its_end(self, begin: str, work: Callable[[AsyncConnection], Awaitable[T]], call: "_Call") -> T:
        """Has the work come to its end, or to its next step, before a cancellation goes on.

        SQLite's thread goes on although nobody waits for it: a lock that it gets then would be given back by nobody.
        """
        task = asyncio.create_task(self._worked(begin, work, call))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            call.given_up = True
            task.add_done_callback(_heard)
            await asyncio.wait([task])
            raise

    async def _prepared(self) -> None:
        pool, loop = self._pools.here(), asyncio.get_running_loop()
        if pool.preparing is None or pool.preparing.done():
            pool.preparing = asyncio.create_task(self._prepare())
            pool.preparing.add_done_callback(_heard)
            pool.patient_until = loop.time() + self._patience
        done, _ = await asyncio.wait((pool.preparing,), timeout=max(0.0, pool.patient_until - loop.time()))
        if not done:
            raise still_migrating(self.place)
        pool.preparing.result()

    async def _prepare(self) -> None:
        found, newest = await self.revision()
        if found != newest:  # or a newer one, which migrating refuses
            await self.migrate()
        self._ready = True

    def _migrate(self, opened: Callable[[Any], None]) -> tuple[str | None, str]:
        from skillweave_stores.sql.migrating import migrate

        self._make_folder()
        return migrate(_sync(self._url), self._connect_arguments(), self.place, opened)

    def _make_folder(self) -> None:
        if self.on_postgres or not self._url.database or self._url.database == ":memory:":
            return
        path = Path(self._url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Its owner alone may read it, and what SQLite makes beside it: there are conversations and hashes of keys.
            path.touch(mode=0o600)

    def _pool(self) -> _Pool:
        arguments = self._connect_arguments()
        if self.on_postgres:
            from skillweave_stores.sql.driver import connect

            arguments["async_creator_fn"] = partial(connect, self.seconds)
        engine = create_async_engine(
            self._url,
            connect_args=arguments,
            pool_size=self._connections,
            max_overflow=0,
            pool_timeout=self.seconds + 1,  # the limit of the whole call comes first, where it has one
            pool_use_lifo=True,
            hide_parameters=True,
            json_serializer=json_text,
        )
        if not self.on_postgres:
            event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        pool = _Pool(engine)
        event.listen(engine.sync_engine, "connect", pool.note)
        return pool

    def _connect_arguments(self) -> dict[str, Any]:
        if not self.on_postgres:
            return {"timeout": self.seconds}
        # Statements are not prepared, as poolers in between give the next one to another connection.
        return {
            "connect_timeout": max(2, round(self.seconds)),
            "prepare_threshold": None,
            "application_name": "skillweave",
            "client_encoding": "utf8",  # the server says what it cannot hold, the driver would fail otherwise
        }


class InDatabase(ClosedOnExit):
    """A store in the database of that URL, or in one that it shares with others, over the same connections.

    One that is handed in stays open when the store is closed. Raises as `Database` does.
    """

    def __init__(self, database: Database | str, *, timeout: float = SECONDS, connections: int = CONNECTIONS) -> None:
        self._shares = isinstance(database, Database)
        if not isinstance(database, Database):
            database = Database(database, timeout=timeout, connections=connections)
        self._database = database
        self.place = database.place

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    async def _rows(self, statement: Executable) -> Sequence[Any]:
        """Returns the rows that the statement selects; none where the file is not there, and none is made."""
        if self._database.is_missing:
            return ()

        async def work(connection: AsyncConnection) -> Sequence[Any]:
            return (await connection.execute(statement)).all()

        return await self._database.read(work)

    async def server(self) -> ServerFacts:
        """What the server says of itself, or SQLite's library of the file; nothing is changed."""
        return await self._database.server()

    async def migrate(self) -> tuple[str | None, str]:
        """Bring the tables up to date; the revisions before and after."""
        return await self._database.migrate()

    async def close(self) -> None:
        """Give back the connections, where they are its own; a second call does nothing."""
        if not self._shares:
            await self._database.close()


def clock_of(connection: AsyncConnection, clock: Callable[[], float] | None) -> ColumnElement[float]:
    """The seconds of the clock for a statement; without one the server's, so that other machines' mean nothing.

    A server's clock is a query of its own: one that is asked for each row would leave an index unused.
    """
    if clock is None and connection.dialect.name == "postgresql":
        return SERVERS_CLOCK
    return literal(float((clock or time.time)()), Double)


def owner_of(tenant: str) -> str:
    """The tenant by the name that it has in every table. Raises InvalidValue."""
    return (tenant and tenant_of(tenant)) or DEFAULT_TENANT


@dataclass(slots=True)
class _Call:
    """How long a call may take from each of its steps, None for ever, and how far it came.

    `looks` says that it needs no tables, `connected` whether it had a connection, `given_up` whether nobody waits for
    it any more.
    """

    seconds: float | None
    looks: bool = False
    connected: bool = False
    given_up: bool = False
    limit: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))

    def step(self) -> None:
        """Count the time anew; raises CancelledError where nobody waits any more."""
        if self.given_up:
            raise asyncio.CancelledError
        if self.seconds is not None:
            self.limit.reschedule(asyncio.get_running_loop().time() + self.seconds)


async def _ended(working: "asyncio.Task[Any]", opened: Iterable[Any]) -> None:
    """Break the connections of a thread that nobody waits for any more, and wait for its end."""
    for connection in opened:
        if hasattr(connection, "pgconn"):
            _shut(connection)
    working.add_done_callback(_heard)
    await asyncio.wait([working])


def _heard(task: "asyncio.Task[Any]") -> None:
    """Take note of how a task ended that nobody may wait for any more, so that asyncio does not complain."""
    if not task.cancelled():
        task.exception()


def _prepare_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's connection in its adapter
    connection.isolation_level = None  # the driver begins no transactions; to tell it for each call takes six trips
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()
    # Bytes that are no text are somebody's damaged row, and must not hide those beside it.
    connection.driver_connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")


def _shut(connection: Any) -> None:  # noqa: ANN401 - the driver's own connection
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        # A second @ is most likely the password's, whose end would be read as the host and shown in messages.
        if parsed.get_backend_name() == "sqlite" or url.count("@") < 2:
            return parsed
    except (ArgumentError, ValueError):
        pass  # it may show a part of the password
    raise InvalidValue(
        "the URL of the database cannot be read; write postgresql://user:password@host:5432/name, with special "
        "characters of user and password percent-encoded, or sqlite:///path"
    )


def _with_driver(url: URL) -> URL:
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
    if url.drivername not in (*drivers, *drivers.values()):
        raise InvalidValue(f"{url.drivername!r:.40} is no database that is known; use sqlite:/// or postgresql://")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise InvalidValue("the URL of the database names no file; write sqlite:///path")
    return url.set(drivername=drivers.get(url.drivername, url.drivername))


def _sync(url: URL) -> URL:
    return url.set(drivername="sqlite+pysqlite") if url.get_backend_name() == "sqlite" else url


def _place(url: URL) -> str:
    """How messages call the database: never with a user or a password."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    named = url.query.get("host") or "localhost"
    hosts = [url.host] if url.host else [named] if isinstance(named, str) else named
    return f"PostgreSQL at {','.join(map(partial(_host, port=url.port or 5432), hosts))}/{url.database or ''}"


def _host(host: str, port: int) -> str:
    if host.startswith("/") or host.rpartition(":")[2].isdigit():
        return host  # the folder of a socket, or one of several hosts with its port
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _require_known_options(url: URL, place: str, known: Collection[str]) -> None:
    """Raise InvalidValue for an option that means nothing to the database, before a call fails for it."""
    unknown = next((name for name in url.query if name not in known), None)
    if unknown is not None:
        whom = "a SQLite file" if url.get_backend_name() == "sqlite" else "a client of PostgreSQL"
        raise InvalidValue(
            f"{place} is given {unknown!r:.40}, which means nothing to {whom}; take it out of the URL, or write "
            f"{' or '.join(_OWN_OPTIONS)}"
        )


def _number(url: URL, name: str, default: float) -> float:
    given = url.query.get(name, default)
    try:
        number = 0.0 if isinstance(given, tuple) else float(given)
    except ValueError:
        number = 0.0
    if not 0 < number < LARGEST:
        raise InvalidValue(f"`{name}` of the database is {given!r:.40}; give a number above 0, such as {default:g}")
    return number
