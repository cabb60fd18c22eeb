"""The ledger on PostgreSQL: a turn is one load and one swap, each of them one statement in one trip (spec 5.4)."""

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from skillweave import Decision, Diagnostic, Severity, State, StoreUnavailable
from skillweave.ledger import (
    Logged,
    ServerFacts,
    TurnDecisions,
    Writes,
    decision_from_json,
    decision_to_json,
    state_to_json,
    stored_state,
)
from skillweave.values import DEFAULT_TENANT, ClosedOnExit, tenant_of
from skillweave_stores.facts import MAY_LOSE, READ_ONLY
from skillweave_stores.sql import insertions
from skillweave_stores.sql.statements import (
    COUNT,
    FIRST,
    LIST,
    LOAD,
    NEXT,
    READ,
    SETTINGS,
    WRITTEN_BEFORE,
    statement_of,
)

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

PATIENCE = 30.0
"""Seconds that turns wait while the tables are brought up to date; meanwhile they go on without the ledger."""
SWEEP_CHANCE = 0.02
"""How often a write that logs something also removes what is too old."""


class PostgresStore(ClosedOnExit):
    """States and decisions in a PostgreSQL database (`postgresql://user:password@host:5432/name`).

    Without a `clock`, which gives seconds, the server's counts, so that clocks of other machines mean nothing. The
    first call makes the tables, or brings them up to date, for which calls wait up to 30 seconds. A call takes at most
    `timeout` seconds, with all that it waits for; one event loop has at most `connections`. Both may stand in the URL's
    query.

    Raises InvalidValue for a URL that cannot be read. All
    methods raise StoreUnavailable, which names the server but never its password.
    """

    keeps_events = False

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] | None = None,
        timeout: float | None = None,
        connections: int | None = None,
    ) -> None:
        from skillweave_stores.sql.database import CONNECTIONS, SECONDS, Database

        self._database = Database(
            url,
            timeout=SECONDS if timeout is None else timeout,
            connections=CONNECTIONS if connections is None else connections,
            patience=PATIENCE,
        )
        self._database.require_postgres("conversations", "name the file itself: ledger='state.db'")
        self.place = self._database.place
        self._clock = clock

    def __repr__(self) -> str:
        return f"PostgresStore({self.place!r})"

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State and the clock."""
        ((now, revision, document),) = await self._all(LOAD, self._of(tenant, conversation))
        return State() if revision is None or document is None else stored_state(document, revision), now

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State and the decisions in one statement, if the revision is still this one.

        A swap whose answer was lost is tried again, and is known again where it was stored.
        """
        change = FIRST if expected_revision == 0 else NEXT
        statement = statement_of(change, logged=bool(writes.decisions), sweeping=_sweeping())
        turn = TurnDecisions(tenant, conversation, writes.turn_id, writes.decisions)
        values = {
            **self._of(tenant, conversation),
            "expected": expected_revision,
            "document": state_to_json(replace(writes.state, revision=expected_revision + 1)),
            "writer": uuid4().hex,
            **(self._rows((turn,)) if writes.decisions else {}),
        }
        tried = False

        async def work(connection: "AsyncConnection") -> bool:
            nonlocal tried
            again, tried = tried, True
            if (await connection.exec_driver_sql(statement, values)).scalar_one():
                return True
            return again and bool((await connection.exec_driver_sql(WRITTEN_BEFORE, values)).scalar_one())

        return await self._database.read(work)

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep a turn's decisions once, and now and then forget those past their time."""
        if decisions:
            await self.append_all((TurnDecisions(tenant, conversation, turn_id, tuple(decisions)),))

    async def append_all(self, turns: Sequence[TurnDecisions]) -> None:
        """Keep the decisions of several turns in one statement, all of them or none; each turn once."""
        # In one order everywhere, so that two that keep the same turns never wait for each other.
        kept = sorted((turn for turn in turns if turn.decisions), key=lambda turn: turn[:3])
        if kept:
            statement, values = statement_of(None, logged=True, sweeping=_sweeping()), self._rows(kept)
            await self._database.read(lambda connection: connection.exec_driver_sql(statement, values))

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        return tuple(
            Logged(turn_id, at, decision_from_json(line))
            for turn_id, at, lines in await self._all(READ, self._of(tenant, conversation))
            for line in lines.split("\n")
        )

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in their order."""
        first = max(self._storable(prefix), self._storable(after))
        bounds = {"first": first, "end": _end_of(prefix), "after": after}
        values = {"tenant": _named(tenant), **bounds, "limit": max(limit, 0)}
        return tuple(name for (name,) in await self._all(LIST, values))

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations the database keeps."""
        ((number,),) = await self._all(COUNT, {"tenant": _named(tenant)})
        return int(number)

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """What the exchange kept under these keys."""
        return await insertions.find_entries(self._database, self._now(), tenant, scope, keys)

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """Keep what the exchange put in."""
        await insertions.keep_entries(self._database, self._now(), tenant, scope, entries)

    async def server(self) -> ServerFacts:
        """What the server says of itself; its tables are not made."""
        return await self._database.server()

    async def durability(self) -> tuple[Diagnostic, ...]:
        """What the server may lose of what it acknowledged, by its settings; nothing where that is nothing."""
        return tuple(_findings(self.place, dict(await self._all(SETTINGS, {}))))

    async def close(self) -> None:
        """Give back the connections; afterwards every call raises StoreUnavailable."""
        await self._database.close()

    async def _all(self, statement: str, values: Mapping[str, Any]) -> Sequence[Any]:
        given = {"now": self._now(), **values}

        async def work(connection: "AsyncConnection") -> Sequence[Any]:
            return (await connection.exec_driver_sql(statement, given)).all()

        return await self._database.read(work)

    def _of(self, tenant: str, conversation: str) -> dict[str, Any]:
        """What finds a conversation."""
        return {
            "now": self._now(),
            "tenant": _named(tenant),
            "hash": _hash(self._storable(conversation)),
            "conversation": conversation,
        }

    def _rows(self, turns: Sequence[TurnDecisions]) -> dict[str, Any]:
        rows = [
            {
                "tenant": _named(turn.tenant),
                "conversation_hash": _hash(self._storable(turn.conversation)).hex(),
                "turn_hash": _hash(self._storable(turn.turn_id)).hex(),
                "conversation": turn.conversation,
                "turn_id": turn.turn_id,
                "age": turn.age,
                "document": "\n".join(map(_document, turn.decisions)),
            }
            for turn in turns
        ]
        return {"now": self._now(), "turns": json.dumps(rows, ensure_ascii=False)}

    def _now(self) -> float | None:
        return None if self._clock is None else float(self._clock())

    def _storable(self, name: str) -> str:
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise StoreUnavailable(
                f"a name cannot be stored in {self.place} because it holds a NUL or half of a surrogate pair; clean "
                "the text first"
            )
        return name


