"""The ledger in this process's memory: nothing to start, nothing kept afterwards."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from threading import Lock
from typing import TypeAlias

from skillweave.closing import ClosedOnExit
from skillweave.decisions import Decision
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Logged
from skillweave.state.state import State, Writes
from skillweave.stores.insertions import MemoryInsertions
from skillweave.tenants import tenant_of

EMPTY_STATE = State()
MOST_CONVERSATIONS = 10_000
"""So many conversations are kept in memory; of more, those that were unused for longest are forgotten."""
KEEP_SECONDS = KEEP_DECISIONS_SECONDS
"""A conversation that was unused for thirty days is forgotten."""
MOST_TURNS = 1_000
"""Turns of one conversation whose decisions are kept in memory."""
_Key: TypeAlias = tuple[str, str]
"""A tenant, and the id of one of its conversations."""
log = logging.getLogger("skillweave")


@dataclass(slots=True)
class _Kept:
    """One conversation: its State, the decisions of its turns, oldest first, and when it was used last."""

    state: State = EMPTY_STATE
    turns: OrderedDict[str, tuple[Logged, ...]] = field(default_factory=OrderedDict)
    used: float = 0.0


class MemoryStore(ClosedOnExit):
    """States and decisions in dictionaries, safe between threads; `clock` gives seconds. Closing it changes nothing.

    It keeps `most_conversations`: of more, those unused for longest are forgotten, with their rules and what people
    decided in them, and the log of the process says so once. Those unused for thirty days go without a word. Of one
    that was cleared only the revision stays.
    """

    keeps_events = False

    def __init__(self, *, clock: Callable[[], float] = time.time, most_conversations: int = MOST_CONVERSATIONS) -> None:
        self._clock = clock
        self._most = most_conversations
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._lock = Lock()
        self._full = False
        self._insertions = MemoryInsertions(clock=clock)

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State and the clock."""
        key, now = _key(tenant, conversation), self._clock()
        with self._lock:
            known = self._kept.get(key)
            if known is None:
                return EMPTY_STATE, now
            known.used = now
            self._kept.move_to_end(key)
            return known.state, now

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State and the decisions if nobody else stored a State since."""
        key, now = _key(tenant, conversation), self._clock()
        with self._lock:
            known = self._kept.get(key) or _Kept()
            if known.state.revision != expected_revision:
                return False
            known.state = replace(writes.state, revision=expected_revision + 1)
            if not writes.decisions and replace(writes.state, revision=0) == EMPTY_STATE:
                known.turns.clear()  # the conversation was cleared
            self._keep(key, known, writes.turn_id, writes.decisions, now)
            return True

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep a turn's decisions once."""
        if not decisions:
            return
        key, now = _key(tenant, conversation), self._clock()
        with self._lock:
            known = self._kept.get(key) or _Kept()
            self._keep(key, known, turn_id, decisions, now)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        key, oldest = _key(tenant, conversation), self._clock() - KEEP_DECISIONS_SECONDS
        with self._lock:
            known = self._kept.get(key)
            turns = [] if known is None else list(known.turns.values())
        return tuple(logged for turn in turns for logged in turn if logged.at >= oldest)

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in their order."""
        found = (one for one in self._stored(tenant) if one.startswith(prefix) and one > after)
        return tuple(nsmallest(limit, found))

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations there are."""
        return len(self._stored(tenant))

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """What the exchange kept under these keys."""
        return await self._insertions.find_entries(scope, keys, tenant=tenant)

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """Keep what the exchange put in."""
        await self._insertions.keep_entries(scope, entries, tenant=tenant)

    def _stored(self, tenant: str) -> list[str]:
        """The ids of the tenant's conversations with a State; decisions alone are none."""
        tenant = tenant_of(tenant)
        with self._lock:
            return [one for (owner, one), known in self._kept.items() if owner == tenant and known.state.revision]

    def _keep(self, key: _Key, known: _Kept, turn_id: str, decisions: Sequence[Decision], now: float) -> None:
        """Keep it with a turn's decisions, and forget what is too old, then what is too much."""
        known.used = now
        self._kept[key] = known
        self._kept.move_to_end(key)
        turns = known.turns
        if decisions:
            while turns and next(iter(turns.values()))[0].at < now - KEEP_DECISIONS_SECONDS:
                turns.popitem(last=False)
            if turn_id not in turns:
                turns[turn_id] = tuple(Logged(turn_id, now, decision.without_message_text()) for decision in decisions)
                if len(turns) > MOST_TURNS:
                    turns.popitem(last=False)
        while self._kept and next(iter(self._kept.values())).used < now - KEEP_SECONDS:
            self._kept.popitem(last=False)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
            if not self._full:
                self._full = True
                log.warning(
                    "the ledger in memory holds %d conversations: from now on those unused for longest are forgotten, "
                    "with their tool rules; name a file or a database as `ledger`, or give `most_conversations`",
                    self._most,
                )


def _key(tenant: str, conversation: str) -> _Key:
    return tenant if tenant == "" else tenant_of(tenant), conversation


def open_memory(_: str) -> MemoryStore:
    """A new store for `memory://`; what follows the scheme means nothing."""
    return MemoryStore()
