"""Decision trees in the data form: `{if, label, then, else}`, or a skill's id alone (spec 3.1)."""

from collections.abc import Mapping

from skillweave.graph.data.bounds import DEEPEST_TREE, MOST_DECISIONS
from skillweave.graph.data.conditions import write_condition
from skillweave.graph.data.entries import read_condition_data, read_label
from skillweave.graph.data.shape import inside, require_id, require_known_keys, require_mapping, wrong
from skillweave.graph.declared import Decide, TreeNode

DECISION_KEYS = ("if", "label", "then", "else")

_FORM = "write a skill's id, or {if: CONDITION, then: ..., else: ...}"


def read_tree(value: object, place: str) -> TreeNode:
    """The tree at that place, at most 200 decisions deep; raises InvalidGraph."""
    require_bounded_tree(value, place)
    return _read(value, place)


def write_tree(tree: TreeNode, place: str) -> object:
    """The tree as plain data; raises InvalidGraph for code, and for a tree too deep to be read again."""
    require_bounded_tree(tree, place)
    return _write(tree, place)


def require_bounded_tree(tree: object, place: str) -> None:
    """Refuse a tree, as data or as a value, that is too deep or too large; walked level by level."""
    level, depth, seen = [tree], 0, 0
    while level := [branch for node in level for branch in _branches(node)]:
        depth += 1
        seen += len(level) // 2
        if depth > DEEPEST_TREE:
            rule = f"more than {DEEPEST_TREE} decisions stand one below the other"
            raise wrong(place, rule, "decide on more than one thing at once, or use entries and routes")
        if seen > MOST_DECISIONS:
            raise wrong(place, f"the tree has more than {MOST_DECISIONS:,} decisions", "use entries and routes")


def _branches(node: object) -> tuple[object, ...]:
    if isinstance(node, Decide):
        return node.then, node.otherwise
    if isinstance(node, Mapping):
        return tuple(node[key] for key in ("then", "else") if key in node)
    return ()


def _read(value: object, place: str) -> TreeNode:
    if isinstance(value, str):
        return require_id(value, place)
    data = require_mapping(value, place, _FORM)
    require_known_keys(data, DECISION_KEYS, place)
    missing = next((key for key in ("if", "then", "else") if key not in data), None)
    if missing is not None:
        raise wrong(place, f"the decision has no `{missing}`", _FORM)
    return Decide(
        condition=read_condition_data(data["if"], inside(place, "if")),
        then=_read(data["then"], inside(place, "then")),
        otherwise=_read(data["else"], inside(place, "else")),
        label=read_label(data, place),
    )


def _write(node: TreeNode, place: str) -> object:
    if isinstance(node, str):
        return node
    label = {} if node.label is None else {"label": node.label}
    return {
        "if": write_condition(node.condition, inside(place, "if")),
        **label,
        "then": _write(node.then, inside(place, "then")),
        "else": _write(node.otherwise, inside(place, "else")),
    }
