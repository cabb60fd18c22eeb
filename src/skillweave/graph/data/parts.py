"""The parts of a graph in the data form: skills, entries, routes and decision trees (spec 3.1)."""

from collections.abc import Mapping

from skillweave.graph.conditions import CONDITION_FORM, Condition, Regex, read_condition, write_condition
from skillweave.graph.data.context import read_json
from skillweave.graph.declared import ANY, Decide, Entry, GraphSkill, Route, TreeNode
from skillweave.graph.guards import read_guard, write_guard
from skillweave.graph.shape import (
    ANY_SKILL,
    DEEPEST_TREE,
    LARGEST_WHOLE,
    LONGEST_BODY,
    LONGEST_DESCRIPTION,
    LONGEST_ID,
    LONGEST_LABEL,
    MOST_DECISIONS,
    MOST_ITEMS,
    inside,
    require_count,
    require_flag,
    require_id,
    require_items,
    require_known_keys,
    require_list,
    require_mapping,
    require_string,
    require_text,
    require_texts,
    shown,
    wrong,
)
from skillweave.skill import freeze_mapping, thaw

SKILL_KEYS = ("id", "description", "tools", "allowed_tools", "body", "instructions")
"""The keys that mean something; any other is kept as it stands."""

_EXTRA = "write plain JSON data, or remove the key"
_SKILL_FORM = "write a skill's id, or {id, description, tools, body}"
ENTRY_KEYS = ("skill", "match", "when", "label", "examples", "base")
_ENTRY_FORM = "write {skill: ID}, with `match` for a condition"
ROUTE_KEYS = ("from", "to", "when", "on_tool", "on_status", "guard", "label", "priority")
_ROUTE_FORM = "write {from: ID, to: ID}, with `on_tool`, `on_status`, `guard` or `when` for conditions"
DECISION_KEYS = ("if", "label", "then", "else")
_TREE_FORM = "write a skill's id, or {if: CONDITION, then: ..., else: ...}"
_TOOL = "write a tool's name, or {regex: EXPRESSION}"
_STATUS = "write a status such as success, or a list of them"


def read_skill(value: object, place: str) -> GraphSkill:
    """The skill at that place; raises InvalidGraph."""
    if isinstance(value, str):
        return GraphSkill(require_id(value, place))
    data = require_mapping(value, place, _SKILL_FORM)
    if "id" not in data:
        raise wrong(place, "the skill has no `id`", _SKILL_FORM)
    tools = _one_of(data, "tools", "allowed_tools", place)
    body = _one_of(data, "body", "instructions", place)
    extra = (key for key in data if key not in SKILL_KEYS)
    return GraphSkill(
        id=require_id(data["id"], inside(place, "id")),
        description=_prose(data, "description", place, LONGEST_DESCRIPTION),
        tools=None if tools is None else _tools(data[tools], inside(place, tools)),
        body="" if body is None else _prose(data, body, place, LONGEST_BODY),
        extra=freeze_mapping({key: read_json(data[key], inside(place, key), _EXTRA) for key in extra}),
    )


def write_skill(skill: GraphSkill, place: str) -> object:
    """The skill as plain data, its id alone where there is no more; raises InvalidGraph for an extra key of ours."""
    clash = next((key for key in skill.extra if key in SKILL_KEYS), None)
    if clash is not None:
        raise wrong(place, f"the extra key {clash!r} of skill {skill.id[:LONGEST_ID]!r} has a meaning", "rename it")
    data: dict[str, object] = {"id": skill.id}
    if skill.description:
        data["description"] = skill.description
    if skill.tools is not None:
        data["tools"] = list(skill.tools)
    if skill.body:
        data["body"] = skill.body
    data.update((key, thaw(value)) for key, value in skill.extra.items())
    return data if len(data) > 1 else skill.id


def _one_of(data: Mapping[str, object], key: str, alias: str, place: str) -> str | None:
    if key in data and alias in data:
        raise wrong(place, f"`{key}` and `{alias}` mean the same, and both are given", "keep one of them")
    return next((name for name in (key, alias) if name in data), None)


def _prose(data: Mapping[str, object], key: str, place: str, longest: int) -> str:
    return require_string(data.get(key, ""), inside(place, key), "write text, or remove the key", longest)


def _tools(value: object, place: str) -> tuple[str, ...]:
    fix = "write a list of tools' names; [] stands for none at all"
    items = enumerate(require_items(value, place, fix))
    return tuple(require_text(tool, inside(place, number), fix) for number, tool in items)


