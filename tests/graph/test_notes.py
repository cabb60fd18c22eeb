import pytest

from skillweave import Evidence
from skillweave.graph import ANY, By, ClosedGuard, FieldTest, Loser, Move, Op, Route, Why
from skillweave.graph.conditions import Verdict
from skillweave.graph.guards import FailedTest
from skillweave.graph.moving import LONGEST_UNKNOWN, MOST_TOLD, Notes, described, unknown_id
from tests.graph.moments import where

RAISED = Verdict(holds=False, evidence=(Evidence("raised", "f: ValueError"),), raised=True)


def _loser(to: str) -> Loser:
    return Loser(to, By.PICK, Why.UNKNOWN, "x")


def test_a_move_without_notes_is_bare() -> None:
    assert Notes().move("b", "a", By.PICK, "why") == Move("b", "a", By.PICK, reason="why")


def test_a_move_tells_what_was_noted_and_failures_after_its_own_evidence() -> None:
    notes, route = Notes(), Route("a", "c", guard=where("n", "eq", 1))
    notes.lost(_loser("d"))
    notes.failed(RAISED, "entry a")
    notes.stayed_closed(route, Verdict(holds=False, closed=FailedTest(FieldTest("n", Op.EQ, 1), "x")))
    assert notes.move("b", "a", By.PICK, "why", (Evidence("pick", "b"),)) == Move(
        "b",
        "a",
        By.PICK,
        (Evidence("pick", "b"), Evidence("raised", "entry a: f: ValueError")),
        (_loser("d"),),
        (ClosedGuard("a", "c", "n = 1", "n = 1: it is text"),),
        "why",
    )


def test_each_thing_is_told_once() -> None:
    notes = Notes()
    for _ in range(3):
        notes.lost(_loser("d"))
        notes.failed(RAISED, "entry a")
    move = notes.move(None, None, By.NONE, "")
    assert (len(move.losers), len(move.evidence)) == (1, 1)


def test_no_more_than_twenty_of_each_kind_are_told_the_first_ones() -> None:
    notes = Notes()
    for number in range(MOST_TOLD + 5):
        notes.lost(_loser(str(number)))
        notes.failed(RAISED, f"entry {number}")
    move = notes.move(None, None, By.NONE, "")
    assert [loser.to for loser in move.losers] == [str(number) for number in range(MOST_TOLD)]
    assert len(move.evidence) == MOST_TOLD


@pytest.mark.parametrize(
    ("route", "words"),
    [
        (Route("a", "b"), "route from 'a' to 'b'"),
        (Route(ANY, "b"), "route from any skill to 'b'"),
        (Route("a", "b", label="paid"), "route from 'a' to 'b' (paid)"),
    ],
)
def test_a_route_in_words_names_its_ends_and_its_label(route: Route, words: str) -> None:
    assert described(route) == words


@pytest.mark.parametrize(
    ("odd", "told"),
    [("refund", "refund"), ("日本", "日本"), ("a\nb", "a\\nb"), ("\ud800", "\\ud800"), ("", "")],
)
def test_an_unknown_id_is_told_as_it_stands_or_escaped(odd: str, told: str) -> None:
    assert unknown_id(odd) == told


def test_an_unknown_id_is_cut() -> None:
    assert unknown_id("x" * 1_000) == "x" * LONGEST_UNKNOWN
