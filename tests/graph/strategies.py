"""Hypothesis strategies for skill graphs: conditions, guards, routes, whole graphs and moments, odd names included.

What has no `odd` in its name can be written as data and read again. The ids of one graph come from one small pool, so
that routes meet, and the fields, words and tools of conditions are the ones that `moments` talk about.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hypothesis import strategies as st

from skillweave import Message, Role, ToolResult
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Condition,
    Decide,
    Declared,
    Entry,
    EntryPick,
    FieldTest,
    GraphSkill,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Limits,
    MoveContext,
    Op,
    Predicate,
    PredicateContext,
    Regex,
    Route,
    ScoreCandidate,
    ScorePolicy,
    UserContains,
)
from skillweave.graph.compiled import wired_ids
from skillweave.graph.declared import STATUSES, TreeNode
from skillweave.graph.guards import LISTED, Scalar, Scales
from tests.strategies import texts

ODD_IDS = (
    *("a-b", "a_b", "a b", "a.b", "A", "end", "graph", "subgraph", "style", "class", "click", "default", "o", "x", "0"),
    *('"', "'", "`", "a]", "a[", "a{", "}", "(a)", "a|b", "a;b", "a#b", "#quot;", "&amp;", "<b>", "-->", "%%", "a\\n"),
    *("日本", "é", "e\u0301", "😀", "__proto__", "constructor", "n_a", "start", "null", "true"),
)
"""Ids that careless drawings and readers confuse or break on."""

SCALES: Scales = MappingProxyType({"risk": ("low", "medium", "high", "critical"), "size": ("s", "m", "l")})
"""What graphs of these strategies declare, where they declare scales."""

KEYWORDS = ("refund", "charge", "charged twice", "Änderung", "退款", "v2?", "c++", "order status")
MESSAGES = (
    *("", "I was charged twice", "refund please", "REFUND", "a refund of the charge", "änderung", "请退款", "v2? now"),
    *("what is my order status", "nothing at all", "recharged", "c++ or c", "risk", "\ud800", "refund\n\ncharge"),
)
REGEXES = ("refund", "^refund", "charg(e|ed)", r"\brisk\b", "退款", "a|b", "[0-9]+", ".", "x*")
TOOLS = ("lookup_order", "refund_order", "search", "a.b")
FIELDS = ("risk", "size", "n", "ok")
"""Fields of JSON results that guards ask for, beside those of the hop."""

plain_ids = st.sampled_from(("a", "b", "c", "d", "e", "f"))
odd_ids = st.sampled_from(ODD_IDS) | texts.filter(
    lambda text: bool(text.strip()) and text.isprintable() and text not in (ANY, "ANY")
)
ids = plain_ids | odd_ids
labels = st.none() | st.sampled_from((*ODD_IDS, "\u202eabc", "a\nb")) | texts.filter(lambda text: bool(text.strip()))
phrases = st.sampled_from([message for message in MESSAGES if message.strip()])
messages = st.sampled_from(MESSAGES) | texts
tool_names = st.sampled_from(TOOLS)
statuses = st.sampled_from(STATUSES)

keywords = st.lists(st.sampled_from(KEYWORDS), min_size=1, max_size=3, unique=True).map(
    lambda words: Keywords(tuple(words))
)
regexes = st.builds(Regex, st.sampled_from(REGEXES), st.sampled_from(("", "i", "m", "is", "iu")))
tool_regexes = st.builds(Regex, st.sampled_from(("look", "^search$", "_order", "nothing", "[a-z]")), st.just(""))
intents = st.builds(
    Intent, st.sampled_from(("a refund", "an order")), st.lists(phrases, max_size=2, unique=True).map(tuple)
)

numbers = st.sampled_from((-1, 0, 1, 2, 2.0, 2.5, 10)) | st.floats(allow_nan=False, allow_infinity=False, width=16)
words = st.sampled_from(("low", "medium", "high", "critical", "s", "m", "l", "success", "search", "", "other"))
scalars: st.SearchStrategy[Scalar] = st.one_of(st.none(), st.booleans(), numbers, words)
"""Values of JSON that are not a list and no object, mostly such as the scales know."""

_HOP_VALUES: Mapping[str, st.SearchStrategy[Scalar]] = {
    "tool_name": tool_names | scalars,
    "status": statuses | scalars,
    "iteration": st.integers(min_value=0, max_value=4) | scalars,
    "current_skill_id": plain_ids | scalars,
    "user_message": phrases | scalars,
    "risk": st.sampled_from(SCALES["risk"]) | scalars,
    "size": st.sampled_from(SCALES["size"]) | scalars,
    "n": numbers | scalars,
}
fields = st.sampled_from((*_HOP_VALUES, "result", "ok", "a b", "="))


def values_of(field: str) -> st.SearchStrategy[Scalar]:
    """What a guard may compare the field with, mostly of the right type."""
    return _HOP_VALUES.get(field, scalars)


def field_tests(field: str) -> st.SearchStrategy[FieldTest]:
    """One comparison of that field."""
    value = values_of(field)
    listed = st.builds(
        FieldTest,
        st.just(field),
        st.sampled_from(sorted(LISTED)),
        st.lists(value, min_size=1, max_size=4).map(tuple),
    )
    plain = st.builds(FieldTest, st.just(field), st.sampled_from(sorted(set(Op) - LISTED)), value)
    return plain | listed


def _once(tests: Sequence[FieldTest]) -> Guard:
    by_field: dict[str, dict[Op, FieldTest]] = {}
    for test in tests:
        by_field.setdefault(test.field, {})[test.op] = test
    return Guard(tuple(test for ops in by_field.values() for test in ops.values()))


guards = st.lists(fields.flatmap(field_tests), min_size=1, max_size=4).map(_once)
"""Guards that data can spell: field by field, each operator once."""
guarded = guards.map(Guarded)

simple_conditions: st.SearchStrategy[Condition] = st.one_of(
    keywords,
    regexes,
    st.builds(UserContains, st.sampled_from(("refund", "CHARGE", "ß", "退"))),
    st.builds(HistoryMin, st.integers(min_value=1, max_value=4)),
    st.builds(AtIteration, st.integers(min_value=1, max_value=4)),
    guarded,
)
"""Conditions of one piece that need no scorer."""


def _all_of(members: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.lists(members, min_size=1, max_size=3).map(lambda found: AllOf(tuple(found)))


conditions: st.SearchStrategy[Condition] = st.recursive(simple_conditions, _all_of, max_leaves=4)
"""Any condition that data can spell and that needs no scorer."""
scored_conditions: st.SearchStrategy[Condition] = st.recursive(simple_conditions | intents, _all_of, max_leaves=4)
"""The same with intents among them."""


def _yes(_look: PredicateContext) -> object:
    return True


def _no(_look: PredicateContext) -> object:
    return ""


def _raises(_look: PredicateContext) -> object:
    raise ValueError("no look at all")


class _Unclear:
    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


def _unclear(_look: PredicateContext) -> object:
    return _Unclear()


predicates = st.sampled_from((_yes, _no, _raises, _unclear)).map(Predicate)
"""Code of a host's own, the kind that raises included."""
odd_conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        simple_conditions,
        intents,
        predicates,
        st.builds(Keywords, st.lists(texts, max_size=2).map(tuple)),
        st.builds(Regex, st.sampled_from(("(", "(?=a)", "[z-a]", "a{1000}{1000}", "\\")) | texts, texts),
        st.builds(UserContains, texts),
        st.builds(HistoryMin, st.integers()),
        st.builds(AtIteration, st.integers()),
        st.just(AllOf(())),
        st.just(Guarded(Guard(()))),
    ),
    _all_of,
    max_leaves=4,
)
"""Whatever Python can put together, also what no reader would let pass."""


