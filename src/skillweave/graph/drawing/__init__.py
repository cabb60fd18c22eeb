"""Graphs as pictures: nodes and edges, Mermaid text, and SVG without a network (spec 3.6)."""

from skillweave.graph.drawing.mermaid import to_mermaid
from skillweave.graph.drawing.nodes import edges_of, nodes_of
from skillweave.graph.drawing.svg import to_svg

__all__ = ["edges_of", "nodes_of", "to_mermaid", "to_svg"]
