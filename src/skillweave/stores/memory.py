"""The ledger in this process's memory: nothing to start, nothing kept afterwards."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from threading import Lock

from skillweave.decisions import Decision
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Logged
from skillweave.state.state import State

EMPTY_STATE = State()


class MemoryStore:
    """States and decisions in two dictionaries, safe between threads; `clock` gives seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._states: dict[str, State] = {}
        self._decisions: dict[str, dict[str, tuple[Logged, ...]]] = {}
        self._lock = Lock()

    async def load(self, conversation: str) -> tuple[State, float]:
        """The newest State and the clock."""
        return self._states.get(conversation, EMPTY_STATE), self._clock()

    async def swap(self, conversation: str, expected_revision: int, state: State) -> bool:
        """Store the State if nobody else did since."""
        with self._lock:
            if self._states.get(conversation, EMPTY_STATE).revision != expected_revision:
                return False
            self._states[conversation] = replace(state, revision=expected_revision + 1)
            return True

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision]) -> None:
        """Keep a turn's decisions once, and forget those past their time."""
        now = self._clock()
        logged = tuple(Logged(turn_id, now, decision.without_message_text()) for decision in decisions)
        if not logged:
            return
        with self._lock:
            turns = self._decisions.setdefault(conversation, {})
            turns.setdefault(turn_id, logged)
            oldest = now - KEEP_DECISIONS_SECONDS
            for turn in list(takewhile(lambda turn: turns[turn][0].at < oldest, turns)):
                del turns[turn]

    async def read(self, conversation: str) -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        with self._lock:
            turns = list(self._decisions.get(conversation, {}).values())
        return tuple(logged for turn in turns for logged in turn)

    async def close(self) -> None:
        """Nothing to close."""


def open_memory(_: str) -> MemoryStore:
    """A new store for `memory://`; what follows the scheme means nothing."""
    return MemoryStore()
