import asyncio
from pathlib import Path

import numpy as np
import pytest

from skillweave.embedders import embedder_of
from skillweave.errors import SkillweaveError

WORDS = {"[UNK]": 0, "money": 1, "back": 2, "desk": 3}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A model of three words, saved by the package itself, which is too large for the test environment."""
    package = pytest.importorskip("sentence_transformers")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    weights = np.array([[0, 0, 0], [3, 0, 0], [3, 0, 0], [0, 2, 0]], dtype=np.float32)
    words = pytest.importorskip("sentence_transformers.models").StaticEmbedding(tokenizer, embedding_weights=weights)
    package.SentenceTransformer(modules=[words], device="cpu").save(str(tmp_path / "model"))
    return str(tmp_path / "model")


def test_vectors_are_those_of_the_model_and_of_length_one(folder: str) -> None:
    embedder = embedder_of(f"sentence-transformers:{folder}")
    for _ in range(2):
        rows = asyncio.run(embedder.embed(["money back", "desk"]))
        assert rows.dtype == np.float32
        assert rows.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_no_texts_get_no_rows_of_the_right_dimension(folder: str) -> None:
    assert asyncio.run(embedder_of(f"sentence-transformers:{folder}").embed([])).shape == (0, 3)


def test_without_a_model_it_says_what_to_write() -> None:
    with pytest.raises(SkillweaveError, match="sentence-transformers:MODEL"):
        embedder_of("sentence-transformers")


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillweave.embedders.sentence_model.find_spec", lambda name: None)
    with pytest.raises(SkillweaveError, match="pip install sentence-transformers"):
        embedder_of("sentence-transformers:m")
