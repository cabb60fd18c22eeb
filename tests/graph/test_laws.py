"""Laws of moving (spec 3.2, 3.3), for any graph and any moment."""

import json
from dataclasses import replace
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Message, Role, State, ToolResult, Turn
from skillweave.errors import InvalidGraph
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    By,
    Condition,
    Cursor,
    Decide,
    Declared,
    Entry,
    EntryPick,
    EntryScoring,
    FieldTest,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    KeywordScorer,
    Limits,
    Move,
    MoveContext,
    Op,
    Predicate,
    PredicateContext,
    Regex,
    Route,
    SkillGraph,
    UserContains,
    Why,
)
from skillweave.graph.compiled import compile_lexicon
from skillweave.graph.conditions import EvalContext, judge_guard
from skillweave.graph.moving import MOST_TOLD, advance, at, context_of, is_reachable
from skillweave.state.codec import state_from_json, state_to_json
from skillweave.turns import Read
from tests.depth import tried
from tests.graph.moments import RISK, Unclear, guarded, raises, said, where

IDS = "abcde"
SECRET = "\ue000\ue001sEcReT\ue002"
"""Nothing that is declared; it stands in what users and tools say."""


def _sometimes(look: PredicateContext) -> object:
    """Raises for every other length of the message, with somebody's words in the error."""
    if len(look.context.user) % 2:
        raise ValueError(look.context.user)
    return look.result is None or len(look.result.content) % 3


def _tells(look: PredicateContext) -> object:
    raise RuntimeError(repr(look))


ids = st.sampled_from(IDS)
simple: st.SearchStrategy[Condition] = st.sampled_from(
    (
        *(said("refund"), said("order", "charge"), Regex("o"), Regex("^I", "i"), UserContains("fund")),
        *(HistoryMin(1), AtIteration(2), guarded("n", "gt", 1), guarded("status", "ne", "denied"), Intent("a refund")),
        *(guarded("risk", "gte", "high"), Predicate(_sometimes), Predicate(_tells), Predicate(raises)),
        Predicate(lambda _: Unclear()),
    )
)
conditions: st.SearchStrategy[Condition] = simple | st.lists(simple, min_size=1, max_size=3).map(
    lambda parts: AllOf(tuple(parts))
)
entries = st.builds(Entry, ids, st.none() | conditions, base=st.booleans())
guards = st.sampled_from((None, None, where("n", "gt", 1), where("risk", "lt", "high"), where("result", "eq", "ok")))
routes = st.builds(
    Route,
    st.sampled_from((*IDS, ANY)),
    ids,
    st.none() | st.none() | conditions,
    st.sampled_from((None, None, "t", Regex("^[tu]$"))),
    st.sampled_from(((), (), ("success",), ("denied", "failure"))),
    guards,
    st.sampled_from((None, "a label")),
    st.sampled_from((0, 0, 1, -1)),
)
limits = st.builds(
    Limits,
    st.none() | st.integers(1, 3),
    st.dictionaries(ids, st.integers(1, 2), max_size=2),
    st.none() | st.integers(1, 5),
    st.none() | st.integers(1, 3),
)
flat = st.builds(
    Declared,
    entries=st.lists(entries, max_size=4).map(tuple),
    routes=st.lists(routes, max_size=8).map(tuple),
    pick=st.sampled_from((EntryPick.DECLARATION, EntryPick.DECLARATION, EntryPick.READ, KeywordScorer())),
    never_routes=st.sampled_from(((), ("refund",), ("Order  refund",))),
    scales=st.just(RISK),
    limits=st.just(Limits()) | limits,
    listed=st.just(value=False),
)
trees = st.builds(
    Declared,
    tree=st.recursive(ids, lambda inner: st.builds(Decide, conditions, inner, inner), max_leaves=5),
    default=st.none() | ids,
    scales=st.just(RISK),
    limits=limits,
    listed=st.just(value=False),
)
graphs = st.one_of(flat, flat, flat, trees).map(lambda declared: SkillGraph.of(declared, check="off"))
flat_graphs = flat.map(lambda declared: SkillGraph.of(declared, check="off"))

