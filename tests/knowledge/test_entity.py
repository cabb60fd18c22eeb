"""What entities, edges and points take, and what one name is in several spellings."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.entities import AmbiguousEntity, Edge, Entity, Point
from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import alias_key, datum_name
from tests.strategies import json_mappings

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip())
)
aliases = names.filter(alias_key)
points = st.builds(Point, st.floats(-90, 90), st.floats(-180, 180), names.filter(lambda name: datum_name(name) != ""))


def whole(properties: Any) -> bool:
    """Whether no text in it is one that is refused."""
    return "\\u0000" not in repr(properties) and "\\x00" not in repr(properties) and "\\ud" not in repr(properties)


entities = st.builds(
    Entity,
    names,
    names,
    json_mappings.filter(whole),
    st.lists(aliases, max_size=3).map(tuple),
    st.none() | points,
)


@given(entities)
def test_an_entity_comes_back_from_its_json(entity: Entity) -> None:
    assert Entity.from_dict(entity.to_dict()) == entity


@given(st.builds(Edge, names, names, names, json_mappings.filter(whole)))
def test_an_edge_comes_back_from_its_json(edge: Edge) -> None:
    assert Edge.from_dict(edge.to_dict()) == edge


@pytest.mark.parametrize("name", ["latitude", "longitude"])
@pytest.mark.parametrize(
    "value", [181, -180.5, math.nan, math.inf, 10**400, True, "31.8", None], ids=lambda value: str(value)[:8]
)
def test_degrees_that_no_place_has_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidValue, match=rf"Point\({name}=...\).*degrees from"):
        Point(**{"latitude": 0, "longitude": 0, "datum": "NAD83", name: value})


def test_latitudes_end_at_the_poles() -> None:
    with pytest.raises(InvalidValue, match="latitude"):
        Point(90.5, 0, "NAD83")


@pytest.mark.parametrize("datum", ["", " ", " - ", "\t", None, 83, "NAD\0", "x" * 201])
def test_a_point_without_a_datum_is_refused(datum: Any) -> None:
    with pytest.raises(InvalidValue, match="datum"):
        Point(0, 0, datum)


@pytest.mark.parametrize("spelling", ["NAD83", "nad83", "NAD 83", " nad-83\n", "NAD_83"])
def test_a_datum_is_kept_in_one_spelling(spelling: str) -> None:
    assert Point(1, 2, spelling) == Point(1, 2, "NAD83")
    assert Point(1, 2, spelling).datum == "NAD83"


def test_realisations_of_a_datum_are_datums_of_their_own() -> None:
    assert Point(1, 2, "NAD83") != Point(1, 2, "NAD83(2011)")


def test_degrees_are_kept_as_numbers_with_a_fraction() -> None:
    assert [type(value) for value in (Point(1, 2, "NAD83").latitude, Point(1, 2, "NAD83").longitude)] == [float, float]


@pytest.mark.parametrize("text", ["", " ", "\n", "a\0b", "\ud800", "x" * 201, None, 7])
@pytest.mark.parametrize("name", ["id", "label"])
def test_what_no_database_keeps_is_no_name_of_an_entity(name: str, text: Any) -> None:
    with pytest.raises(InvalidValue, match=name):
        Entity(**{"id": "a", "label": "A", name: text})


@pytest.mark.parametrize("text", ["", " ", "a\0b", "\ud800", "x" * 201, None])
@pytest.mark.parametrize("name", ["source", "relation", "target"])
def test_what_no_database_keeps_is_no_name_of_an_edge(name: str, text: Any) -> None:
    with pytest.raises(InvalidValue, match=name):
        Edge(**{"source": "a", "relation": "TO", "target": "b", name: text})


@pytest.mark.parametrize("alias", ["", "---", "☃", "a\0", "\ud800a", "x" * 401, 7])
def test_an_alias_that_could_not_be_found_is_refused(alias: Any) -> None:
    with pytest.raises(InvalidValue, match=r"aliases\[1\]"):
        Entity("a", "A", aliases=("fine", alias))


@pytest.mark.parametrize("location", [(1, 2), {"latitude": 1, "longitude": 2, "datum": "NAD83"}, "31.8, -101.9"])
def test_a_location_that_is_no_point_is_refused(location: Any) -> None:
    with pytest.raises(InvalidValue, match="location"):
        Entity("a", "A", location=location)


@pytest.mark.parametrize(
    "properties",
    [{"a": math.nan}, {"a": object()}, {1: "a"}, ["a"], "text", {"a": "\0"}, {"a": ["b", {"c": "\ud800"}]}, {"\0": 1}],
    ids=["nan", "object", "number-as-key", "list", "text", "nul", "surrogate", "nul-in-key"],
)
def test_properties_that_are_no_json_or_not_kept_are_refused(properties: Any) -> None:
    with pytest.raises(InvalidValue, match="properties"):
        Entity("a", "A", properties)
    with pytest.raises(InvalidValue, match="properties"):
        Edge("a", "TO", "b", properties)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("42-329-12345", "42 329 12345"),
        ("42-329-12345", "4232912345"),
        ("４２－３２９", "42329"),
        ("Straße", "STRASSE"),
        ("Zoë", "zoe\u0308"),
        ("ﬁsh", "FISH"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Ⅷ", "viii"),
    ],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert alias_key(one) == alias_key(other)


@pytest.mark.parametrize(("one", "other"), [("Zoë", "Zoe"), ("कि", "का"), ("กิน", "กัน"), ("8-1", "8-10"), ("й", "и")])
def test_names_that_differ_in_a_letter_or_a_mark_have_two_keys(one: str, other: str) -> None:
    assert alias_key(one) != alias_key(other)


@given(st.text())
def test_the_key_of_a_key_is_the_key(text: str) -> None:
    assert alias_key(alias_key(text)) == alias_key(text)


@given(st.text())
def test_case_does_not_change_the_key(text: str) -> None:
    assert alias_key(text.casefold()) == alias_key(text)


def test_a_name_of_very_many_entities_is_refused_in_a_short_message() -> None:
    error = AmbiguousEntity("x" * 10_000, [f"{number:0200}" for number in range(10_000)])
    assert len(error.ids) == 10_000
    assert len(str(error)) < 2_000
    assert str(error).startswith("10,000 entities are called ")
    assert str(error).endswith(" and 9,995 more")


def test_all_of_few_ids_stand_in_the_message() -> None:
    assert str(AmbiguousEntity("n", list("abcde"))).endswith("name one by its id: 'a', 'b', 'c', 'd', 'e'")
