from dataclasses import replace

import pytest

from skillweave import ApprovalVerdict, Checkpoint, Skill, State, ToolRules
from skillweave.errors import InvalidVerdict
from skillweave.ledger import Approval
from skillweave.skills import CheckpointScope
from skillweave.state.approvals import (
    CONSENT,
    MOST_APPROVALS,
    consented,
    decide,
    decided,
    denied_tools,
    kept_out,
    undecided,
    waits,
    withdraw,
)
from tests.related import skill, snapshot

YES, NO, CHANGED = ApprovalVerdict.APPROVED, ApprovalVerdict.REJECTED, ApprovalVerdict.MODIFIED
A = replace(
    skill("a", digest="d1"),
    checkpoints=(Checkpoint("sign-off", before="pay", scope=CheckpointScope.CONVERSATION), Checkpoint("look")),
)


def said(verdict: ApprovalVerdict, digest: str = "d1", *, checkpoint: str = "sign-off", at: float = 1.0) -> Approval:
    return Approval("a", checkpoint, digest, verdict, "Zoë", at, before=("pay",))


def after(*verdicts: Approval) -> tuple[Approval, ...]:
    state = State()
    for verdict in verdicts:
        state = decide(state, verdict)
    return state.approvals


def edited(digest: str) -> Skill:
    return replace(A, digest=digest)


def test_a_newer_verdict_replaces_the_one_on_the_same_content_only() -> None:
    assert after(said(YES), said(YES, "d2"), said(NO)) == (said(YES, "d2"), said(NO))


def test_the_same_verdict_at_another_time_changes_nothing() -> None:
    state = State(approvals=(said(YES),))
    assert decide(state, said(YES, at=99.0)) is state


def test_a_verdict_that_another_one_overtook_counts_as_new() -> None:
    assert after(said(YES), said(NO, "d2"), said(YES, at=3.0)) == (said(NO, "d2"), said(YES, at=3.0))


def test_withdrawing_forgets_every_content_of_one_checkpoint() -> None:
    other = said(YES, checkpoint="look")
    assert withdraw(State(approvals=after(said(NO), said(YES, "d2"), other)), "a", "sign-off").approvals == (other,)


def test_withdrawing_nothing_changes_nothing() -> None:
    state = State(approvals=(said(YES),))
    assert withdraw(state, "a", "look") is state


@pytest.mark.parametrize(("verdict", "left"), [(YES, ["look"]), (CHANGED, ["look"]), (NO, ["sign-off", "look"])])
def test_what_is_let_through_is_not_asked_again(verdict: ApprovalVerdict, left: list[str]) -> None:
    assert [one.name for one in undecided(A, decided(after(said(verdict))))] == left


def test_a_changed_digest_asks_again() -> None:
    assert len(undecided(edited("d2"), decided(after(said(YES))))) == 2


def test_a_skill_waits_for_its_blocking_checkpoint_without_a_tool_only() -> None:
    assert waits(A, decided(after(said(YES))))
    assert not waits(A, decided(after(said(YES, checkpoint="look"))))
    assert not waits(replace(A, checkpoints=(Checkpoint("look", blocking=False),)), frozenset())


def test_a_rejection_keeps_its_skill_out_for_the_content_that_was_judged() -> None:
    assert list(kept_out(after(said(NO)), snapshot(A))) == ["a"]
    assert list(kept_out(after(said(NO)), snapshot(edited("d2")))) == []
    assert list(kept_out(after(said(NO)), snapshot())) == []


def test_a_rejected_tool_is_denied_while_the_rejection_stands() -> None:
    reason = "rejected by `Zoë` at the checkpoint `sign-off`"
    assert denied_tools(after(said(NO)), snapshot(A), in_force=()) == {"pay": reason}


def test_a_rejected_tool_stays_denied_after_an_edit_until_the_new_text_is_in_force() -> None:
    changed = snapshot(edited("d2"))
    assert list(denied_tools(after(said(NO)), changed, in_force=())) == ["pay"]
    assert list(denied_tools(after(said(NO)), changed, in_force=("a",))) == []


def test_a_later_yes_to_another_content_frees_the_tool() -> None:
    assert list(denied_tools(after(said(NO), said(YES, "d2")), snapshot(edited("d2")), in_force=())) == []


def test_a_rejected_content_that_comes_back_is_rejected_still() -> None:
    approvals = after(said(NO), said(YES, "d2"))
    assert list(kept_out(approvals, snapshot(A))) == ["a"]
    assert list(denied_tools(approvals, snapshot(A), in_force=())) == ["pay"]


def test_consent_is_no_approval_and_an_approval_is_no_consent() -> None:
    sly = replace(
        A,
        tools=ToolRules(preapproved=("read",)),
        checkpoints=(Checkpoint(CONSENT, before="read", scope=CheckpointScope.CONVERSATION),),
    )
    agreed = after(said(YES, checkpoint=CONSENT))
    assert consented(agreed, [sly]) == {"d1"}
    assert len(undecided(sly, decided(agreed))) == 1
    assert consented(after(said(YES)), [sly]) == frozenset()
    assert consented(agreed, [edited("d2")]) == frozenset()


def test_beyond_the_bound_the_oldest_yes_is_forgotten_and_no_rejection() -> None:
    no = [said(NO, f"n{n}") for n in range(MOST_APPROVALS - 2)]
    kept = after(*no, said(YES, "y1"), said(YES, "y2"), said(YES, "y3"))
    assert len(kept) == MOST_APPROVALS
    assert [one.digest for one in kept if one.verdict is YES] == ["y2", "y3"]


def test_a_conversation_full_of_rejections_takes_no_further_verdict_in_silence() -> None:
    full = State(approvals=tuple(said(NO, f"n{n}") for n in range(MOST_APPROVALS)))
    with pytest.raises(InvalidVerdict, match="200 rejections, none of which is forgotten by itself"):
        decide(full, said(YES))
    assert len(decide(full, said(YES, "n7")).approvals) == MOST_APPROVALS


def test_an_edit_that_takes_the_checkpoint_away_does_not_free_the_rejected_tool() -> None:
    for checkpoints in ((), (Checkpoint("sign-off", before="pay", blocking=False),), (Checkpoint("sign-off"),)):
        changed = snapshot(replace(edited("d2"), checkpoints=checkpoints))
        assert list(denied_tools(after(said(NO)), changed, in_force=("a",))) == ["pay"]


def test_a_checkpoint_of_another_name_before_the_same_tool_asks_in_its_place() -> None:
    changed = snapshot(
        replace(edited("d2"), checkpoints=(Checkpoint("four-eyes", before="pay", scope=CheckpointScope.CONVERSATION),))
    )
    assert list(denied_tools(after(said(NO)), changed, in_force=("a",))) == []


def test_a_yes_is_valid_for_the_text_that_was_shown_and_a_no_for_the_skill() -> None:
    yes = after(replace(said(YES), shown="d1-staging"))
    assert [one.name for one in undecided(A, decided(yes), "d1-staging")] == ["look"]
    assert [one.name for one in undecided(A, decided(yes), "d1-prod")] == ["sign-off", "look"]
    assert list(kept_out(after(replace(said(NO), shown="d1-staging")), snapshot(A))) == ["a"]
