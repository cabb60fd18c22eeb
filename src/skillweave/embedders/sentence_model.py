"""The embedder `sentence-transformers:MODEL`: any model of that package, by name or by folder."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any

from skillweave.errors import SkillweaveError
from skillweave.text.embedding import Vectors


class SentenceModelEmbedder:
    """Embeds by a model of sentence-transformers, which is loaded on first use, beside the event loop."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._model: Any = None
        self._lock = Lock()  # the models are not made for several threads at once

    @property
    def id(self) -> str:
        """The model's name or folder."""
        return f"sentence-transformers:{self._name}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text, as the model gives them; raises what loading the model raises."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        import numpy as np

        with self._lock:
            if self._model is None:
                self._model = import_module("sentence_transformers").SentenceTransformer(self._name)
            # Not every model says its dimension, so that without texts one is asked for.
            found = self._model.encode(texts or [" "], normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)[: len(texts)]


def open_model(model: str) -> SentenceModelEmbedder:
    """The embedder of a model; raises SkillweaveError without its name or without the package."""
    if not model:
        raise SkillweaveError("say which model: sentence-transformers:MODEL, a name or a folder")
    if find_spec("sentence_transformers") is None:
        name = f"sentence-transformers:{model[:60]}"
        raise SkillweaveError(f"the embedder {name!r} needs its package; pip install sentence-transformers")
    return SentenceModelEmbedder(model)
