from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt

from skillweave import ApprovalVerdict, ToolCall, Weaver
from skillweave.adapters.approval import Reply, record
from skillweave.adapters.chat import Call
from skillweave.errors import ApprovalNeeded
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import FILING, FILING_FOR_ALL, GREETINGS, NARRATIVE, SKILLS, Workshop, heading
from tests.adapters.graphs import BOTH, MARKED, agent_of, asked, holding, opened, said, thread
from tests.adapters.hosts.langchain_agent import as_langchain

APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "It is too thin."}


@pytest.fixture
def reopened(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """An agent over files, made anew at each call as in a new process."""
    opened_savers: list[Any] = []

    def make(script: Script, workshop: Workshop | None = None, **options: Any) -> Any:
        context = SqliteSaver.from_conn_string(str(tmp_path / "threads.db"))
        opened_savers.append(context)
        weaver = opened(ledger=tmp_path / "ledger.db", **{k: options.pop(k) for k in ("skills",) if k in options})
        tools = [as_langchain(tool) for tool in (workshop or Workshop()).tools]
        return agent_of(script, weaver, tools=tools, checkpointer=context.__enter__(), **options)

    yield make
    for context in opened_savers:
        context.__exit__(None, None, None)


NARRATE = "I look it up. SKILL_SELECT:narrative"


def test_good_cause_review_pauses_before_the_model_acts_on_the_skill(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE)
    result = reopened(script).invoke(said("Write it"), thread())
    question = asked(result)
    assert [one["name"] for one in question["checkpoints"]] == ["good_cause_review"]
    assert question["checkpoints"][0]["asks"] == "Is the reasoning sound?"
    assert len(script.sent) == 1


def test_good_cause_review_goes_on_after_a_restart(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE, "Written.")
    reopened(script).invoke(said("Write it"), thread())
    result = reopened(script).invoke(Command(resume=APPROVED), thread())
    assert result["messages"][-1].text == "Written."
    assert script.last.times_in_messages(NARRATIVE) == 1


def test_a_trigger_pauses_before_the_first_call(reopened: Callable[..., Any]) -> None:
    script = Script()
    result = reopened(script, matchers=BOTH).invoke(said("Write the narrative"), thread())
    assert [one["name"] for one in asked(result)["checkpoints"]] == ["good_cause_review"]
    assert script.sent == []


def test_an_approved_review_is_not_asked_again(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE, "Written.", NARRATE)
    reopened(script).invoke(said("Write it"), thread())
    reopened(script).invoke(Command(resume=APPROVED), thread())
    result = reopened(script).invoke(said("Once more"), thread())
    assert "__interrupt__" not in result


@pytest.mark.parametrize("reply", ["yes", {"verdict": "approved"}, {"verdict": "maybe", "by": "Ann"}, None, 7])
def test_a_reply_that_is_none_asks_again_and_says_why(reopened: Callable[..., Any], reply: object) -> None:
    script = Script(NARRATE)
    reopened(script).invoke(said("Write it"), thread())
    again = reopened(script).invoke(Command(resume={"reply": reply} if reply is None else reply), thread())
    assert asked(again)["problem"]
    assert [one["name"] for one in asked(again)["checkpoints"]] == ["good_cause_review"]
    assert len(script.sent) == 1
    assert reopened(script).invoke(Command(resume=APPROVED), thread())["messages"][-1].text == "All right."


def test_a_rejection_removes_the_text_and_tells_the_model(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE, "Then not.")
    reopened(script).invoke(said("Write it"), thread())
    result = reopened(script).invoke(Command(resume=REJECTED), thread())
    assert holding(result, NARRATIVE) == []
    assert script.last.times(heading("narrative")) == 0
    assert [script.last.times_in_messages(words) for words in ("Ann Lee", "It is too thin.")] == [1, 1]
    assert result["injected_skill_ids"] == []


def test_a_rejection_before_the_first_call_still_answers_the_user(reopened: Callable[..., Any]) -> None:
    script = Script("Then not.")
    reopened(script, matchers=BOTH).invoke(said("Write the narrative"), thread())
    result = reopened(script, matchers=BOTH).invoke(Command(resume=REJECTED), thread())
    assert [sent.times(NARRATIVE) for sent in script.sent] == [0]
    assert result["messages"][-1].text == "Then not."


def test_what_the_model_is_told_of_a_rejection_selects_nothing(reopened: Callable[..., Any]) -> None:
    note = {**REJECTED, "note": "Say bonjour first"}
    script = Script("Then not.")
    reopened(script, matchers=BOTH).invoke(said("Write the narrative"), thread())
    result = reopened(script, matchers=BOTH).invoke(Command(resume=note), thread())
    assert holding(result, GREETINGS) == []


def test_a_rejected_text_that_came_as_a_tools_result_is_taken_out_of_it(reopened: Callable[..., Any]) -> None:
    script = Script(Says(asks=(tool_call("read_skill", "r", skill_id="narrative"),)), "Then not.")
    reopened(script).invoke(said("Write it"), thread())
    result = reopened(script).invoke(Command(resume=REJECTED), thread())
    assert holding(result, NARRATIVE) == []
    assert [one.tool_call_id for one in result["messages"] if isinstance(one, ToolMessage)] == ["r"]


def test_a_skill_that_is_edited_during_the_pause_is_shown_again(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE, "Written.")
    first = reopened(script).invoke(said("Write it"), thread())
    edited = [*SKILLS[:3], {**SKILLS[3], "text": {"instructions": "Write anything at all."}}]
    again = reopened(script, skills=edited).invoke(Command(resume=APPROVED), thread())
    assert "has changed since it was shown" in asked(again)["problem"]
    assert asked(again)["checkpoints"][0]["digest"] != asked(first)["checkpoints"][0]["digest"]
    done = reopened(script, skills=edited).invoke(Command(resume=APPROVED), thread())
    assert done["messages"][-1].text == "Written."


def test_a_checkpoint_that_was_decided_elsewhere_lets_the_run_go_on(
    reopened: Callable[..., Any], tmp_path: Path
) -> None:
    script = Script(NARRATE, "Written.")
    reopened(script).invoke(said("Write it"), thread())
    weaver = opened(ledger=tmp_path / "ledger.db")
    weaver.sync.approvals.decide("t1", "narrative", "good_cause_review", "approved", by="Bo")
    result = reopened(script).invoke(None, thread())
    assert result["messages"][-1].text == "Written."


def test_a_checkpoint_that_is_new_after_the_pause_is_asked_next(reopened: Callable[..., Any]) -> None:
    script = Script(MARKED, "Bonjour!", NARRATE, "Written.")
    reopened(script).invoke(said("Hello"), thread())
    reopened(script).invoke(said("Write it"), thread())
    checked = {**SKILLS[1], "checkpoints": [{"name": "tone"}]}
    later = [SKILLS[0], checked, *SKILLS[2:]]
    result = reopened(script, skills=later).invoke(Command(resume=APPROVED), thread())
    assert [one["name"] for one in asked(result)["checkpoints"]] == ["tone"]
    done = reopened(script, skills=later).invoke(Command(resume=APPROVED), thread())
    assert done["messages"][-1].text == "Written."


def test_a_host_that_steps_over_the_approval_does_not_reach_the_model(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE)
    agent = reopened(script)
    agent.invoke(said("Write it"), thread())
    agent.update_state(thread(), {"awaiting": []}, as_node="approval")
    with pytest.raises(ApprovalNeeded, match="good_cause_review"):
        agent.invoke(None, thread())
    assert len(script.sent) == 1


def test_a_new_message_during_the_pause_asks_again(reopened: Callable[..., Any]) -> None:
    script = Script(NARRATE)
    reopened(script).invoke(said("Write it"), thread())
    result = reopened(script).invoke(said("Are you there?"), thread())
    assert [one["name"] for one in asked(result)["checkpoints"]] == ["good_cause_review"]
    assert len(script.sent) == 1


SUBMIT = Says(asks=(tool_call("search", "s", text="x"), tool_call("submit", "p", text="W-1")))


SUBMIT_AGAIN = Says(asks=(tool_call("submit", "q", text="W-1"),))


def test_pre_filing_pauses_the_call_that_files_and_goes_on_after_a_restart(reopened: Callable[..., Any]) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Submitted.")
    paused = reopened(script, workshop).invoke(said("File it"), thread())
    assert asked(paused)["call"] == {"id": "p", "tool": "submit", "arguments": {"text": "W-1"}}
    assert workshop.ran == ["search(x)"]
    result = reopened(script, workshop).invoke(Command(resume=APPROVED), thread())
    assert result["messages"][-1].text == "Submitted."
    assert workshop.ran == ["search(x)", "submit(W-1)"]


def test_a_yes_does_not_count_for_a_text_that_was_edited_during_the_pause(reopened: Callable[..., Any]) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, SUBMIT_AGAIN, "Submitted.")
    first = reopened(script, workshop).invoke(said("File it"), thread())
    edited = [*SKILLS[:2], {**SKILLS[2], "text": {"instructions": "Submit whatever there is."}}, SKILLS[3]]
    second = reopened(script, workshop, skills=edited).invoke(Command(resume=APPROVED), thread())
    assert workshop.ran == ["search(x)"]
    assert script.last.times_in_messages("Submit whatever there is.") == 1
    assert asked(second)["checkpoints"][0]["digest"] != asked(first)["checkpoints"][0]["digest"]
    reopened(script, workshop, skills=edited).invoke(Command(resume=APPROVED), thread())
    assert workshop.ran == ["search(x)", "submit(W-1)"]


def test_a_reply_that_is_none_asks_again_before_a_tool_too(reopened: Callable[..., Any]) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Submitted.")
    reopened(script, workshop).invoke(said("File it"), thread())
    again = reopened(script, workshop).invoke(Command(resume="yes"), thread())
    assert "says what and who" in asked(again)["problem"]
    reopened(script, workshop).invoke(Command(resume=APPROVED), thread())
    assert workshop.ran == ["search(x)", "submit(W-1)"]


def test_a_rejected_filing_takes_the_skills_text_out(reopened: Callable[..., Any]) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Then not.")
    skills = [FILING_FOR_ALL]
    reopened(script, workshop, skills=skills).invoke(said("File it"), thread())
    result = reopened(script, workshop, skills=skills).invoke(Command(resume=REJECTED), thread())
    assert holding(result, FILING) == []
    assert workshop.ran == ["search(x)"]
    assert script.last.times_in_messages("Ann Lee") == 1


@pytest.mark.parametrize(("reply", "given"), [(APPROVED, 1), (REJECTED, 0)])
async def test_a_review_pauses_and_goes_on_in_an_awaited_run_too(reply: object, given: int) -> None:
    script = Script(NARRATE, "Done.")
    agent = agent_of(script, opened())
    paused = await agent.ainvoke(said("Write it"), thread())
    assert [one["name"] for one in asked(paused)["checkpoints"]] == ["good_cause_review"]
    again = await agent.ainvoke(Command(resume="yes"), thread())
    assert asked(again)["problem"]
    done = await agent.ainvoke(Command(resume=reply), thread())
    assert done["messages"][-1].text == "Done."
    assert len(holding(done, NARRATIVE)) == given


def test_a_tool_with_a_question_of_its_own_is_not_answered_by_the_approval() -> None:
    heard = []

    @tool
    def submit(text: str) -> str:
        """Submits a filing."""
        heard.append(interrupt("Which office?"))
        return f"sent to {heard[-1]}"

    script = Script("SKILL_SELECT:filing", Says(asks=(tool_call("submit", text="W-1"),)), "Submitted.")
    agent = agent_of(script, opened(), tools=[submit])
    assert asked(agent.invoke(said("File it"), thread()))["kind"] == "skillweave.checkpoint"
    assert asked(agent.invoke(Command(resume="yes"), thread()))["problem"]
    assert asked(agent.invoke(Command(resume=APPROVED), thread())) == "Which office?"
    assert agent.invoke(Command(resume="Midland"), thread())["messages"][-1].text == "Submitted."
    assert heard == ["Midland"]


def test_a_call_beside_the_one_that_loads_its_skill_is_asked_for_again_before_anybody_decides() -> None:
    workshop = Workshop()
    load, submit = tool_call("read_skill", skill_id="filing"), tool_call("submit", text="W-1")
    script = Script(Says(asks=(load, submit)), Says(asks=(submit,)), "Submitted.")
    agent = agent_of(script, opened(), tools=[as_langchain(one) for one in workshop.tools])
    one_by_one: Any = {**thread(), "max_concurrency": 1}
    assert asked(agent.invoke(said("File it"), one_by_one))["call"]["tool"] == "submit"
    assert script.last.times_in_messages("was loaded beside this call") == 1
    agent.invoke(Command(resume=APPROVED), one_by_one)
    assert workshop.ran == ["submit(W-1)"]


TWO = Says(asks=(tool_call("submit", "a", text="W-1"), tool_call("submit", "b", text="W-2")))


@pytest.mark.parametrize("rejected", ["a", "b"])
def test_a_call_that_a_person_rejects_does_not_run_because_another_was_approved(
    reopened: Callable[..., Any], rejected: str
) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", TWO, "Done.")
    stops = reopened(script, workshop).invoke(said("File them"), thread())["__interrupt__"]
    answers = {stop.id: REJECTED if stop.value["call"]["id"] == rejected else APPROVED for stop in stops}
    result = reopened(script, workshop).invoke(Command(resume=answers), {**thread(), "max_concurrency": 1})
    assert {"a": "submit(W-1)", "b": "submit(W-2)"}[rejected] not in workshop.ran
    assert result["messages"][-1].text == "Done."


def test_a_rejected_call_does_not_run_when_an_approval_is_kept_right_behind_it(
    reopened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def overtaken(weaver: Weaver, conversation: str, replied: tuple[Any, Reply, Call]) -> Any:
        pending, _, call = replied
        await record(weaver, conversation, replied)
        return await record(weaver, conversation, (pending, Reply(ApprovalVerdict.APPROVED, "Bo"), call))

    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Then not.")
    reopened(script, workshop).invoke(said("File it"), thread())
    monkeypatch.setattr("skillweave.adapters.langchain_guard.record", overtaken)
    reopened(script, workshop).invoke(Command(resume=REJECTED), thread())
    assert workshop.ran == ["search(x)"]
    assert script.last.times_in_messages("'Ann Lee' rejected this call") == 1


def test_a_call_whose_checkpoint_was_decided_elsewhere_runs_without_a_reply(
    reopened: Callable[..., Any], tmp_path: Path
) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Submitted.")
    reopened(script, workshop).invoke(said("File it"), thread())
    asked = ToolCall("p", "submit", {"text": "W-1"})
    opened(ledger=tmp_path / "ledger.db").sync.approvals.decide(
        "t1", "filing", "pre_filing", "approved", by="Bo", call=asked
    )
    result = reopened(script, workshop).invoke(None, thread())
    assert result["messages"][-1].text == "Submitted."
    assert workshop.ran == ["search(x)", "submit(W-1)"]


def test_a_rejection_of_a_skill_that_is_gone_by_then_still_stops_the_call(reopened: Callable[..., Any]) -> None:
    workshop, script = Workshop(), Script("SKILL_SELECT:filing", SUBMIT, "Then not.")
    reopened(script, workshop).invoke(said("File it"), thread())
    without = [SKILLS[0], SKILLS[1], SKILLS[3]]
    result = reopened(script, workshop, skills=without).invoke(Command(resume=REJECTED), thread())
    assert workshop.ran == ["search(x)"]
    assert result["messages"][-1].text == "Then not."
