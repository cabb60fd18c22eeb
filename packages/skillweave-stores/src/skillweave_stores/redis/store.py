"""The ledger on Redis: a turn is one load and one swap, each of them one script in one trip (spec 5.4)."""

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from enum import StrEnum
from heapq import nsmallest
from typing import Any

from skillweave import Decision, Diagnostic, State, StoreUnavailable
from skillweave.errors import UnreadableState
from skillweave.events import KEEP_EVENTS_SECONDS, MOST_KEPT
from skillweave.ledger import (
    KEEP_DECISIONS_SECONDS,
    Logged,
    ServerFacts,
    Writes,
    decision_from_json,
    decision_to_json,
    given_keys,
    state_from_json,
    state_to_json,
    with_edits,
)
from skillweave.values import ClosedOnExit
from skillweave_stores.facts import connections_of_process
from skillweave_stores.redis import insertions
from skillweave_stores.redis.entries import entries_of
from skillweave_stores.redis.keys import Keys, conversation_of, keys_of, state_pattern
from skillweave_stores.redis.place import place_of
from skillweave_stores.redis.scripts import APPEND, LOAD, MARK_LENGTH, READ, SWAP


class EventKeeping(StrEnum):
    """Where a swap puts its events: nowhere, so that the caller tells them, or into the stream of the conversation."""

    NOWHERE = "nowhere"
    STREAM = "stream"


_AHEAD: ContextVar[dict[str, Any] | None] = ContextVar("skillweave.read_ahead", default=None)
"""By the key of a State, what was read of it for the next load."""


@contextmanager
def reading_ahead() -> Iterator[None]:
    """Inside, the read of a working memory brings the State of its conversation, which the next `load` takes.

    For one turn: what is read ahead is as old as the read, so a swap that it loses reads anew.
    """
    token = _AHEAD.set({})
    try:
        yield
    finally:
        _AHEAD.reset(token)


_MOST_FOUND = 1000
"""So many ids more than a page has are held while the keys are looked through."""


