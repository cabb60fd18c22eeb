"""The contract of an embedder as tests: an embedder is what passes them."""

import asyncio
import math

import pytest

from skillweave.selection import Embedder

TEXTS = (
    "Gives money back for a charge.",
    "Books a desk in the office.",
    "Größe und Änderung",
    "退款 请",
    "नमस्ते दुनिया",
    "😀",
    "a\0b\u202e",
    "line\n\n\tbreaks",
    "one " * 20_000,
    "x" * 100_000,
)
ALIKE = 1e-3
"""By so much two answers about the same text may differ: a model need not add up in the same order every time."""


@pytest.mark.asyncio
class EmbedderContract:
    """Inherit, and give a fixture `embedder`. No part of the contract can be opted out of."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The embedder under test."""
        raise NotImplementedError("a subclass gives the embedder")

    async def test_the_id_names_the_model_and_stays_the_same(self, embedder: Embedder) -> None:
        before = embedder.id
        await embedder.embed(TEXTS[:1])
        assert isinstance(before, str)
        assert before.strip()
        assert embedder.id == before

    async def test_every_text_gets_a_row_of_32_bit_floats(self, embedder: Embedder) -> None:
        for texts in (TEXTS[:1], TEXTS):
            vectors = await embedder.embed(texts)
            assert (vectors.ndim, len(vectors), str(vectors.dtype)) == (2, len(texts), "float32")
            assert vectors.shape[1] > 0

    async def test_no_texts_get_no_rows(self, embedder: Embedder) -> None:
        vectors = await embedder.embed(())
        assert (vectors.ndim, len(vectors)) == (2, 0)

    async def test_the_dimension_is_the_same_in_every_answer(self, embedder: Embedder) -> None:
        assert len({(await embedder.embed([text])).shape[1] for text in TEXTS}) == 1

    async def test_rows_are_of_length_1_or_all_zeros(self, embedder: Embedder) -> None:
        for row in await embedder.embed((*TEXTS, "", " ")):
            assert math.isclose(float(row @ row), 1.0, abs_tol=ALIKE) or not row.any()

    async def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        first, again = await embedder.embed(TEXTS), await embedder.embed(TEXTS)
        assert abs(first - again).max() < ALIKE

    async def test_a_text_does_not_depend_on_those_beside_it(self, embedder: Embedder) -> None:
        together = await embedder.embed(TEXTS)
        for row, text in zip(together, TEXTS, strict=True):
            assert abs((await embedder.embed([text]))[0] - row).max() < ALIKE

    async def test_the_order_of_the_texts_is_the_order_of_the_rows(self, embedder: Embedder) -> None:
        forwards, backwards = await embedder.embed(TEXTS), await embedder.embed(TEXTS[::-1])
        assert abs(forwards - backwards[::-1]).max() < ALIKE

    async def test_a_text_that_stands_twice_gets_two_equal_rows(self, embedder: Embedder) -> None:
        one, other = await embedder.embed([TEXTS[0], TEXTS[0]])
        assert abs(one - other).max() < ALIKE

    async def test_texts_that_say_the_same_are_nearer_than_others(self, embedder: Embedder) -> None:
        asked, near, far = await embedder.embed(["give my money back", *TEXTS[:2]])
        assert float(asked @ near) > float(asked @ far)

    async def test_many_can_ask_at_once(self, embedder: Embedder) -> None:
        alone = await embedder.embed(TEXTS[:2])
        for vectors in await asyncio.gather(*(embedder.embed(TEXTS[:2]) for _ in range(8))):
            assert abs(vectors - alone).max() < ALIKE

    async def test_a_cancelled_task_ends_as_cancelled(self, embedder: Embedder) -> None:
        task = asyncio.ensure_future(embedder.embed(TEXTS))
        await asyncio.sleep(0)
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task

    async def test_it_works_in_one_event_loop_after_another(self, embedder: Embedder) -> None:
        first = await asyncio.to_thread(asyncio.run, _embedded(embedder))
        again = await asyncio.to_thread(asyncio.run, _embedded(embedder))
        assert first == pytest.approx(again, abs=ALIKE)


async def _embedded(embedder: Embedder) -> list[float]:
    row: list[float] = (await embedder.embed(TEXTS[:1]))[0].tolist()
    return row
