"""Fakes for skillweave's own ports: a clock that is moved by hand, a counter of words, a context with known answers."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from skillweave.decisions import Decision
from skillweave.errors import StoreUnavailable
from skillweave.knowledge.context import EntityContext, Section
from skillweave.ledger.port import Logged, Store
from skillweave.ledger.state import State


class ManualClock:
    """A clock in seconds that moves only when told."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time now."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class WordCounter:
    """Counts words instead of tokens: quick to start, and never fewer for parts than for the whole."""

    encoding = "words"
    exact = False

    def count(self, text: str) -> int:
        """The number of words."""
        return len(text.split())


class KnownContext:
    """A ContextSource that knows some entities: for each tag of a skill, one section of lines.

    `delay` (seconds) makes it slow, `failure` makes it raise; `asked` lists what was asked for.
    """

    def __init__(
        self,
        entities: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        *,
        delay: float = 0.0,
        failure: Exception | None = None,
    ) -> None:
        self.entities = {entity: dict(sections) for entity, sections in entities.items()}
        self.delay = delay
        self.failure = failure
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def assemble(self, entity: str, domain_tags: Sequence[str]) -> EntityContext:
        """The sections that the tags name, in the order of the tags."""
        self.asked.append((entity, tuple(domain_tags)))
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        known = self.entities.get(entity, {})
        return EntityContext(entity, tuple(Section(tag, known[tag]) for tag in domain_tags if tag in known))


class FailingStore:
    """A store that can be made to stop answering: `down` says for which methods (load, swap, append, read)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.down: set[str] = set()

    async def load(self, conversation: str) -> tuple[State, float]:
        """The wrapped store's answer, unless `load` is down."""
        self._fail("load")
        return await self._store.load(conversation)

    async def swap(self, conversation: str, expected_revision: int, state: State) -> bool:
        """The wrapped store's answer, unless `swap` is down."""
        self._fail("swap")
        return await self._store.swap(conversation, expected_revision, state)

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision]) -> None:
        """The wrapped store's answer, unless `append` is down."""
        self._fail("append")
        await self._store.append(conversation, turn_id, decisions)

    async def read(self, conversation: str) -> tuple[Logged, ...]:
        """The wrapped store's answer, unless `read` is down."""
        self._fail("read")
        return await self._store.read(conversation)

    def _fail(self, method: str) -> None:
        if method in self.down:
            raise StoreUnavailable(f"the store was told not to answer {method}", retry_after=1.0)
