from skillweave import Evidence
from skillweave.cli.output.page import Page
from skillweave.cli.output.turn import cursor_text, move_text, way_text
from skillweave.graph import By, ClosedGuard, Cursor, Loser, Move, Why

WIDE = Page(200)


def lines(move: Move, *reachable: str) -> list[str]:
    return list(move_text(move, reachable, WIDE))


def test_a_step_is_told_in_one_line_with_what_led_to_it() -> None:
    moved = Move("refund", "triage", By.ROUTE, reason="the route fires")
    assert lines(moved, "faq", "triage") == [
        "moved            triage -> refund, by route: the route fires",
        "reachable        faq, triage",
    ]


def test_what_begins_comes_from_the_start() -> None:
    assert lines(Move("triage", None, By.ENTRY, reason="the first"))[0] == (
        "moved            start -> triage, by entry: the first"
    )
    assert way_text(None, "a") == "start -> a"


def test_where_nothing_moves_the_place_is_told() -> None:
    assert lines(Move("triage", "triage", By.STAY, reason="nothing leads away"))[0] == (
        "stays            at triage: nothing leads away"
    )
    assert lines(Move("triage", "triage", By.STOPPED, reason="the limit"))[0] == "stopped          at triage: the limit"
    assert lines(Move(None, None, By.NONE, reason="no entry")) == ["nowhere yet      no entry", "reachable        none"]


def test_of_a_tree_the_leaf_is_told() -> None:
    led = Move(None, None, By.NONE, (Evidence("leaf", "refund"),), reason="the tree leads to 'refund'")
    assert lines(led)[0] == "decided          the tree leads to 'refund'"


def test_what_lost_and_which_guards_were_closed_is_told_up_to_three_of_each() -> None:
    losers = tuple(Loser(f"l{number}", By.ROUTE, Why.LATER, "too late") for number in range(5))
    closed = tuple(ClosedGuard("a", f"c{number}", "risk ≥ high", "it does not hold") for number in range(5))
    told = lines(Move("a", "a", By.STAY, (), losers, closed, "nothing"))
    assert told[1:-1] == [
        *(f"not taken        to l{number}, by route: too late" for number in range(3)),
        *(f"closed           a -> c{number}: it does not hold" for number in range(3)),
    ]


def test_a_closed_route_from_anywhere_is_called_so() -> None:
    told = lines(Move("a", "a", By.STAY, (), (), (ClosedGuard("*", "b", "n > 1", "it is text"),), "nothing"))
    assert told[1] == "closed           any skill -> b: it is text"


def test_a_condition_that_raised_is_told() -> None:
    told = lines(Move(None, None, By.NONE, (Evidence("raised", "entry a: KeyError"),), reason="no entry"))
    assert told[1] == "raised           entry a: KeyError"


def test_a_cursor_is_told_with_the_way_there() -> None:
    short = Cursor("b", {"a": 1, "b": 1}, ("a", "b"))
    assert cursor_text(short, WIDE) == "at               b in the skill graph; the way there: a -> b"


def test_of_a_long_way_the_last_steps_are_told() -> None:
    trail = tuple(f"s{number}" for number in range(12))
    told = cursor_text(Cursor("s11", {}, trail), WIDE)
    assert "way there: ... -> s2 -> s3" in told
    assert "s1 ->" not in told
