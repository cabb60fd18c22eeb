from dataclasses import dataclass

import pytest
from hypothesis import given

from skillweave import Skill
from skillweave.packed import LONG, Unpackable, pack, unpack
from skillweave.skills import SkillText
from skillweave.sources.remembered import CLASSES
from tests.strategies import skills


@given(skills())
def test_any_skill_comes_back_as_it_was(skill: Skill) -> None:
    assert unpack(*pack(skill, CLASSES), CLASSES) == skill


def test_a_long_text_stands_beside_the_json() -> None:
    body = "é\ud800\n" * LONG
    data, texts = pack(Skill("a", "A", "a", text=SkillText(instructions=body)), CLASSES)
    assert len(data) < LONG * 2
    assert unpack(data, texts, CLASSES).text.instructions == body


@dataclass(frozen=True)
class _Unknown:
    field: int


@pytest.mark.parametrize("value", [_Unknown(1), {1: 2}, {"a": object()}, b"bytes"])
def test_what_cannot_be_packed_is_refused(value: object) -> None:
    with pytest.raises(Unpackable):
        pack(value, CLASSES)


@pytest.mark.parametrize("data", [b"", b"[9999,1]", b"[2]", b"[1,0]", b'["a"]', b"[" * 100_000, b"\xff"])
def test_other_bytes_are_no_packed_value(data: bytes) -> None:
    with pytest.raises(Unpackable):
        unpack(data, b"", CLASSES)
