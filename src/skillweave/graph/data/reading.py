"""A whole graph, read from its data form (spec 3.1)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from skillweave.graph.compiled import wired_ids
from skillweave.graph.data.bounds import MOST_ENTRIES, MOST_PHRASES, MOST_ROUTES, MOST_SKILLS
from skillweave.graph.data.entries import read_entry
from skillweave.graph.data.limits import read_limits, read_scales, read_suppressed
from skillweave.graph.data.mistakes import Mistakes
from skillweave.graph.data.picks import read_pick
from skillweave.graph.data.routes import read_route
from skillweave.graph.data.shape import (
    inside,
    require_id,
    require_known_keys,
    require_mapping,
    require_text,
    shown,
    wrong,
)
from skillweave.graph.data.skills import read_skill
from skillweave.graph.data.trees import read_tree
from skillweave.graph.declared import Declared, GraphSkill, TreeNode
from skillweave.graph.whole import require_whole

if TYPE_CHECKING:
    from skillweave.text.embedding import Embedder

GRAPH_KEYS = (
    *("skills", "entries", "routes", "tree", "default", "pick"),
    *("never_routes", "scales", "limits", "suppress"),
)

_FORM = "write keys such as `entries` and `routes`"
_Value = TypeVar("_Value")


def read_graph(data: Mapping[str, object], *, place: str = "", embedder: "Embedder | None" = None) -> Declared:
    """The graph that the data declares; `place` is where it stands, as messages begin, and `embedder` judges entries.

    Unquoted YAML scalars are typed where a value of another type than text is expected. Without `skills` the ids in
    entries, routes and tree are the skills.

    Raises:
        InvalidGraph: values of a wrong shape, up to ten at once, each with its place, the rule and the fix. Whether a
            graph of the right shape makes sense is the checkup's to say.
    """
    reading = _Reading(require_mapping(data, place, _FORM), place)
    declared = reading.declared(embedder)
    reading.mistakes.attempt(lambda: require_whole(declared), None)
    reading.mistakes.raise_found()
    if declared.listed:
        return declared
    return replace(declared, skills=tuple(map(GraphSkill, dict.fromkeys(wired_ids(declared)))))


class _Reading:
    """One graph while it is read: what is wrong is kept until the end."""

    def __init__(self, data: Mapping[str, object], place: str) -> None:
        self.mistakes = Mistakes()
        self._data = data
        self._place = place

    def declared(self, embedder: "Embedder | None") -> Declared:
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
            never_routes=self._each("never_routes", _read_phrase, MOST_PHRASES),
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
        items = self.mistakes.attempt(lambda: _list(self._data.get(key, none), place, most), none)
        found = (
            self.mistakes.attempt(partial(read, item, inside(place, number)), None) for number, item in enumerate(items)
        )
        return tuple(one for one in found if one is not None)

    def _skills(self) -> tuple[GraphSkill, ...]:
        skills = self._each("skills", read_skill, MOST_SKILLS)
        twice = next((id_ for id_, count in Counter(skill.id for skill in skills).items() if count > 1), None)
        if twice is not None:
            rule = f"the skill {twice!r} stands twice"
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


def _list(value: object, place: str, most: int) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise wrong(place, f"it is {shown(value)}, and a list is expected", "write each item with `- `")
    if len(value) > most:
        raise wrong(place, f"it has {len(value):,} items, and {most:,} are allowed", "split the graph")
    return value


def _read_phrase(value: object, place: str) -> str:
    return require_text(value, place, "write a phrase that starts no conditional entry")