messages = st.sampled_from(
    ("", "refund", "order refund", "I want a refund", "a charge", "Order  Refund", "x", "\ud800")
)
contents = st.sampled_from(("ok", "", "prose", '{"n": 2}', '{"n": 1, "risk": "high"}', '{"risk": "critical"}', '{"n":'))
results = st.builds(ToolResult, st.sampled_from("tuv"), contents, st.sampled_from(("success", "denied", "odd")))
picks = st.lists(st.sampled_from((*IDS, "zzz", ANY, "\x00")), max_size=3).map(tuple)
histories = st.sampled_from(((), (Message(Role.USER, "x"),)))
moments = st.builds(
    MoveContext,
    messages,
    st.integers(1, 4),
    histories,
    st.sampled_from((None, *IDS, "zzz")),
    st.lists(results, max_size=3).map(tuple),
    picks,
    st.dictionaries(ids, st.integers(0, 3), max_size=3).map(MappingProxyType),
    between=st.booleans(),
)
scorings = st.none() | st.builds(
    EntryScoring, st.just("keyword"), st.sampled_from((None, *IDS, "zzz")), intent=st.sampled_from((None, "a refund"))
)
turns = st.builds(
    Turn,
    st.sampled_from(("t1", "t2", "t3")),
    st.just("c"),
    st.builds(Message, st.sampled_from((Role.USER, Role.ASSISTANT)), st.none() | messages | st.just("SKILL_SELECT:b")),
    st.none() | histories,
    st.lists(results, max_size=2).map(tuple),
    st.lists(ids, max_size=1).map(tuple),
    st.lists(ids.map(Read), max_size=1).map(tuple),
)


def _cursor_at(graph: SkillGraph, context: MoveContext) -> Cursor | None:
    if context.current is None:
        return None
    return Cursor(context.current, context.visits, context.trail, graph.digest)


# the three views


def next_skill_explain_and_advance_are_views_of_one_function(
    graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None
) -> None:
    cursor = _cursor_at(graph, context)
    there = at(cursor, context, graph.compiled)
    ctx = EvalContext(graph.compiled.lexicon, graph.declared.scales, context, scoring)
    move, _ = advance(graph.compiled, cursor, ctx, "t9")
    assert move == graph.explain(there, scoring)
    assert move.to == graph.next_skill(there, scoring)


@given(graphs, st.lists(turns, max_size=5), scorings)
def test_the_cursor_is_where_the_move_says(
    graph: SkillGraph, conversation: list[Turn], scoring: EntryScoring | None
) -> None:
    cursor: Cursor | None = None
    for turn in conversation:
        move, cursor = graph.advance(cursor, turn, scoring)
        if graph.declared.tree is None:
            assert move.to == (None if cursor is None else cursor.skill)
        else:
            assert cursor is None


def the_same_moment_gives_the_same_move(graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None) -> None:
    assert graph.explain(context, scoring) == graph.explain(replace(context), scoring)


# what cannot happen


def a_condition_that_raises_never_empties_what_is_engaged(
    graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None
) -> None:
    move = graph.explain(context, scoring)
    if context.current in graph.compiled.wired:
        assert move.to is not None


def a_move_never_leads_to_a_skill_outside_the_graph(
    graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None
) -> None:
    if graph.declared.tree is not None:
        return
    move = graph.explain(context, scoring)
    assert move.to in (None, *graph.compiled.wired)
    assert move.from_ == (context.current if context.current in graph.compiled.wired else None)


def every_step_is_along_something_declared(
    graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None
) -> None:
    if graph.declared.tree is not None:
        return
    move, declared = graph.explain(context, scoring), graph.declared
    match move.by:
        case By.ENTRY | By.SCORER:
            assert move.to in {entry.skill for entry in declared.entries}
            assert move.from_ is None
        case By.ROUTE:
            own = any((route.from_, route.to) == (move.from_, move.to) for route in declared.routes)
            assert own or (move.from_ != move.to and any(r.from_ == ANY and r.to == move.to for r in declared.routes))
        case By.PICK:
            assert move.to in context.picks
            assert move.to in graph.reachable_skills(move.from_)
        case _:
            assert move.to == move.from_


def a_pick_is_accepted_only_when_it_can_be_reached_and_every_other_is_told(
    graph: SkillGraph, context: MoveContext, _: EntryScoring | None
) -> None:
    if graph.declared.tree is not None:
        return
    move = graph.explain(replace(context, iteration=0))
    reachable = graph.reachable_skills(move.from_)
    lost = {(loser.to, loser.why) for loser in move.losers if loser.by is By.PICK}
    for pick in context.picks:
        if pick == "\x00" or pick in (move.from_, move.to, *graph.compiled.base):
            continue
        expected = Why.UNKNOWN if pick not in graph.compiled.wired else Why.UNREACHABLE
        why = {told for to, told in lost if to == pick}
        assert why <= {Why.OVERRULED, Why.LIMIT} if pick in reachable else why == {expected}


