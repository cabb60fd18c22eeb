"""The digest of a definition."""

import hashlib
from types import MappingProxyType

import pytest

from skillweave.errors import InvalidSkill
from skillweave.formats.identity import canonical_json, digest_of


def test_canonical_json_is_sorted_compact_and_in_utf_8() -> None:
    definition = {"b": [1, True, None], "a": {"é": "\n"}}

    assert canonical_json(definition) == '{"a":{"é":"\\n"},"b":[1,true,null]}'
    assert digest_of(definition) == hashlib.sha256('{"a":{"é":"\\n"},"b":[1,true,null]}'.encode()).hexdigest()


def test_frozen_data_have_the_same_digest() -> None:
    assert digest_of(MappingProxyType({"a": (1, MappingProxyType({"b": 2}))})) == digest_of({"a": [1, {"b": 2}]})


@pytest.mark.parametrize("value", [{1, 2}, object(), float("nan"), float("inf"), b"a", "\ud800"])
def test_what_json_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(InvalidSkill):
        digest_of({"a": value})


def test_data_that_contain_themselves_are_refused() -> None:
    endless: dict[str, object] = {}
    endless["a"] = endless

    with pytest.raises(InvalidSkill):
        digest_of(endless)
