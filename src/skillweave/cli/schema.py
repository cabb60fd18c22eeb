"""`skillweave schema`: the JSON Schemas of what commands print with `--json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.commands import known_commands, printed_by
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Page
from skillweave.codec import Portable
from skillweave.schemas import NAMING, schema_id

if TYPE_CHECKING:
    from skillweave.schemas import Schema

EXAMPLES = {
    "schema": """
skillweave schema
skillweave schema weave
skillweave schema weave > weave.schema.json
"""
}
BESIDE: Mapping[str, str] = MappingProxyType(
    {"check-edit": "skillweave.cli.output.skills:EditShown", "error": "skillweave.cli.failure:Failed"}
)
"""What is printed with `--json` besides the answers of commands."""


@dataclass(frozen=True, slots=True)
class SchemaNamed(Portable):
    """A published schema: its name, and its `$id` with the version."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class SchemaList(Portable):
    """All published schemas."""

    schemas: tuple[SchemaNamed, ...]

    def text(self, page: Page) -> str:
        """A line for each."""
        return "\n".join(page.entry(one.name, one.id) for one in self.schemas)


def shapes() -> Mapping[str, str]:
    """The classes that each command prints, by the name of the schema; one is imported when its schema is made."""
    return {**dict(printed_by(known_commands())), **BESIDE}


def names() -> list[str]:
    """The names of all schemas: those of commands, then those of values."""
    from skillweave import schemas

    return [*shapes(), *schemas.names()]


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A command, such as weave or ledger-show, error, or a value, such as state. Default: list the names.",
            show_default=False,
            autocompletion=names,
        ),
    ] = None,
) -> Answer:
    """Print the JSON Schemas of what --json prints.

    There is one for every command, one for an error, check-edit for each line of `check --watch` after the first, and
    one for every value that the library writes. They are in draft 2020-12. Whatever is printed with --json begins with
    `$schema`, the id of its schema; the number at the end of the id is the version, which grows when a key goes or
    changes its meaning.
    """
    if name is None:
        from skillweave import schemas

        versions = {name: schemas.SHAPES[name][1] for name in schemas.names()}
        ids = {name: schema_id(name, versions.get(name, schemas.OF_COMMANDS)) for name in names()}
        shown = SchemaList(tuple(SchemaNamed(name, ids[name]) for name in ids))
        return Answer(lambda: shown, shown.text)
    document = published(name)
    return Answer(partial(_Document, document), lambda _: json.dumps(document, indent=2))


def published(name: str) -> "Schema":
    """The schema of that name; raises Mistake for one that there is not."""
    from skillweave import schemas
    from skillweave.errors import nearest_names

    printed = shapes()
    if name in printed:
        shape = reduce(or_, map(resolve_name, printed[name].split()))
        made = _naming_itself(schemas.schema_of(shape), name)
        return {NAMING: schemas.DIALECT, "$id": schema_id(name), **made, "title": name}
    if name not in schemas.names():
        near = nearest_names(name, names())
        remedy = f"did you mean {near[0]!r}?" if near else "`skillweave schema` lists them"
        raise Mistake(f"there is no schema {name[:60]!r}; {remedy}")
    return schemas.schema(name)


def _naming_itself(schema: "Schema", name: str) -> "Schema":
    """The schema of a printed value, which says first of all what its schema is."""
    if "anyOf" in schema:  # one of several values
        kinds = [one["$ref"].rpartition("/")[2] for one in schema["anyOf"]]
        return {**schema, "anyOf": [_naming_itself(schema["$defs"][kind], name) for kind in kinds]}
    named = {NAMING: {"const": schema_id(name)}, **schema["properties"]}
    return {**schema, "properties": named, "required": [NAMING, *schema.get("required", ())]}


@dataclass(frozen=True, slots=True)
class _Document:
    """A schema as it is printed: it says of itself what it is."""

    document: "Schema"

    def to_dict(self) -> "Schema":
        return self.document