def entries(
    skills: st.SearchStrategy[str], when: st.SearchStrategy[Condition] = conditions
) -> st.SearchStrategy[Entry]:
    """Entries to those skills, with a condition or without."""
    conditional = st.builds(
        Entry, skills, when, st.lists(phrases, max_size=2, unique=True).map(tuple), labels, st.booleans()
    )
    return conditional | st.builds(Entry, skills, label=labels, base=st.booleans())


def routes(skills: st.SearchStrategy[str], when: st.SearchStrategy[Condition] = conditions) -> st.SearchStrategy[Route]:
    """Routes among those skills and from ANY, model edges included."""
    return st.builds(
        Route,
        from_=skills | st.just(ANY),
        to=skills,
        condition=st.none() | when,
        on_tool=st.none() | tool_names | tool_regexes,
        on_status=st.lists(statuses, max_size=2, unique=True).map(tuple),
        guard=st.none() | guards,
        label=labels,
        priority=st.sampled_from((0, 0, 0, 1, -3, 10)),
    )


def trees(
    skills: st.SearchStrategy[str], when: st.SearchStrategy[Condition] = conditions
) -> st.SearchStrategy[TreeNode]:
    """Decision trees whose leaves are those skills; one leaf alone is a tree."""
    return st.recursive(skills, lambda inner: st.builds(Decide, when, inner, inner, labels), max_leaves=6)


