"""Every embedder passes the same contract."""

import pytest

from skillweave.selection import Embedder
from skillweave.text.embedding import EmbeddedOnce
from skillweave_testing import EmbedderContract, FakeEmbedder

FAKE_BYTES = (
    "f304353f0000000000000000000000000000000000000000f304353f00000000"
    "000000000000803f000000000000000000000000000000000000000000000000"
)


class TestFakeEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FakeEmbedder()


class TestSlowFakeEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FakeEmbedder(delay=0.001, dimension=64)


class TestEmbeddedOnce(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return EmbeddedOnce(FakeEmbedder())


class TestSlowEmbeddedOnce(EmbedderContract):
    """One that forgets most of what it was asked, around one that lets others run."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        return EmbeddedOnce(FakeEmbedder(delay=0.001), most=2)


async def test_the_fake_embedder_puts_texts_that_share_words_near_each_other() -> None:
    refund, order, desk = await FakeEmbedder().embed(["refund my order", "the order", "book desks"])
    assert refund @ order == pytest.approx(1 / 2**0.5)
    assert refund @ desk == 0


async def test_the_fake_embedder_gives_the_same_bytes_on_every_machine_and_hash_seed() -> None:
    vectors = await FakeEmbedder(dimension=8).embed(["refund my order", "退款"])
    assert vectors.astype("<f4").tobytes().hex() == FAKE_BYTES


async def test_the_fake_embedder_counts_what_it_was_asked() -> None:
    embedder = FakeEmbedder()
    await embedder.embed(["a", "b"])
    await embedder.embed(())
    assert embedder.asked == [("a", "b"), ()]


async def test_another_version_of_the_fake_embedder_is_another_model() -> None:
    one, other = FakeEmbedder(), FakeEmbedder("2")
    assert one.id != other.id
    assert (await one.embed(["refund"])).tolist() != (await other.embed(["refund"])).tolist()


async def test_the_fake_embedder_can_be_made_to_fail() -> None:
    with pytest.raises(OSError, match="out of order"):
        await FakeEmbedder(failure=OSError("out of order")).embed(["refund"])
