"""The engine's form of a move (spec 3.2): cursors, replays, graphs that change."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from skillweave import Message, Role, ToolResult, Turn
from skillweave.graph import (
    ANY,
    AtIteration,
    By,
    Cursor,
    Decide,
    Declared,
    Entry,
    EntryPick,
    EntryScoring,
    KeywordScorer,
    Limits,
    Move,
    MoveContext,
    Predicate,
    Route,
    SkillGraph,
)
from skillweave.graph.conditions import EvalContext
from skillweave.graph.move import LONGEST_TRAIL
from skillweave.graph.moving import advance, at, context_of, is_between
from skillweave.turns import Read
from tests.graph.moments import answer, graph, pieces, raises, said

SHOP = graph(
    (Entry("triage"), Entry("order", said("order"))),
    (Route("triage", "refund", on_tool="lookup"), Route("refund", "refund", on_tool="again"), Route("refund", "done")),
)
REFUND, AGAIN = answer("lookup"), answer("again")


def _turn(
    turn_id: str = "t1",
    text: str | None = "hello",
    role: Role = Role.USER,
    transcript: Sequence[Message] | None = None,
    **rest: object,
) -> Turn:
    told = None if transcript is None else tuple(transcript)
    return Turn(turn_id, "c", Message(role, text), told, **rest)  # type: ignore[arg-type]


def _after(turn_id: str, *results: ToolResult, **rest: object) -> Turn:
    return _turn(turn_id, "", Role.ASSISTANT, None, results=results, **rest)


def _cursor(in_graph: SkillGraph, *turns: Turn, start: Cursor | None = None) -> Cursor | None:
    cursor = start
    for turn in turns:
        _, cursor = in_graph.advance(cursor, turn)
    return cursor


def _known(cursor: Cursor | None) -> Cursor:
    assert cursor is not None
    return cursor


# from cursor to cursor


def test_advance_also_returns_the_new_cursor_with_skill_visits_trail_digest_and_last_turn() -> None:
    move, cursor = SHOP.advance(None, _turn())
    assert (move.to, move.by) == ("triage", By.ENTRY)
    assert cursor == Cursor("triage", {"triage": 1}, ("triage",), SHOP.digest, "t1", move)


def test_a_route_moves_the_cursor_and_counts_the_visit() -> None:
    cursor = _known(_cursor(SHOP, _turn("t1"), _after("t2", REFUND)))
    assert (cursor.skill, cursor.visits, cursor.trail) == (
        "refund",
        {"triage": 1, "refund": 1},
        ("triage", "refund"),
    )


def test_a_self_loop_is_a_visit_and_a_step() -> None:
    cursor = _known(_cursor(SHOP, _turn("t1"), _after("t2", REFUND), _after("t3", AGAIN)))
    assert (cursor.visits["refund"], cursor.trail) == (2, ("triage", "refund", "refund"))


def test_staying_is_no_visit_and_no_step_but_the_turn_is_remembered() -> None:
    move, cursor = SHOP.advance(_cursor(SHOP, _turn("t1")), _turn("t2", "and now?"))
    cursor = _known(cursor)
    assert (move.by, cursor.visits, cursor.trail) == (By.STAY, {"triage": 1}, ("triage",))
    assert (cursor.last_turn, cursor.last_move) == ("t2", move)


def test_a_pick_moves_the_cursor_and_counts_the_visit() -> None:
    marked = _turn("t2", "SKILL_SELECT:order", Role.ASSISTANT)
    cursor = _known(_cursor(SHOP, _turn("t1"), marked))
    assert (cursor.skill, cursor.visits) == ("order", {"triage": 1, "order": 1})


def test_while_nothing_is_begun_there_is_no_cursor() -> None:
    move, cursor = graph((Entry("a", said("x")),)).advance(None, _turn())
    assert (move.by, cursor) == (By.NONE, None)


def test_a_stop_leaves_the_cursor_where_it_is_without_a_visit() -> None:
    one = graph((Entry("a"),), (Route("a", "b", on_tool="t"),), limits=Limits(visits_of={"b": 1}))
    start = Cursor("a", {"a": 1, "b": 1}, ("b", "a"), one.digest, "t1")
    move, cursor = one.advance(start, _after("t2", answer()))
    assert move.by is By.STOPPED
    assert cursor == replace(start, last_turn="t2", last_move=move)


def test_a_stop_before_anything_is_begun_leaves_no_cursor() -> None:
    one = graph((Entry("a"),), limits=Limits(iterations=1))
    move, cursor = one.advance(None, _after("t1"))
    assert (move.by, cursor) == (By.STOPPED, None)


def test_visit_limits_count_what_the_cursor_remembers() -> None:
    one = graph((Entry("a"),), (Route("a", "a", on_tool="t"),), limits=Limits(visits=3))
    cursor, stops = None, []
    for number in range(6):
        move, cursor = one.advance(cursor, _after(f"t{number}", answer()))
        stops.append(move.by)
    assert stops == [By.ENTRY, By.ROUTE, By.ROUTE, By.STOPPED, By.STOPPED, By.STOPPED]
    assert _known(cursor).visits == {"a": 3}


def test_the_trail_keeps_the_latest_hundred_steps_and_visits_count_all() -> None:
    one = graph((Entry("a"),), (Route("a", "b", on_tool="t"), Route("b", "a", on_tool="t")))
    cursor = _known(_cursor(one, *(_after(f"t{number}", answer()) for number in range(2 * LONGEST_TRAIL))))
    assert len(cursor.trail) == LONGEST_TRAIL
    assert cursor.trail[-2:] == ("a", "b")
    assert sum(cursor.visits.values()) == 2 * LONGEST_TRAIL


def test_the_cursor_that_was_handed_in_is_not_changed() -> None:
    visits = {"triage": 1}
    start = Cursor("triage", visits, ("triage",), SHOP.digest, "t1")
    SHOP.advance(start, _after("t2", REFUND))
    assert visits == {"triage": 1}


def test_a_condition_that_raises_leaves_the_cursor_where_it_is() -> None:
    one = graph((Entry("a", Predicate(raises)), Entry("b")), (Route("a", "b", Predicate(raises)),))
    move, cursor = one.advance(Cursor("a", {"a": 1}, ("a",), one.digest, "t1"), _turn("t2"))
    assert (move.to, move.by, _known(cursor).skill) == ("a", By.STAY, "a")


def test_a_scorers_choice_is_handed_in() -> None:
    one = graph((Entry("a"), Entry("b")), pick=KeywordScorer())
    move, cursor = one.advance(None, _turn(), EntryScoring("keyword", "b"))
    assert (move.by, _known(cursor).skill) == (By.SCORER, "b")


# replays


def test_the_same_turn_id_gives_the_same_move_again() -> None:
    start = _cursor(SHOP, _turn("t1"))
    first = SHOP.advance(start, _after("t2", REFUND))
    assert SHOP.advance(first[1], _after("t2", REFUND)) == first


@pytest.mark.parametrize(
    "other",
    [
        _turn("t2", "something else"),
        _after("t2"),
        _after("t2", AGAIN, AGAIN),
        _turn("t2", "SKILL_SELECT:triage", Role.ASSISTANT),
        _turn("t2", None, reads=(Read("done"),)),
    ],
)
def test_the_same_turn_id_gives_the_same_move_whatever_else_the_turn_says(other: Turn) -> None:
    first = SHOP.advance(_cursor(SHOP, _turn("t1")), _after("t2", REFUND))
    assert SHOP.advance(first[1], other) == first


def test_a_replay_counts_no_visit() -> None:
    cursor = _known(_cursor(SHOP, _turn("t1"), _after("t2", REFUND), _after("t2", REFUND), _after("t2", REFUND)))
    assert cursor.visits == {"triage": 1, "refund": 1}


def test_a_replay_gives_the_same_move_although_the_graph_changed_in_between() -> None:
    first = SHOP.advance(None, _turn("t1"))
    assert graph((Entry("other"),)).advance(first[1], _turn("t1")) == first


def test_a_replay_repeats_a_stop() -> None:
    one = graph((Entry("a"),), (Route("a", "b", on_tool="t"),), limits=Limits(visits_of={"b": 0}))
    first = one.advance(_cursor(one, _turn("t1")), _after("t2", answer()))
    assert first[0].by is By.STOPPED
    assert one.advance(first[1], _after("t2")) == first


def test_only_the_latest_turn_is_known_to_have_been_seen() -> None:
    cursor = _cursor(SHOP, _turn("t1"), _after("t2", REFUND))
    move, _ = SHOP.advance(cursor, _turn("t1"))
    assert move.by is By.STAY


def test_a_cursor_without_its_last_move_moves_again() -> None:
    """A State that an earlier version stored has none."""
    cursor = replace(_known(_cursor(SHOP, _turn("t1"))), last_move=None)
    move, _ = SHOP.advance(cursor, _after("t1", REFUND))
    assert move.to == "refund"


# a graph that changed


CHANGED = graph((Entry("triage"),), (Route("triage", "escalate", on_tool="lookup"),))


def test_a_cursor_whose_skill_still_exists_in_a_changed_graph_is_kept_and_the_move_says_so() -> None:
    start = _known(_cursor(SHOP, _turn("t1")))
    move, cursor = CHANGED.advance(start, _turn("t2"))
    assert (move.to, move.by) == ("triage", By.STAY)
    assert move.reason.startswith("the graph changed since the last move; 'triage' is still in it; ")
    assert ("graph", "the graph changed since the last move; 'triage' is still in it") in pieces(move.evidence)
    assert _known(cursor).visits == start.visits


def test_a_cursor_that_is_kept_moves_on_in_the_changed_graph() -> None:
    move, cursor = CHANGED.advance(_cursor(SHOP, _turn("t1")), _after("t2", REFUND))
    assert (move.to, move.by, _known(cursor).trail) == ("escalate", By.ROUTE, ("triage", "escalate"))


def test_a_cursor_whose_skill_is_gone_starts_again_and_the_move_says_so() -> None:
    move, cursor = CHANGED.advance(_cursor(SHOP, _turn("t1"), _after("t2", REFUND)), _turn("t3"))
    assert (move.to, move.from_, move.by) == ("triage", None, By.ENTRY)
    assert move.reason.startswith("the graph changed and 'refund' is no longer in it, so it starts again; ")
    assert _known(cursor).visits == {"triage": 1}
    assert _known(cursor).trail == ("triage",)


def test_where_the_skill_is_gone_and_nothing_begins_the_cursor_is_gone_too() -> None:
    move, cursor = graph((Entry("x", said("never")),)).advance(_cursor(SHOP, _turn("t1")), _turn("t2"))
    assert (move.by, cursor) == (By.NONE, None)
    assert "no longer in it" in move.reason


def test_after_one_move_the_cursor_belongs_to_the_changed_graph() -> None:
    _, cursor = CHANGED.advance(_cursor(SHOP, _turn("t1")), _turn("t2"))
    assert _known(cursor).digest == CHANGED.digest
    move, _ = CHANGED.advance(cursor, _turn("t3"))
    assert move.evidence == ()


def test_a_graph_that_is_declared_alike_has_not_changed() -> None:
    same = SkillGraph.of(SHOP.declared, check="off")
    move, _ = same.advance(_cursor(SHOP, _turn("t1")), _turn("t2"))
    assert move.reason == "nothing leads away from 'triage' now"


def test_a_cursor_of_flat_graph_that_became_a_tree_is_dropped() -> None:
    tree = SkillGraph.of(Declared(tree=Decide(said("x"), "triage", "b"), listed=False), check="off")
    move, cursor = tree.advance(_cursor(SHOP, _turn("t1")), _turn("t2"))
    assert (move.to, cursor) == ("triage", None)


# trees


def test_a_tree_has_no_cursor() -> None:
    tree = SkillGraph.of(Declared(tree=Decide(said("x"), "a", "b"), listed=False), check="off")
    move, cursor = tree.advance(None, _turn())
    assert (move.to, cursor) == (None, None)


# between two calls of the model


def test_a_read_of_the_model_that_can_be_reached_moves_the_cursor_between_two_calls() -> None:
    cursor = _cursor(SHOP, _turn("t1"), _after("t2", REFUND))
    move, after = SHOP.advance(cursor, _turn("r1", None, Role.ASSISTANT, reads=(Read("done"),)))
    assert (move.to, move.by, _known(after).skill) == ("done", By.PICK, "done")


def test_a_read_of_the_current_skill_leaves_the_cursor_as_it_was_so_that_the_turn_can_be_replayed() -> None:
    cursor = _cursor(SHOP, _turn("t1"))
    move, after = SHOP.advance(cursor, _turn("r1", None, Role.ASSISTANT, reads=(Read("triage"),)))
    assert (move.by, after) == (By.STAY, cursor)
    assert SHOP.advance(after, _turn("t1"))[0].by is By.ENTRY


def test_a_read_beside_the_results_of_other_tools_lets_their_routes_fire() -> None:
    both = _turn("t2", None, Role.TOOL, reads=(Read("triage"),), results=(REFUND,))
    assert SHOP.advance(_cursor(SHOP, _turn("t1")), both)[0].to == "refund"


def test_between_two_calls_nothing_begins() -> None:
    assert SHOP.advance(None, _turn("r1", None, Role.ASSISTANT))[1] is None


@pytest.mark.parametrize(
    ("turn", "between"),
    [
        (_turn(), False),
        (_turn(text=""), False),
        (_turn(text=None), True),
        (_turn(text=None, results=(REFUND,)), False),
        (_turn(text=None, named=("a",)), False),
        (_turn(reads=(Read("a"),)), True),
        (_turn(reads=(Read("a"),), results=(REFUND,)), False),
        (_turn(text=None, reads=(Read("a"),)), True),
    ],
)
def test_a_turn_is_between_two_calls_when_it_answers_a_read_or_nobody_says_anything_in_it(
    turn: Turn, between: bool
) -> None:
    assert is_between(turn) is between
    assert context_of(turn).between is between


# what a turn brings


USER, MODEL, TOOL = Message(Role.USER, "hello"), Message(Role.ASSISTANT, "hm"), Message(Role.TOOL, "ok")


def test_a_turn_brings_the_users_words_results_picks_and_history() -> None:
    turn = _turn(
        "t1", "hi SKILL_SELECT:no", transcript=[USER, MODEL], results=(REFUND,), named=("order",), reads=(Read("x"),)
    )
    assert context_of(turn) == MoveContext("hi SKILL_SELECT:no", 1, (USER, MODEL), None, (REFUND,), ("order", "x"))


@pytest.mark.parametrize(
    ("role", "transcript", "user"),
    [
        (Role.ASSISTANT, [USER, MODEL], "hello"),
        (Role.TOOL, [USER, MODEL, TOOL], "hello"),
        (Role.ASSISTANT, None, ""),
        (Role.USER, [USER], "now"),
    ],
)
def test_where_the_user_does_not_speak_their_latest_words_count(
    role: Role, transcript: list[Message] | None, user: str
) -> None:
    assert context_of(_turn("t1", "now", role, transcript)).user == user


@pytest.mark.parametrize(
    ("turn", "iteration"),
    [
        (_turn(), 1),
        (_turn(results=(REFUND,)), 2),
        (_turn(role=Role.ASSISTANT), 2),
        (_turn(transcript=[]), 1),
        (_turn(transcript=[USER]), 1),
        (_turn(transcript=[USER, MODEL, TOOL]), 2),
        (_turn(text="more", transcript=[USER, MODEL, TOOL]), 1),
        (_turn(role=Role.TOOL, text="ok", transcript=[USER, MODEL, TOOL]), 2),
        (_turn(role=Role.TOOL, text="ok", transcript=[USER, MODEL, TOOL, MODEL, TOOL]), 3),
        (_turn(role=Role.TOOL, text="ok", transcript=[MODEL, USER, MODEL, TOOL]), 2),
        (_turn(role=Role.ASSISTANT, transcript=[MODEL, TOOL, MODEL]), 3),
    ],
)
def test_the_iteration_is_the_models_call_since_the_user_spoke(turn: Turn, iteration: int) -> None:
    assert context_of(turn).iteration == iteration


def test_an_iteration_that_is_counted_reaches_conditions() -> None:
    one = graph((Entry("a"),), (Route("a", "b", AtIteration(2)),))
    cursor = _cursor(one, _turn("t1", transcript=[USER]))
    assert one.advance(cursor, _turn("t2", "ok", Role.TOOL, [USER, MODEL, TOOL]))[0].to == "b"


def test_a_moment_is_placed_where_the_cursor_is() -> None:
    cursor = Cursor("triage", {"triage": 2}, ("triage", "triage"))
    assert at(cursor, MoveContext("x"), SHOP.compiled) == MoveContext(
        "x", current="triage", visits={"triage": 2}, trail=("triage", "triage")
    )


@pytest.mark.parametrize("cursor", [None, Cursor("gone", {"gone": 2}, ("gone",))])
def test_without_a_cursor_or_with_one_that_is_gone_a_moment_stands_nowhere(cursor: Cursor | None) -> None:
    context = MoveContext("x", current="triage", visits={"triage": 1}, trail=("triage",))
    assert at(cursor, context, SHOP.compiled) == MoveContext("x", visits=MappingProxyType({}))


def test_the_engine_and_the_graph_advance_alike() -> None:
    turn = _turn()
    ctx = EvalContext(SHOP.compiled.lexicon, {}, context_of(turn))
    assert advance(SHOP.compiled, None, ctx, turn.id) == SHOP.advance(None, turn)


def test_a_route_from_any_moves_a_stored_cursor() -> None:
    one = graph((Entry("a"),), (Route(ANY, "help", on_status=("denied",)),))
    assert _known(_cursor(one, _turn("t1"), _after("t2", answer(status="denied")))).skill == "help"


def test_with_pick_read_the_cursor_is_set_by_the_models_read() -> None:
    one = graph((Entry("a"), Entry("b")), pick=EntryPick.READ)
    cursor = _cursor(one, _turn("t1"), _turn("r1", None, Role.ASSISTANT, reads=(Read("b"),)))
    assert _known(cursor).skill == "b"
    assert isinstance(_known(cursor).last_move, Move)
