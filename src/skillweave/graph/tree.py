"""Decision trees: no cursor, each turn one walk from the root to a leaf (spec 3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillweave.decisions import Evidence
from skillweave.graph.conditions import Condition
from skillweave.graph.declared import Decide, TreeNode
from skillweave.graph.judging import Sight, judge
from skillweave.graph.tree_nodes import nodes_of


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision on the way: its condition, its label, and whether it held."""

    condition: Condition
    label: str | None
    held: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """The skill that a walk leads to, the decisions on the way, and what showed that they hold or failed."""

    skill: str
    path: tuple[Decided, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def walk(tree: TreeNode, default: str | None, sight: Sight) -> Leaf:
    """The one leaf of this moment; where a condition raises, the `default` one, or else its `otherwise` branch."""
    path: list[Decided] = []
    evidence: list[Evidence] = []
    node = tree
    while isinstance(node, Decide):
        verdict = judge(node.condition, sight)
        evidence += verdict.evidence
        path.append(Decided(node.condition, node.label, verdict.holds))
        node = node.then if verdict.holds else node.otherwise
        if verdict.raised and default is not None:
            node = default
    return Leaf(node, tuple(path), tuple(evidence))


def leaf_ids(tree: TreeNode | None, default: str | None = None) -> tuple[str, ...]:
    """All leaf skills in depth-first order, once each; the default one last where it stands nowhere else."""
    found = dict.fromkeys(_leaves(tree))
    if tree is not None and default is not None:
        found.setdefault(default)
    return tuple(found)


def _leaves(tree: TreeNode | None) -> Iterator[str]:
    for node in nodes_of(tree):
        if isinstance(node, str):
            yield node
