import pytest

from skillweave.approvals.case import ApprovalReply, ApprovalRequest
from skillweave.errors import InvalidValue
from skillweave.state.state import ApprovalVerdict


@pytest.mark.parametrize("by", ["", "  ", "Zoë\nadmin", "x" * 201])
def test_a_reply_of_nobody_is_refused(by: str) -> None:
    with pytest.raises(InvalidValue, match="names nobody"):
        ApprovalReply(ApprovalVerdict.APPROVED, by)


def test_a_note_that_is_too_long_to_be_kept_is_refused() -> None:
    with pytest.raises(InvalidValue, match="the note has 1,001 characters"):
        ApprovalReply(ApprovalVerdict.REJECTED, "Zoë", "x" * 1001)


@pytest.mark.parametrize("verdict", [ApprovalVerdict.APPROVED, ApprovalVerdict.REJECTED])
def test_only_a_modified_call_has_new_arguments(verdict: ApprovalVerdict) -> None:
    with pytest.raises(InvalidValue, match="with the verdict 'modified' only"):
        ApprovalReply(verdict, "Zoë", arguments={"amount": 5})


def test_arguments_are_json() -> None:
    with pytest.raises(InvalidValue, match="JSON; it holds nan"):
        ApprovalReply(ApprovalVerdict.MODIFIED, "Zoë", arguments={"amount": float("nan")})


def test_a_verdict_is_also_taken_as_its_text() -> None:
    assert ApprovalReply("approved", "Zoë").verdict is ApprovalVerdict.APPROVED  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["reviewer", "escalate_to"])
def test_who_is_asked_has_a_name_of_some_length(name: str) -> None:
    with pytest.raises(InvalidValue, match="at most 200 characters"):
        ApprovalRequest("c", "pay-bill", "release", **{name: "x" * 201})  # type: ignore[arg-type]
