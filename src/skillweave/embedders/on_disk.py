"""Vectors of texts that were embedded before, kept on disk for the next process (spec 2.4)."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from skillweave.cachefile import CacheFolder, key_of
from skillweave.text.embedding import Embedder, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND = "vectors"
MOST = 100_000
"""So many texts of one embedder are kept; what was not asked for goes first."""


class KeptOnDisk:
    """An Embedder around another one, whose vectors of declared texts outlive the process.

    They are one file in the folder; of two processes that write at once the later wins, and a damaged file counts as
    absent. No text is ever written.
    """

    def __init__(self, embedder: Embedder, folder: CacheFolder, *, most: int = MOST) -> None:
        self._embedder, self._folder, self._most = embedder, folder, most
        self._lock = Lock()
        self._known: dict[bytes, NDArray[np.float32]] | None = None
        self._key = key_of("vectors 3", embedder.id)

    @property
    def id(self) -> str:
        """The id of the embedder that is asked."""
        return self._embedder.id

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, those known from the file and those of the others, which then are in the file too."""
        import numpy as np

        if not texts:
            return await self._embedder.embed(texts)
        digests = [sha256(text.encode()).digest() for text in texts]
        known = await asyncio.to_thread(self._load)
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if missing:
            rows = np.asarray(await self._embedder.embed(list(missing.values())), dtype=np.float32)
            fresh = dict(zip(missing, rows, strict=True))
            odd = [digest for digest in digests if digest in known and len(known[digest]) != rows.shape[1]]
            if odd:  # the model behind the id has changed
                texts_of = dict(zip(digests, texts, strict=True))
                again = await self._embedder.embed([texts_of[digest] for digest in odd])
                fresh |= dict(zip(odd, np.asarray(again, dtype=np.float32), strict=True))
            sound = {digest: row for digest, row in fresh.items() if np.isfinite(row).all()}
            if sound:
                await asyncio.to_thread(self._keep, sound, digests)
            known = {**known, **fresh}
        return np.stack([known[digest] for digest in digests])

    async def embed_passing(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that come and go: nothing of them is written."""
        return await self._embedder.embed(texts)

    def _load(self) -> "dict[bytes, NDArray[np.float32]]":
        with self._lock:
            if self._known is None:
                self._known = self._read()
            return self._known

    def _read(self) -> "dict[bytes, NDArray[np.float32]]":
        return dict(zip(*self._folder.read(KIND, self._key) or ((), ()), strict=True))

    def _keep(self, fresh: "dict[bytes, NDArray[np.float32]]", asked: Sequence[bytes]) -> None:
        """Add to the file what is new; beyond the limit what was just asked for stays."""
        import numpy as np

        with self._lock:
            latest = {**self._read(), **(self._known or {}), **fresh}
            newest = [digest for digest in asked if digest in latest]
            order = list(dict.fromkeys([*newest, *latest]))[: self._most]
            dimension = len(next(iter(fresh.values())))
            self._known = {digest: latest[digest] for digest in order if len(latest[digest]) == dimension}
            rows = np.stack(list(self._known.values())).astype("<f4")
            self._folder.write(KIND, self._key, (tuple(self._known), rows))
