import json
from dataclasses import replace

import pytest

from skillweave.errors import StoreUnavailable
from skillweave.state.codec import state_from_json, state_to_dict, state_to_json
from skillweave.state.state import Approval, ApprovalVerdict, Engaged
from skillweave.testing.ledger import FULL_STATE

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


def test_a_document_holds_plain_json_only() -> None:
    data = state_to_dict(replace(FULL_STATE, revision=3))
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(("word", "other"), [("approved", "perhaps"), ('"v":1', '"v":2')])
def test_a_document_with_an_unknown_word_or_format_is_refused_and_not_guessed(word: str, other: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        state_from_json(WRITTEN_BEFORE.replace(word, other))


def test_the_text_that_a_verdict_was_about_is_kept() -> None:
    said = Approval("a", "sign-off", "d1", ApprovalVerdict.APPROVED, "Ann", 7.5, shown="d1-staging")
    state = replace(FULL_STATE, approvals=(said,))
    assert state_from_json(state_to_json(state)) == state
