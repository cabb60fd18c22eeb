import asyncio
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from skillweave.embedders import embedder_of
from skillweave.errors import SkillweaveError


class _Model:
    """Answers as a model of sentence-transformers does, for a test without that package."""

    loaded: list[str] = []  # noqa: RUF012

    def __init__(self, name: str) -> None:
        self.loaded.append(name)

    def get_sentence_embedding_dimension(self) -> int:
        return 2

    def encode(self, texts: list[str], **_: Any) -> Any:
        return np.array([[1.0, 0.0] if "money" in text else [0.0, 1.0] for text in texts])


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> type[_Model]:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = _Model  # type: ignore[attr-defined]
    module.__spec__ = __import__("importlib.machinery", fromlist=["ModuleSpec"]).ModuleSpec(module.__name__, None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(_Model, "loaded", [])
    return _Model


def test_the_model_is_loaded_once_and_on_first_use(package: type[_Model]) -> None:
    embedder = embedder_of("sentence-transformers:some/model")
    assert not package.loaded
    for _ in range(2):
        rows = asyncio.run(embedder.embed(["money back", "desk"]))
        assert rows.dtype == np.float32
        assert rows.tolist() == [[1, 0], [0, 1]]
    assert package.loaded == ["some/model"]


def test_no_texts_get_no_rows_of_the_right_dimension(package: type[_Model]) -> None:
    assert asyncio.run(embedder_of("sentence-transformers:m").embed([])).shape == (0, 2)


def test_the_id_names_the_model(package: type[_Model]) -> None:
    assert embedder_of("sentence-transformers:some/model").id == "sentence-transformers:some/model"


def test_without_a_model_it_says_what_to_write() -> None:
    with pytest.raises(SkillweaveError, match="sentence-transformers:MODEL"):
        embedder_of("sentence-transformers")


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillweave.embedders.sentence_model.find_spec", lambda name: None)
    with pytest.raises(SkillweaveError, match="pip install sentence-transformers"):
        embedder_of("sentence-transformers:m")
