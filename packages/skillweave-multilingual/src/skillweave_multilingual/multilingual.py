"""The embedder `multilingual`: a small encoder for 16 languages that comes with the package and runs on one core."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave import SkillweaveError
from skillweave.selection import Vectors

if TYPE_CHECKING:
    from skillweave_multilingual.encoder import Encoder

ID = "skillweave-multilingual-1"
"""Changes with the weights: vectors of other weights are not comparable."""
WEIGHTS = Path(__file__).parent / "weights"
FEW_CHARACTERS = 2_000
"""So little text is embedded at once, in a few milliseconds; for more the event loop goes on meanwhile."""


class MultilingualEmbedder:
    """Embeds by the encoder in `weights/`: offline, without a graphics card, the same on every machine.

    English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Turkish, Arabic, Chinese, Japanese,
    Korean and Thai share one space; of Hindi the 4,200 commonest words have a place in it.
    """

    @property
    def id(self) -> str:
        """The release of the weights."""
        return ID

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text; of a long one the first 4,000 characters and 256 pieces of words count."""
        if sum(map(len, texts)) <= FEW_CHARACTERS:
            return _encoder().encode(texts)
        return await asyncio.to_thread(lambda: _encoder().encode(texts))


def open_multilingual(rest: str = "") -> MultilingualEmbedder:
    """The embedder, which reads its weights on first use.

    Raises SkillweaveError if something is named after it.
    """
    if rest:
        raise SkillweaveError(f"the embedder 'multilingual' is one model; leave out {rest[:60]!r}")
    return MultilingualEmbedder()


@cache
def _encoder() -> "Encoder":
    from skillweave_multilingual.encoder import Encoder

    return Encoder.load(WEIGHTS)
