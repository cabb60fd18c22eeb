"""The parts of a declared tree, in their order."""

from collections.abc import Iterator

from skillweave.graph.declared import TreeNode


def nodes_of(tree: TreeNode | None) -> Iterator[TreeNode]:
    """Decisions and leaves, depth first; a decision that stands in several branches once, or they would multiply."""
    waiting: list[TreeNode] = [] if tree is None else [tree]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += (node.otherwise, node.then)
