from array import array
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill
from skillweave.cachefile import ALIGNED, Unpackable, pack, unpack
from skillweave.skills import SkillText
from skillweave.sources.folder import CLASSES
from tests.strategies import skills


@given(skills())
def test_any_skill_comes_back_as_it_was(skill: Skill) -> None:
    assert unpack(b"".join(pack(skill)), CLASSES) == skill


def test_half_of_a_surrogate_pair_comes_back() -> None:
    told = Skill("a", "A", "a", text=SkillText(instructions="é\ud800\n"))
    assert unpack(b"".join(pack(told)), CLASSES) == told


@pytest.mark.parametrize("kind", ["<i4", "<f4", "u1"])
def test_arrays_come_back_in_their_shape_and_lie_where_the_content_lies(kind: str) -> None:
    value = (np.arange(6, dtype=kind).reshape(2, 3), "x", np.ones((4, 1), dtype=kind))
    content = b"".join(pack(value))
    first, text, second = unpack(content, ())
    assert np.array_equal(first, value[0])
    assert (text, second.shape) == (value[1], (4, 1))
    assert not first.flags.owndata
    assert (first.__array_interface__["data"][0] - second.__array_interface__["data"][0]) % ALIGNED == 0


def test_numbers_of_the_standard_library_come_back() -> None:
    assert list(unpack(b"".join(pack(array("q", [1, -2, 3]))), ())) == [1, -2, 3]


@pytest.mark.parametrize("words", [{"a": 0, "b": 1}, {"": 0}, {"a\nb": 0, "c": 1}, {"b": 1, "a": 0}, {"a": True}, {}])
def test_a_dict_of_numbered_words_comes_back_equal(words: dict[str, int]) -> None:
    found = unpack(b"".join(pack(words)), ())
    assert (found, list(found), list(map(type, found.values()))) == (
        words,
        list(words),
        list(map(type, words.values())),
    )


@dataclass(frozen=True)
class _Unknown:
    field: int


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("1 + 1",)


def test_what_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(Unpackable):
        pack(lambda: None)


@pytest.mark.parametrize("value", [_Unknown(1), _Harmful(), {"a": _Harmful()}, np.array([object()])])
def test_no_other_classes_are_made_and_nothing_is_called(value: object) -> None:
    with pytest.raises(Unpackable):
        unpack(b"".join(pack(value)), CLASSES)


@pytest.mark.parametrize("cut", [33, 70, 130])
def test_content_that_ends_early_is_no_packed_value(cut: int) -> None:
    whole = b"".join(pack(("text", np.arange(4))))
    with pytest.raises(Unpackable):
        unpack(whole[:-cut], ())


@given(st.binary(max_size=40))
def test_whatever_the_bytes_are_nothing_else_is_raised(data: bytes) -> None:
    with suppress(Unpackable):
        unpack(data, CLASSES)
