"""The stored forms of an approval and of its steps, and what is not decided yet."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import StoreUnavailable
from skillweave.approvals.case import MOST_ESCALATE_SECONDS, ApprovalRequest
from skillweave.approvals.steps import asked, decided, verdict_of
from skillweave.errors import InvalidValue
from skillweave_stores.approvals.documents import case_from_json, case_to_json, sha256_in, sha256_of, step_to_json
from skillweave_testing.ledger import FULL_STATE
from tests.contracts_of_ports.approvals import CALL, CHANGED, DIGEST, REQUEST
from tests.strategies import json_mappings, texts

CASE = asked("a-1", REQUEST, DIGEST, FULL_STATE, 100.25)


@given(json_mappings, texts, st.floats(0, 1e9))
def test_an_approval_is_read_back_as_it_was_written(payload: object, text: str, seconds: float) -> None:
    request = replace(REQUEST, payload=payload, reviewer=text, escalate_to=text, escalate_seconds=min(seconds, 1e8))  # type: ignore[arg-type]
    case = decided(asked("a-1", request, text, FULL_STATE, seconds), replace(CHANGED, digest=None), seconds)
    written = case_to_json(case)
    assert written.isascii()
    assert case_to_json(case_from_json(written, "a-1")) == written
    assert case_from_json(written, "a-1") == case


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        "[" * 100_000,
        case_to_json(CASE).replace('"v":1', '"v":2'),
        case_to_json(CASE).replace("pending", "maybe"),
        case_to_json(replace(CASE, id="a-2")),
    ],
    ids=["empty", "list", "object", "null", "deep", "newer", "status", "another's"],
)
def test_a_damaged_approval_is_named_with_the_remedy(text: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"approval 'a-1' cannot be read .*restore its row"):
        case_from_json(text, "a-1")


def test_a_step_says_what_it_changed_and_has_the_hash_of_the_whole() -> None:
    after = decided(CASE, CHANGED, 200.5)
    step = json.loads(step_to_json(CASE, after, "because"))
    assert step["changed"] == {
        "status": "modified",
        "due_at": None,
        "decided_at": 200.5,
        "by": "Zoë",
        "note": "less 'of' it",
        "arguments": {"amount": 1, "to": None},
    }
    assert step["why"] == "because"
    assert step["sha256"] == sha256_in(json.dumps(step)) == sha256_of(case_to_json(after))


def test_the_first_step_says_everything_but_the_state_whose_hash_it_has() -> None:
    step = json.loads(step_to_json(None, CASE))
    assert step["changed"] == {key: value for key, value in CASE.to_dict().items() if key != "state"}
    other = json.loads(step_to_json(None, replace(CASE, state=replace(FULL_STATE, revision=9))))
    assert other["changed"] == step["changed"]
    assert other["sha256"] != step["sha256"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sha256": 7}', "[" * 100_000], ids=lambda text: text[:20])
def test_a_damaged_step_has_no_hash(text: str) -> None:
    assert sha256_in(text) is None


def test_a_pending_approval_has_no_verdict() -> None:
    with pytest.raises(InvalidValue, match="'a-1' is pending"):
        verdict_of(CASE)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("escalate_seconds", float("inf")),
        ("escalate_seconds", float("nan")),
        ("escalate_seconds", MOST_ESCALATE_SECONDS + 1),
        ("escalate_seconds", -1),
        ("escalate_to", 7),
        ("digest", 7),
        ("call", "pay"),
        ("reviewer", None),
        ("payload", []),
    ],
    ids=str,
)
def test_a_request_with_a_field_of_another_form_is_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidValue, match=field):
        replace(REQUEST, **{field: value})  # type: ignore[arg-type]


def test_a_request_travels_as_json() -> None:
    assert ApprovalRequest.from_dict(json.loads(json.dumps(REQUEST.to_dict()))) == REQUEST
    assert REQUEST.call == CALL
