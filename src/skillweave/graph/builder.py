"""The fluent spelling of a graph (spec 3.1)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

from skillweave.errors import InvalidGraph
from skillweave.graph.conditions import Condition, Predicate, Regex, leaves_of, read_condition
from skillweave.graph.data.options import read_limits, read_scales, read_suppressed
from skillweave.graph.data.parts import read_label, read_on_status, read_on_tool
from skillweave.graph.declared import (
    ANY,
    Decide,
    Declared,
    Entry,
    EntryPick,
    GraphSkill,
    Limits,
    Route,
    TreeNode,
    graph_skill,
)
from skillweave.graph.guards import Guard, read_guard
from skillweave.graph.move import PredicateContext
from skillweave.graph.scoring import ScorePolicy, Scorer
from skillweave.graph.shape import (
    ANY_SKILL,
    LARGEST_WHOLE,
    require_count,
    require_flag,
    require_id,
    require_texts,
    wrong,
)
from skillweave.skill import Skill
from skillweave.text.embedding import Embedder

Skilled: TypeAlias = Skill | GraphSkill | str
"""A skill, or only its id."""
ConditionLike: TypeAlias = Condition | Mapping[str, object] | Callable[[PredicateContext], object]
"""A condition in its data form, as a value, or as code."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A decision of a tree, and the skills that its leaves name."""

    node: Decide
    skills: tuple[GraphSkill, ...]


Branch: TypeAlias = Skilled | Fork


def decide(condition: ConditionLike, then: Branch, otherwise: Branch, label: str | None = None) -> Fork:
    """A decision of a tree; branches are skills or further decisions. Raises InvalidGraph for a bad condition."""
    first, of_first = _branch(then, "decide.then")
    second, of_second = _branch(otherwise, "decide.otherwise")
    node = Decide(_condition(condition, "decide.condition"), first, second, _label(label, "decide"))
    return Fork(node, (*of_first, *of_second))


