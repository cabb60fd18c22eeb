"""Pieces of JSON Schema that the calculators of this pack share."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]


def record(properties: Mapping[str, Schema], required: tuple[str, ...] = (), description: str = "") -> Schema:
    """An object with these keys and no others."""
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return described(schema, description) if description else schema


def described(schema: Schema, description: str) -> Schema:
    """The schema with words for the model."""
    return {**schema, "description": description}


def text(description: str, longest: int = 200) -> Schema:
    """A short text that is not empty."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


def several(items: Schema, most: int, description: str = "", least: int = 0) -> Schema:
    """A list of up to `most` items."""
    schema: Schema = {"type": "array", "items": items, "minItems": least, "maxItems": most}
    return described(schema, description) if description else schema


def optional(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def answer(*keys: str) -> Schema:
    """The schema of an answer: an object with its own keys, then `units`, `basis` and `warnings`."""
    return {"type": "object", "required": [*keys, "units", "basis", "warnings"]}
