"""The pack's sample graph in memory, and what its calculators answer."""

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from skillweave.knowledge.entity import Edge, Entity, Point
from skillweave.knowledge.memory import MemoryGraph
from skillweave.packs import Tool
from skillweave_texas_rrc import calculators

EXPECTED: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "expected_spacing.json").read_text("utf-8")
)
Change = Callable[[dict[str, Any]], None]


def sample() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(files("skillweave_texas_rrc").joinpath("sample_graph.json").read_text("utf-8"))
    return data


def entities_of(data: Mapping[str, Any]) -> MemoryGraph:
    edges = [Edge(one["source"], one["type"], one["target"], one["properties"]) for one in data["edges"]]
    return MemoryGraph([_entity(node) for node in data["nodes"]], edges)


def _entity(node: Mapping[str, Any]) -> Entity:
    properties = node["properties"]
    at = properties.get("surface_location")
    aliases = tuple(properties[key] for key in ("api_number", "name", "rrc_lease_id") if key in properties)
    location = Point(at["lat"], at["lon"], properties["datum"]) if at and "datum" in properties else None
    return Entity(node["id"], node["label"], properties, aliases, location)


def changed(change: Change) -> MemoryGraph:
    """The sample after a change to its data."""
    data = sample()
    change(data)
    return entities_of(data)


def node(data: Mapping[str, Any], entity_id: str) -> dict[str, Any]:
    properties: dict[str, Any] = next(one["properties"] for one in data["nodes"] if one["id"] == entity_id)
    return properties


def tool(name: str, graph: MemoryGraph | None = None) -> Tool:
    return next(one for one in calculators(graph) if one.name == name)


async def ask(name: str, arguments: Mapping[str, object], graph: MemoryGraph | None = None) -> Any:
    return await tool(name, graph).call(arguments)


async def ask_sample(name: str, **arguments: object) -> Any:
    return await ask(name, arguments, entities_of(sample()))