def tree_moves_leave_the_current_skill_alone_and_tell_a_leaf(
    graph: SkillGraph, context: MoveContext, _: EntryScoring | None
) -> None:
    if graph.declared.tree is None:
        return
    move = graph.explain(context)
    assert move.to == move.from_ == context.current
    assert move.evidence[0].text in graph.reachable_skills()


@given(flat_graphs, st.lists(turns, max_size=8), scorings)
def test_visits_never_exceed_their_limits_and_count_every_step(
    graph: SkillGraph, conversation: list[Turn], scoring: EntryScoring | None
) -> None:
    cursor, most = None, graph.declared.limits
    steps: list[str | None] = []
    for number, turn in enumerate(conversation):
        move, cursor = graph.advance(cursor, replace(turn, id=f"t{number}"), scoring)
        steps += [move.to] if move.moved else []
        if cursor is None:
            assert not steps
            continue
        assert list(cursor.trail) == steps
        assert all(cursor.visits[skill] == steps.count(skill) for skill in cursor.visits)
        assert all(count <= (most.visits_of.get(skill, most.visits) or count) for skill, count in cursor.visits.items())
        assert sum(cursor.visits.values()) <= (most.all_visits or len(steps))


def a_move_tells_no_more_than_it_may(graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None) -> None:
    tools = tuple(ToolResult(one.tool, one.content, one.status) for one in context.tools for _ in range(30))
    many = replace(context, tools=tools, picks=(*(f"p{number}" for number in range(50)), *context.picks))
    move = graph.explain(many, scoring)
    assert max(len(move.losers), len(move.guards_closed)) <= MOST_TOLD


# what can be reached


@given(graphs, st.sampled_from((None, *IDS, "zzz")))
def test_reachable_skills_are_wired_and_named_once_and_nothing_else_can_be_reached(
    graph: SkillGraph, current: str | None
) -> None:
    compiled, named = graph.compiled, graph.reachable_skills(current)
    assert len(set(named)) == len(named)
    assert set(named) == {one for one in (*IDS, "zzz") if is_reachable(compiled, current, one)}
    assert set(named) <= set(compiled.wired)


# replays


@given(flat_graphs, st.lists(turns, min_size=1, max_size=4), turns, scorings)
def test_the_same_turn_id_repeats_the_move_and_the_cursor_whatever_else_the_turn_says(
    graph: SkillGraph, conversation: list[Turn], other: Turn, scoring: EntryScoring | None
) -> None:
    move, cursor = None, None
    for turn in conversation:
        move, cursor = graph.advance(cursor, turn, scoring)
    if cursor is None or cursor.last_turn != conversation[-1].id:
        return
    replayed = graph.advance(cursor, replace(other, id=conversation[-1].id))
    assert replayed == (cursor.last_move, cursor)
    assert graph.advance(cursor, conversation[-1], scoring) == replayed
    if move is not None and not context_of(conversation[-1]).between:
        assert replayed[0] == move


# what may be kept


def _leaves_nothing_out(context: MoveContext) -> MoveContext:
    """The same moment, in which everybody also says the secret."""
    tools = tuple(
        ToolResult(
            f"{result.tool}{SECRET}" if result.tool == "v" else result.tool,
            result.content.replace('"high"', f'"{SECRET}"') + (SECRET if not result.content.startswith("{") else ""),
            f"{result.status}{SECRET}" if result.status == "odd" else result.status,
            SECRET,
        )
        for result in context.tools
    )
    history = tuple(Message(one.role, f"{one.text}{SECRET}", SECRET) for one in context.history)
    return replace(context, user=f"{SECRET} {context.user} {SECRET}", tools=tools, history=history)


def nothing_that_a_user_or_a_tool_said_stands_in_a_move(
    graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None
) -> None:
    told = json.dumps(graph.explain(_leaves_nothing_out(context), scoring).to_dict(), ensure_ascii=False)
    assert [piece for piece in ("\ue000", "\ue001", "sEcReT", "\ue002", "secret") if piece in told] == []


def a_move_survives_json(graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None) -> None:
    move = graph.explain(context, scoring)
    assert Move.from_dict(json.loads(json.dumps(move.to_dict()))) == move


