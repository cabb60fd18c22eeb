"""Graphs as pictures: nodes and edges, Mermaid text, and SVG without a network (spec 3.6)."""

from skillweave.doors import door
from skillweave.graph.drawing.mermaid import to_mermaid
from skillweave.graph.drawing.nodes import edges_of, nodes_of
from skillweave.graph.drawing.svg import to_svg

__all__ = ["edges_of", "nodes_of", "to_mermaid", "to_svg"]

__getattr__ = door(
    __name__,
    """
columns: settled
figures: width_of wrapped
layout: HEAD Layout Point layout_of
nodes: LONGEST_CAPTION condition_caption decision_caption entry_caption kind_of route_caption
picture: LONGEST_LABEL EndKind Mark picture_of
rows: MOST_SWEEPS Box Room Rows Tie ranks_of rows_of untangle
svg: DARK LIGHT
""",
)
