"""Graphs as pictures: nodes and edges, Mermaid text, and SVG without a network (spec 3.6)."""

from skillweave.doors import door
from skillweave.graph.drawing.mermaid import to_mermaid
from skillweave.graph.drawing.nodes import edges_of, nodes_of
from skillweave.graph.drawing.svg import to_svg

__all__ = ["edges_of", "nodes_of", "to_mermaid", "to_svg"]

__getattr__ = door(
    __name__,
    """
figures: width_of wrapped
layout: HEAD Layout Point layout_of ranks_of
nodes: LONGEST_CAPTION condition_caption decision_caption entry_caption kind_of route_caption
picture: LONGEST_LABEL EndKind Mark Picture picture_of
svg: DARK LIGHT
""",
)
