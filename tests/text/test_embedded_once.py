import asyncio
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidVectors
from skillweave.selection import Embedder
from skillweave.text.embedding import EmbeddedOnce, cosines
from skillweave_testing import FakeEmbedder

TEXTS = st.lists(st.text(max_size=8), min_size=1, max_size=6)


class Answers:
    """An embedder that answers with what it is given, one answer after the other."""

    id = "answers@1"

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    async def embed(self, texts: Sequence[str]) -> Any:
        return self.answers.pop(0)


class Gate:
    """An embedder that answers when it is told to; it can be told to fail the next time."""

    id = "gate@1"

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.fake = FakeEmbedder()
        self.failure: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> Any:
        vectors = await self.fake.embed(texts)
        await self.open.wait()
        if self.failure is not None:
            raise self.failure
        return vectors


async def settled() -> None:
    """Let every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_an_unchanged_text_is_never_embedded_twice() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake)
    first = await once.embed(["a desk", "an order"])
    again = await once.embed(["an order", "a desk", "a desk"])
    assert fake.asked == [("a desk", "an order")]
    assert again.tolist() == [first[1].tolist(), first[0].tolist(), first[0].tolist()]


async def test_only_new_texts_are_embedded() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake)
    await once.embed(["a desk"])
    await once.embed(["a desk", "an order", "an order"])
    assert fake.asked == [("a desk",), ("an order",)]


async def test_a_changed_text_is_embedded_again() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake)
    await once.embed(["a desk"])
    await once.embed(["a desk."])
    assert fake.asked == [("a desk",), ("a desk.",)]


async def test_vectors_of_one_embedder_id_are_not_those_of_another() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake)
    await once.embed(["a desk"])
    fake.id = "fake-256@2"
    await once.embed(["a desk"])
    fake.id = "fake-256@1"
    await once.embed(["a desk"])
    assert fake.asked == [("a desk",), ("a desk",)]


async def test_of_two_who_ask_at_once_one_waits_for_the_other() -> None:
    gate = Gate()
    once = EmbeddedOnce(gate)
    tasks = [asyncio.ensure_future(once.embed(["a desk", text])) for text in ("an order", "a table")]
    await settled()
    gate.open.set()
    one, other = await asyncio.gather(*tasks)
    assert gate.fake.asked == [("a desk", "an order"), ("a table",)]
    assert one[0].tolist() == other[0].tolist()


async def test_when_the_one_who_asks_is_cancelled_another_one_asks() -> None:
    gate = Gate()
    once = EmbeddedOnce(gate)
    first, second = (asyncio.ensure_future(once.embed(["a desk"])) for _ in range(2))
    await settled()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.open.set()
    assert (await second).any()
    assert gate.fake.asked == [("a desk",)] * 2


async def test_one_who_waits_can_be_cancelled_alone() -> None:
    gate = Gate()
    once = EmbeddedOnce(gate)
    first, second = (asyncio.ensure_future(once.embed(["a desk"])) for _ in range(2))
    await settled()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.open.set()
    assert (await first).any()


async def test_a_failure_reaches_all_who_waited_and_is_not_kept() -> None:
    gate = Gate()
    gate.failure = OSError("no answer")
    once = EmbeddedOnce(gate)
    tasks = [asyncio.ensure_future(once.embed(["a desk"])) for _ in range(2)]
    await settled()
    gate.open.set()
    assert [type(answer) for answer in await asyncio.gather(*tasks, return_exceptions=True)] == [OSError, OSError]
    gate.failure = None
    assert (await once.embed(["a desk"])).any()
    assert len(gate.fake.asked) == 2


def test_it_works_in_one_event_loop_after_another() -> None:
    fake = FakeEmbedder(delay=0.001)
    once = EmbeddedOnce(fake)
    asyncio.run(_twice_at_once(once))
    asyncio.run(_twice_at_once(once))
    assert fake.asked == [("a desk",)]


def test_a_loop_that_ended_while_it_waited_leaves_nothing_behind() -> None:
    gate = Gate()
    once = EmbeddedOnce(gate)

    async def given_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(once.embed(["a desk"]), 0.001)

    async def asked_again() -> None:
        gate.open = asyncio.Event()
        gate.open.set()
        assert (await once.embed(["a desk"])).any()

    asyncio.run(given_up())
    asyncio.run(asked_again())


def test_a_loop_that_stopped_half_way_keeps_nobody_else_waiting() -> None:
    gate = Gate()
    once = EmbeddedOnce(gate)
    loop = asyncio.new_event_loop()
    task = loop.create_task(once.embed(["a desk"]))
    loop.run_until_complete(settled())

    async def asked_again() -> bool:
        gate.open = asyncio.Event()
        gate.open.set()
        return bool((await once.embed(["a desk"])).any())

    assert asyncio.run(asked_again())
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()


async def test_of_passing_texts_only_the_latest_are_kept() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake, most_passing=2)
    for text in ("one", "two", "three", "two", "one"):
        await once.embed_passing([text])
    assert fake.asked == [("one",), ("two",), ("three",), ("one",)]


async def test_passing_texts_push_out_none_that_are_kept() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake, most_passing=1)
    await once.embed(["a desk"])
    for text in ("one", "two", "three"):
        await once.embed_passing([text])
    await once.embed(["a desk"])
    assert fake.asked.count(("a desk",)) == 1


async def test_a_text_that_passed_by_is_not_embedded_again_to_be_kept() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake, most_passing=1)
    await once.embed_passing(["a desk"])
    await once.embed(["a desk"])
    await once.embed_passing(["something else"])
    await once.embed(["a desk"])
    await once.embed_passing(["a desk"])
    assert fake.asked.count(("a desk",)) == 1


async def test_kept_texts_have_a_bound_too_and_one_call_may_go_beyond_it() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake, most=2)
    assert len(await once.embed(["one", "two", "three"])) == 3
    await once.embed(["three", "two"])
    await once.embed(["one"])
    assert fake.asked == [("one", "two", "three"), ("one",)]


async def test_no_text_that_was_embedded_is_held() -> None:
    once = EmbeddedOnce(FakeEmbedder())
    await once.embed_passing(["my card is 4111 1111"])
    assert "4111" not in repr([vars(shelf) for shelf in (once._kept, once._passing)])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (np.ones((1, 3), dtype=np.float32), "(1, 3)"),
        (np.ones((3, 3), dtype=np.float32), "(3, 3)"),
        (np.ones(2, dtype=np.float32), "(2,)"),
        (np.ones((2, 3, 1), dtype=np.float32), "(2, 3, 1)"),
        (np.ones((2, 0), dtype=np.float32), "(2, 0)"),
        ([[1.0], [1.0, 2.0]], "list"),
        (None, "()"),
        ("no vectors", "str"),
        ([["a"], ["b"]], "list"),
    ],
)
async def test_an_answer_that_is_no_row_for_each_text_is_an_error_that_says_so(answer: object, found: str) -> None:
    with pytest.raises(InvalidVectors) as error:
        await EmbeddedOnce(Answers(answer)).embed(["a desk", "an order"])
    assert error.value.embedder == "answers@1"
    assert error.value.expected == "2 rows of numbers"
    assert found in error.value.found
    assert "'answers@1'" in str(error.value)


async def test_another_dimension_than_before_is_an_error() -> None:
    once = EmbeddedOnce(Answers(np.ones((1, 3)), np.ones((1, 4))))
    await once.embed(["a desk"])
    with pytest.raises(InvalidVectors, match="dimension 3, as before, not with dimension 4"):
        await once.embed_passing(["an order"])


async def test_a_wrong_answer_is_not_kept() -> None:
    once = EmbeddedOnce(Answers(np.ones((2, 3)), np.ones((1, 3))))
    with pytest.raises(InvalidVectors):
        await once.embed(["a desk"])
    assert len(await once.embed(["a desk"])) == 1


@pytest.mark.parametrize("row", [[3.0, 4.0], [3e300, 4e300], [3e-300, 4e-300], [3e-320, 4e-320], [3, 4]])
async def test_vectors_of_any_length_become_vectors_of_length_1(row: list[float]) -> None:
    vectors = await EmbeddedOnce(Answers([row])).embed(["a desk"])
    assert str(vectors.dtype) == "float32"
    assert vectors[0].tolist() == pytest.approx([0.6, 0.8], rel=1e-3)


async def test_a_vector_of_zeros_stays_and_its_cosine_is_0() -> None:
    rows = await EmbeddedOnce(Answers([[0.0, 0.0], [1.0, 0.0]])).embed(["", "a desk"])
    assert cosines(rows, rows[0]) == [0.0, 0.0]
    assert cosines(rows, rows[1]) == [0.0, 1.0]


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
async def test_a_vector_that_is_not_finite_has_no_cosine(broken: float) -> None:
    rows = await EmbeddedOnce(Answers([[broken, 1.0], [1.0, 0.0]])).embed(["?", "a desk"])
    assert math.isnan(cosines(rows, rows[1])[0])
    assert cosines(rows, rows[1])[1] == 1.0


async def test_what_the_embedder_does_to_its_answer_later_changes_nothing() -> None:
    answer = np.array([[1.0, 0.0]], dtype=np.float32)
    once = EmbeddedOnce(Answers(answer))
    vectors = await once.embed(["a desk"])
    answer[:] = 7
    vectors[:] = 7
    assert (await once.embed(["a desk"])).tolist() == [[1.0, 0.0]]


async def test_lone_surrogates_never_reach_the_embedder() -> None:
    fake = FakeEmbedder()
    await EmbeddedOnce(fake).embed(["a\ud800b"])
    assert fake.asked == [("a?b",)]


@given(TEXTS, TEXTS)
def test_in_any_order_of_questions_the_vectors_are_those_of_the_embedder(first: list[str], second: list[str]) -> None:
    fake = FakeEmbedder(dimension=16)
    once: Embedder = EmbeddedOnce(FakeEmbedder(dimension=16), most=3)
    for texts in (first, second, first):
        asked = asyncio.run(once.embed(texts))
        assert np.allclose(asked, asyncio.run(fake.embed(texts)))


async def _twice_at_once(once: EmbeddedOnce) -> None:
    one, other = await asyncio.gather(once.embed(["a desk"]), once.embed_passing(["a desk"]))
    assert one.tolist() == other.tolist()
