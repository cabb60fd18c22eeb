"""What is known of things: entities, their graphs, the rules that say what is shown, and the result."""

from skillweave.factory import graph_of_entities
from skillweave.knowledge.asked import asked_direction, asked_radius, asked_ref, taken_out
from skillweave.knowledge.assemble import GraphContext, assemble
from skillweave.knowledge.context import ContextSource, FindsEntities, Section
from skillweave.knowledge.entity import (
    LONGEST_ALIAS,
    LONGEST_NAME,
    MOST_NEAR,
    MOST_NEIGHBOURS,
    MOST_RADIUS_FT,
    AmbiguousEntity,
    Direction,
    Edge,
    Entity,
    EntityGraph,
    EntityNotFound,
    Nearby,
    NearbyEntities,
    Neighbour,
    Piece,
    Point,
    UnknownEnd,
    WritableGraph,
    alias_key,
    datum_name,
)
from skillweave.knowledge.geodesy import SHIFT_FT, Box, box_around, distances_ft
from skillweave.knowledge.memory import MemoryGraph
from skillweave.knowledge.rules import ContextRules, Hop, IdPattern, SectionPart, SectionRule, context_rules_in
from skillweave.knowledge.shown import ContextShown, LineShown, SectionShown, context_shown
from skillweave.sources.entity_files import EntityFiles

__all__ = [
    "LONGEST_ALIAS",
    "LONGEST_NAME",
    "MOST_NEAR",
    "MOST_NEIGHBOURS",
    "MOST_RADIUS_FT",
    "SHIFT_FT",
    "AmbiguousEntity",
    "Box",
    "ContextRules",
    "ContextShown",
    "ContextSource",
    "Direction",
    "Edge",
    "Entity",
    "EntityFiles",
    "EntityGraph",
    "EntityNotFound",
    "FindsEntities",
    "GraphContext",
    "Hop",
    "IdPattern",
    "LineShown",
    "MemoryGraph",
    "Nearby",
    "NearbyEntities",
    "Neighbour",
    "Piece",
    "Point",
    "Section",
    "SectionPart",
    "SectionRule",
    "SectionShown",
    "UnknownEnd",
    "WritableGraph",
    "alias_key",
    "asked_direction",
    "asked_radius",
    "asked_ref",
    "assemble",
    "box_around",
    "context_rules_in",
    "context_shown",
    "datum_name",
    "distances_ft",
    "graph_of_entities",
    "taken_out",
]
