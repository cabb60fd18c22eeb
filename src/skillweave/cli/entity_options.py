"""The options about entities, which the commands about them and the turns share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from skillweave.cli import completion
from skillweave.cli.arguments.entities import existing_graph, graph_to_fill
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.option import ENTITIES, option

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from skillweave.knowledge.entity import EntityGraph, WritableGraph
    from skillweave.registry import Source

Entities: TypeAlias = Annotated[
    str | None,
    option(
        ENTITIES,
        "--entities URL-or-FILE",
        "What is known of the things that conversations are about: a JSON file of entities, sqlite:///FILE or "
        "postgresql://USER:PASSWORD@HOST/NAME.",
    ),
]
EntityTenant: TypeAlias = Annotated[
    str, option(ENTITIES, "--tenant NAME", "Whose entities they are, where several customers share a database.")
]
EntitySkills: TypeAlias = Annotated[
    list[str] | None,
    option(
        ENTITIES,
        "--skills DIR-or-FILE",
        "Skills, or a pack (.yaml, .json), which says what properties of entities are names and places, and what is "
        "shown of them. Repeatable. Default: none",
    ),
]
EntityPacks: TypeAlias = Annotated[
    list[str] | None,
    option(ENTITIES, "--pack NAME", "The same of an installed pack. Repeatable.", autocompletion=completion.packs),
]
Ref: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="REF", help="The id of an entity, or one of its other names."),
]


@dataclass(frozen=True, slots=True)
class OfEntities:
    """The entities that a command works on."""

    entities: Entities = None
    tenant: EntityTenant = ""
    skills: EntitySkills = None
    pack: EntityPacks = None

    def existing(self) -> "AbstractAsyncContextManager[EntityGraph]":
        """The graph, which must be there already, open while the context lasts; raises Mistake."""
        return existing_graph(self.entities, self.tenant, self.sources())

    def to_fill(self) -> "AbstractAsyncContextManager[WritableGraph]":
        """The graph of a database, made where it is not there yet; raises Mistake for what cannot be filled."""
        return graph_to_fill(self.entities, self.tenant)

    def sources(self) -> tuple["Source", ...]:
        """The skills that are named, whose packs may say how entities are read; none where none are named."""
        return sources_of(self.skills, strict=False, packs=self.pack) if self.skills or self.pack else ()
