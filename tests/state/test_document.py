import json
from dataclasses import replace
from pathlib import Path

import pytest

from skillweave import ApprovalVerdict, Outcome, StoreUnavailable
from skillweave.ledger import Approval, Engaged
from skillweave.state.codec import decision_from_json, decision_to_json, state_from_json, state_to_json
from skillweave_testing.ledger import FULL_STATE

WRITTEN_BEFORE = (
    '{"v":1,"revision":4,"records":[],"superseded":[],'
    '"engaged":[{"skill":"a","by":"triggers","since":"t1","idle":2}],"cursor":null,'
    '"approvals":[{"skill":"a","checkpoint":"sign-off","digest":"d1","verdict":"approved","by":"Ann","at":7.5}],'
    '"prefix":[],"last_turn":"t1"}'
)


def test_what_is_written_is_read_back_equal() -> None:
    assert state_from_json(state_to_json(FULL_STATE)) == FULL_STATE


def test_a_document_of_the_version_before_is_read() -> None:
    state = state_from_json(WRITTEN_BEFORE)
    assert state.engaged == (Engaged("a", "triggers", "t1", 2),)
    assert state.approvals == (Approval("a", "sign-off", "d1", ApprovalVerdict.APPROVED, "Ann", 7.5),)


def test_documents_that_the_version_before_stored_are_read_and_written_as_they_were() -> None:
    kept = Path(__file__).with_name("data") / "format-1.jsonl"
    conversation, considered = kept.read_text(encoding="utf-8").splitlines()
    state, decision = state_from_json(conversation), decision_from_json(considered)
    assert (state.records, state.approvals, state.prefix) == (
        FULL_STATE.records,
        FULL_STATE.approvals,
        FULL_STATE.prefix,
    )
    assert state.cursor is not None
    assert state.cursor.last_move is not None
    assert [one.why for one in state.cursor.last_move.losers] == ["overruled"]
    assert (decision.outcome, decision.tokens) == (Outcome.UPGRADED, 120)
    assert state_to_json(state) == conversation
    assert decision_to_json(decision) == considered


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"skill_id": "a"}', '{"outcome": 1}'])
def test_a_decision_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(StoreUnavailable, match="a stored decision cannot be read"):
        decision_from_json(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"v":1,"prefix":7}', '{"v":1,"prefix":[["a"]]}', '{"v":1,"revision":"x"}']
)
def test_a_conversation_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(StoreUnavailable, match="a stored conversation cannot be read"):
        state_from_json(text)


def test_a_document_holds_plain_json_only() -> None:
    data = json.loads(state_to_json(replace(FULL_STATE, revision=3)))
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(("word", "other"), [("approved", "perhaps"), ('"v":1', '"v":2')])
def test_a_document_with_an_unknown_word_or_format_is_refused_and_not_guessed(word: str, other: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        state_from_json(WRITTEN_BEFORE.replace(word, other))


def test_the_text_that_a_verdict_was_about_is_kept() -> None:
    said = Approval("a", "sign-off", "d1", ApprovalVerdict.APPROVED, "Ann", 7.5, shown="d1-staging")
    state = replace(FULL_STATE, approvals=(said,))
    assert state_from_json(state_to_json(state)) == state
