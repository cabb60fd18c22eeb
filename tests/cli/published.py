"""Holds what commands print with `--json` against the schemas that `skillweave schema` publishes."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from skillweave.cli.commands import OWN, find_guests
from skillweave.cli.failure import wants_json
from skillweave.cli.schema import published, shapes
from skillweave.schemas import DIALECT

SEEN: set[str] = set()
"""The names of the schemas that some output was held against in this process."""


def require_published(words: Sequence[str], out: str) -> None:
    """Fail where the output is JSON and has another form than the schema of the command says."""
    if not wants_json(words) or "--help" in words or not out:
        return
    commands = {**OWN, **find_guests().taken}
    name = next((word for word in words if word in commands), None)
    if name is None:
        return
    if commands[name].is_group:
        named = "live" if "--live" in words else words[words.index(name) + 1]
        name = "eval-triggers" if name == "eval" and f"eval-{named}" not in shapes() else f"{name}-{named}"
    for data in documents(out):
        require_valid(name, data)


def documents(out: str) -> list[Any]:
    """The JSON that was printed: one document, or one in each line."""
    try:
        return [json.loads(out)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in out.splitlines()]


def require_valid(name: str, data: Any) -> None:
    """Fail where the data does not fit the schema, or has a key that the schema does not name."""
    if name == "schema" and data["$schema"] == DIALECT:
        Draft202012Validator.check_schema(data)
        return
    name = "error" if "error" in data or name not in shapes() else name
    name = "check-edit" if data["$schema"].endswith(":check-edit:1") else name
    SEEN.add(name)
    problems = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(data)]
    assert not problems, f"{name}: {problems[:3]}"


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of a schema whose objects have no other keys than those named."""
    schema = published(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(closed(schema))


def closed(schema: Any) -> Any:
    """The schema without the freedom to have further keys; a request for a sub-agent carries parameters of its host."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {
        key: one if key in ("enum", "const") else closed(one) for key, one in schema.items() if key != "SpawnRequest"
    }
    if "SpawnRequest" in schema:
        inner["SpawnRequest"] = schema["SpawnRequest"]
    return {**inner, "additionalProperties": False} if isinstance(schema.get("required"), list) else inner
