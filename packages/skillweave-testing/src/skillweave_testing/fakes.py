"""Fakes for skillweave's own ports: a clock that is moved by hand, a counter of words, a context with known answers."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from math import sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from skillweave import Decision, Skill, Source, State, Store, StoreUnavailable
from skillweave.entities import EntityContext, Section
from skillweave.errors import StoreSilent
from skillweave.ledger import Insertions, Logged, Writes
from skillweave.registry import Loaded, WrappedSource
from skillweave.selection import words_of
from skillweave.values import ClosedOnExit

if TYPE_CHECKING:
    from skillweave.selection import Choice, Vectors


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


class ScriptedReranker:
    """A Reranker whose verdicts are known: for each message a probability by skill id.

    A skill that is not named has no verdict. `delay` (seconds) makes it slow, `failure` makes it raise; `asked` lists
    the messages and the ids that it was asked about.
    """

    id = "scripted"

    def __init__(
        self,
        verdicts: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
        *,
        delay: float = 0.0,
        failure: Exception | None = None,
    ) -> None:
        self.verdicts = verdicts
        self.delay = delay
        self.failure = failure
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def rerank(self, message: str, choices: "Sequence[Choice]") -> Mapping[str, float]:
        """The known probabilities of those that it was asked about."""
        self.asked.append((message, tuple(one.skill_id for one in choices)))
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        known = self.verdicts.get(message, {})
        return {one.skill_id: known[one.skill_id] for one in choices if one.skill_id in known}


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


class FakeEmbedder:
    """An Embedder without a model: the more words two texts share, the nearer they are; the same bytes everywhere.

    A text without a content word is all zeros. `asked` has the texts of every call, so that a test can tell what was
    embedded how often; `delay` (seconds) makes it slow, `failure` makes it raise. Another `version` is another model.
    """

    def __init__(
        self, version: str = "1", *, dimension: int = 256, delay: float = 0.0, failure: Exception | None = None
    ) -> None:
        self.id = f"fake-{dimension}@{version}"
        self.dimension = dimension
        self.delay = delay
        self.failure = failure
        self.asked: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """For each text a vector of length 1 that counts its distinct words, each at the place that its hash says."""
        self.asked.append(tuple(texts))
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in dict.fromkeys(words_of(text)):
                row[self._place(word)] += 1
            if row.any():
                row /= sqrt(float(row @ row))
        return rows

    def _place(self, word: str) -> int:
        seed = blake2b(f"{self.id} {word}".encode(), digest_size=8).digest()
        return int.from_bytes(seed, "big") % self.dimension


class FailingSource(WrappedSource):
    """A source that can be made to stop answering, with a version where the wrapped one has one.

    `down` has the names of the methods that raise StoreUnavailable, such as `version`; `silent` those that never
    answer. `asked` counts the calls of each method. Each call takes `seconds` of a clock that is moved by hand.
    """

    def __init__(self, source: Source, clock: ManualClock | None = None) -> None:
        super().__init__(source)
        self.clock = clock or ManualClock()
        self.seconds = 0.0
        self.down: set[str] = set()
        self.silent: set[str] = set()
        self.asked: Counter[str] = Counter()

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The wrapped source's answer, unless `load` is down or silent."""
        await self._answering("load")
        return await super().load(previous)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The wrapped source's answer, unless `read` is down or silent."""
        await self._answering("read")
        return await super().read(skill, artifact)

    async def version(self) -> str | None:
        """The wrapped source's answer, unless `version` is down or silent."""
        await self._answering("version")
        return await super().version()

    async def _answering(self, method: str) -> None:
        self.asked[method] += 1
        self.clock.advance(self.seconds)
        if method in self.silent:
            await asyncio.Event().wait()
        if method in self.down:
            raise StoreUnavailable(f"the source was told not to answer {method}", retry_after=1.0)


class FailingStore(ClosedOnExit):
    """A store that can be made to stop answering: `down` has the names of the methods that fail, such as `load`.

    Those in `silent` fail as if their time limit was used up. `asked` counts the calls of each method.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.down: set[str] = set()
        self.silent: set[str] = set()
        self.asked: Counter[str] = Counter()

    @property
    def keeps_events(self) -> bool:
        """What the wrapped store says."""
        return self._store.keeps_events

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The wrapped store's answer, unless `load` is down."""
        return await self._answering("load").load(conversation, tenant=tenant)

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """The wrapped store's answer, unless `swap` is down."""
        return await self._answering("swap").swap(conversation, expected_revision, writes, tenant=tenant)

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """The wrapped store's answer, unless `append` is down."""
        await self._answering("append").append(conversation, turn_id, decisions, tenant=tenant)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """The wrapped store's answer, unless `read` is down."""
        return await self._answering("read").read(conversation, tenant=tenant)

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """The wrapped store's answer, unless `conversations` is down."""
        return await self._answering("conversations").conversations(prefix, limit, after, tenant=tenant)

    async def count(self, *, tenant: str = "") -> int:
        """The wrapped store's answer, unless `count` is down."""
        return await self._answering("count").count(tenant=tenant)

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """The wrapped store's answer, unless `load` is down."""
        return await self._insertions("load").find_entries(scope, keys, tenant=tenant)

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """The wrapped store's answer, unless `swap` is down."""
        await self._insertions("swap").keep_entries(scope, entries, tenant=tenant)

    async def close(self) -> None:
        """Close the wrapped store."""
        await self._store.close()

    def _insertions(self, method: str) -> Insertions:
        self._refuse(method)
        return cast("Insertions", self._store)

    def _answering(self, method: str) -> Store:
        self.asked[method] += 1
        self._refuse(method)
        return self._store

    def _refuse(self, method: str) -> None:
        if method in self.silent:
            raise StoreSilent(f"the store was told to be silent at {method}", retry_after=1.0)
        if method in self.down:
            raise StoreUnavailable(f"the store was told not to answer {method}", retry_after=1.0)
