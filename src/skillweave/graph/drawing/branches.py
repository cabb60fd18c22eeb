"""The arrows of a decision tree in depth-first order, with an id for every decision (spec 3.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from skillweave.graph.declared import Decide, Declared, TreeNode


@dataclass(frozen=True, slots=True)
class Branch:
    """An arrow of the tree: `above` is the decision that it leaves, None at the root; `id` names what it leads to."""

    above: str | None
    label: str
    id: str
    node: TreeNode


def branches_of(declared: Declared) -> Iterator[Branch]:
    """Every arrow of the tree, `then` before `otherwise`; none for a graph without a tree.

    Decisions are `d0`, `d1`, ... in depth-first order, without the numbers that would make a skill's id. A decision
    that stands in several places, as one object, has one id and its own arrows once.
    """
    if declared.tree is None:
        return
    steps = list(_steps(declared.tree))
    taken = {skill.id for skill in declared.skills} | {node for _, _, node in steps if isinstance(node, str)}
    numbers = (f"d{number}" for number in count())
    free = (id_ for id_ in numbers if id_ not in taken)
    ids: dict[int, str] = {}
    for above, label, node in steps:
        if isinstance(node, Decide) and id(node) not in ids:
            ids[id(node)] = next(free)
        yield Branch(
            above=None if above is None else ids[id(above)],
            label=label,
            id=ids[id(node)] if isinstance(node, Decide) else node,
            node=node,
        )


def _steps(root: TreeNode) -> Iterator[tuple[Decide | None, str, TreeNode]]:
    waiting: list[tuple[Decide | None, str, TreeNode]] = [(None, "", root)]
    known: set[int] = set()
    while waiting:
        step = waiting.pop()
        yield step
        node = step[2]
        if isinstance(node, Decide) and id(node) not in known:
            known.add(id(node))
            waiting += ((node, "no", node.otherwise), (node, "yes", node.then))
