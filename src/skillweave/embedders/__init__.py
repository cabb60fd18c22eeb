"""Embedders: each is one file, is found by its name, and is imported when it is asked for (spec 2.4)."""

from collections.abc import Callable

from skillweave.errors import SkillweaveError
from skillweave.extensions import Extensions
from skillweave.text.embedding import Embedder

EMBEDDERS: Extensions[Callable[[str], Embedder]] = Extensions(
    "embedders",
    "embedder",
    built_in={
        "openai": "skillweave.embedders.endpoint:open_endpoint",
        "sentence-transformers": "skillweave.embedders.sentence_model:open_model",
    },
    satellites={"multilingual": "skillweave-multilingual"},
)
"""What stands before the first colon is the name of an entry point; its value is a callable that takes the rest."""


def embedder_of(named: str | Embedder) -> Embedder:
    """The embedder for `multilingual`, `sentence-transformers:MODEL`, `openai:MODEL`. Raises SkillweaveError."""
    if not isinstance(named, str):
        if not callable(getattr(named, "embed", None)):
            raise SkillweaveError(f"an embedder of type {type(named).__name__} has no method `embed`; give it one")
        return named
    name, _, rest = named.partition(":")
    return EMBEDDERS.make(name, lambda open_it: open_it(rest))
