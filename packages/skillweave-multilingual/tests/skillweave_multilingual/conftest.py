"""What the tests of embedders share."""

import pytest

from skillweave_multilingual.multilingual import MultilingualEmbedder, open_multilingual


@pytest.fixture(scope="session")
def multilingual() -> MultilingualEmbedder:
    """The built-in embedder, whose weights are read once."""
    pytest.importorskip("sentencepiece")
    return open_multilingual()