def _sweeping() -> bool:
    return random.random() < SWEEP_CHANCE  # noqa: S311 - so that processes need not agree on whose turn it is


def _named(tenant: str) -> str:
    return tenant_of(tenant) or DEFAULT_TENANT


def _hash(name: str) -> bytes:
    return sha256(name.encode()).digest()


def _document(decision: Decision) -> str:
    return decision_to_json(decision.without_message_text())


def _end_of(prefix: str) -> str | None:
    """What comes first after everything that begins so, by the order of characters; None where nothing does."""
    while prefix:
        prefix, last = prefix[:-1], ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix + chr(0xE000 if last == 0xD7FF else last + 1)
    return None


def _findings(place: str, settings: Mapping[str, str]) -> Iterator[Diagnostic]:
    if settings["read_only"] == "on":
        fix = "name the primary, or turn default_transaction_read_only off for this user"
        yield Diagnostic(READ_ONLY, Severity.ERROR, f"{place} takes no writes", fix=fix)
    for name in ("fsync", "full_page_writes"):
        if settings[name] != "on":
            message = f"{place} runs with {name}=off: a crash of its machine may lose or damage everything"
            yield Diagnostic(MAY_LOSE, Severity.WARNING, message, fix=f"set {name}=on")
    if settings["synchronous_commit"] == "off":
        message = f"{place} answers before a write is on the disk: a crash loses the last writes"
        yield Diagnostic(MAY_LOSE, Severity.WARNING, message, fix="set synchronous_commit=on, at least for this user")
