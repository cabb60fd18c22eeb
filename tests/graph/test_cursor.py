"""Cursors as they are stored (spec 3.2), in a State's document."""

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from skillweave import Evidence, State
from skillweave.graph import By, ClosedGuard, Cursor, Loser, Move, Why
from skillweave.state.codec import state_from_json, state_to_json

MOVE = Move(
    "b",
    "a",
    By.ROUTE,
    (Evidence("tool", "lookup"), Evidence("keyword", "é\ud800", 1, 3)),
    (Loser("c", By.PICK, Why.OVERRULED, "the conversation goes to 'b' first"),),
    (ClosedGuard("a", "d", "n > 3", "n > 3: it is text"),),
    "the route from 'a' to 'b' fires",
)
CURSOR = Cursor("b", MappingProxyType({"a": 1, "b": 2}), ("a", "b"), "0" * 64, "t2", MOVE)


def _document(cursor: Cursor | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(state_to_json(State(cursor=cursor)))
    return found


@pytest.mark.parametrize("cursor", [None, Cursor("a"), replace(CURSOR, last_move=None), CURSOR])
def test_a_cursor_is_part_of_the_conversations_state_and_comes_back_from_its_document(cursor: Cursor | None) -> None:
    assert state_from_json(state_to_json(State(cursor=cursor))).cursor == cursor


@pytest.mark.parametrize("by", list(By))
def test_a_last_move_of_every_kind_comes_back(by: By) -> None:
    cursor = replace(CURSOR, last_move=replace(MOVE, by=by, to=None, from_=None))
    assert state_from_json(state_to_json(State(cursor=cursor))).cursor == cursor


def test_a_document_written_before_moves_were_kept_is_read() -> None:
    document = _document(CURSOR)
    del document["cursor"]["last_move"]
    assert state_from_json(json.dumps(document)).cursor == replace(CURSOR, last_move=None)


def test_a_stored_cursor_has_the_digest_of_its_graph_and_its_last_turn() -> None:
    stored = _document(CURSOR)["cursor"]
    assert (stored["skill"], stored["digest"], stored["last_turn"]) == ("b", "0" * 64, "t2")


def test_a_cursor_can_be_a_key() -> None:
    assert len({CURSOR, replace(CURSOR), Cursor("a")}) == 2


def test_a_new_cursor_has_been_nowhere() -> None:
    assert Cursor("a") == Cursor("a", {}, (), "", "", None)
