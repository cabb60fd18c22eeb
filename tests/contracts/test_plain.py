import math
from collections import OrderedDict
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest

from skillweave.contracts import codes
from skillweave.contracts.codes import fragment
from skillweave.contracts.plain import Limits, NotPlain, plain

SMALL = Limits(values=6, depth=2, characters=10)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


def refusal(value: object, limits: Limits = SMALL) -> NotPlain:
    with pytest.raises(NotPlain) as refused:
        plain(value, limits)
    return refused.value


def test_what_is_like_json_becomes_json() -> None:
    value = OrderedDict(a=(1, MappingProxyType({"b": None})), c=Colour.RED, d=Size.SMALL)
    copied = plain(value, Limits(10, 5, 100))
    assert copied == {"a": [1, {"b": None}], "c": "red", "d": 1}
    assert type(copied["c"]) is str
    assert type(copied["d"]) is int


def test_the_copy_knows_how_many_values_it_has() -> None:
    copied = plain({"a": [1, 2], "b": {}}, SMALL)
    assert (copied.weight, copied["a"].weight, copied["b"].weight) == (5, 3, 1)


def test_its_text_is_short_whatever_it_holds() -> None:
    copied = plain([["x", "y"]], SMALL)
    assert (repr(copied), repr(plain({"a": 1}, SMALL))) == ("<a list of 1>", "<an object with 1 keys>")


@pytest.mark.parametrize(
    ("value", "why", "keys"),
    [
        (b"x", "a bytes is not JSON data", ()),
        ({"a": {1}}, "a set is not JSON data", ("a",)),
        ([0, math.nan], "nan is not a JSON number", (1,)),
        ([math.inf], "inf is not a JSON number", (0,)),
        ({1: 2}, "the key '1' is not text", ()),
        ({"a": "\ud800"}, "a text in it is not valid Unicode", ("a",)),
        ({"\ud800": 1}, "a text in it is not valid Unicode", ()),
    ],
)
def test_what_json_does_not_have_is_refused_with_its_place(
    value: object, why: str, keys: tuple[str | int, ...]
) -> None:
    refused = refusal(value)
    assert (refused.code, refused.why, refused.keys) == (codes.NOT_JSON, why, keys)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([1] * 6, "it has more than 6 values"),
        ([[[1]]], "it is nested more than 2 levels deep"),
        (["x" * 6, "y" * 5], "it has more than 10 characters of text"),
        ({"x" * 11: 1}, "it has more than 10 characters of text"),
        (10**300, "a number in it has more than 300 digits"),
        (-(10**300), "a number in it has more than 300 digits"),
    ],
)
def test_what_is_too_much_is_refused(value: object, why: str) -> None:
    refused = refusal(value)
    assert (refused.code, refused.why) == (codes.VALUE_TOO_LARGE, why)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    assert refusal(value).code is codes.VALUE_TOO_LARGE


def test_the_largest_that_is_read_is_read() -> None:
    assert plain([[1, 2], "x" * 10, 10**300 - 1], SMALL) == [[1, 2], "x" * 10, 10**300 - 1]


@pytest.mark.parametrize(
    ("keys", "pointer"),
    [
        ((), "x#"),
        (("a", 0, "b"), "x#/a/0/b"),
        (("~/", ""), "x#/~0~1/"),
        (("é\n",), "x#/%C3%A9%0A"),
        (("\ud800",), "x#/%3F"),
    ],
)
def test_a_fragment_is_a_json_pointer_in_an_address(keys: tuple[str | int, ...], pointer: str) -> None:
    assert fragment("x", keys) == pointer
