"""The ledger in this process's memory: nothing to start, nothing kept afterwards."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import nsmallest
from threading import Lock
from typing import TypeAlias

from skillweave.closing import ClosedOnExit
from skillweave.decisions import Decision
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Logged, Writes
from skillweave.state.state import State

EMPTY_STATE = State()
_Key: TypeAlias = tuple[str, str]
"""A tenant, and the id of one of its conversations."""


class MemoryStore(ClosedOnExit):
    """States and decisions in dictionaries, safe between threads; `clock` gives seconds. Closing it changes nothing."""

    keeps_events = False

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._states: dict[_Key, State] = {}
        self._decisions: dict[_Key, dict[str, tuple[Logged, ...]]] = {}
        self._by_age: deque[tuple[float, _Key, str]] = deque()
        self._lock = Lock()

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State and the clock."""
        return self._states.get((tenant, conversation), EMPTY_STATE), self._clock()

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State and the decisions if nobody else stored a State since."""
        key = tenant, conversation
        with self._lock:
            if self._states.get(key, EMPTY_STATE).revision != expected_revision:
                return False
            self._states[key] = replace(writes.state, revision=expected_revision + 1)
            if writes.decisions:
                self._log(key, writes.turn_id, writes.decisions)
            return True

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep a turn's decisions once."""
        if decisions:
            with self._lock:
                self._log((tenant, conversation), turn_id, decisions)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        oldest = self._clock() - KEEP_DECISIONS_SECONDS
        with self._lock:
            turns = list(self._decisions.get((tenant, conversation), {}).values())
        return tuple(logged for turn in turns for logged in turn if logged.at >= oldest)

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in their order."""
        known = list(self._states)
        return tuple(
            nsmallest(
                limit, (one for owner, one in known if owner == tenant and one.startswith(prefix) and one > after)
            )
        )

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations there are."""
        return sum(owner == tenant for owner, _ in list(self._states))

    def _log(self, key: _Key, turn_id: str, decisions: Sequence[Decision]) -> None:
        now = self._clock()
        self._forget_old(now)
        turns = self._decisions.setdefault(key, {})
        if turn_id not in turns:
            turns[turn_id] = tuple(Logged(turn_id, now, decision.without_message_text()) for decision in decisions)
            self._by_age.append((now, key, turn_id))

    def _forget_old(self, now: float) -> None:
        """Forget what is past its time, of all conversations: most of them never come back."""
        while self._by_age and self._by_age[0][0] < now - KEEP_DECISIONS_SECONDS:
            _, key, turn_id = self._by_age.popleft()
            turns = self._decisions[key]
            del turns[turn_id]
            if not turns:
                del self._decisions[key]


def open_memory(_: str) -> MemoryStore:
    """A new store for `memory://`; what follows the scheme means nothing."""
    return MemoryStore()