def graph_skills(id_: str) -> st.SearchStrategy[GraphSkill]:
    """A skill of that id, which may say what it does, which tools it may use, and its text."""
    return st.builds(
        GraphSkill,
        st.just(id_),
        st.sampled_from(("", "Gives money back", "Looks up orders")) | texts,
        st.none() | st.lists(tool_names, max_size=3, unique=True).map(tuple),
        st.sampled_from(("", "Call `lookup_order` first.", "Use refund_order(id) or find_it(id).")) | texts,
    )


def skill_lists(id_strategy: st.SearchStrategy[str] = ids) -> st.SearchStrategy[tuple[GraphSkill, ...]]:
    """One to six skills with ids of their own."""
    return st.lists(id_strategy, min_size=1, max_size=6, unique=True).flatmap(
        lambda found: st.tuples(*map(graph_skills, found))
    )


limits = st.builds(
    Limits,
    visits=st.none() | st.integers(min_value=1, max_value=5),
    all_visits=st.none() | st.integers(min_value=1, max_value=20),
    iterations=st.none() | st.integers(min_value=1, max_value=20),
)
scales: st.SearchStrategy[Scales] = st.sampled_from((SCALES, MappingProxyType({})))


def _flat(skills: tuple[GraphSkill, ...]) -> st.SearchStrategy[Declared]:
    one = st.sampled_from([skill.id for skill in skills])
    return st.builds(
        Declared,
        skills=st.just(skills),
        entries=st.lists(entries(one), min_size=1, max_size=4).map(tuple),
        routes=st.lists(routes(one), max_size=8).map(tuple),
        pick=st.sampled_from((EntryPick.DECLARATION, EntryPick.DECLARATION, EntryPick.READ)),
        never_routes=st.lists(phrases, max_size=2, unique=True).map(tuple),
        scales=scales,
        limits=limits,
        suppress=st.sampled_from((MappingProxyType({}), MappingProxyType({"dead-end": "the skill is the last one"}))),
    )


def _tree(skills: tuple[GraphSkill, ...]) -> st.SearchStrategy[Declared]:
    one = st.sampled_from([skill.id for skill in skills])
    return st.builds(
        Declared,
        skills=st.just(skills),
        tree=trees(one),
        default=st.none() | one,
        scales=scales,
        limits=limits,
    )


flat_graphs = skill_lists().flatmap(_flat)
"""Graphs of entries and routes that can be written as data, every id known; semantic mistakes do occur."""
plain_graphs = skill_lists(plain_ids).flatmap(_flat)
"""The same with ordinary ids."""
tree_graphs = skill_lists().flatmap(_tree)
"""Decision trees that can be written as data, every id known."""


def unlisted(graph: Declared) -> Declared:
    """The same wiring as it is read where no skills are listed: those that it names are the skills."""
    return replace(graph, skills=tuple(map(GraphSkill, dict.fromkeys(wired_ids(graph)))), listed=False)


unlisted_graphs = (flat_graphs | tree_graphs).map(unlisted)
"""Graphs that can be written as data and list no skills."""
graphs = flat_graphs | tree_graphs | unlisted_graphs
"""Any graph that can be written as data, every id known."""


