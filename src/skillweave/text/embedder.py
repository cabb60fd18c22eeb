"""The port through which texts become vectors (spec 2.4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
"""One vector in each row, of Euclidean length 1, or of nothing but zeros where a text says nothing."""


class Embedder(Protocol):
    """Turns texts into vectors that lie the nearer to each other, the more alike the texts are in meaning.

    A text's vector depends on nothing but the text and the `id`. What is longer than the model reads is cut, not
    refused. `skillweave.testing.embedders` has the contract as tests.
    """

    @property
    def id(self) -> str:
        """The model and its version: vectors of different ids are never compared, nor kept under the same name."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """An array of shape (number of texts, dimension), a row for each text in their order."""
        ...
