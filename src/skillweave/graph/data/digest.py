"""What identifies a version of a graph: the hash of its wiring (spec 3.1)."""

import json
from collections.abc import Iterator
from hashlib import sha256

from skillweave.graph.compiled import wired_ids
from skillweave.graph.conditions import AllOf, Condition, ConditionKind, Regex
from skillweave.graph.data.options import POLICY_KEYS, built_in_name
from skillweave.graph.declared import Declared, EntryPick, Route, TreeNode
from skillweave.graph.guards import json_value
from skillweave.graph.scoring import Scorer


def digest_of(declared: Declared) -> str:
    """SHA-256 hex of the wiring, the same in every spelling; skills count by id, code and scorers by name."""
    known = {skill.id for skill in declared.skills}
    if not declared.listed:
        known.update(wired_ids(declared))
    limits = declared.limits
    wiring = {
        "skills": sorted(known),
        "entries": [
            [entry.skill, _condition(entry.condition), entry.examples, entry.label, entry.base]
            for entry in declared.entries
        ],
        "routes": [_route(route) for route in declared.routes],
        "tree": list(_tree(declared.tree)),
        "default": declared.default,
        "pick": _pick(declared.pick),
        "never_routes": declared.never_routes,
        "scales": sorted((field, list(words)) for field, words in declared.scales.items()),
        "limits": [limits.visits, sorted(limits.visits_of.items()), limits.all_visits, limits.iterations],
    }
    return sha256(json.dumps(wiring, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _route(route: Route) -> list[object]:
    on_tool = _condition(route.on_tool) if isinstance(route.on_tool, Regex) else route.on_tool
    guard = None if route.guard is None else route.guard.digest()
    condition = _condition(route.condition)
    return [route.from_, route.to, condition, on_tool, sorted(route.on_status), guard, route.label, route.priority]


def _tree(tree: TreeNode | None) -> Iterator[object]:
    """The nodes in depth-first order, which tells their shape, as each decision has two branches."""
    waiting = [] if tree is None else [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        else:
            yield [_condition(node.condition), node.label]
            waiting += (node.otherwise, node.then)


def _condition(condition: Condition | None) -> list[object]:
    """The parts in depth-first order, `all` with its number of members. Anything has a digest, valid or not."""
    found: list[object] = []
    waiting: list[object] = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AllOf):
            found.append(["all", len(part.members)])
            waiting.extend(reversed(part.members))
        else:
            found.append(part.digest() if isinstance(part, ConditionKind) else ["other", repr(part)])
    return found


def _pick(pick: EntryPick | Scorer) -> object:
    if isinstance(pick, EntryPick):
        return pick
    policy = [json_value(getattr(pick.policy, key)) for key in POLICY_KEYS]
    return [built_in_name(pick) or "code", pick.name, *policy]
