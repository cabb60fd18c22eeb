"""What the contract of adapters does not ask of LangChain's middleware: verdicts first, other middleware beside it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import skillweave
from examples.scripted.langchain import ScriptedChatModel
from skillweave import MemoryStore, Placement, Settings, SpawnRequest, Weaver
from skillweave.adapters.langchain import SkillMiddleware, Speaker
from skillweave.compose.spawn import prepare_spawn
from skillweave.errors import InvalidTurn
from skillweave.tools import SpawnPlan
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import FILING_FOR_ALL, GREETINGS, INVOICES, NARRATIVE, Workshop, heading, weaver_in
from tests.adapters.hosts.langchain_agent import as_langchain

INVOICE = "Is this invoice right?"
APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee"}
BOTH = pytest.mark.parametrize("placement", Placement)


def thread(name: str = "t") -> Any:
    return {"configurable": {"thread_id": name}}


class Office:
    """An agent over the contract's skills and tools, and what its model was sent."""

    def __init__(self, weaver: Weaver, *others: AgentMiddleware[Any, Any, Any], **options: Any) -> None:
        self.weaver = weaver
        self.script = Script()
        self.workshop = Workshop()
        self.saver: Any = InMemorySaver()
        self.middleware = [*others, SkillMiddleware(weaver, **options)]

    def invoke(self, given: str | Command[Any], config: Any = None, **state: Any) -> dict[str, Any]:
        agent: Any = create_agent(
            ScriptedChatModel(script=self.script),
            [as_langchain(tool) for tool in self.workshop.tools],
            middleware=self.middleware,
            checkpointer=self.saver,
        )
        said: Any = {"messages": [HumanMessage(given)], **state} if isinstance(given, str) else given
        result: dict[str, Any] = agent.invoke(said, config or thread())
        return result

    def resume(self, reply: object) -> dict[str, Any]:
        return self.invoke(Command(resume=reply))


@pytest.fixture
def weaver(tmp_path: Path) -> Weaver:
    return weaver_in(tmp_path)


def asked(result: dict[str, Any]) -> list[str]:
    """The checkpoints that the run waits at."""
    return [one["name"] for stop in result.get("__interrupt__", ()) for one in stop.value["checkpoints"]]


def texts(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(message.text) for message in messages)


