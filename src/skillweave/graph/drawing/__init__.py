"""Graphs as pictures: nodes and edges, Mermaid text, and SVG without a network (spec 3.6)."""
