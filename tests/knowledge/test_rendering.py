"""Lines of entity context: phrases that go with their fields, and texts of strangers that stay one short line."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from skillweave.errors import InvalidContext, InvalidValue
from skillweave.knowledge.entity import Edge, Entity
from skillweave.knowledge.rendering import (
    LONGEST_LINE,
    LONGEST_VALUE,
    Row,
    render_line,
    template_of,
    value_text,
)
from skillweave.skill import freeze, freeze_mapping
from tests.strategies import json_mappings, json_values, texts

names = st.sampled_from(["name", "flag", "size.width", "edge.days", "from.name", "id"])
words = st.text("ab :-", min_size=1, max_size=4)
phrases = st.lists(st.one_of(names.map(lambda name: f"{{{name}}}"), words), min_size=1, max_size=3).map("".join)
lines = st.lists(phrases | phrases.map(lambda text: f"({text})"), min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from([", ", "; ", " ", ""]).map(lambda between: between.join(parts))
)


def row(edge: Any = None, before: Any = None, **properties: Any) -> Row:
    there = None if edge is None else Edge("p1", "CALLED", "s1", freeze_mapping(edge))
    port = None if before is None else Entity("p1", "Port", freeze_mapping(before))
    return Row(Entity("s1", "Ship", freeze_mapping(properties)), there, port)


def known(make: Callable[[], Row]) -> Row:
    """A row of what a graph may hold."""
    try:
        return make()
    except InvalidValue:
        reject()


def line(template: str, **properties: Any) -> str | None:
    return render_line(template_of(template), row(**properties))


def test_a_field_that_is_missing_drops_its_phrase() -> None:
    template = "Status: {status}, Type: {type}; built {year}"
    assert line(template, status="laid up", type="bulk", year=1998) == "Status: laid up, Type: bulk; built 1998"
    assert line(template, type="bulk", year=1998) == "Type: bulk; built 1998"
    assert line(template, status="laid up", year=None) == "Status: laid up"


def test_a_parenthesis_is_a_phrase_of_its_own() -> None:
    template = "Ship: {name} (IMO: {imo}), Flag: {flag}"
    assert line(template, name="Aurora", flag="NO") == "Ship: Aurora, Flag: NO"
    assert line(template, imo=9074729, flag="NO") == "(IMO: 9074729), Flag: NO"


def test_phrases_inside_a_parenthesis_are_dropped_one_by_one() -> None:
    template = "{name} (IMO {imo}, call sign {sign})"
    assert line(template, name="Aurora", sign="LXAB") == "Aurora (call sign LXAB)"
    assert line(template, name="Aurora") == "Aurora"


def test_what_follows_a_parenthesis_is_a_phrase_too() -> None:
    template = "- {name} (IMO {imo}): {days} days, {flag}"
    assert line(template, name="Aurora", imo=1, days=3, flag="NO") == "- Aurora (IMO 1): 3 days, NO"
    assert line(template, name="Aurora", days=3, flag="NO") == "- Aurora: 3 days, NO"
    assert line(template, name="Aurora", imo=1, flag="NO") == "- Aurora (IMO 1), NO"
    assert line(template, days=3, flag="NO") == "- 3 days, NO"


def test_what_follows_a_field_and_a_colon_is_a_phrase_too() -> None:
    template = "- {month}: oil {oil} bbl, Gas: {gas}"
    assert line(template, month="May", gas=3) == "- May, Gas: 3"
    assert line(template, month="May", oil=3) == "- May: oil 3 bbl"
    assert line(template, oil=3) == "- oil 3 bbl"


def test_text_without_a_field_goes_with_the_field_before_it() -> None:
    assert line("{name} (owner), {flag}", flag="NO") == "NO"
    assert line("{name} (owner), {flag}", name="Aurora") == "Aurora (owner)"
    assert line("Fleet, {name}", name="Aurora") == "Fleet, Aurora"


def test_a_line_of_which_nothing_is_left_is_no_line() -> None:
    assert line("Ship: {name} (IMO: {imo})") is None
    assert line("Fleet, {name}") is None


def test_a_line_without_fields_stands_as_it_is() -> None:
    assert line("Draughts are in metres, (see the plan)") == "Draughts are in metres, (see the plan)"


def test_half_a_parenthesis_is_a_sign_like_any_other() -> None:
    assert line("1) {name}, {flag}", flag="NO", name="Aurora") == "1) Aurora, NO"


def test_fields_are_looked_up_in_the_node_the_edge_and_the_node_before() -> None:
    template = template_of("{id} {label} {node.size.width} {edge.days} {edge.relation} {from.name} {from.id}")
    found = render_line(template, row({"days": 3}, {"name": "Oslo"}, size={"width": 32.0}))
    assert found == "s1 Ship 32 3 CALLED Oslo p1"


def test_an_item_of_a_list_comes_before_the_node() -> None:
    node = Entity("s1", "Ship", freeze_mapping({"name": "Aurora", "month": "never"}))
    item = freeze({"month": "May", "id": "m5"})
    assert (
        render_line(template_of("{month}, {id}, {item.id}, {node.name}"), Row(node, item=item)) == "May, s1, m5, Aurora"
    )
    assert render_line(template_of("- {item}"), Row(node, item="May")) == "- May"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb\t c", "a b c"),
        ("a\x1b[2J\x00b", "a [2J b"),
        (1280.0, "1280"),
        (0.5, "0.5"),
        (True, "true"),
        (None, ""),
        ("", ""),
        ([], ""),
        ({}, ""),
        (["a", None, 2.0], "a, 2"),
        ({"C1": 72.4, "N2": None, "CO2": 1.0}, "C1: 72.4, CO2: 1"),
        ([{"lat": 1.5, "lon": 2}], "(lat: 1.5, lon: 2)"),
        ({"sizes": [1, 2]}, "sizes: (1, 2)"),
    ],
)
def test_a_value_is_one_line_of_text(value: Any, text: str) -> None:
    assert value_text(freeze(value)) == text


def test_a_number_of_any_size_is_short() -> None:
    assert value_text(10**5000) == "1.000000e+5000"


@pytest.mark.parametrize("template", ["", " ", "- ", "{", "a}b", "{a{b}}", "{}", "{a.}", "a\nb", "x" * 1001])
def test_a_line_that_makes_no_sense_is_refused(template: str) -> None:
    with pytest.raises(InvalidContext):
        template_of(template)


@given(template=lines, properties=json_mappings, edge=json_mappings)
def test_a_line_has_no_brace_of_its_template_and_no_break_of_its_data(
    template: str, properties: Any, edge: Any
) -> None:
    try:
        compiled = template_of(template)
    except InvalidContext:
        return
    here = known(lambda: Row(Entity("s1", "Ship", properties), Edge("p", "R", "s1", edge), Entity("p", "Port", edge)))
    found = render_line(compiled, here)
    if found is not None:
        assert len(found.splitlines()) == 1
        assert len(found) <= LONGEST_LINE
        braces = sum(value_text(here.find(name)).count("{") for name in compiled.fields)
        assert found.count("{") <= braces


@given(value=json_values)
def test_a_value_is_never_longer_than_a_value_may_be(value: Any) -> None:
    assert len(value_text(freeze(value))) <= LONGEST_VALUE


@given(template=lines, texts_of=st.fixed_dictionaries({"name": texts, "flag": texts}))
def test_a_line_is_left_out_only_where_it_has_fields_and_none_of_them_says_anything(
    template: str, texts_of: dict[str, str]
) -> None:
    try:
        compiled = template_of(template)
    except InvalidContext:
        return
    here = known(lambda: row(**texts_of))
    if render_line(compiled, here) is None:
        assert compiled.fields
    elif compiled.fields:
        assert any(value_text(here.find(name)) for name in compiled.fields)


@pytest.mark.parametrize(
    "hidden",
    ["\u202e", "\u202a", "\u2066", "\u2069", "\u200b", "\u2060", "\ufeff", "\U000e0001", "\U000e0041", "\U000e007f"],
)
def test_what_nobody_sees_of_a_value_is_not_shown_to_the_model_either(hidden: str) -> None:
    assert value_text(f"Aur{hidden}ora") == "Aurora"
    assert value_text({f"na{hidden}me": f"Aur{hidden}ora"}) == "name: Aurora"


@pytest.mark.parametrize("needed", ["\u200c", "\u200d", "\u200e", "\ufe0f"])
def test_what_scripts_and_signs_need_stays(needed: str) -> None:
    assert value_text(f"a{needed}b") == f"a{needed}b"


def test_parentheses_as_deep_as_nobody_reads_them_are_refused() -> None:
    assert render_line(template_of("(" * 10 + "{id}" + ")" * 10), Row(Entity("a", "Ship"))) == "(" * 10 + "a" + ")" * 10
    with pytest.raises(InvalidContext, match="11 parentheses inside one another"):
        template_of("(" * 11 + "{id}" + ")" * 11)
    with pytest.raises(InvalidContext, match="inside one another"):
        template_of("(" * 497 + "{id}" + ")" * 497)