class RedisStore(ClosedOnExit):
    """States and decisions on a Redis, a Valkey (`redis://`, `rediss://`, `unix://`) or a cluster (`redis+cluster://`).

    Other programs see the skills that count as given in the hash `skill:ledger:{conversation}`, and may enter and
    remove some there. Without a `clock`, which gives seconds, the server's counts, so that clocks of other machines
    mean nothing.

    With `events=EventKeeping.STREAM` a swap puts its events into the stream of its conversation, which RedisEventStream
    reads, in the same step as the State: who follows hears of exactly what is stored.

    The options may stand in the URL's query too; what is given here wins. One event loop has at most `connections`
    (50); who comes when all are in use waits `wait_seconds` (5) for one. A call takes at most `call_seconds` (5), with
    connecting, at most `connect_seconds` (2) at a time, and with `retries` (2); a swap that is retried because its
    answer was lost is known again. Conversations that nobody used for `keep_days` are forgotten, with what people
    decided in them; without it they are kept for ever.

    Raises InvalidValue for a URL or an option that cannot be read. All methods
    raise StoreUnavailable, which names the server but never its password.
    """

    decisions_elsewhere = True
    """Memory is dear: where a SQL database of skills stands beside it, decisions are logged there."""

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] | None = None,
        connections: int | None = None,
        wait_seconds: float | None = None,
        connect_seconds: float | None = None,
        call_seconds: float | None = None,
        retries: int | None = None,
        keep_days: float | None = None,
        events: EventKeeping = EventKeeping.NOWHERE,
    ) -> None:
        place = place_of(
            url,
            {
                "connections": connections,
                "wait_seconds": wait_seconds,
                "connect_seconds": connect_seconds,
                "call_seconds": call_seconds,
                "retries": retries,
                "keep_days": keep_days,
            },
        )
        from skillweave_stores.redis.server import Server

        self.place = place.shown
        self._place = place
        self._server = Server(place)
        self._clock = clock
        self.keeps_events = events is EventKeeping.STREAM
        self._keep = "" if place.options.keep_seconds is None else str(place.options.keep_seconds)

    def __repr__(self) -> str:
        return f"RedisStore({self.place!r})"

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State, with what other programs made of the skills that count as given, and the clock."""
        keys = keys_of(tenant, conversation)
        answer = (_AHEAD.get() or {}).pop(keys.state, None)
        if answer is None:
            answer = await self._server.run(LOAD, (keys.state, keys.ledger), self._now(), self._keep)
        time, revision, document, given, seen, noticed, _ = answer
        now = float(time)
        if revision is None:
            return State(), now
        number = self._whole(keys.state, revision)
        try:
            state = State() if document is None and given is None else state_from_json((document or b"").decode())
        except (StoreUnavailable, UnicodeDecodeError) as error:
            raise UnreadableState(f"{error} (in {self.place})", number) from error
        if seen is not None:
            was, became = _names(given), _names(seen)
            state = with_edits(state, became - was, was - became, float(noticed or 0))
        return replace(state, revision=number), now

    async def memory_ahead(self, keys: Keys, seconds: int) -> Sequence[bytes] | None:
        """The fields of a working memory, with the State for the next load inside `reading_ahead`; None outside of it.

        Raises StoreUnavailable, also if the key of the memory holds something else.
        """
        ahead = _AHEAD.get()
        if ahead is None:
            return None
        words = (keys.state, keys.ledger, keys.memory)
        *_, memory = ahead[keys.state] = await self._server.run(LOAD, words, self._now(), self._keep, seconds)
        if isinstance(memory, bytes):
            raise self._place.damaged(keys.memory, memory.decode(errors="replace"))
        found: Sequence[bytes] = memory
        return found

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State and the decisions, and show others what counts as given, if the revision is still this one.

        Of a swap whose answer was lost, and that is tried again, the answer is that of the first try.
        """
        keys, revision = keys_of(tenant, conversation), expected_revision + 1
        events = writes.events if self.keeps_events else ()
        stored = await self._server.run(
            SWAP,
            (keys.state, keys.ledger, keys.decisions, *((keys.events,) if events else ())),
            self._now(),
            self._keep,
            expected_revision,
            revision,
            state_to_json(replace(writes.state, revision=revision)),
            " ".join(sorted(given_keys(writes.state))),
            secrets.token_hex(MARK_LENGTH // 2),
            writes.turn_id,
            _lines(writes.decisions),
            round(KEEP_DECISIONS_SECONDS),
            MOST_KEPT,
            round(KEEP_EVENTS_SECONDS),
            *entries_of(events),
        )
        return bool(stored)

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep a turn's decisions once, and forget those past their time."""
        if decisions:
            keys = (keys_of(tenant, conversation).decisions,)
            seconds = round(KEEP_DECISIONS_SECONDS)
            await self._server.run(APPEND, keys, self._now(), turn_id, _lines(decisions), seconds)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        key = keys_of(tenant, conversation).decisions
        time, flat = await self._server.run(READ, (key,), self._now())
        oldest = float(time) - KEEP_DECISIONS_SECONDS
        turns = [
            self._turn(key, name, value)
            for name, value in zip(flat[::2], flat[1::2], strict=True)
            if name.startswith(b"turn:")
        ]
        return tuple(
            Logged(turn_id, at, decision_from_json(line))
            for at, _, turn_id, lines in sorted(turns)
            if at >= oldest
            for line in lines.split("\n")
        )

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in their order.

        Redis keeps no order, so that all keys are looked through for each page; of the ids, only those of the page and
        some more are held.
        """
        found: set[str] = set()
        async for key in self._server.keys(state_pattern(tenant, prefix)):
            name = conversation_of(tenant, key)
            if name is not None and name > after and name.startswith(prefix):
                found.add(name)
                if len(found) > max(limit, 0) + _MOST_FOUND:
                    found = set(nsmallest(limit, found))
        return tuple(nsmallest(limit, found))

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations there are; all keys are looked through."""
        found: set[int] = set()
        async for key in self._server.keys(state_pattern(tenant, "")):
            if conversation_of(tenant, key) is not None:
                found.add(hash(key))  # a key may be found twice, and a number takes less memory than its name
        return len(found)

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """What the exchange kept under these keys."""
        return await insertions.find_entries(self._server, self._now(), tenant, scope, keys)

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """Keep what the exchange put in."""
        await insertions.keep_entries(self._server, self._now(), tenant, scope, entries)

    async def server(self) -> ServerFacts:
        """What the server says of itself; of a cluster, of one of its primaries."""
        from skillweave_stores.redis.facts import facts_of

        found = await self._server.call(lambda redis: facts_of(redis, self.place))
        return replace(found, details=(*found.details, connections_of_process(self._place.options.connections)))

    async def durability(self) -> tuple[Diagnostic, ...]:
        """What the server may lose of what it acknowledged, by its configuration; nothing where that is nothing."""
        from skillweave_stores.redis.durability import check_durability

        return await self._server.call(lambda redis: check_durability(redis, self.place))

    async def close(self) -> None:
        """Give back the connections; afterwards every call raises StoreUnavailable."""
        await self._server.close()

    def _now(self) -> str:
        return "" if self._clock is None else repr(float(self._clock()))

    def _whole(self, key: str, revision: bytes) -> int:
        if not revision.isdigit():
            raise self._place.damaged(key, f"revision {revision!r}")
        return int(revision)

    def _turn(self, key: str, name: bytes, value: bytes) -> tuple[float, int, str, str]:
        """When the turn was logged, as the how manieth, its id, and its decisions."""
        try:
            at, number, lines = value.decode().split(" ", 2)
            return float(at), int(number), name.decode().removeprefix("turn:"), lines
        except ValueError as error:
            raise self._place.damaged(key, f"{type(error).__name__} at {name!r}") from error


def _lines(decisions: Sequence[Decision]) -> str:
    return "\n".join(decision_to_json(decision.without_message_text()) for decision in decisions)


def _names(fields: bytes | None) -> frozenset[str]:
    return frozenset((fields or b"").decode().split())


def open_redis(rest: str) -> RedisStore:
    """The store of `redis://...`."""
    return RedisStore(f"redis://{rest}")


def open_rediss(rest: str) -> RedisStore:
    """The store of `rediss://...`, with TLS."""
    return RedisStore(f"rediss://{rest}")


def open_cluster(rest: str) -> RedisStore:
    """The store of `redis+cluster://...`."""
    return RedisStore(f"redis+cluster://{rest}")


def open_secure_cluster(rest: str) -> RedisStore:
    """The store of `rediss+cluster://...`, with TLS."""
    return RedisStore(f"rediss+cluster://{rest}")


def open_socket(rest: str) -> RedisStore:
    """The store of `unix://...`, a Redis of this machine by its socket."""
    return RedisStore(f"unix://{rest}")
