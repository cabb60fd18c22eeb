"""Cold starts (spec 3.2, point 1)."""

import pytest

from skillweave import Evidence
from skillweave.graph import (
    ANY,
    AllOf,
    By,
    Condition,
    Entry,
    EntryPick,
    EntryScoring,
    HistoryMin,
    Intent,
    KeywordScorer,
    Move,
    MoveContext,
    Predicate,
    RankedEntry,
    Regex,
    Route,
    SkillGraph,
    Why,
)
from tests.graph.moments import answer, graph, guarded, pieces, raises, said

SHOP = graph((Entry("refund", said("refund", "charge")), Entry("order", said("order")), Entry("triage")))
SCORED = graph((Entry("a"), Entry("b", said("x")), Entry("c", Intent("a refund"))), pick=KeywordScorer())
READ = graph((Entry("a"), Entry("b", said("x"))), pick=EntryPick.READ)


def _begun(in_graph: SkillGraph, message: str = "", scoring: EntryScoring | None = None) -> Move:
    return in_graph.explain(MoveContext(user=message), scoring)


def _chose(chosen: str | None, **rest: object) -> EntryScoring:
    return EntryScoring("keyword", chosen, **rest)  # type: ignore[arg-type]


# entries in the order of declaration


@pytest.mark.parametrize(
    ("message", "to"), [("my order", "order"), ("a refund of my order", "refund"), ("a charge", "refund")]
)
def test_the_first_entry_whose_condition_holds_wins(message: str, to: str) -> None:
    move = _begun(SHOP, message)
    assert (move.to, move.from_, move.by) == (to, None, By.ENTRY)


def test_the_order_of_declaration_decides_not_the_order_of_the_words_in_the_message() -> None:
    assert _begun(SHOP, "order refund").to == "refund"


def test_an_entry_that_has_no_condition_wins_where_none_before_it_holds() -> None:
    move = _begun(SHOP, "hello")
    assert (move.to, move.by, pieces(move.evidence)) == ("triage", By.ENTRY, [("entry", "triage")])


def test_an_entry_without_a_condition_that_is_declared_first_wins_over_one_whose_condition_holds() -> None:
    assert _begun(graph((Entry("triage"), Entry("refund", said("refund")))), "refund").to == "triage"


def test_a_conditional_entry_says_what_its_condition_found_and_where() -> None:
    assert _begun(SHOP, "my order").evidence == (Evidence("keyword", "order", 3, 8),)


def test_where_no_entry_holds_the_move_is_by_none_and_nothing_is_begun() -> None:
    move = _begun(graph((Entry("a", said("x")),)), "hello")
    assert (move.to, move.from_, move.by) == (None, None, By.NONE)
    assert move.reason == "no entry's condition holds"


def test_a_graph_without_entries_begins_nothing() -> None:
    assert _begun(graph(routes=(Route("a", "b", on_tool="t"),)), "hello").by is By.NONE


def test_a_base_entry_begins_like_any_other_in_its_turn() -> None:
    assert _begun(graph((Entry("house-rules", base=True), Entry("a")))).to == "house-rules"


def test_one_skill_may_have_several_entries_and_each_counts_at_its_own_place() -> None:
    entries = (Entry("a", said("one")), Entry("b", said("two")), Entry("a", said("two", "three")))
    assert [_begun(graph(entries), word).to for word in ("one", "two", "three")] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("condition", "to"),
    [
        (Regex("ref(und)?"), "a"),
        (HistoryMin(1), "b"),
        (AllOf((said("refund"), Regex("^my"))), "a"),
        (AllOf((Regex("^my"), said("refund"))), "a"),
        (AllOf((said("refund"), said("order"))), "b"),
    ],
)
def test_entries_of_every_kind_of_condition_keep_their_order(condition: Condition, to: str) -> None:
    assert _begun(graph((Entry("a", condition), Entry("b", said("refund")))), "my refund").to == to


def test_tool_results_and_any_routes_move_nothing_before_something_is_begun() -> None:
    one = graph((Entry("a", said("x")),), (Route(ANY, "b", on_tool="t"), Route("a", "b", on_tool="t")))
    assert one.explain(MoveContext(user="hello", tools=(answer("t"),))).by is By.NONE


def test_a_guard_of_an_entry_looks_at_the_last_tool_result() -> None:
    one = graph((Entry("a", guarded("n", "eq", 1)),))
    tools = (answer(content='{"n": 1}'), answer(content='{"n": 2}'))
    assert one.next_skill(MoveContext(tools=tools)) is None
    assert one.next_skill(MoveContext(tools=tools[::-1])) == "a"


# conditions that raise


def test_an_entry_whose_condition_raises_counts_as_no_match_and_the_next_one_wins() -> None:
    move = _begun(graph((Entry("a", Predicate(raises)), Entry("b"))))
    assert (move.to, move.by) == ("b", By.ENTRY)


def test_a_condition_that_raises_is_told_with_its_entry_and_without_the_errors_words() -> None:
    move = _begun(graph((Entry("a", Predicate(raises)), Entry("b"))))
    assert pieces(move.evidence) == [("entry", "b"), ("raised", "entry a: raises: ValueError")]


def test_a_condition_that_raises_is_told_where_nothing_begins_too() -> None:
    move = _begun(graph((Entry("a", Predicate(raises)),)))
    assert (move.by, pieces(move.evidence)) == (By.NONE, [("raised", "entry a: raises: ValueError")])


def test_an_entry_after_the_winner_is_not_asked() -> None:
    assert _begun(graph((Entry("a"), Entry("b", Predicate(raises))))).evidence == (Evidence("entry", "a"),)


