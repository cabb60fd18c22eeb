import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skillweave.errors import InvalidGraph
from skillweave.graph import Declared, Op, graph_schema
from skillweave.graph import shape as bounds
from skillweave.graph.conditions import KINDS
from skillweave.graph.data.codec import GRAPH_KEYS, SCHEMA, read_graph, write_graph
from skillweave.graph.data.options import LIMIT_KEYS, PICK_KEYS, PICKS, VISIT_KEYS
from skillweave.graph.data.parts import DECISION_KEYS, ENTRY_KEYS, ROUTE_KEYS, SKILL_KEYS
from tests.graph.data.broken import BROKEN, deep_all, deep_tree, entry, route
from tests.graph.data.readable import readable

VALIDATOR = Draft202012Validator(graph_schema())
DEFINITIONS: Mapping[str, Any] = graph_schema()["$defs"]

BEYOND_A_SCHEMA = ("cannot be used", "stands twice", "appears twice", "unprintable")
"""What errors say that no schema can see: broken expressions, skills that stand twice, odd characters."""

RIGHT: list[dict[str, Any]] = [
    {},
    {"skills": ["a", {"id": "b", "description": "", "tools": [], "body": "", "owner": None}]},
    {"skills": [{"id": "b", "allowed_tools": ["t"], "instructions": "x"}]},
    {"skills": [], "entries": [], "routes": [], "never_routes": [], "scales": {}, "limits": {}, "suppress": {}},
    entry(match={"regex": "x", "flags": "imsu"}),
    entry(when={"intent": "x", "examples": ["y"]}, examples=[], base=False),
    entry(match={"history_min": 2.0}),
    entry(match=deep_all(4)),
    route(on_tool={"regex": "x"}, on_status=["success"], guard={"n": {"in": [None, True, 1, "x"]}}, priority=-1),
    {"routes": [{"from": "*", "to": "a"}, {"from": "ANY", "to": "a"}]},
    {"tree": "a"},
    {"tree": {**deep_tree(3), "default": "a", "label": "x"}, "entries": [], "pick": "declaration"},
    {"tree": deep_tree(1), "default": "b", "pick": "lexical"},
    {"pick": {"by": "read"}},
    {"pick": {"by": "embedding", "temperature": 0.1, "min_score": None, "margin": 0}},
    {"limits": {"visits": {"per_skill": {"a": 2, "*": 3}, "per_run": 9}, "iterations": 4}},
]


def test_the_schema_is_a_valid_json_schema_that_ships_with_the_package() -> None:
    Draft202012Validator.check_schema(graph_schema())
    assert SCHEMA.parent.name == "graph"


def test_the_schema_is_the_callers_own() -> None:
    graph_schema()["properties"].clear()
    assert graph_schema()["properties"]


@pytest.mark.parametrize("data", RIGHT, ids=json.dumps)
def test_what_the_reader_takes_is_valid(data: dict[str, Any]) -> None:
    read_graph(data)
    VALIDATOR.validate(data)


@pytest.mark.parametrize("name", [name for name, broken in BROKEN.items() if broken.schema])
def test_what_the_reader_refuses_is_not_valid(name: str) -> None:
    assert not VALIDATOR.is_valid(BROKEN[name].data)


