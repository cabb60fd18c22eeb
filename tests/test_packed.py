from array import array
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill
from skillweave.cachefile import ALIGNED, LONG, Unpackable, pack, unpack
from skillweave.skills import SkillText
from skillweave.sources.folder import CLASSES
from tests.strategies import skills


@given(skills())
def test_any_skill_comes_back_as_it_was(skill: Skill) -> None:
    assert unpack(b"".join(pack(skill, CLASSES)), CLASSES) == skill


def test_a_long_text_stands_beside_the_json() -> None:
    body = "é\ud800\n" * LONG
    length, head, *beside = pack(Skill("a", "A", "a", text=SkillText(instructions=body)), CLASSES)
    assert len(head) < LONG * 2
    assert unpack(b"".join((length, head, *beside)), CLASSES).text.instructions == body


@pytest.mark.parametrize("kind", ["<i4", "<f4", "u1"])
def test_arrays_come_back_in_their_shape_and_lie_where_the_content_lies(kind: str) -> None:
    value = (np.arange(6, dtype=kind).reshape(2, 3), "x" * (LONG + 1), np.ones((4, 1), dtype=kind))
    content = b"".join(pack(value, ()))
    first, text, second = unpack(content, ())
    assert np.array_equal(first, value[0])
    assert (text, second.shape) == (value[1], (4, 1))
    assert not first.flags.owndata
    assert (first.__array_interface__["data"][0] - second.__array_interface__["data"][0]) % ALIGNED == 0


def test_numbers_of_the_standard_library_come_back_as_a_view() -> None:
    assert list(unpack(b"".join(pack(array("q", [1, -2, 3]), ())), ())) == [1, -2, 3]


@pytest.mark.parametrize("words", [{"a": 0, "b": 1}, {"": 0}, {"a\nb": 0, "c": 1}, {"b": 1, "a": 0}, {"a": True}, {}])
def test_a_dict_of_numbered_words_comes_back_equal(words: dict[str, int]) -> None:
    found = unpack(b"".join(pack(words, ())), ())
    assert (found, list(found), list(map(type, found.values()))) == (
        words,
        list(words),
        list(map(type, words.values())),
    )


@dataclass(frozen=True)
class _Unknown:
    field: int


@pytest.mark.parametrize("value", [_Unknown(1), {1: 2}, {"a": object()}, b"bytes"])
def test_what_cannot_be_packed_is_refused(value: object) -> None:
    with pytest.raises(Unpackable):
        pack(value, CLASSES)


@pytest.mark.parametrize(
    "data", [b"", b"[9999,1]", b"[5]", b"[1,0]", b"[1,0,9]", b'[2,"<i4",0,4,1]', b'["a"]', b"[" * 100_000, b"\xff"]
)
def test_other_bytes_are_no_packed_value(data: bytes) -> None:
    with pytest.raises(Unpackable):
        unpack(len(data).to_bytes(8, "little") + data, CLASSES)


@given(st.binary(max_size=40))
def test_whatever_the_bytes_are_nothing_else_is_raised(data: bytes) -> None:
    with suppress(Unpackable):
        unpack(data, CLASSES)
