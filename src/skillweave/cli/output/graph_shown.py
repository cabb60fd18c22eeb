"""A whole graph in words: every skill with what leads to it and where it leads."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page, printable
from skillweave.cli.output.words import counted
from skillweave.graph.declared import ANY

if TYPE_CHECKING:
    from skillweave.graph.drawn import Edge, Node
    from skillweave.graph.graph import SkillGraph


def shown_data(graph: "SkillGraph") -> dict[str, object]:
    """`{digest, skills: [{id, description, base, triggers}], nodes, edges}`."""
    return {
        "digest": graph.digest,
        "skills": [
            {
                "id": wired.skill.id,
                "description": wired.skill.description,
                "base": wired.base,
                "triggers": [_edge(edge) for edge in wired.triggers],
            }
            for wired in graph.skills
        ],
        "nodes": [{"id": node.id, "kind": node.kind.value, "label": node.label} for node in graph.nodes],
        "edges": [_edge(edge) for edge in graph.edges],
    }


def shown_text(graph: "SkillGraph", page: Page) -> str:
    """A paragraph for each skill, or for each decision of a tree, and the digest."""
    ways = _Ways(graph)
    blocks = ["\n".join(ways.block(node, page)) for node in graph.nodes]
    if ways.out[ANY]:
        blocks.append("\n".join([page.paint("any skill", Ink.STRONG), *ways.leading_from(ANY, page)]))
    counts = f"{counted(len(graph.declared.skills), 'skill')}, {counted(len(graph.edges), 'edge')}"
    return "\n\n".join([*blocks, page.entry("graph", f"{counts}, digest {graph.digest[:32]}...")])


class _Ways:
    """The edges of a graph by where they begin."""

    def __init__(self, graph: "SkillGraph") -> None:
        self.out: defaultdict[str, list[Edge]] = defaultdict(list)
        self._begins: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            if edge.from_ is None:
                self._begins[edge.to].append(edge)
            else:
                self.out[edge.from_].append(edge)
        self._names = {node.id: _name(node) for node in graph.nodes}
        self._descriptions = {skill.id: skill.description for skill in graph.declared.skills}

    def block(self, node: "Node", page: Page) -> Iterator[str]:
        yield page.paint(printable(self._names[node.id]), Ink.STRONG)
        if self._descriptions.get(node.id):
            yield page.wrap(self._descriptions[node.id], 2)
        for edge in self._begins[node.id]:
            always = "always" if edge.kind.value == "entry" else "in every turn"
            yield page.entry("  begins", edge.label or always)
        yield from self.leading_from(node.id, page)

    def leading_from(self, source: str, page: Page) -> Iterator[str]:
        for edge in self.out[source]:
            why = edge.label or ("where the model asks for it" if edge.kind.value == "model" else "")
            yield page.entry("  leads to", f"{self._names.get(edge.to, edge.to)}{f': {why}' if why else ''}")


def _name(node: "Node") -> str:
    return node.id if node.kind.value == "skill" else f"{node.label.rstrip('?')}?"


def _edge(edge: "Edge") -> dict[str, str | None]:
    return {"from": edge.from_, "to": edge.to, "kind": edge.kind.value, "label": edge.label}
