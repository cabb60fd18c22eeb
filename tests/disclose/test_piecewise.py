"""Documents are fitted by the sum of their tokens: as if each had been tried in the whole text, at a fraction of it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillweave.disclose.fit import LeftOut, Passage, Pricing, Shown, Want, fit
from skillweave.disclose.render import Extras, Inlined, render_skill
from skillweave.skill import Skill
from skillweave.skills import ArtifactRef
from skillweave.tokens.counter import Tiktoken, TokenCounter
from skillweave.turns import Rung
from skillweave_testing import WordCounter
from tests.skills import make_skill

COUNTERS = (Tiktoken("o200k_base"), Tiktoken("cl100k_base"), WordCounter())


def _want(documents: Sequence[str], instructions: str = "How to do it.") -> Want:
    refs = [
        ArtifactRef(f"references/{n}.md", f"{n}.md", "text/markdown", len(text)) for n, text in enumerate(documents)
    ]
    skill = make_skill("a", instructions=instructions, artifacts=refs)
    return Want(skill, artifacts=tuple(Inlined(ref, text) for ref, text in zip(refs, documents, strict=True)))


def _fitted(want: Want, counter: TokenCounter, left: int, per_skill: int = 10_000) -> Shown:
    (shown,) = fit([[want]], left=left, per_skill=per_skill, pricing=Pricing(counter))
    return shown


def _tokens(skill: Skill, inlined: Sequence[Inlined], counter: TokenCounter, rung: Rung = Rung.INSTRUCTIONS) -> int:
    return counter.count(render_skill(skill, rung, Extras(tuple(inlined))).text)


def _one_by_one(want: Want, counter: TokenCounter, left: int, per_skill: int) -> tuple[list[Inlined], list[LeftOut]]:
    """Every document tried in the whole text, which is what fitting by sums has to equal."""
    inlined: list[Inlined] = []
    left_out: list[LeftOut] = []
    block = _tokens(want.skill, (), counter)
    left -= block
    for document in want.artifacts:
        bigger = _tokens(want.skill, [*inlined, document], counter)
        if bigger <= per_skill and bigger - block <= left:
            left, block = left - (bigger - block), bigger
            inlined.append(document)
        else:
            left_out.append(LeftOut(document.ref.id, bigger - block))
    return inlined, left_out


_TEXTS = st.lists(st.text(alphabet="ab Z1\n\r\t/<>#-.,:{}[]'é漢😀", max_size=40), min_size=1, max_size=12)


@settings(max_examples=300)
@given(documents=_TEXTS, left=st.integers(0, 150), per_skill=st.integers(20, 150), counter=st.sampled_from(COUNTERS))
def test_fitting_by_sums_takes_what_trying_one_by_one_takes(
    documents: list[str], left: int, per_skill: int, counter: TokenCounter
) -> None:
    want = _want(documents)
    shown = _fitted(want, counter, left, per_skill)
    if shown.rung is None or shown.rung < Rung.INSTRUCTIONS or shown.block is None:
        return  # not even its instructions fit
    expected, left_out = _one_by_one(want, counter, left, per_skill)
    assert list(shown.inlined) == expected
    assert list(shown.left_out) == left_out
    assert shown.block.tokens == _tokens(want.skill, expected, counter)


class _Odd:
    """A counter whose tokens of two joined texts are far from the sum: a text of n characters costs n squared."""

    encoding, exact = "odd", False

    def __init__(self, power: float) -> None:
        self.power = power

    def count(self, text: str) -> int:
        return int(len(text) ** self.power)


@given(
    documents=_TEXTS,
    facts=st.lists(st.text(alphabet="ab /\n", max_size=20), max_size=5),
    left=st.integers(0, 3000),
    power=st.sampled_from([0.5, 0.9, 1.1, 1.5]),
)
def test_with_any_counter_there_is_never_more_than_there_is_room_for_and_nothing_vanishes(
    documents: list[str], facts: list[str], left: int, power: float
) -> None:
    passages = tuple(Passage(f"context:w:{n}", "w", text, "d") for n, text in enumerate(facts))
    want = replace(_want(documents), passages=passages)
    shown = _fitted(want, _Odd(power), left)
    assert shown.added <= left
    told = {one.what for one in shown.left_out}
    if shown.rung is not None and shown.rung >= Rung.INSTRUCTIONS:
        assert {one.ref.id for one in want.artifacts} == {one.ref.id for one in shown.inlined} | told - _keys(passages)
    assert _keys(passages) == _keys((*shown.within, *shown.apart)) | (told & _keys(passages))


def _keys(passages: Sequence[Passage]) -> set[str]:
    return {passage.key for passage in passages}


class _Measured:
    """A counter of words that knows how much text it was given."""

    encoding, exact = "measured", True

    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return len(text.split())


@pytest.mark.parametrize("kind", ["documents", "facts"])
def test_the_text_that_is_counted_grows_with_the_documents_and_not_with_their_square(kind: str) -> None:
    def counted(number: int) -> float:
        counter, texts = _Measured(), [f"{n} " + "word " * 60 for n in range(number)]
        facts = tuple(Passage(f"context:w:{n}", "w", text, "d") for n, text in enumerate(texts))
        want = _want(texts) if kind == "documents" else replace(_want(()), passages=facts)
        _fitted(want, counter, left=10 * number, per_skill=10**6)
        return counter.characters / sum(map(len, texts))

    assert counted(200) < 6
    assert counted(800) < 6