@dataclass(frozen=True)
class LongestWins:
    """A scorer of no ambition, for graphs that need one."""

    name: str = "longest"
    policy: ScorePolicy = field(default_factory=ScorePolicy)

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        return {candidate.id: float(len("".join(candidate.texts))) for candidate in candidates}


def _odd_guards() -> st.SearchStrategy[Guard]:
    values = st.one_of(scalars, st.floats(), st.integers(), st.lists(scalars | st.floats(), max_size=3).map(tuple))
    return st.lists(st.builds(FieldTest, fields | texts, st.sampled_from(Op), values), max_size=4).map(
        lambda tests: Guard(tuple(tests))
    )


odd_routes = st.builds(
    Route,
    from_=ids | st.just(ANY),
    to=ids | st.just(ANY),
    condition=st.none() | odd_conditions,
    on_tool=st.none() | tool_names | texts | st.builds(Regex, texts, st.sampled_from(("", "i"))),
    on_status=st.lists(statuses | texts, max_size=3).map(tuple),
    guard=st.none() | guards | _odd_guards(),
    label=labels,
    priority=st.integers(-2, 2),
)
odd_entries = st.builds(
    Entry, ids, st.none() | odd_conditions, st.lists(messages, max_size=3).map(tuple), labels, st.booleans()
)
odd_graphs = st.builds(
    Declared,
    skills=st.lists(ids.flatmap(graph_skills), max_size=5).map(tuple),
    entries=st.lists(odd_entries, max_size=5).map(tuple),
    routes=st.lists(odd_routes, max_size=8).map(tuple),
    tree=st.none() | st.none() | trees(ids, odd_conditions),
    default=st.none() | ids,
    pick=st.sampled_from((*EntryPick, LongestWins())),
    never_routes=st.lists(messages, max_size=3).map(tuple),
    scales=st.dictionaries(fields | texts, st.lists(words | texts, max_size=3).map(tuple), max_size=3),
    limits=st.builds(Limits, visits_of=st.dictionaries(ids, st.integers(), max_size=2)),
    suppress=st.dictionaries(st.sampled_from(("dead-end", "no-entry", "nonsense")) | texts, texts, max_size=2),
    listed=st.booleans(),
)
"""Whatever Python can put together: unknown ids, skills twice, broken expressions, raising code, trees with entries."""


def _json_results() -> st.SearchStrategy[str]:
    values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.just("risk"), scalars, max_size=1)
    return st.fixed_dictionaries({}, optional={field: values_of(field) | values for field in FIELDS}).map(json.dumps)


results = st.builds(
    ToolResult,
    tool=tool_names | texts,
    content=_json_results() | words | texts | st.sampled_from(("[1]", "null", "{", '{"n": NaN}', '{"n": 1e999}')),
    status=statuses | texts,
)
"""What tools answered, mostly JSON objects with the fields that guards ask for."""

histories = st.lists(st.builds(Message, st.sampled_from((Role.USER, Role.ASSISTANT)), messages), max_size=3).map(tuple)


def moments_of(skills: st.SearchStrategy[str]) -> st.SearchStrategy[MoveContext]:
    """Moments of conversations among those skills."""
    return st.builds(
        MoveContext,
        user=messages,
        iteration=st.integers(min_value=1, max_value=4),
        history=histories,
        current=st.none() | skills,
        tools=st.lists(results, max_size=3).map(tuple),
        picks=st.lists(skills, max_size=2).map(tuple),
    )


moments = moments_of(ids)
looks = st.builds(PredicateContext, moments, st.none() | results)
"""What one condition looks at."""


def in_graph(graph: Declared) -> st.SearchStrategy[tuple[Declared, MoveContext]]:
    """The graph with a moment in it: the current skill and the picks are its own, or, sometimes, are not."""
    return st.tuples(st.just(graph), moments_of(st.sampled_from([*(skill.id for skill in graph.skills), "nowhere"])))


graphs_and_moments = graphs.flatmap(in_graph)