# never_routes


@pytest.mark.parametrize("message", ["Thanks", "  thanks ", "THANKS", "no,\n thank   you"])
def test_a_message_that_is_a_never_routes_phrase_starts_no_conditional_entry(message: str) -> None:
    one = graph((Entry("a", Regex(".")), Entry("b", said("thanks", "thank"))), never_routes=("thanks", "No, thank you"))
    assert _begun(one, message).by is By.NONE


def test_a_never_routes_phrase_leaves_entries_without_a_condition_alone() -> None:
    assert _begun(graph((Entry("a", Regex(".")), Entry("b")), never_routes=("thanks",)), "thanks").to == "b"


@pytest.mark.parametrize("message", ["thanks a lot", "thank", "no thanks", ""])
def test_a_never_routes_phrase_is_the_whole_message(message: str) -> None:
    one = graph((Entry("a", Regex("x*")),), never_routes=("thanks",))
    assert _begun(one, message).to == "a"


def test_a_never_routes_phrase_stops_no_route() -> None:
    one = graph((Entry("a"),), (Route("a", "b", said("thanks")),), never_routes=("thanks",))
    assert one.next_skill(MoveContext(user="thanks", current="a")) == "b"


def test_a_never_routes_phrase_keeps_a_scorer_from_a_conditional_entry_only() -> None:
    one = graph((Entry("a"), Entry("b", Regex("."))), never_routes=("thanks",), pick=KeywordScorer())
    assert _begun(one, "thanks", _chose("b")).by is By.NONE
    assert _begun(one, "thanks", _chose("a")).to == "a"


# scorers


def test_with_a_scorer_its_choice_that_is_handed_in_as_scoring_wins() -> None:
    move = _begun(SCORED, "x", _chose("b", ranked=(RankedEntry("a", 0.1, 0.25), RankedEntry("b", 0.9, 0.75))))
    assert (move.to, move.by) == ("b", By.SCORER)
    assert move.evidence == (Evidence("score", "keyword"),)
    assert move.reason == "the scorer 'keyword' chose 'b' with a relevance of 0.75"


def test_with_a_scorer_the_order_of_declaration_decides_nothing() -> None:
    assert _begun(SCORED, "x", _chose("b")).to == "b"
    assert _begun(SCORED, "x", _chose(None)).to is None


def test_a_scorer_that_abstains_begins_nothing() -> None:
    move = _begun(SCORED, "x", _chose(None))
    assert (move.by, move.reason) == (By.NONE, "the scorer chose no entry")


def test_a_graph_with_a_scorer_begins_nothing_without_its_scoring() -> None:
    move = _begun(SCORED, "x")
    assert (move.by, move.reason) == (By.NONE, "the entries were not scored")


def test_a_choice_of_an_entry_whose_condition_does_not_hold_is_refused() -> None:
    move = _begun(SCORED, "y", _chose("b"))
    assert (move.by, [(loser.to, loser.by, loser.why) for loser in move.losers]) == (
        By.NONE,
        [("b", By.SCORER, Why.UNREACHABLE)],
    )


def test_a_choice_of_a_skill_that_the_graph_does_not_have_is_refused() -> None:
    (loser,) = _begun(SCORED, "x", _chose("zzz")).losers
    assert (loser.to, loser.by, loser.why) == ("zzz", By.SCORER, Why.UNKNOWN)


def test_a_choice_of_an_entry_with_an_intent_needs_that_intent_to_be_heard() -> None:
    assert _begun(SCORED, "x", _chose("c")).by is By.NONE
    assert _begun(SCORED, "x", _chose("c", intent="a refund")).to == "c"


def test_an_entry_whose_condition_raises_cannot_be_chosen_and_is_told() -> None:
    one = graph((Entry("a", Predicate(raises)), Entry("b")), pick=KeywordScorer())
    assert pieces(_begun(one, "x", _chose("a")).evidence) == [("raised", "entry a: raises: ValueError")]
    assert pieces(_begun(one, "x", _chose("b")).evidence)[1:] == [("raised", "entry a: raises: ValueError")]


def test_a_scoring_decides_nothing_where_no_scorer_chooses() -> None:
    assert _begun(SHOP, "order", _chose("triage")).to == "order"
    assert _begun(READ, "order", _chose("a")).to is None


# the model's read


def test_with_pick_read_nothing_begins_by_itself() -> None:
    move = _begun(READ, "x")
    assert (move.to, move.by, move.reason) == (None, By.NONE, "the model begins by reading one of the entries")


@pytest.mark.parametrize("in_graph", [READ, SCORED, graph((Entry("a", said("never")), Entry("b", said("never"))))])
def test_where_no_entry_begins_an_accepted_pick_of_the_model_does(in_graph: SkillGraph) -> None:
    move = in_graph.explain(MoveContext(user="hello", picks=("b",)))
    assert (move.to, move.from_, move.by) == ("b", None, By.PICK)


def test_an_entry_that_begins_goes_before_a_pick() -> None:
    move = SHOP.explain(MoveContext(user="order", picks=("refund",)))
    assert (move.to, move.by) == ("order", By.ENTRY)
    assert [(loser.to, loser.by, loser.why) for loser in move.losers] == [("refund", By.PICK, Why.OVERRULED)]


def test_an_entrys_condition_does_not_lock_the_model_out_of_it() -> None:
    one = graph((Entry("a", said("never")),))
    assert one.next_skill(MoveContext(user="hello", picks=("a",))) == "a"