LAWS_OF_A_MOVE = (
    next_skill_explain_and_advance_are_views_of_one_function,
    the_same_moment_gives_the_same_move,
    a_condition_that_raises_never_empties_what_is_engaged,
    a_move_never_leads_to_a_skill_outside_the_graph,
    every_step_is_along_something_declared,
    a_pick_is_accepted_only_when_it_can_be_reached_and_every_other_is_told,
    tree_moves_leave_the_current_skill_alone_and_tell_a_leaf,
    a_move_tells_no_more_than_it_may,
    nothing_that_a_user_or_a_tool_said_stands_in_a_move,
    a_move_survives_json,
)


@tried(33)
@given(graphs, moments, scorings)
def test_every_move_keeps_all_laws(graph: SkillGraph, context: MoveContext, scoring: EntryScoring | None) -> None:
    for law in LAWS_OF_A_MOVE:
        law(graph, context, scoring)


@given(flat_graphs, st.lists(turns, min_size=1, max_size=4), turns, scorings)
def test_a_conversation_that_is_stored_and_read_again_moves_on_alike(
    graph: SkillGraph, conversation: list[Turn], last: Turn, scoring: EntryScoring | None
) -> None:
    cursor: Cursor | None = None
    for turn in conversation:
        _, cursor = graph.advance(cursor, turn, scoring)
    again = state_from_json(state_to_json(State(cursor=cursor))).cursor
    assert again == cursor
    assert graph.advance(again, last, scoring) == graph.advance(cursor, last, scoring)


# against the contract, word by word


def _expected(declared: Declared, context: MoveContext, scoring: EntryScoring | None) -> tuple[str | None, By]:
    """Spec 3.2 read aloud: no indexes, no evidence."""
    known = {entry.skill for entry in declared.entries} | {
        end for route in declared.routes for end in (route.from_, route.to) if end != ANY
    }
    current = context.current if context.current in known else None
    if declared.limits.iterations is not None and context.iteration > declared.limits.iterations:
        return current, By.STOPPED
    ctx = EvalContext(compile_lexicon(declared), declared.scales, context, scoring)
    to, by = None, By.NONE
    if not context.between:
        to, by = _entered(declared, ctx) if current is None else _routed(declared, ctx, current)
    if to is None:
        reachable = SkillGraph.of(declared, check="off").reachable_skills(current)
        base = {entry.skill for entry in declared.entries if entry.base}
        steps = [pick for pick in context.picks if pick in reachable and pick not in base]
        to, by = (steps[0], By.PICK) if steps else (None, By.NONE)
    if to is None:
        return current, By.NONE if current is None else By.STAY
    each, run = declared.limits.visits_of.get(to, declared.limits.visits), declared.limits.all_visits
    visits = context.visits
    if (each is not None and visits.get(to, 0) >= each) or (run is not None and sum(visits.values()) >= run):
        return current, By.STOPPED
    return to, by


def _entered(declared: Declared, ctx: EvalContext) -> tuple[str | None, By]:
    never = {" ".join(phrase.lower().split()) for phrase in declared.never_routes}
    silent = " ".join(ctx.context.user.lower().split()) in never
    open_ = [
        entry.skill
        for entry in declared.entries
        if entry.condition is None or (not silent and entry.condition.judge(ctx).holds)
    ]
    if declared.pick is EntryPick.DECLARATION:
        return (open_[0], By.ENTRY) if open_ else (None, By.NONE)
    if isinstance(declared.pick, KeywordScorer) and ctx.scoring is not None and ctx.scoring.chosen in open_:
        return ctx.scoring.chosen, By.SCORER
    return None, By.NONE


def _routed(declared: Declared, ctx: EvalContext, current: str) -> tuple[str | None, By]:
    ways = [route for route in declared.routes if route.from_ in (current, ANY)]
    ways = [route for route in ways if not (route.from_ == ANY and route.to == current)]
    ways.sort(key=lambda route: (route.from_ == ANY, -route.priority))
    for result in ctx.context.tools or (None,):
        for route in ways:
            if _fires(route, ctx, result):
                return route.to, By.ROUTE
    return None, By.NONE


def _fires(route: Route, ctx: EvalContext, result: ToolResult | None) -> bool:
    parts = []
    if route.on_tool is not None:
        named = route.on_tool == "t" and result is not None and result.tool == "t"
        parts.append(named or (isinstance(route.on_tool, Regex) and result is not None and result.tool in "tu"))
    if route.on_status:
        parts.append(result is not None and result.status in route.on_status)
    if route.condition is not None:
        parts.append(route.condition.judge(ctx, result).holds)
    if route.guard is not None:
        parts.append(judge_guard(route.guard, ctx, result).holds)
    return bool(parts) and all(parts)


