"""Picks of the model (spec 3.2, point 3; 3.3)."""

import json

import pytest

from skillweave.graph import ANY, By, Declared, Entry, Move, MoveContext, Route, SkillGraph, Why
from tests.graph.moments import answer, graph, pieces, skills

SHOP = graph(
    (Entry("triage"), Entry("order")),
    (
        Route("triage", "refund", on_tool="lookup"),
        Route("refund", "voucher"),
        Route("refund", "review", on_tool="pay"),
        Route(ANY, "escalate", on_status=("denied",)),
    ),
)


def _picked(*picks: str, current: str | None = "triage", **moment: object) -> Move:
    return SHOP.explain(MoveContext(current=current, picks=picks, **moment))  # type: ignore[arg-type]


def _lost(move: Move) -> list[tuple[str, By, Why]]:
    return [(loser.to, loser.by, loser.why) for loser in move.losers]


@pytest.mark.parametrize(
    ("current", "pick"),
    [("triage", "refund"), ("triage", "order"), ("triage", "escalate"), ("refund", "voucher"), ("refund", "triage")],
)
def test_an_accepted_pick_of_a_skill_that_can_be_reached_moves_the_cursor(current: str, pick: str) -> None:
    move = _picked(pick, current=current)
    assert (move.to, move.from_, move.by, pieces(move.evidence)) == (pick, current, By.PICK, [("pick", pick)])


def test_a_pick_may_take_a_route_whose_condition_does_not_hold() -> None:
    assert _picked("review", current="refund").to == "review"


@pytest.mark.parametrize(("current", "pick"), [("triage", "voucher"), ("order", "refund"), (None, "refund")])
def test_a_pick_of_a_skill_that_cannot_be_reached_is_refused_and_the_cursor_stays(
    current: str | None, pick: str
) -> None:
    move = SHOP.explain(MoveContext(current=current, picks=(pick,), between=True))
    assert (move.to, _lost(move)) == (current, [(pick, By.PICK, Why.UNREACHABLE)])


def test_the_refusal_of_a_pick_names_what_can_be_reached() -> None:
    (loser,) = _picked("voucher").losers
    assert loser.reason == "'voucher' cannot be reached from 'triage'; what can be is: refund, escalate, order"


def test_a_pick_of_an_unknown_skill_is_a_typed_rejection() -> None:
    move = _picked("zzz")
    assert (move.to, move.by, _lost(move)) == ("triage", By.STAY, [("zzz", By.PICK, Why.UNKNOWN)])


def test_a_pick_of_any_is_a_pick_of_an_unknown_skill() -> None:
    assert _lost(_picked(ANY)) == [(ANY, By.PICK, Why.UNKNOWN)]


def test_a_listed_skill_that_nothing_leads_to_has_no_place_and_cannot_be_picked() -> None:
    listed = SkillGraph.of(Declared(skills("a", "b"), (Entry("a"),)), check="off")
    (loser,) = listed.explain(MoveContext(current="a", picks=("b",))).losers
    assert (loser.why, loser.reason) == (Why.UNKNOWN, "'b' has no place in this graph")


def test_a_pick_of_the_current_skill_is_no_move_and_no_loser() -> None:
    move = _picked("triage")
    assert (move.by, move.losers) == (By.STAY, ())


def test_to_pick_a_base_skill_is_no_step_as_it_applies_beside_the_cursor() -> None:
    based = SkillGraph.of(Declared(skills("a", "tone"), (Entry("a"), Entry("tone", base=True))), check="off")
    assert based.next_skill(MoveContext(current="a", picks=("tone",))) == "a"
    assert based.explain(MoveContext(picks=("tone",), between=True)).by is By.NONE


@pytest.mark.parametrize("current", [None, "triage", "refund"])
def test_a_pick_of_a_base_skill_is_no_move_and_no_loser(current: str | None) -> None:
    """It applies beside the cursor, wherever that is."""
    one = graph((Entry("rules", base=True), Entry("triage")), (Route("triage", "refund"), Route("refund", "rules")))
    move = one.explain(MoveContext(current=current, picks=("rules",), between=True))
    assert (move.to, move.moved, move.losers) == (current, False, ())


def test_a_pick_of_a_base_skill_leaves_the_next_pick_its_turn() -> None:
    one = graph((Entry("rules", base=True), Entry("triage")), (Route("triage", "refund"),))
    assert one.next_skill(MoveContext(current="triage", picks=("rules", "refund"))) == "refund"


def test_a_route_that_fires_goes_before_a_pick() -> None:
    move = _picked("order", tools=(answer("lookup"),))
    assert (move.to, move.by, _lost(move)) == ("refund", By.ROUTE, [("order", By.PICK, Why.OVERRULED)])


def test_a_pick_of_where_a_route_leads_is_credited_to_the_route() -> None:
    move = _picked("refund", tools=(answer("lookup"),))
    assert (move.to, move.by, move.losers) == ("refund", By.ROUTE, ())


def test_of_several_picks_the_first_that_can_be_reached_wins_and_the_others_lose() -> None:
    move = _picked("zzz", "voucher", "order", "refund", "order")
    assert (move.to, move.by) == ("order", By.PICK)
    assert _lost(move) == [
        ("zzz", By.PICK, Why.UNKNOWN),
        ("voucher", By.PICK, Why.UNREACHABLE),
        ("refund", By.PICK, Why.OVERRULED),
    ]


def test_a_thousand_picks_are_judged_and_told_within_bounds() -> None:
    move = _picked(*(f"nothing-{number}" for number in range(1_000)), "order")
    assert (move.to, len(move.losers)) == ("order", 20)


def test_a_thousand_refused_picks_in_a_large_graph_stay_small() -> None:
    ids = [f"s{number}" for number in range(1_000)]
    one = graph((Entry("a"),), [Route("a", target) for target in ids] + [Route(ids[0], f"x{n}") for n in range(1_000)])
    move = one.explain(MoveContext(current="a", picks=tuple(f"x{number}" for number in range(1_000))))
    assert len(json.dumps(move.to_dict())) < 20_000


@pytest.mark.parametrize("odd", ["x" * 1_000_000, "\ud800", "\x00", "a\nb", "\u202e", " "])
def test_an_unknown_pick_is_told_so_that_any_store_can_keep_it(odd: str) -> None:
    (loser,) = _picked(odd).losers
    assert len(loser.to) <= 600
    assert (loser.to + loser.reason).isprintable()
    (loser.to + loser.reason).encode()


def test_between_two_calls_of_the_model_a_pick_moves_the_cursor() -> None:
    assert _picked("order", between=True).by is By.PICK


def test_between_two_calls_of_the_model_no_route_fires() -> None:
    assert _picked(tools=(answer("lookup"),), between=True).by is By.STAY


def test_between_two_calls_of_the_model_no_entry_begins() -> None:
    move = _picked(current=None, between=True)
    assert (move.to, move.by, move.reason) == (None, By.NONE, "nothing has begun yet")


def test_between_two_calls_of_the_model_a_pick_may_begin() -> None:
    move = _picked("order", current=None, between=True)
    assert (move.to, move.from_, move.by) == ("order", None, By.PICK)
