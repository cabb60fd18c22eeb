"""`skillweave schema`: the JSON Schemas of what commands print with `--json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Page
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
_OUTPUT = "skillweave.cli.output"
SHAPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "demo": (f"{_OUTPUT}.turn:Demo", f"{_OUTPUT}.demo:PackDemo"),
        "weave": ("skillweave.injection:Injection",),
        "chat": (f"{_OUTPUT}.turn:Told",),
        "match": (f"{_OUTPUT}.turn:Matches",),
        "catalog": (f"{_OUTPUT}.skills:CatalogShown",),
        "show": (f"{_OUTPUT}.skills:SkillShown",),
        "why": (f"{_OUTPUT}.turn:Explained",),
        "check": (f"{_OUTPUT}.skills:CheckShown",),
        "check-edit": (f"{_OUTPUT}.skills:EditShown",),
        "validate": (f"{_OUTPUT}.combine:Validated",),
        "compose": (f"{_OUTPUT}.combine:Composed",),
        "spawn": ("skillweave.compose.spawn:SpawnPlan", "skillweave.compose.spawn:SpawnRejected"),
        "ledger-list": (f"{_OUTPUT}.ledger:Conversations",),
        "ledger-show": (f"{_OUTPUT}.ledger:StateShown", f"{_OUTPUT}.ledger:RecordShown"),
        "ledger-evict": (f"{_OUTPUT}.ledger:Evicted",),
        "ledger-clear": (f"{_OUTPUT}.ledger:Cleared",),
        "ledger-disengage": (f"{_OUTPUT}.ledger:Gone",),
        "ledger-unload": (f"{_OUTPUT}.ledger:Gone",),
        "ledger-approve": (f"{_OUTPUT}.ledger:Judged",),
        "ledger-reject": (f"{_OUTPUT}.ledger:Judged",),
        "ledger-consent": (f"{_OUTPUT}.ledger:Judged",),
        "ledger-reconsider": (f"{_OUTPUT}.ledger:Withdrawn",),
        "entities-load": (f"{_OUTPUT}.entities:Loaded",),
        "entities-export": (f"{_OUTPUT}.entities:Exported",),
        "entities-show": (f"{_OUTPUT}.entities:EntityShown",),
        "entities-near": (f"{_OUTPUT}.entities:NearShown",),
        "entities-context": ("skillweave.knowledge.shown:ContextShown",),
        "graph-next": ("skillweave.graph.answers:Next",),
        "graph-reachable": (f"{_OUTPUT}.graph:Reachable",),
        "graph-check": ("skillweave.graph.checked:Checkup",),
        "graph-simulate": ("skillweave.graph.answers:SimulationShown",),
        "graph-show": ("skillweave.graph.answers:GraphShown",),
        "graph-draw": (f"{_OUTPUT}.graph:Drawn",),
        "graph-svg": (f"{_OUTPUT}.graph:Drawn",),
        "eval-triggers": ("skillweave_eval.triggers:TriggerReport",),
        "eval-ranking": ("skillweave_eval.ranking:RankingReport",),
        "eval-tokens": ("skillweave_eval.tokens:TokensReport",),
        "eval-fit": ("skillweave_eval.fit:FitReport",),
        "eval-live": ("skillweave_eval.live.report:LiveReport",),
        "eval-graph": ("skillweave_eval.graph:GraphReport",),
        "add": (f"{_OUTPUT}.installs:AddedShown",),
        "list": (f"{_OUTPUT}.installs:Installed",),
        "remove": (f"{_OUTPUT}.installs:Removed",),
        "seed": ("skillweave_stores.seed.filling:Seeded",),
        "publish": ("skillweave_stores.seed.filling:Seeded",),
        "versions": (f"{_OUTPUT}.store:VersionsShown",),
        "rollback": (f"{_OUTPUT}.store:RolledBack",),
        "unpublish": (f"{_OUTPUT}.store:Unpublished",),
        "migrate": (f"{_OUTPUT}.store:MigrationShown",),
        "serve": (f"{_OUTPUT}.service:Listening",),
        "keys-new": (f"{_OUTPUT}.service:KeyMade",),
        "keys-list": (f"{_OUTPUT}.service:KeysShown",),
        "keys-revoke": (f"{_OUTPUT}.service:KeyShown",),
        "approvals-log": (f"{_OUTPUT}.service:LogShown",),
        "approvals-verify": (f"{_OUTPUT}.service:LogVerified",),
        "init": ("skillweave.cli.scaffold:NewSkill",),
        "doctor": ("skillweave.cli.health:HealthShown",),
        "schema": (f"{__name__}:SchemaList",),
        "error": ("skillweave.cli.failure:Failed",),
    }
)
"""The values that each command prints, one of several or the only one; a class is loaded when its schema is made."""


class SchemaNamed(TypedDict):
    """A published schema: its name, and its `$id` with the version."""

    name: str
    id: str


class SchemaList(TypedDict):
    """All published schemas."""

    schemas: list[SchemaNamed]


def names() -> list[str]:
    """The names of all schemas: those of commands, then those of values."""
    from skillweave import schemas

    return [*SHAPES, *schemas.names()]


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
        shown = _List(_ids())
        return Answer(lambda: shown, shown.text)
    document = published(name)
    return Answer(partial(_Document, document), partial(_printed, document))


def published(name: str) -> "Schema":
    """The schema of that name; raises Mistake for one that there is not."""
    from skillweave import schemas
    from skillweave.errors import nearest_names

    if name in SHAPES:
        shape = reduce(or_, map(_resolved, SHAPES[name]))
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
        named = {kind: _naming_itself(schema["$defs"][kind], name) for kind in kinds}
        return {**schema, "$defs": {**schema["$defs"], **named}}
    named = {NAMING: {"const": schema_id(name)}, **schema["properties"]}
    return {**schema, "properties": named, "required": [NAMING, *schema.get("required", ())]}


def _ids() -> Mapping[str, str]:
    from skillweave import schemas

    of_values = {name: schema_id(name, schemas.SHAPES[name][1]) for name in schemas.names()}
    return {**{name: schema_id(name) for name in SHAPES}, **of_values}


def _resolved(path: str) -> Any:  # noqa: ANN401 - a class
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True, slots=True)
class _Document:
    """A schema as it is printed: it says of itself what it is."""

    document: "Schema"

    def to_dict(self) -> "Schema":
        return self.document


@dataclass(frozen=True, slots=True)
class _List:
    ids: Mapping[str, str]

    def to_dict(self) -> SchemaList:
        return {"schemas": [{"name": name, "id": schema_id} for name, schema_id in self.ids.items()]}

    def text(self, page: Page) -> str:
        return "\n".join(page.entry(name, schema_id) for name, schema_id in self.ids.items())


def _printed(document: "Schema", _: Page) -> str:
    import json

    return json.dumps(document, indent=2)
