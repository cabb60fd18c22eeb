import json

import pytest

from skillweave.graph import By, ClosedGuard, Loser, Move, Why

KEYS = {"to", "from", "by", "evidence", "losers", "guards_closed", "reason"}
EMPTY = Move(None, None, By.NONE)


def test_a_move_has_to_from_by_evidence_losers_guards_closed_and_a_reason() -> None:
    assert EMPTY.to_dict().keys() == KEYS
    assert EMPTY.to_dict() == {
        "to": None,
        "from": None,
        "by": "none",
        "evidence": [],
        "losers": [],
        "guards_closed": [],
        "reason": "",
    }


def test_losers_and_closed_guards_are_plain_json() -> None:
    move = Move("a", "b", By.PICK, (), (Loser("c", By.ROUTE, Why.LATER, "x"),), (ClosedGuard("b", "d", "n > 1", "y"),))
    found = json.loads(json.dumps(move.to_dict()))
    assert found["losers"] == [{"to": "c", "by": "route", "why": "later", "reason": "x"}]
    assert found["guards_closed"] == [{"from": "b", "to": "d", "guard": "n > 1", "reason": "y"}]
    assert Move.from_dict(found) == move


@pytest.mark.parametrize(
    ("by", "moved"),
    [
        (By.ENTRY, True),
        (By.SCORER, True),
        (By.ROUTE, True),
        (By.PICK, True),
        (By.STAY, False),
        (By.NONE, False),
        (By.STOPPED, False),
    ],
)
def test_entries_scorers_routes_and_picks_are_steps_and_nothing_else_is(by: By, moved: bool) -> None:
    assert Move("a", "a", by).moved is moved


@pytest.mark.parametrize("broken", [{}, {**EMPTY.to_dict(), "by": "chance"}, {"to": None}])
def test_what_is_no_move_is_not_read_as_one(broken: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError)):
        Move.from_dict(broken)
