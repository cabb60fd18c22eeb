"""Hypothesis strategies for entities and edges with everything that a file could lose."""

import json

from hypothesis import strategies as st

from skillweave.entities import Edge, Entity, Point
from skillweave.frozen import freeze_mapping
from skillweave.knowledge.entity import datum_name, is_alias
from tests.strategies import TRICKY

CELLS = (
    *(
        "1",
        "-1",
        "007",
        "1.50",
        "1e5",
        "1E5",
        "-0",
        "-0.0",
        "0.1",
        "1_000",
        "12345678901234567890.5",
        "١",
        "-inf",
        "NaN",
    ),
    *("=1+1", "+1", "-a", "@a", " =1", "＝1", "a|b", "|", "[1]", "[1", "{", '{"a": 1}', '"a"', '"', "a,b", "a;b"),
    *("null", "true", "TRUE", " true ", "a\rb", "a\r\nb", "\t", "id", "properties.id", "datum", "properties."),
)
"""Texts that mean something else in a cell of a CSV file, or in its first line."""
texts = st.one_of(
    st.sampled_from([one for one in (*TRICKY, *CELLS) if "\0" not in one]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
names = texts.filter(lambda text: bool(text.strip()))
numbers = st.one_of(
    st.integers(), st.integers(-(10**60), 10**60), st.floats(allow_nan=False, allow_infinity=False), st.booleans()
)
values = st.recursive(
    st.none() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
properties = st.dictionaries(texts | st.sampled_from(["ID", "Type", "latitude", "Datum"]), values, max_size=4).map(
    freeze_mapping
)
points = st.builds(Point, st.floats(-90, 90), st.floats(-180, 180), names.filter(lambda name: datum_name(name) != ""))
entities = st.builds(
    Entity,
    names,
    names,
    properties,
    st.lists(texts.filter(is_alias), max_size=3, unique=True).map(tuple),
    st.none() | points,
)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Entity], list[Edge]]:
    """Entities, and edges between them."""
    things = draw(st.lists(entities, max_size=4, unique_by=lambda one: one.id))
    ids = st.sampled_from([one.id for one in things] or ["nothing"])
    ties = draw(
        st.lists(
            st.builds(Edge, ids, names, ids, properties),
            max_size=4 if things else 0,
            unique_by=lambda one: (one.source, one.relation, one.target),
        )
    )
    return things, ties


def exactly(pieces: list[Entity] | list[Edge]) -> list[str]:
    """Entities or edges so that 1 is not 1.0; the keys of a mapping have no order in a CSV file."""
    return [json.dumps(piece.to_dict(), sort_keys=True) for piece in pieces]