@tried(33)
@given(flat, moments, scorings)
def test_every_move_is_the_one_of_the_contract(
    declared: Declared, context: MoveContext, scoring: EntryScoring | None
) -> None:
    move = SkillGraph.of(declared, check="off").explain(context, scoring)
    assert (move.to, move.by) == _expected(declared, context, scoring)


# whatever Python can put together


odd_ids = st.sampled_from(("a", "b", ANY, "ANY", "", "\ud800", "\x00", "日本", "x" * 1_000))
odd_values = st.sampled_from(
    (None, True, 0, 10**400, float("nan"), float("inf"), "", "high", "\ud800", (), (1, "high", None))
)
odd_guards = st.builds(
    Guard,
    st.lists(
        st.builds(
            FieldTest, st.sampled_from(("n", "risk", "status", "iteration", "")), st.sampled_from(Op), odd_values
        ),
        max_size=2,
    ).map(tuple),
)
odd_conditions: st.SearchStrategy[Condition] = st.one_of(
    simple,
    st.sampled_from((Keywords(()), Keywords((" ",)), UserContains(""), Regex("("), Regex("a{1000}{1000}"))),
    st.sampled_from((AllOf(()), AllOf((AllOf(()),)), Regex(r"\C"), Regex(""), HistoryMin(-1), AtIteration(0))),
    odd_guards.map(Guarded),
    st.lists(simple, max_size=2).map(lambda parts: AllOf((AllOf(tuple(parts)),))),
)
odd_texts = st.sampled_from(("t", "", "success", "\ud800", "\x00"))
odd_graphs = st.builds(
    Declared,
    entries=st.lists(st.builds(Entry, odd_ids, st.none() | odd_conditions, base=st.booleans()), max_size=4).map(tuple),
    routes=st.lists(
        st.builds(
            Route,
            odd_ids,
            odd_ids,
            st.none() | odd_conditions,
            st.none() | odd_texts | odd_texts.map(Regex),
            st.lists(odd_texts, max_size=2).map(tuple),
            st.none() | odd_guards,
            st.none() | odd_texts,
            st.integers(-1, 1),
        ),
        max_size=5,
    ).map(tuple),
    pick=st.sampled_from((*EntryPick, KeywordScorer())),
    never_routes=st.lists(odd_texts, max_size=2).map(tuple),
    scales=st.sampled_from((RISK, {"risk": ()}, {"": ("high", "high")}, {"n": ("",)})),
    limits=st.builds(Limits, st.none() | st.integers(-1, 1), all_visits=st.none() | st.integers(-1, 1)),
    listed=st.booleans(),
)
odd_trees = st.builds(
    Declared,
    tree=st.recursive(odd_ids, lambda inner: st.builds(Decide, odd_conditions, inner, inner), max_leaves=4),
    default=st.none() | odd_ids,
)
odd_moments = st.builds(
    MoveContext,
    st.sampled_from(("", "refund", "\ud800", "é" * 3, "\x00", "x" * 100_000)),
    st.integers(-1, 2),
    current=st.none() | odd_ids,
    tools=st.lists(
        st.builds(
            ToolResult,
            odd_texts,
            contents
            | st.sampled_from(("\ud800", "[" * 5_000, '{"n": 1e999, "risk": NaN}', '{"n": {}}', '{"n": 1, "n": ""}')),
            odd_texts,
        ),
        max_size=2,
    ).map(tuple),
    picks=st.lists(odd_ids, max_size=2).map(tuple),
    visits=st.dictionaries(odd_ids, st.integers(-1, 10**30), max_size=2),
    between=st.booleans(),
)


@tried(33)
@given(odd_graphs | odd_trees, odd_moments, scorings)
def test_an_odd_graph_is_refused_or_moves_without_raising(
    declared: Declared, context: MoveContext, scoring: EntryScoring | None
) -> None:
    try:
        graph = SkillGraph.of(declared, check="off")
    except InvalidGraph:
        return
    graph.explain(context, scoring).to_dict()
    graph.reachable_skills(context.current)
    graph.leaf(context, scoring)
    ctx = EvalContext(graph.compiled.lexicon, graph.declared.scales, context, scoring)
    advance(graph.compiled, _cursor_at(graph, context), ctx, "t1")
