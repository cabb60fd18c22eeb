import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skillweave.cachefile import CacheFolder
from skillweave.embedders.on_disk import KeptOnDisk
from skillweave.text.embedding import EmbeddedOnce


class Counting:
    """Embeds by the length of a text, and writes down what it is asked for."""

    def __init__(self, name: str = "counting-1") -> None:
        self.id = name
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.asked.extend(texts)
        rows = np.array([[1.0, len(text)] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def embed(folder: Path, embedder: Counting, *texts: str, most: int = 100) -> Any:
    return asyncio.run(KeptOnDisk(embedder, CacheFolder(folder), most=most).embed(texts))


def test_the_next_process_asks_only_for_what_is_new(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    before = embed(tmp_path, first, "a", "bb")
    after = embed(tmp_path, second, "bb", "ccc", "a")
    assert second.asked == ["ccc"]
    assert np.array_equal(after[[2, 0]], before)


def test_another_embedder_has_vectors_of_its_own(tmp_path: Path) -> None:
    embed(tmp_path, Counting("one"), "a")
    other = Counting("other")
    embed(tmp_path, other, "a")
    assert other.asked == ["a"]


def test_a_damaged_file_is_made_anew_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    embed(tmp_path, Counting(), "a")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3] + b"xyz")
    again = Counting()
    with caplog.at_level(logging.WARNING, "skillweave"):
        embed(tmp_path, again, "a")
    assert again.asked == ["a"]
    assert "damaged" in caplog.text
    third = Counting()
    embed(tmp_path, third, "a")
    assert third.asked == []


def test_what_was_asked_for_last_is_kept_within_the_limit(tmp_path: Path) -> None:
    embed(tmp_path, Counting(), "a", "b", most=2)
    embed(tmp_path, Counting(), "c", "b", most=2)
    third = Counting()
    embed(tmp_path, third, "c", "b", "a", most=2)
    assert third.asked == ["a"]


def test_what_a_user_says_is_never_written(tmp_path: Path) -> None:
    kept = EmbeddedOnce(KeptOnDisk(Counting(), CacheFolder(tmp_path)))
    asyncio.run(kept.embed_passing(["my secret"]))
    assert list(tmp_path.iterdir()) == []


def test_no_texts_are_written_only_their_digests(tmp_path: Path) -> None:
    embed(tmp_path, Counting(), "a description of a skill")
    (file,) = tmp_path.iterdir()
    assert b"description" not in file.read_bytes()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert embed(tmp_path / "file" / "below", Counting(), "a").shape == (1, 2)


class Changed(Counting):
    """The same id as before, and vectors with one number more."""

    async def embed(self, texts: Sequence[str]) -> Any:
        rows = await super().embed(texts)
        return np.concatenate([rows, np.zeros((len(texts), 1), dtype=np.float32)], axis=1)


def test_vectors_of_another_dimension_under_the_same_id_are_asked_for_again(tmp_path: Path) -> None:
    embed(tmp_path, Counting(), "a", "bb")
    changed = Changed()
    assert embed(tmp_path, changed, "a", "ccc").shape == (2, 3)
    assert sorted(changed.asked) == ["a", "ccc"]


class Broken(Counting):
    async def embed(self, texts: Sequence[str]) -> Any:
        return await super().embed(texts) * np.float32("nan")


def test_a_vector_that_is_none_is_not_kept(tmp_path: Path) -> None:
    embed(tmp_path, Broken(), "a")
    after = Counting()
    assert np.isfinite(embed(tmp_path, after, "a")).all()
    assert after.asked == ["a"]
