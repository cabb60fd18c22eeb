"""A whole graph in its data form: read, written, and described by a JSON Schema (spec 3.1)."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from skillweave.graph.compiled import wired_ids
from skillweave.graph.data.options import (
    read_limits,
    read_pick,
    read_scales,
    read_suppressed,
    write_limits,
    write_pick,
)
from skillweave.graph.data.parts import (
    read_entry,
    read_route,
    read_skill,
    read_tree,
    write_entry,
    write_route,
    write_skill,
    write_tree,
)
from skillweave.graph.declared import Declared, EntryPick, GraphSkill, TreeNode, require_tree_or_routes
from skillweave.graph.shape import (
    MOST_ENTRIES,
    MOST_PHRASES,
    MOST_ROUTES,
    MOST_SKILLS,
    Mistakes,
    inside,
    require_id,
    require_items,
    require_known_keys,
    require_mapping,
    require_text,
    wrong,
)
from skillweave.text.embedding import Embedder

GRAPH_KEYS = (
    *("skills", "entries", "routes", "tree", "default", "pick"),
    *("never_routes", "scales", "limits", "suppress"),
)

_PHRASE = "write a phrase that starts no conditional entry"
_FORM = "write keys such as `entries` and `routes`"
_Value = TypeVar("_Value")
SCHEMA = Path(__file__).parents[1] / "schema.json"


def read_graph(data: Mapping[str, object], *, place: str = "", embedder: Embedder | None = None) -> Declared:
    """The graph that the data declares; `place` begins the messages, `embedder` judges entries.

    Without `skills` the ids in the wiring are the skills. Raises InvalidGraph with up to ten mistakes of shape; whether
    the graph makes sense, the checkup says.
    """
    reading = _Reading(require_mapping(data, place, _FORM), place)
    declared = reading.declared(embedder)
    reading.mistakes.attempt(lambda: require_tree_or_routes(declared), None)
    reading.mistakes.raise_found()
    if declared.listed:
        return declared
    return replace(declared, skills=_wired(declared))


def _wired(declared: Declared) -> tuple[GraphSkill, ...]:
    return tuple(map(GraphSkill, dict.fromkeys(wired_ids(declared))))


class _Reading:
    """One graph while it is read: what is wrong is kept until the end."""

    def __init__(self, data: Mapping[str, object], place: str) -> None:
        self.mistakes = Mistakes()
        self._data = data
        self._place = place

    def declared(self, embedder: Embedder | None) -> Declared:
        self.mistakes.attempt(lambda: require_known_keys(self._data, GRAPH_KEYS, self._place), None)
        nothing = Declared()
        tree, default = self._tree()
        return Declared(
            skills=self._skills(),
            entries=self._each("entries", read_entry, MOST_ENTRIES),
            routes=self._each("routes", read_route, MOST_ROUTES),
            tree=tree,
            default=default,
            pick=self._one("pick", partial(read_pick, embedder=embedder), nothing.pick),
            never_routes=self._each("never_routes", partial(require_text, fix=_PHRASE), MOST_PHRASES),
            scales=self._one("scales", read_scales, nothing.scales),
            limits=self._one("limits", read_limits, nothing.limits),
            suppress=self._one("suppress", read_suppressed, nothing.suppress),
            listed="skills" in self._data,
        )

    def _one(self, key: str, read: Callable[[object, str], _Value], default: _Value) -> _Value:
        if key not in self._data:
            return default
        return self.mistakes.attempt(lambda: read(self._data[key], inside(self._place, key)), default)

    def _each(self, key: str, read: Callable[[object, str], _Value], most: int) -> tuple[_Value, ...]:
        place = inside(self._place, key)
        none: Sequence[object] = ()
        fix = "write each item with `- `"
        items = self.mistakes.attempt(
            lambda: require_items(self._data.get(key, none), place, fix, most, "split the graph"), none
        )
        found = (
            self.mistakes.attempt(partial(read, item, inside(place, number)), None) for number, item in enumerate(items)
        )
        return tuple(one for one in found if one is not None)

    def _skills(self) -> tuple[GraphSkill, ...]:
        skills = self._each("skills", read_skill, MOST_SKILLS)
        twice = next((id_ for id_, count in Counter(skill.id for skill in skills).items() if count > 1), None)
        if twice is not None:
            rule = f"the skill {twice!r} appears twice"
            self.mistakes.add(wrong(inside(self._place, "skills"), rule, "keep one of them"))
        return skills

    def _tree(self) -> tuple[TreeNode | None, str | None]:
        """The tree, and its default leaf, which stands beside it or at its root."""
        tree, place = self._data.get("tree"), inside(self._place, "tree")
        beside = self._one("default", require_id, None)
        if "tree" not in self._data:
            return None, beside
        if not isinstance(tree, Mapping) or "default" not in tree:
            return self.mistakes.attempt(lambda: read_tree(tree, place), None), beside
        if "default" in self._data:
            rule = "`default` stands here and at the root of the tree"
            self.mistakes.add(wrong(inside(self._place, "default"), rule, "keep one of them"))
        root = {key: value for key, value in tree.items() if key != "default"}
        default = self.mistakes.attempt(lambda: require_id(tree["default"], inside(place, "default")), None)
        return self.mistakes.attempt(lambda: read_tree(root, place), None), default


def write_graph(declared: Declared) -> dict[str, object]:
    """The graph as its smallest JSON data; raises InvalidGraph for code and for what cannot be read again."""
    data: dict[str, object] = {}
    if declared.listed or declared.skills not in ((), _wired(declared)):
        data["skills"] = _written_skills(declared)
    parts: dict[str, object] = {
        "entries": [write_entry(entry, inside("entries", number)) for number, entry in enumerate(declared.entries)],
        "routes": [write_route(route, inside("routes", number)) for number, route in enumerate(declared.routes)],
        "tree": None if declared.tree is None else write_tree(declared.tree, "tree"),
        "default": declared.default,
        "pick": None if declared.pick is EntryPick.DECLARATION else write_pick(declared.pick, "pick"),
        "never_routes": list(declared.never_routes),
        "scales": {field: list(words) for field, words in declared.scales.items()},
        "limits": write_limits(declared.limits),
        "suppress": dict(declared.suppress),
    }
    data.update((key, value) for key, value in parts.items() if value not in (None, [], {}))
    read_graph(data)
    return data


def _written_skills(declared: Declared) -> list[object]:
    skills, ids = list(declared.skills), {skill.id for skill in declared.skills}
    if len(ids) == len(skills) and not declared.listed:
        skills += (skill for skill in _wired(declared) if skill.id not in ids)
    return [write_skill(skill, inside("skills", number)) for number, skill in enumerate(skills)]


def graph_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the shapes that `read_graph` takes; it cannot check expressions or depth."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema
