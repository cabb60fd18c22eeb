import json

import pytest

import skillweave
from skillweave import ApprovalVerdict, Checkpoint, Weaver
from skillweave.adapters.approval import (
    KIND,
    Reply,
    as_replied,
    question,
    read_asked_call,
    read_reply,
    record,
    require_decided,
    waiting,
)
from skillweave.adapters.chat import Call
from skillweave.errors import ApprovalNeeded, InvalidVerdict
from skillweave_testing import WordCounter
from tests.skills import make_skill

FILING = make_skill(
    "filing",
    keywords=["filing"],
    checkpoints=[Checkpoint("pre_filing", before="submit"), Checkpoint("review"), Checkpoint("fyi", blocking=False)],
)


def weaver() -> Weaver:
    return skillweave.open(FILING, counter=WordCounter())


def test_a_question_is_json_and_says_what_to_reply() -> None:
    injection = weaver().sync.weave("the filing", conversation="c")
    asked = json.loads(json.dumps(question("c", injection.checkpoints, Call("1", "submit", {"text": "W-1"}))))
    assert asked["kind"] == KIND
    assert asked["conversation"] == "c"
    assert [one["name"] for one in asked["checkpoints"]] == ["pre_filing", "review", "fyi"]
    assert asked["call"] == {"id": "1", "tool": "submit", "arguments": {"text": "W-1"}}
    assert '"by"' in asked["reply"]
    assert "problem" not in asked


def test_a_question_that_is_asked_again_says_what_was_wrong() -> None:
    assert question("c", (), problem="nobody is named")["problem"] == "nobody is named"


@pytest.mark.parametrize("verdict", ApprovalVerdict)
def test_a_reply_says_what_and_who(verdict: ApprovalVerdict) -> None:
    assert read_reply({"verdict": verdict.value, "by": "Ann"}) == Reply(verdict, "Ann")


def test_a_note_is_kept() -> None:
    assert read_reply({"verdict": "modified", "by": "Ann", "note": "half"}).note == "half"


@pytest.mark.parametrize(
    "reply",
    [
        True,
        "approved",
        None,
        [],
        {},
        {"verdict": "approved"},
        {"verdict": "approved", "by": " "},
        {"verdict": "approved", "by": 3},
        {"verdict": "yes", "by": "Ann"},
        {"verdict": True, "by": "Ann"},
        {"by": "Ann"},
        {"verdict": "approved", "by": "Ann", "all": True},
        {"verdict": ["approved"], "by": "Ann"},
        {"verdict": "APPROVED", "by": "Ann"},
        {"verdict": "approved", "by": "Ann", 3: 4},
    ],
)
def test_anything_else_is_refused_with_the_form(reply: object) -> None:
    with pytest.raises(InvalidVerdict, match='"verdict": "approved"'):
        read_reply(reply)


async def test_a_reply_is_kept_for_each_checkpoint_that_was_shown() -> None:
    one = weaver()
    injection = await one.weave("the filing", conversation="c")
    call = Call("1", "submit", {"text": "W-1"})
    judgements = await record(
        one, "c", (injection.checkpoints[:2], Reply(ApprovalVerdict.APPROVED, "Ann", "fine"), call)
    )
    assert [kept.approval.checkpoint for kept in judgements] == ["pre_filing", "review"]
    assert {kept.approval.by for kept in judgements} == {"Ann"}


async def test_a_reply_to_a_text_that_has_changed_since_is_refused() -> None:
    one = weaver()
    injection = await one.weave("the filing", conversation="c")
    changed = skillweave.open(
        make_skill("filing", instructions="new", checkpoints=FILING.checkpoints), ledger=one.ledger.store
    )
    with pytest.raises(InvalidVerdict):
        await record(changed, "c", (injection.checkpoints[:1], Reply(ApprovalVerdict.APPROVED, "Ann"), None))
    assert (await one.ledger.state("c")).approvals == ()


def test_only_blocking_checkpoints_before_no_tool_keep_the_model_waiting() -> None:
    injection = weaver().sync.weave("the filing", conversation="c")
    assert [one.name for one in waiting(injection)] == ["review"]


def test_a_host_that_cannot_pause_is_told_what_to_do() -> None:
    one = weaver()
    with pytest.raises(ApprovalNeeded, match=r"review of filing; .*weaver\.approvals\.decide\(.c., .filing., .review."):
        require_decided(one.sync.weave("the filing", conversation="c"))
    one.sync.approvals.decide("c", "filing", "review", "approved", by="Ann")
    require_decided(one.sync.weave("go on", conversation="c"))


CALL = Call("1", "submit", {"text": "W-1"})


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"verdict": "approved", "by": "Ann", "arguments": {}}, "only a reply 'modified' has arguments"),
        ({"verdict": "modified", "by": "Ann", "arguments": "W-2"}, "arguments of a modified call are an object"),
        ({"verdict": "modified", "by": "Ann", "arguments": {3: 4}}, "arguments of a modified call are an object"),
    ],
)
def test_arguments_that_do_not_fit_the_reply_are_refused(reply: object, why: str) -> None:
    with pytest.raises(InvalidVerdict, match=why):
        read_reply(reply)


def test_a_modified_call_is_left_with_the_new_arguments() -> None:
    said = read_reply({"verdict": "modified", "by": "Ann", "arguments": {"text": "W-2"}, "call": "1"})
    assert as_replied(CALL, said) == Call("1", "submit", {"text": "W-2"})
    assert as_replied(CALL, Reply(ApprovalVerdict.APPROVED, "Ann")) is CALL


@pytest.mark.parametrize("call", [CALL, None])
async def test_a_reply_about_another_call_than_was_asked_about_is_refused(call: Call | None) -> None:
    one = weaver()
    injection = await one.weave("the filing", conversation="c")
    with pytest.raises(InvalidVerdict, match="this reply is about call '2', and the question is about"):
        await record(one, "c", (injection.checkpoints[:1], Reply(ApprovalVerdict.APPROVED, "Ann", call="2"), call))
    assert (await one.ledger.state("c")).approvals == ()


async def test_new_arguments_for_no_call_are_refused() -> None:
    one = weaver()
    injection = await one.weave("the filing", conversation="c")
    changed = Reply(ApprovalVerdict.MODIFIED, "Ann", arguments={"text": "W-2"})
    with pytest.raises(InvalidVerdict, match="this question is about no call"):
        await record(one, "c", (injection.checkpoints[1:2], changed, None))


async def test_replies_to_several_questions_are_one_write() -> None:
    one = weaver()
    injection = await one.weave("the filing", conversation="c")
    yes, other = Reply(ApprovalVerdict.APPROVED, "Ann"), Call("2", "submit", {"text": "W-2"})
    no = Reply(ApprovalVerdict.REJECTED, "Ann")
    before = (await one.ledger.state("c")).revision
    await record(one, "c", (injection.checkpoints[:1], yes, CALL), (injection.checkpoints[:1], no, other))
    state = await one.ledger.state("c")
    assert (state.revision, [kept.verdict.value for kept in state.approvals]) == (before + 1, ["approved", "rejected"])


def test_the_call_of_a_question_that_a_host_kept_is_read_again() -> None:
    injection = weaver().sync.weave("the filing", conversation="c")
    asked = json.loads(json.dumps(question("c", injection.checkpoints, CALL)))
    assert read_asked_call(asked) == CALL
    assert read_asked_call(question("c", injection.checkpoints)) is None
    with pytest.raises(InvalidVerdict, match="is not as it was asked"):
        read_asked_call({**asked, "call": "1"})
