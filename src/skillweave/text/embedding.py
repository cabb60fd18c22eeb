"""The port through which texts become vectors, and a wrapper that asks for each text once (spec 2.4)."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from skillweave.errors import InvalidVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Vectors: TypeAlias = "NDArray[np.float32]"
"""One vector in each row, of Euclidean length 1, or of nothing but zeros where a text says nothing."""


class Embedder(Protocol):
    """Turns texts into vectors; the more alike two texts are in meaning, the nearer their vectors are.

    A text's vector depends on nothing but the text and the `id`. What is longer than the model reads is cut, not
    refused. `skillweave_testing.embedders` has the contract as tests.
    """

    @property
    def id(self) -> str:
        """The model and its version: vectors of different ids are never compared, nor kept under the same name."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """An array of shape (number of texts, dimension), a row for each text in their order."""
        ...


MOST_KEPT = 100_000
"""So many declared texts are kept as vectors; the one that was asked for longest ago goes first."""
MOST_PASSING = 256
"""So many of the users' latest messages are kept as vectors, never as text."""

Key: TypeAlias = tuple[str, bytes]
"""An embedder's id and the SHA-256 of a text."""
Row: TypeAlias = "NDArray[np.float32]"


class EmbeddedOnce:
    """An Embedder around another one, that asks it once for each text, however many wait for the answer.

    What it gives is of length 1 or all zeros, whatever the other one did about that; a vector with a number in it that
    is not finite is none at all (NaN throughout). Usable from any event loop; in two of them at the very same time a
    text may be asked for in both.
    """

    def __init__(self, embedder: Embedder, *, most: int = MOST_KEPT, most_passing: int = MOST_PASSING) -> None:
        self._embedder = embedder
        self._kept = _Latest(most)
        self._passing = _Latest(most_passing)
        self._dimensions: dict[str, int] = {}
        self._requests: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Key, _Request]] = WeakKeyDictionary()
        self._lock = Lock()

    @property
    def id(self) -> str:
        """The id of the embedder that is asked."""
        return self._embedder.id

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that will be asked for again: descriptions, examples.

        Raises InvalidVectors for an answer that cannot be used, and what the embedder raises.
        """
        return await self._embed(texts, self._kept)

    async def embed_passing(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that come and go, as a user's messages do: only those of the latest are kept."""
        return await self._embed(texts, self._passing)

    async def _embed(self, texts: Sequence[str], store: "_Latest") -> Vectors:
        import numpy as np  # costs 0.1 s: who only names the port does without it

        id_ = self.id
        sound = list(map(_well_formed, texts))
        keys = [(id_, sha256(text.encode()).digest()) for text in sound]
        found = await self._find(dict(zip(keys, sound, strict=True)), store)
        if not keys:
            return np.zeros((0, self._dimensions.get(id_, 0)), dtype=np.float32)
        return np.stack([found[key] for key in keys])

    async def _find(self, wanted: Mapping[Key, str], store: "_Latest") -> dict[Key, Row]:
        found = self._at_hand(wanted, store)
        while missing := {key: text for key, text in wanted.items() if key not in found}:
            requests = self._requests_here()
            waited_for = {requests[key] for key in missing if key in requests}
            if own := {key: text for key, text in missing.items() if key not in requests}:
                found |= self._keep(await self._request(own, requests, store), store)
            for request in waited_for:
                # Nothing, where the one who asked was cancelled: then it is asked again.
                rows = await request.answered()
                found |= self._keep({key: row for key, row in rows.items() if key in missing}, store)
        return found

    def _at_hand(self, wanted: Iterable[Key], store: "_Latest") -> dict[Key, Row]:
        found: dict[Key, Row] = {}
        with self._lock:
            for key in wanted:
                row = self._kept.get(key)
                if row is None and (row := self._passing.get(key)) is not None:
                    store.put(key, row)
                if row is not None:
                    found[key] = row
        return found

    def _keep(self, rows: Mapping[Key, Row], store: "_Latest") -> Mapping[Key, Row]:
        with self._lock:
            for key, row in rows.items():
                store.put(key, row)
        return rows

    def _requests_here(self) -> "dict[Key, _Request]":
        with self._lock:
            return self._requests.setdefault(asyncio.get_running_loop(), {})

    async def _request(
        self, own: Mapping[Key, str], requests: "dict[Key, _Request]", store: "_Latest"
    ) -> Mapping[Key, Row]:
        request = _Request()
        requests.update(dict.fromkeys(own, request))
        try:
            request.rows = await self._ask(own, passing=store is self._passing)
        except Exception as failure:
            request.failure = failure
            raise
        finally:
            for key in own:
                del requests[key]
            request.done.set()
        return request.rows

    async def _ask(self, own: Mapping[Key, str], *, passing: bool) -> dict[Key, Row]:
        (id_, _), *_ = own
        # One that keeps vectors itself, on disk, is told of what a user says, so that it keeps nothing of that.
        ask = getattr(self._embedder, "embed_passing", None) if passing else None
        answer = _table(id_, await (ask or self._embedder.embed)(list(own.values())), len(own))
        dimension = self._dimensions.setdefault(id_, answer.shape[1])
        if answer.shape[1] != dimension:
            raise InvalidVectors(id_, f"vectors of dimension {dimension}, as before", f"dimension {answer.shape[1]}")
        # Each row by itself: a part of the table would keep the whole of it in memory.
        return {key: row.copy() for key, row in zip(own, _normalised(answer), strict=True)}


@dataclass(slots=True, eq=False)
class _Request:
    """A question to the embedder that is under way."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    rows: Mapping[Key, Row] = field(default_factory=dict)
    failure: Exception | None = None

    async def answered(self) -> Mapping[Key, Row]:
        await self.done.wait()
        if self.failure is not None:
            raise self.failure
        return self.rows


class _Latest:
    """Keeps a limited number of vectors, those that were asked for last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: OrderedDict[Key, Row] = OrderedDict()

    def get(self, key: Key) -> "Row | None":
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def put(self, key: Key, row: Row) -> None:
        self._rows[key] = row
        self._rows.move_to_end(key)
        while len(self._rows) > self._most:
            self._rows.popitem(last=False)


def cosines(rows: Vectors, row: Row) -> list[float]:
    """Return the cosine of each row with the one row; 0 for zeros, NaN where there is no vector."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        found: list[float] = (rows.astype(np.float64) @ row.astype(np.float64)).tolist()
    return found


def _table(embedder: str, answer: object, texts: int) -> "NDArray[np.float64]":
    import numpy as np

    expected = f"{texts} rows of numbers"
    try:
        table = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidVectors(embedder, expected, f"a value of type {type(answer).__name__}") from error
    if table.ndim != 2 or len(table) != texts or not table.shape[1]:
        raise InvalidVectors(embedder, expected, f"an array of shape {table.shape}")
    return table


def _normalised(table: "NDArray[np.float64]") -> Vectors:
    """The rows at length 1; zeros stay zeros, and a row with a number that is not finite is NaN throughout."""
    import numpy as np

    largest = np.abs(table).max(axis=1, keepdims=True)
    sound = np.isfinite(largest)
    # Scaled before it is squared, so that the largest numbers do not overflow and the smallest do not vanish.
    scaled = np.where(sound, table, 0) / np.where(sound & (largest > 0), largest, 1)
    lengths = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    rows = np.where(sound, scaled / np.where(lengths > 0, lengths, 1), np.nan)
    return rows.astype(np.float32)


def _well_formed(text: str) -> str:
    """The text with lone surrogates replaced, which no tokenizer takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