@BOTH
def test_a_checkpoint_before_no_one_tool_stops_the_run_before_the_model(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    assert asked(office.invoke("Write the narrative")) == ["good_cause_review"]
    assert office.script.sent == []


@BOTH
def test_the_question_says_who_is_asked_what_about_which_text(weaver: Weaver, placement: Placement) -> None:
    (stop,) = Office(weaver, placement=placement).invoke("Write the narrative")["__interrupt__"]
    (point,) = stop.value["checkpoints"]
    assert (stop.value["kind"], stop.value["conversation"]) == ("skillweave.checkpoint", "t")
    assert (point["skill_id"], point["asks"]) == ("narrative", "Is the reasoning sound?")
    assert point["digest"] == weaver.sync.skills.snapshot()["narrative"].digest


@BOTH
def test_after_approval_the_model_gets_the_skill_and_is_not_stopped_again(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    office.invoke("Write the narrative")
    assert asked(office.resume(APPROVED)) == []
    assert asked(office.invoke("Go on")) == []
    assert [sent.times(NARRATIVE) for sent in office.script.sent] == [1, 1]


@BOTH
def test_after_rejection_the_model_goes_on_without_the_skill(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    office.invoke("Write the narrative")
    result = office.resume(REJECTED)
    assert office.script.last.times(NARRATIVE) == 0
    assert NARRATIVE not in texts(result["messages"])
    assert [one.by for one in weaver.sync.ledger.state("t").approvals] == ["Ann Lee"]


@BOTH
def test_after_rejection_the_model_is_told_once_who_said_no_and_why(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    office.invoke("Write the narrative")
    office.resume({**REJECTED, "note": "Not yet."})
    office.invoke("Go on")
    said = "'Ann Lee' rejected the skill 'narrative' at its checkpoint 'good_cause_review', saying 'Not yet.'"
    assert [sent.times_in_messages(said) for sent in office.script.sent] == [1, 0]


@BOTH
def test_a_reply_that_says_nothing_clear_is_asked_for_again(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    office.invoke("Write the narrative")
    (stop,) = office.resume("yes")["__interrupt__"]
    assert "says what and who" in stop.value["problem"]
    assert office.script.sent == []
    assert asked(office.resume(APPROVED)) == []
    assert office.script.last.times(NARRATIVE) == 1


def test_a_rejected_text_that_stands_in_the_history_is_taken_out_of_it(tmp_path: Path) -> None:
    office = Office(weaver_in(tmp_path))
    office.script.then(Says(asks=(tool_call("search", text="x"),)), "Done.")
    office.invoke(INVOICE)
    gated = {
        "id": "invoice-checking",
        "description": "Checks invoices.",
        "triggers": ["invoice"],
        "text": {"instructions": INVOICES},
        "checkpoints": [{"name": "release"}],
    }
    changed = skillweave.open(gated, ledger=office.weaver.ledger.store, counter=WordCounter())
    office.middleware = [SkillMiddleware(changed)]
    assert asked(office.invoke(INVOICE)) == ["release"]
    result = office.resume(REJECTED)
    assert office.script.last.times_in_messages(heading("invoice-checking")) == 0
    assert "search did x" in texts(result["messages"])


def two_gated(**settings: Any) -> Weaver:
    skills: list[Any] = [
        {
            "id": name,
            "description": f"{name}.",
            "triggers": ["paper"],
            "text": {"instructions": f"Do {name}."},
            "checkpoints": [{"name": f"check_{name}"}],
        }
        for name in ("alpha", "beta")
    ]
    return skillweave.open(*skills, settings=Settings(**settings), counter=WordCounter())


@BOTH
def test_a_reply_is_never_taken_for_the_reply_to_the_next_question(placement: Placement) -> None:
    office = Office(two_gated(max_skills=1), placement=placement)
    assert asked(office.invoke("The paper")) == ["check_alpha"]
    assert asked(office.resume(REJECTED)) == ["check_beta"]
    assert office.script.sent == []
    office.resume(APPROVED)
    verdicts = {one.skill_id: one.verdict.value for one in office.weaver.sync.ledger.state("t").approvals}
    assert verdicts == {"alpha": "rejected", "beta": "approved"}
    assert (office.script.last.times("Do alpha."), office.script.last.times("Do beta.")) == (0, 1)


@BOTH
def test_checkpoints_of_one_turn_are_asked_together(placement: Placement) -> None:
    office = Office(two_gated(), placement=placement)
    assert asked(office.invoke("The paper")) == ["check_alpha", "check_beta"]
    assert asked(office.resume(APPROVED)) == []
    assert len(office.script.sent) == 1


@BOTH
def test_a_question_outlives_the_process(tmp_path: Path, placement: Placement) -> None:
    for given, waits in (("Write the narrative", ["good_cause_review"]), (Command(resume=APPROVED), [])):
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            office = Office(weaver_in(tmp_path), placement=placement)
            office.saver = saver
            assert asked(office.invoke(given)) == waits  # type: ignore[arg-type]
    assert office.script.last.times(NARRATIVE) == 1


class Adds(AgentMiddleware[Any, Any, Any]):
    """Adds a sentence of the user to the call alone."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(messages=[*request.messages, HumanMessage("And the narrative?")]))


@BOTH
def test_what_another_middleware_adds_to_the_call_cannot_pass_a_checkpoint(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(weaver, Adds(), placement=placement)
    assert asked(office.invoke("Hello")) == ["good_cause_review"]
    assert office.script.sent == []
    office.resume(APPROVED)
    assert office.script.last.times(NARRATIVE) == 1


@BOTH
def test_a_checkpoint_in_the_middle_of_a_tool_loop_disturbs_no_reviewer(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, HumanInTheLoopMiddleware(interrupt_on={"search": True}), placement=placement)
    load = tool_call("read_skill", skill_id="narrative")
    office.script.then(Says(asks=(tool_call("search", text="x"), load)), "Written.")
    office.invoke("Hello")
    assert asked(office.invoke(decision("approve"))) == ["good_cause_review"]
    result = office.resume(APPROVED)
    assert (asked(result), texts(result["messages"][-1:])) == ([], "Written.")
    assert office.workshop.ran == ["search(x)"]


@BOTH
def test_a_rejected_text_that_the_model_read_is_taken_out_of_the_result(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    office.script.then(Says(asks=(tool_call("read_skill", skill_id="narrative"),)), "Then not.")
    assert asked(office.invoke("Hello")) == ["good_cause_review"]
    result = office.resume(REJECTED)
    assert office.script.last.times(NARRATIVE) == 0
    assert NARRATIVE not in texts(result["messages"])


def gated(text: str, store: MemoryStore, **checkpoint: str) -> Weaver:
    skill: Any = {
        "id": "narrative",
        "description": "Writes.",
        "triggers": ["narrative"],
        "text": {"instructions": text},
        "checkpoints": [{"name": "review", **checkpoint}],
    }
    return skillweave.open(skill, ledger=store, counter=WordCounter())


def test_a_verdict_falls_only_on_the_text_that_the_person_was_shown() -> None:
    store = MemoryStore()
    office = Office(gated("Be honest.", store), placement=Placement.CALL)
    office.invoke("Write the narrative")
    office.middleware = [SkillMiddleware(gated("Be bold.", store), placement=Placement.CALL)]
    assert asked(office.resume(APPROVED)) == ["review"]
    assert office.script.sent == []
    office.resume(APPROVED)
    assert (office.script.last.times("Be honest."), office.script.last.times("Be bold.")) == (0, 1)


@BOTH
def test_a_call_whose_skill_changed_while_it_waited_does_not_run(placement: Placement) -> None:
    store = MemoryStore()
    office = Office(gated("Be honest.", store, before="submit"), placement=placement)
    office.script.then(Says(asks=(tool_call("submit", text="W-1"),)), "It changed.")
    assert asked(office.invoke("Write the narrative")) == ["review"]
    office.middleware = [SkillMiddleware(gated("Be bold.", store, before="submit"), placement=placement)]
    office.resume(APPROVED)
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("has changed since") == 1


class KeepsTheLast(AgentMiddleware[Any, Any, Any]):
    """Trims each call to its last messages, as many hosts do; the state keeps all."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(messages=request.messages[-2:]))


def test_a_skill_that_another_middleware_trims_away_is_given_in_that_call(weaver: Weaver) -> None:
    office = Office(weaver, KeepsTheLast())
    for text in (INVOICE, "Go on", "And now?"):
        office.invoke(text)
    assert [sent.times_in_messages(INVOICES) for sent in office.script.sent] == [1, 1, 1]
    assert "write" not in office.script.last.tools


def test_a_message_counts_once_where_another_middleware_trims(weaver: Weaver) -> None:
    office = Office(weaver, KeepsTheLast())
    for text in (INVOICE, "Go on", "And now?"):
        office.invoke(text)
    assert [(one.skill_id, one.idle) for one in weaver.sync.ledger.state("t").engaged] == [("invoice-checking", 2)]


def test_a_skill_that_was_summarized_away_is_given_again(weaver: Weaver) -> None:
    summarizer = ScriptedChatModel(script=Script("They talked about Brandt."))
    office = Office(weaver, SummarizationMiddleware(summarizer, trigger=("messages", 6), keep=("messages", 1)))
    for text in (INVOICE, "Go on", "And the second page?"):
        result = office.invoke(text)
    assert "They talked about Brandt." in texts(result["messages"])
    assert [sent.times_in_messages(INVOICES) for sent in office.script.sent] == [1, 1, 1]
    assert texts(result["messages"]).count(INVOICES) == 1


def test_a_summary_in_call_placement_leaves_the_skill_in_the_system_prompt(weaver: Weaver) -> None:
    summarizer = ScriptedChatModel(script=Script("They talked about Brandt."))
    summarizing = SummarizationMiddleware(summarizer, trigger=("messages", 4), keep=("messages", 1))
    office = Office(weaver, summarizing, placement=Placement.CALL)
    for text in (INVOICE, "Go on", "And the second page?"):
        office.invoke(text)
    assert [sent.system.count(INVOICES) for sent in office.script.sent] == [1, 1, 1]


def reviewed(weaver: Weaver, *tools: str) -> Office:
    return Office(weaver, HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(tools, True)))


def decision(kind: str) -> Command[Any]:
    return Command(resume={"decisions": [{"type": kind}]})


def test_a_call_that_a_reviewer_approves_runs(weaver: Weaver) -> None:
    office = reviewed(weaver, "search")
    office.script.then(Says(asks=(tool_call("search", text="Brandt"),)), "Found.")
    assert "__interrupt__" in office.invoke(INVOICE)
    assert texts(office.invoke(decision("approve"))["messages"][-1:]) == "Found."
    assert office.workshop.ran == ["search(Brandt)"]


def test_what_a_reviewer_approves_a_skill_may_still_forbid(weaver: Weaver) -> None:
    office = reviewed(weaver, "write")
    office.script.then(Says(asks=(tool_call("write", text="new account"),)), "I can't.")
    office.invoke(INVOICE)
    office.invoke(decision("approve"))
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


def test_a_reviewer_and_a_checkpoint_are_asked_one_after_the_other(weaver: Weaver) -> None:
    office = reviewed(weaver, "submit")
    office.script.then(Says(asks=(tool_call("submit", text="W-1"),)), "Submitted.")
    office.invoke("Prepare the filing")
    assert asked(office.invoke(decision("approve"))) == ["pre_filing"]
    assert office.workshop.ran == []
    office.resume(APPROVED)
    assert office.workshop.ran == ["submit(W-1)"]


def test_after_a_reviewers_rejection_nothing_runs_and_the_skill_stays(weaver: Weaver) -> None:
    office = reviewed(weaver, "search")
    office.script.then(Says(asks=(tool_call("search", text="Brandt"),)), "Then not.")
    office.invoke(INVOICE)
    office.invoke(decision("reject"))
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages(INVOICES) == 1


@BOTH
def test_a_middleware_that_tries_again_does_not_swallow_a_question(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, ModelRetryMiddleware(max_retries=2), ToolRetryMiddleware(), placement=placement)
    assert asked(office.invoke("Write the narrative")) == ["good_cause_review"]
    assert asked(office.resume(APPROVED)) == []
    assert len(office.script.sent) == 1


def test_calls_that_wait_side_by_side_are_each_decided_by_their_own_interrupt(weaver: Weaver) -> None:
    office = Office(weaver)
    office.script.then(Says(asks=(tool_call("submit", text="W-1"), tool_call("submit", text="W-2"))), "Submitted.")
    stops = office.invoke("Prepare the filing")["__interrupt__"]
    stops.sort(key=lambda stop: str(stop.value["call"]["arguments"]))  # they run side by side
    assert [stop.value["call"]["arguments"] for stop in stops] == [{"text": "W-1"}, {"text": "W-2"}]
    office.resume({stop.id: APPROVED for stop in stops})
    assert sorted(office.workshop.ran) == ["submit(W-1)", "submit(W-2)"]


def test_a_call_that_a_person_rejects_does_not_run_because_another_was_approved(weaver: Weaver) -> None:
    office = Office(weaver)
    office.script.then(Says(asks=(tool_call("submit", text="W-1"), tool_call("submit", text="W-2"))), "Done.")
    stops = {
        stop.value["call"]["arguments"]["text"]: stop for stop in office.invoke("Prepare the filing")["__interrupt__"]
    }
    replies: Any = {stops["W-1"].id: APPROVED, stops["W-2"].id: REJECTED}
    office.invoke(Command(resume=replies), {**thread(), "max_concurrency": 1})
    assert "submit(W-2)" not in office.workshop.ran


def test_a_text_that_was_rejected_before_a_tool_is_taken_out_of_the_history() -> None:
    office = Office(skillweave.open(FILING_FOR_ALL, counter=WordCounter()))
    office.script.then(Says(asks=(tool_call("submit", text="W-1"),)), "Then not.")
    office.invoke("Prepare the filing")
    result = office.resume(REJECTED)
    assert office.script.last.times_in_messages(heading("filing")) == 0
    assert heading("filing") not in texts(result["messages"])


def test_a_tool_with_the_name_of_one_of_ours_is_refused(weaver: Weaver) -> None:
    def read_skill(skill_id: str) -> str:
        """Reads something else."""
        return skill_id

    agent = create_agent(ScriptedChatModel(script=Script()), [read_skill], middleware=[SkillMiddleware(weaver)])
    with pytest.raises(InvalidTurn, match="'read_skill', as one of skillweave's own; rename it"):
        agent.invoke({"messages": [HumanMessage("Hello")]}, thread())


class Copies(AgentMiddleware[Any, Any, Any]):
    """Makes copies of all tools, as one does that marks them for a provider's cache."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        copies = [tool.model_copy(update={"extras": {"cache_control": {}}}) for tool in request.tools]
        return handler(request.override(tools=copies))


def test_a_copy_of_one_of_our_tools_is_taken_for_ours(weaver: Weaver) -> None:
    office = Office(weaver, Copies())
    office.invoke("Hello")
    assert "read_skill" in office.script.last.tools


def test_what_the_middleware_notes_for_itself_is_not_in_the_result(weaver: Weaver) -> None:
    office = Office(weaver)
    office.invoke("Write the narrative")
    assert set(office.resume(APPROVED)) == {"messages"}


@BOTH
def test_a_call_with_broken_arguments_does_not_end_the_conversation(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, placement=placement)
    broken: Any = {"type": "invalid_tool_call", "id": "c1", "name": "search", "args": '{"text"', "error": "no JSON"}
    said = AIMessage("", invalid_tool_calls=[broken])
    office.invoke("x", messages=[HumanMessage("Hello"), said, HumanMessage(INVOICE)])
    assert office.script.last.times(INVOICES) == 1


def test_the_state_may_name_the_conversation(weaver: Weaver) -> None:
    Office(weaver).invoke(INVOICE, conversation_id="case-7")
    assert [one.skill_id for one in weaver.sync.ledger.state("case-7").engaged] == ["invoice-checking"]
    assert weaver.sync.ledger.state("t").engaged == ()


def test_a_run_that_names_no_conversation_is_refused(weaver: Weaver) -> None:
    agent = create_agent(ScriptedChatModel(script=Script()), [], middleware=[SkillMiddleware(weaver)])
    with pytest.raises(InvalidTurn, match="thread_id"):
        agent.invoke({"messages": [HumanMessage(INVOICE)]})


async def test_one_middleware_serves_many_conversations_at_once(weaver: Weaver) -> None:
    script = Script()
    agent = create_agent(
        ScriptedChatModel(script=script),
        [as_langchain(tool) for tool in Workshop().tools],
        middleware=[SkillMiddleware(weaver)],
        checkpointer=InMemorySaver(),
    )
    sayings = {f"t{n}": INVOICE if n % 2 else "Hello" for n in range(8)}
    for _ in range(2):
        await asyncio.gather(
            *(agent.ainvoke({"messages": [HumanMessage(text)]}, thread(name)) for name, text in sayings.items())
        )
    for name, text in sayings.items():
        messages = (await agent.aget_state(thread(name))).values["messages"]
        assert texts(messages).count(INVOICES) == (text == INVOICE)


def test_skill_text_can_stand_as_a_system_message(weaver: Weaver) -> None:
    messages = Office(weaver, speaker=Speaker.SYSTEM).invoke(INVOICE)["messages"]
    assert [type(one) for one in messages] == [HumanMessage, SystemMessage, AIMessage]


def test_skill_text_is_the_users_otherwise(weaver: Weaver) -> None:
    messages = Office(weaver).invoke(INVOICE)["messages"]
    assert [type(one) for one in messages] == [HumanMessage, HumanMessage, AIMessage]


@BOTH
def test_a_variant_of_the_weaver_may_give_fewer_skills(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver.variant(Settings(max_skills=1)), placement=placement)
    office.invoke("Say bonjour over this invoice")
    assert office.script.last.times(INVOICES) + office.script.last.times(GREETINGS) == 1


def test_a_providers_own_tool_is_hidden_by_its_type(weaver: Weaver) -> None:
    office = Office(weaver)
    shown: list[list[str]] = []

    class Watches(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            shown.append([tool["type"] for tool in request.tools if isinstance(tool, dict)])
            return handler(request.override(tools=[tool for tool in request.tools if not isinstance(tool, dict)]))

    agent = create_agent(
        ScriptedChatModel(script=office.script),
        [{"type": "web_search"}, {"type": "write"}],
        middleware=[SkillMiddleware(weaver), Watches()],
    )
    agent.invoke({"messages": [HumanMessage(INVOICE)]}, thread())
    assert shown == [["web_search"]]


async def test_a_sub_agent_is_held_to_its_plan(weaver: Weaver) -> None:
    request = SpawnRequest("Check Brandt's invoice", skills=("invoice-checking",))
    plan = prepare_spawn(request, await weaver.skills.snapshot(), spawn_id="1")
    assert isinstance(plan, SpawnPlan)
    script, workshop = Script(Says(asks=(tool_call("write", text="x"),)), "I can't."), Workshop()
    agent = create_agent(
        ScriptedChatModel(script=script),
        [as_langchain(tool) for tool in workshop.tools],
        middleware=[SkillMiddleware(weaver, plan=plan)],
    )
    await agent.ainvoke({"messages": [HumanMessage(request.task)]})
    assert [sent.times_in_messages(INVOICES) for sent in script.sent] == [1, 1]
    assert workshop.ran == []
    assert (await weaver.ledger.state(plan.conversation)).engaged != ()


def test_the_answer_to_a_call_of_ours_is_no_error_and_a_blocked_call_is_one(weaver: Weaver) -> None:
    office = Office(weaver)
    office.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"), tool_call("write", text="x"))))
    results = [one for one in office.invoke(INVOICE)["messages"] if isinstance(one, ToolMessage)]
    assert [(one.name, one.status) for one in results] == [("read_skill", "success"), ("write", "error")]


def test_a_denial_names_no_tool_that_the_host_does_not_have() -> None:
    rules: Any = {
        "id": "invoices",
        "description": "Invoices.",
        "triggers": ["invoice"],
        "text": {"instructions": "Check it."},
        "tools": {"forbidden": ["write", "fax_it"]},
    }
    office = Office(skillweave.open(rules, counter=WordCounter()))
    office.script.then(Says(asks=(tool_call("write", text="x"),)), "I can't.")
    denials = [one.text for one in office.invoke(INVOICE)["messages"] if isinstance(one, ToolMessage)]
    assert ["`write`" in one and "fax_it" not in one for one in denials] == [True]