def read_entry(value: object, place: str) -> Entry:
    """The entry at that place; `match` and `when` are two names of its condition. Raises InvalidGraph."""
    data = require_mapping(value, place, _ENTRY_FORM)
    require_known_keys(data, ENTRY_KEYS, place)
    if "skill" not in data:
        raise wrong(place, "the entry has no `skill`", _ENTRY_FORM)
    if "match" in data and "when" in data:
        raise wrong(place, "`match` and `when` mean the same, and both are given", "put both conditions under `all`")
    key = "when" if "when" in data else "match"
    return Entry(
        skill=require_id(data["skill"], inside(place, "skill")),
        condition=read_condition_data(data[key], inside(place, key)) if key in data else None,
        examples=_examples(data.get("examples", ()), inside(place, "examples")),
        label=read_label(data, place),
        base="base" in data and require_flag(data["base"], inside(place, "base")),
    )


def write_entry(entry: Entry, place: str) -> dict[str, object]:
    """The entry as plain data; raises InvalidGraph for a condition that is code."""
    data: dict[str, object] = {"skill": entry.skill}
    if entry.condition is not None:
        data["match"] = write_condition(entry.condition, inside(place, "match"))
    if entry.label is not None:
        data["label"] = entry.label
    if entry.examples:
        data["examples"] = list(entry.examples)
    if entry.base:
        data["base"] = True
    return data


def read_condition_data(value: object, place: str) -> Condition:
    """The condition at that place, which has to be data; raises InvalidGraph."""
    return read_condition(require_mapping(value, place, CONDITION_FORM), place)


def read_label(data: Mapping[str, object], place: str) -> str | None:
    """The label of an entry, a route or a decision, None without one."""
    if "label" not in data:
        return None
    return require_text(data["label"], inside(place, "label"), "write a few words, or remove the key", LONGEST_LABEL)


def _examples(value: object, place: str) -> tuple[str, ...]:
    fix = "write a list of phrases that begin here"
    if isinstance(value, list | tuple) and not value:
        return ()
    return require_texts(require_list(value, place, fix, MOST_ITEMS), place, fix)


def read_route(value: object, place: str) -> Route:
    """The route at that place; `*` and ANY as `from` stand for any skill. Raises InvalidGraph."""
    data = require_mapping(value, place, _ROUTE_FORM)
    require_known_keys(data, ROUTE_KEYS, place)
    missing = next((key for key in ("from", "to") if key not in data), None)
    if missing is not None:
        raise wrong(place, f"the route has no `{missing}`", _ROUTE_FORM)

    def at(key: str) -> str:
        return inside(place, key)

    return Route(
        from_=ANY if data["from"] in ANY_SKILL else require_id(data["from"], at("from")),
        to=require_id(data["to"], at("to")),
        condition=read_condition_data(data["when"], at("when")) if "when" in data else None,
        on_tool=read_on_tool(data["on_tool"], at("on_tool")) if "on_tool" in data else None,
        on_status=read_on_status(data["on_status"], at("on_status")) if "on_status" in data else (),
        guard=read_guard(data["guard"], at("guard")) if "guard" in data else None,
        label=read_label(data, place),
        priority=require_count(data["priority"], at("priority"), -LARGEST_WHOLE) if "priority" in data else 0,
    )


def write_route(route: Route, place: str) -> dict[str, object]:
    """The route as plain data; raises InvalidGraph for a condition that is code."""
    data: dict[str, object] = {"from": route.from_, "to": route.to}
    if route.condition is not None:
        data["when"] = write_condition(route.condition, inside(place, "when"))
    if route.on_tool is not None:
        data["on_tool"] = route.on_tool.write() if isinstance(route.on_tool, Regex) else route.on_tool
    if route.on_status:
        data["on_status"] = route.on_status[0] if len(route.on_status) == 1 else list(route.on_status)
    if route.guard is not None:
        data["guard"] = write_guard(route.guard, inside(place, "guard"))
    if route.label is not None:
        data["label"] = route.label
    if route.priority:
        data["priority"] = route.priority
    return data


def read_on_tool(value: object, place: str) -> str | Regex:
    """A tool's name as it stands, or an expression that is searched in it; raises InvalidGraph."""
    if isinstance(value, Regex):
        value = value.write()
    if isinstance(value, Mapping):
        require_known_keys(value, ("regex", "flags"), place)
        if "regex" not in value:
            raise wrong(place, "there is no expression", "write {regex: EXPRESSION}")
        return Regex.read(value, place)
    if not isinstance(value, str):
        raise wrong(place, f"it is {shown(value)}, and a tool is expected", _TOOL)
    return require_text(value, place, _TOOL)


def read_on_status(value: object, place: str) -> tuple[str, ...]:
    """The statuses that the route waits for, one or several; the checkup says whether they exist."""
    if isinstance(value, str):
        return (require_text(value, place, _STATUS),)
    return require_texts(list(value) if isinstance(value, set | frozenset) else value, place, _STATUS)


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
    data = require_mapping(value, place, _TREE_FORM)
    require_known_keys(data, DECISION_KEYS, place)
    missing = next((key for key in ("if", "then", "else") if key not in data), None)
    if missing is not None:
        raise wrong(place, f"the decision has no `{missing}`", _TREE_FORM)
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