class DeclaredBuilder:
    """Collects a graph; every method returns the builder and raises InvalidGraph. See `SkillGraph.builder()`."""

    def __init__(self) -> None:
        self._declared = Declared()
        self._skills: dict[str, GraphSkill] = {}

    def skills(self, *skills: Skilled) -> Self:
        """Name skills apart from any wiring, so that the checkup sees those that nothing leads to."""
        for skill in skills:
            self._known(skill, "skills")
        return self

    def entry(
        self,
        skill: Skilled,
        when: ConditionLike | None = None,
        match: "Condition | Mapping[str, object] | None" = None,
        examples: Iterable[str] = (),
        label: str | None = None,
        *,
        base: bool = False,
    ) -> Self:
        """Adds a skill where a conversation may begin, always if without condition; `examples` are only checked."""
        place = f"entries[{len(self._declared.entries)}]"
        entry = Entry(
            self._known(skill, f"{place}.skill"),
            _condition_of_entry(when, match, place),
            _texts(examples, f"{place}.examples"),
            _label(label, place),
            require_flag(base, f"{place}.base"),
        )
        self._declared = replace(self._declared, entries=(*self._declared.entries, entry))
        return self

    def route(
        self,
        from_: Skilled,
        to: Skilled,
        when: ConditionLike | None = None,
        on_tool: "str | Regex | Mapping[str, object] | None" = None,
        on_status: "str | Iterable[str] | None" = None,
        guard: "Guard | Mapping[str, object] | None" = None,
        label: str | None = None,
        priority: int = 0,
    ) -> Self:
        """Adds a route from a skill, or from ANY; without conditions only the model takes it."""
        place = f"routes[{len(self._declared.routes)}]"
        route = Route(
            ANY if isinstance(from_, str) and from_ in ANY_SKILL else self._known(from_, f"{place}.from"),
            self._known(to, f"{place}.to"),
            None if when is None else _condition(when, f"{place}.when"),
            None if on_tool is None else read_on_tool(on_tool, f"{place}.on_tool"),
            () if on_status is None else read_on_status(on_status, f"{place}.on_status"),
            None if guard is None else read_guard(guard, f"{place}.guard"),
            _label(label, place),
            require_count(priority, f"{place}.priority", -LARGEST_WHOLE),
        )
        self._declared = replace(self._declared, routes=(*self._declared.routes, route))
        return self

    def tree(self, root: Branch, default: Skilled | None = None) -> Self:
        """Set a decision tree in place of entries and routes; `default` is its leaf where a condition raises."""
        if self._declared.tree is not None:
            raise InvalidGraph("the graph has a tree already; put both under one decision")
        node, skills = _branch(root, "tree")
        for skill in skills:
            self._known(skill, "tree")
        leaf = None if default is None else self._known(default, "default")
        self._declared = replace(self._declared, tree=node, default=leaf)
        return self

    def entry_by(self, scorer: Scorer) -> Self:
        """Let a scorer choose the entry."""
        if not (callable(getattr(scorer, "score", None)) and isinstance(getattr(scorer, "policy", None), ScorePolicy)):
            raise InvalidGraph(
                f"{type(scorer).__name__} is not a scorer; give something with `name`, `policy` and `async score(...)`"
            )
        return self._picking(scorer)

    def entry_by_relevance(self, embedder: Embedder) -> Self:
        """Let the entry be the one whose meaning is nearest to the user's words."""
        from skillweave.graph.scoring import EmbeddingScorer

        return self.entry_by(EmbeddingScorer(embedder))

    def entry_by_read(self) -> Self:
        """Let the model choose the entry, by reading it."""
        return self._picking(EntryPick.READ)

    def never_routes(self, phrases: Iterable[str]) -> Self:
        """Add messages that must not start any conditional entry."""
        more = _texts(phrases, "never_routes")
        self._declared = replace(self._declared, never_routes=(*self._declared.never_routes, *more))
        return self

    def scales(self, **scales: Iterable[str]) -> Self:
        """Set the order of the words that guards compare: for each field, the lowest word first."""
        given = read_scales({field: _listed(words) for field, words in scales.items()}, "scales")
        self._declared = replace(self._declared, scales={**self._declared.scales, **given})
        return self

    def limits(
        self,
        visits: int | Mapping[str, int] | None = None,
        all_visits: int | None = None,
        iterations: int | None = None,
    ) -> Self:
        """Sets limits of visits for each or for named skills, of all visits, and of iterations; the last call wins."""
        of_visits = {"per_skill": visits, "per_run": all_visits}
        data = {"visits": {key: most for key, most in of_visits.items() if most is not None}, "iterations": iterations}
        given = read_limits({key: most for key, most in data.items() if most not in (None, {})}, "limits")
        known = self._declared.limits
        limits = Limits(
            given.visits or known.visits,
            {**known.visits_of, **given.visits_of},
            given.all_visits or known.all_visits,
            given.iterations or known.iterations,
        )
        self._declared = replace(self._declared, limits=limits)
        return self

    def suppress(self, code: str, reason: str) -> Self:
        """Leave a code of the checkup out of its report, for a reason that its notes tell."""
        given = read_suppressed({code: reason}, "suppress")
        self._declared = replace(self._declared, suppress={**self._declared.suppress, **given})
        return self

    def declared(self) -> Declared:
        """What was collected so far; ids that only entries, routes and the tree name are skills too."""
        return replace(self._declared, skills=tuple(self._skills.values()), listed=False)

    def _picking(self, pick: EntryPick | Scorer) -> Self:
        known = self._declared.pick
        if known is not EntryPick.DECLARATION and known is not pick:
            raise InvalidGraph("two things choose the entry; call one of entry_by, entry_by_relevance, entry_by_read")
        self._declared = replace(self._declared, pick=pick)
        return self

    def _known(self, skill: Skilled, place: str) -> str:
        found = _graph_skill(skill, place)
        known = self._skills.setdefault(found.id, found)
        nothing = GraphSkill(found.id)
        if known == nothing:
            self._skills[found.id] = found
        elif found not in (known, nothing):
            raise wrong(place, f"two different skills have the id {found.id!r}", "give one of them another id")
        return found.id


def _graph_skill(skill: Skilled, place: str) -> GraphSkill:
    if isinstance(skill, Skill):
        return graph_skill(skill)
    if isinstance(skill, GraphSkill):
        return replace(skill, id=require_id(skill.id, place))
    return GraphSkill(require_id(skill, place))


def _branch(branch: Branch, place: str) -> tuple[TreeNode, tuple[GraphSkill, ...]]:
    if isinstance(branch, Fork):
        return branch.node, branch.skills
    found = _graph_skill(branch, place)
    return found.id, (found,)


def _condition_of_entry(when: ConditionLike | None, match: ConditionLike | None, place: str) -> Condition | None:
    if when is not None and match is not None:
        raise wrong(place, "it has both `when` and `match`", "give one of them")
    if match is None:
        return None if when is None else _condition(when, f"{place}.when")
    condition = _condition(match, f"{place}.match")
    if any(isinstance(part, Predicate) for part in leaves_of(condition)):
        raise wrong(f"{place}.match", "it is code, and only data is matched", "give code as `when`")
    return condition


def _condition(condition: ConditionLike, place: str) -> Condition:
    if callable(condition) and not isinstance(condition, Mapping):
        return Predicate(condition)
    return read_condition(condition, place)


def _label(label: str | None, place: str) -> str | None:
    return read_label({} if label is None else {"label": label}, place)


def _texts(texts: Iterable[object], place: str) -> tuple[str, ...]:
    found = _listed(texts)
    return () if found == [] else require_texts(found, place, "give a list of texts")


def _listed(values: object) -> object:
    """The values as a list; text and mappings stay as they are, so that messages name them as such."""
    return values if isinstance(values, str | Mapping) or not isinstance(values, Iterable) else list(values)
