"""Schemas and values for Hypothesis: small alphabets, so that rules and values meet."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "ab", "$ref", "ä/~", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 2.5, 1e300, -0.0, 10**40]),
    st.sampled_from(["", "a", "ab", "abc", "é", "#", "1"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
PATTERNS = st.sampled_from(["^a", "b$", "", "[ab]+", "^$", "a|c"])
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/$defs/a/properties/a", "#a"])
SMALL = st.integers(0, 3)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(NAMES, inner, max_size=3)
    return {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "minimum": st.integers(-3, 3),
        "maximum": st.sampled_from([0.5, 1, 2]),
        "exclusiveMinimum": st.integers(-3, 3),
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        "minLength": SMALL,
        "maxLength": SMALL,
        "minItems": SMALL,
        "maxItems": SMALL,
        "uniqueItems": st.booleans(),
        "minProperties": SMALL,
        "maxProperties": SMALL,
        "required": st.lists(NAMES, max_size=3, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        "properties": by_name,
        "dependentSchemas": by_name,
        "additionalProperties": inner,
        "propertyNames": inner,
        "items": inner,
        "prefixItems": some,
        "contains": inner,
        "minContains": SMALL,
        "maxContains": SMALL,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$defs": st.dictionaries(st.sampled_from(["a", "b"]), inner, min_size=1, max_size=2),
    }


def _extend(inner: st.SearchStrategy[Any], *, patterns: bool, references: bool) -> st.SearchStrategy[Any]:
    keywords = _keywords(inner)
    if patterns:
        keywords["pattern"] = PATTERNS
        keywords["patternProperties"] = st.dictionaries(PATTERNS, inner, max_size=2)
    if references:
        keywords["$ref"] = REFERENCES
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


def schemas(*, patterns: bool = False, references: bool = False) -> st.SearchStrategy[Any]:
    """Schemas that keep to the rules of draft 2020-12, each reference perhaps to nowhere."""
    return st.recursive(
        st.booleans() | st.just({}) | TYPES.map(lambda name: {"type": name}),
        lambda inner: _extend(inner, patterns=patterns, references=references),
        max_leaves=12,
    )