@given(readable, st.data())
def test_reader_and_schema_judge_alike_whatever_is_changed_in_a_graph(declared: Declared, data: st.DataObject) -> None:
    changed = data.draw(_changed(write_graph(declared)))
    try:
        read_graph(changed)
        refusal = ""
    except InvalidGraph as error:
        refusal = str(error)
    if not any(word in refusal for word in BEYOND_A_SCHEMA):
        assert VALIDATOR.is_valid(changed) is not bool(refusal), refusal


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        (graph_schema(), GRAPH_KEYS),
        (DEFINITIONS["skill"], SKILL_KEYS),
        (DEFINITIONS["entry"], ENTRY_KEYS),
        (DEFINITIONS["route"], ROUTE_KEYS),
        (DEFINITIONS["branching"], DECISION_KEYS),
        (DEFINITIONS["condition"], (*KINDS, "flags", "examples")),
        (DEFINITIONS["guard"]["additionalProperties"], tuple(Op)),
        (DEFINITIONS["pick"], PICK_KEYS),
        (DEFINITIONS["limits"], LIMIT_KEYS),
        (DEFINITIONS["limits"]["properties"]["visits"]["anyOf"][1], VISIT_KEYS),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_reader_and_schema_know_the_same_keys(place: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    assert sorted(place["properties"]) == sorted(keys)


def test_reader_and_schema_know_the_same_kinds_and_picks() -> None:
    kinds = [kind["required"][0] for kind in DEFINITIONS["condition"]["oneOf"]]
    assert sorted(kinds) == sorted(KINDS)
    assert DEFINITIONS["pick"]["properties"]["by"]["enum"] == list(PICKS)
    assert graph_schema()["properties"]["pick"]["anyOf"][0]["enum"] == list(PICKS)


def test_reader_and_schema_have_the_same_bounds() -> None:
    stated = {value for key, value in _numbers(graph_schema()) if key.startswith("max") and value > 1}
    named = {
        *(bounds.MOST_SKILLS, bounds.MOST_ENTRIES, bounds.MOST_ROUTES, bounds.MOST_PHRASES, bounds.MOST_ITEMS),
        *(bounds.LONGEST_ID, bounds.LONGEST_LABEL, bounds.LONGEST_PHRASE, bounds.LONGEST_DESCRIPTION),
        *(bounds.LONGEST_BODY, bounds.LARGEST_WHOLE),
    }
    assert stated == named


@pytest.mark.parametrize(
    "data",
    [
        entry(skill="x" * (bounds.LONGEST_ID + 1)),
        entry(label="x" * (bounds.LONGEST_LABEL + 1)),
        entry(match={"keywords": ["x" * (bounds.LONGEST_PHRASE + 1)]}),
        entry(match={"keywords": ["x"] * (bounds.MOST_ITEMS + 1)}),
        entry(examples=["x"] * (bounds.MOST_ITEMS + 1)),
        {"skills": [{"id": "a", "description": "x" * (bounds.LONGEST_DESCRIPTION + 1)}]},
        {"skills": [{"id": "a", "body": "x" * (bounds.LONGEST_BODY + 1)}]},
        {"skills": [{"id": "a", "tools": ["x"] * (bounds.MOST_ITEMS + 1)}]},
        {"never_routes": ["x"] * (bounds.MOST_PHRASES + 1)},
        {"scales": {str(number): ["x"] for number in range(bounds.MOST_ITEMS + 1)}},
        {"suppress": {str(number): "x" for number in range(bounds.MOST_ITEMS + 1)}},
        route(guard={str(number): {"eq": 1} for number in range(bounds.MOST_ITEMS + 1)}),
        route(guard={"n": {"in": [1] * (bounds.MOST_ITEMS + 1)}}),
        route(guard={"n": {"eq": "x" * (bounds.LONGEST_PHRASE + 1)}}),
        {"limits": {"visits": {"per_skill": {str(number): 1 for number in range(bounds.MOST_SKILLS + 1)}}}},
    ],
    ids=lambda data: json.dumps(data)[:40],
)
def test_what_is_too_much_is_refused_by_both(data: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(InvalidGraph, match="are allowed"):
        read_graph(data)


JUNK = st.sampled_from(
    [None, True, 0, 1, -1, 1.5, 2.0, "", " ", "a", "*", "ANY", "read", "x\n", [], ["a"], ["a", "a"], {}, {"a": "b"}]
)


def _changed(graph: Any) -> st.SearchStrategy[Any]:
    """The graph with one value somewhere in it replaced, removed, or put under another key."""
    return st.sampled_from(list(_places(graph))).flatmap(lambda place: _changed_at(graph, place))


def _changed_at(graph: Any, place: tuple[str | int, ...]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["a", "skill", "when", "flags", "examples", "default", "tools", "body", "label", "if", ""])
    return st.one_of(
        JUNK.map(lambda junk: _with(graph, place, lambda _: junk)),
        st.just(place).map(lambda _: _with(graph, place[:-1], lambda inner: _without(inner, place[-1]))),
        st.tuples(keys, JUNK).map(
            lambda added: _with(
                graph, place, lambda inner: {**(inner if isinstance(inner, dict) else {}), added[0]: added[1]}
            )
        ),
    )


def _places(value: Any, here: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if here:
        yield here
    for key, item in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from _places(item, (*here, key))


def _with(value: Any, place: tuple[str | int, ...], change: Callable[[Any], Any]) -> Any:
    if not place:
        return change(value)
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[place[0]] = _with(value[place[0]], place[1:], change)
    return copied


def _without(value: Any, key: str | int) -> Any:
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name != key}
    return [item for number, item in enumerate(value) if number != key]


def _numbers(value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, int) and not isinstance(item, bool):
                yield key, item
            yield from _numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item)
