"""A chat that goes on over a pause: in the middleware, the ready agent and own nodes, and in a later process."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables.config import set_config_context
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt, Send, interrupt

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Placement, Weaver
from skillweave.adapters.chat import NOT_RUN
from skillweave.adapters.langchain import SkillMiddleware, require_asked
from skillweave.adapters.langchain_pause import NO_ANSWER, continued
from skillweave.adapters.langgraph import SkillState, build_skill_agent, skill_nodes
from skillweave.errors import InvalidVerdict
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import Workshop, weaver_in
from tests.adapters.graphs import BOTH, opened, said, thread
from tests.adapters.hosts.langchain_agent import as_langchain

APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "It is too thin."}
TWO = Says(asks=(tool_call("search", "s", text="x"), tool_call("submit", "p", text="W-1")))
AGAIN = Says(asks=(tool_call("submit", "q", text="W-2"),))
CHAT = "Are you there?"

Made = Callable[[Weaver, Script, Workshop, Any], Any]


def ready(weaver: Weaver, script: Script, workshop: Workshop, saver: Any) -> Any:
    tools = [as_langchain(tool) for tool in workshop.tools]
    return build_skill_agent(ScriptedChatModel(script=script), weaver, tools, matchers=None, checkpointer=saver)


def with_middleware(weaver: Weaver, script: Script, workshop: Workshop, saver: Any) -> Any:
    tools = [as_langchain(tool) for tool in workshop.tools]
    model = ScriptedChatModel(script=script)
    return create_agent(model, tools, middleware=[SkillMiddleware(weaver)], checkpointer=saver)


def in_call_placement(weaver: Weaver, script: Script, workshop: Workshop, saver: Any) -> Any:
    tools = [as_langchain(tool) for tool in workshop.tools]
    middleware = SkillMiddleware(weaver, placement=Placement.CALL)
    return create_agent(ScriptedChatModel(script=script), tools, middleware=[middleware], checkpointer=saver)


def of_nodes(weaver: Weaver, script: Script, workshop: Workshop, saver: Any) -> Any:
    nodes = skill_nodes(weaver, [as_langchain(tool) for tool in workshop.tools], matchers=None)
    model = ScriptedChatModel(script=script)

    def call_model(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def after_model(state: Any) -> Any:
        return [Send("tools", [call]) for call in state["messages"][-1].tool_calls] or END

    graph = StateGraph(SkillState)
    graph.add_node("inject", nodes.skill_inject_node)
    graph.add_node("model", call_model)
    graph.add_node("tools", nodes.tool_node)
    graph.add_edge(START, "inject")
    graph.add_edge("inject", "model")
    graph.add_conditional_edges("model", after_model)
    graph.add_edge("tools", "inject")
    return graph.compile(checkpointer=saver)


EVERY = pytest.mark.parametrize("made", [ready, with_middleware, in_call_placement, of_nodes])


class Room:
    """One thread with one agent; `again` makes all of it anew over the files, as in another process."""

    def __init__(self, made: Made, folder: Path) -> None:
        self.made, self.folder = made, folder
        self.script, self.workshop = Script(), Workshop()
        self.savers: list[Any] = []
        self.agent = self.again()

    def again(self) -> Any:
        saver = SqliteSaver.from_conn_string(str(self.folder / "threads.db"))
        self.savers.append(saver)
        weaver = opened(ledger=self.folder / "ledger.db", matchers=BOTH)
        self.agent = self.made(weaver, self.script, self.workshop, saver.__enter__())
        return self.agent

    def paused(self) -> Any:
        """The interrupt of a call that waits, beside one that ran."""
        self.script.then(TWO)
        (stop,) = self.agent.invoke(said("Prepare the filing"), thread())["__interrupt__"]
        assert self.workshop.ran == ["search(x)"]
        return stop

    def say(self, text: str = CHAT) -> Any:
        return self.agent.invoke(said(text), thread())

    @property
    def answers(self) -> dict[str, str]:
        messages = self.agent.get_state(thread()).values["messages"]
        return {one.tool_call_id: one.text for one in messages if isinstance(one, ToolMessage)}


@pytest.fixture
def room(tmp_path: Path, made: Made) -> Iterator[Room]:
    room = Room(made, tmp_path)
    yield room
    for saver in room.savers:
        saver.__exit__(None, None, None)


@EVERY
def test_a_message_during_the_pause_is_answered_and_the_waiting_call_is_not_run(room: Room) -> None:
    room.paused()
    room.script.then("I am here.")
    assert room.say()["messages"][-1].text == "I am here."
    assert room.workshop.ran == ["search(x)"]
    assert room.answers["p"] == NOT_RUN


@EVERY
def test_the_answers_stand_behind_their_calls_and_before_the_new_message(room: Room) -> None:
    room.paused()
    messages = room.say()["messages"]
    asking = next(n for n, one in enumerate(messages) if getattr(one, "tool_calls", None))
    kinds = [(one.type, getattr(one, "tool_call_id", one.text)) for one in messages[asking + 1 : asking + 4]]
    assert kinds == [("tool", "s"), ("tool", "p"), ("human", CHAT)]


@EVERY
def test_what_another_call_of_the_reply_had_answered_is_not_lost(room: Room) -> None:
    room.paused()
    room.say()
    assert room.answers["s"] == "search did x"


@EVERY
def test_the_chat_goes_on_in_another_process_too(room: Room) -> None:
    room.paused()
    room.again()
    room.say()
    assert room.answers == {"s": "search did x", "p": NOT_RUN}


@EVERY
@pytest.mark.parametrize(("reply", "ran"), [(APPROVED, ["search(x)", "submit(W-2)"]), (REJECTED, ["search(x)"])])
def test_a_call_that_is_made_later_waits_again_and_can_be_decided(room: Room, reply: object, ran: list[str]) -> None:
    room.paused()
    room.script.then(AGAIN, "Done.")
    (stop,) = room.say()["__interrupt__"]
    assert stop.value["call"]["id"] == "q"
    result = room.agent.invoke(Command(resume=reply), thread())
    assert result["messages"][-1].text == "Done."
    assert room.workshop.ran == ran


@EVERY
def test_several_messages_can_be_said_over_several_pauses(room: Room) -> None:
    room.paused()
    for number in range(3):
        room.script.then(Says(asks=(tool_call("submit", f"n{number}", text=str(number)),)))
        assert "__interrupt__" in room.say(f"And {number}?")
    room.say("Never mind")
    assert room.workshop.ran == ["search(x)"]
    assert [room.answers[call] for call in ("p", "n0", "n1", "n2")] == [NOT_RUN] * 4


@EVERY
def test_a_late_reply_runs_nothing_and_answers_no_later_question(room: Room) -> None:
    stop = room.paused()
    room.say()
    before = len(room.script.sent)
    with pytest.raises(InvalidVerdict, match="is not asked any more"):
        require_asked(room.agent.get_state(thread()).interrupts, {stop.id: APPROVED})
    with pytest.raises(InvalidVerdict, match="no question is asked in this thread"):
        require_asked(room.agent.get_state(thread()).interrupts, APPROVED)
    if room.made is not ready:
        room.agent.invoke(Command(resume={stop.id: APPROVED}), thread())
        room.agent.invoke(Command(resume=APPROVED), thread())
    assert (room.workshop.ran, len(room.script.sent)) == (["search(x)"], before)
    room.script.then(AGAIN)
    assert "__interrupt__" in room.say("Submit the other one")
    assert room.workshop.ran == ["search(x)"]


@pytest.mark.parametrize("made", [ready])
@pytest.mark.parametrize("by_id", [True, False])
def test_the_ready_agent_itself_says_that_a_reply_is_late(room: Room, by_id: bool) -> None:
    stop = room.paused()
    room.say()
    with pytest.raises(InvalidVerdict, match="the chat went on over it and the call was not run"):
        room.agent.invoke(Command(resume={stop.id: APPROVED} if by_id else APPROVED), thread())
    assert room.workshop.ran == ["search(x)"]


@pytest.mark.parametrize("made", [ready])
def test_the_ready_agent_says_so_too_where_another_question_is_asked_by_then(room: Room) -> None:
    stop = room.paused()
    room.script.then(AGAIN)
    (later,) = room.say()["__interrupt__"]
    with pytest.raises(InvalidVerdict, match=stop.id):
        room.agent.invoke(Command(resume={stop.id: APPROVED}), thread())
    room.agent.invoke(Command(resume={later.id: APPROVED}), thread())
    assert room.workshop.ran == ["search(x)", "submit(W-2)"]


@pytest.mark.parametrize("made", [ready, with_middleware, of_nodes])
async def test_an_awaited_chat_goes_on_over_a_pause_too(tmp_path: Path, made: Made) -> None:
    script, workshop = Script(TWO, "I am here."), Workshop()
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        agent = made(opened(matchers=BOTH), script, workshop, saver)
        (stop,) = (await agent.ainvoke(said("Prepare the filing"), thread()))["__interrupt__"]
        result = await agent.ainvoke(said(CHAT), thread())
        answers = {one.tool_call_id: one.text for one in result["messages"] if isinstance(one, ToolMessage)}
        assert answers == {"s": "search did x", "p": NOT_RUN}
        if made is ready:
            with pytest.raises(InvalidVerdict, match=stop.id):
                await agent.ainvoke(Command(resume={stop.id: APPROVED}), thread())
    assert workshop.ran == ["search(x)"]


SEVERAL = Says(asks=tuple(tool_call("submit", f"p{n}", text=f"W-{n}") for n in range(3)))


@EVERY
def test_several_calls_are_decided_in_one_go_each_by_its_own_reply(room: Room) -> None:
    room.script.then(SEVERAL, "Done.")
    stops = {one.value["call"]["id"]: one.id for one in room.say("Prepare the filing")["__interrupt__"]}
    replies: Any = {
        stops["p0"]: APPROVED,
        stops["p1"]: {**REJECTED, "call": "p1"},
        stops["p2"]: {"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "W-9"}},
    }
    result = room.agent.invoke(Command(resume=replies), thread())
    assert result["messages"][-1].text == "Done."
    assert sorted(room.workshop.ran) == ["submit(W-0)", "submit(W-9)"]
    assert "It is too thin." in room.answers["p1"]


@pytest.mark.parametrize(
    ("kind", "taken"), [({"verdict": "approved"}, 3), ({"verdict": "rejected", "note": "No."}, 0)], ids=str
)
def test_the_ready_agent_keeps_several_verdicts_in_one_write_and_takes_each_yes_in_its_own(
    tmp_path: Path, kind: Any, taken: int
) -> None:
    weaver, script = weaver_in(tmp_path), Script(SEVERAL, "Done.")
    agent = ready(weaver, script, Workshop(), InMemorySaver())
    stops = agent.invoke(said("Prepare the filing"), thread())["__interrupt__"]
    before = weaver.sync.ledger.state("t1").revision
    agent.invoke(Command(resume={one.id: {**kind, "by": "Ann Lee"} for one in stops}), thread())
    verdicts = weaver.sync.ledger.state("t1")
    assert len(verdicts.approvals) == 3
    assert (verdicts.revision - before, len(verdicts.uses)) == (1 + taken, taken)


def test_a_copy_of_the_ready_agent_with_other_settings_looks_at_replies_too() -> None:
    script, workshop = Script(SEVERAL, "Done."), Workshop()
    agent = ready(opened(matchers=BOTH), script, workshop, InMemorySaver()).with_config({"tags": ["office"]})
    agent.invoke(said("Prepare the filing"), thread())
    agent.invoke(said(CHAT), thread())
    with pytest.raises(InvalidVerdict, match="no question is asked in this thread"):
        agent.invoke(Command(resume=APPROVED), thread())


@pytest.mark.parametrize("made", [ready])
def test_of_several_replies_one_that_is_none_is_asked_for_again_alone(room: Room) -> None:
    room.script.then(SEVERAL)
    stops = {one.value["call"]["id"]: one.id for one in room.say("Prepare the filing")["__interrupt__"]}
    replies: Any = {stops["p0"]: APPROVED, stops["p1"]: "yes", stops["p2"]: APPROVED}
    (left,) = room.agent.invoke(Command(resume=replies), thread())["__interrupt__"]
    assert left.value["call"]["id"] == "p1"
    assert "says what and who" in left.value["problem"]
    assert sorted(room.workshop.ran) == ["submit(W-0)", "submit(W-2)"]


@EVERY
def test_a_question_that_is_asked_can_be_answered_as_before(room: Room) -> None:
    stop = room.paused()
    require_asked(room.agent.get_state(thread()).interrupts, {stop.id: APPROVED})
    room.agent.invoke(Command(resume={stop.id: APPROVED}), thread())
    assert room.workshop.ran == ["search(x)", "submit(W-1)"]


@pytest.mark.parametrize("made", [ready, with_middleware])
def test_a_call_that_broke_off_is_not_said_to_have_done_nothing(room: Room) -> None:
    room.script.then(Says(asks=(tool_call("broken", "b", text="x"),)))
    with pytest.raises(RuntimeError, match="on fire"):
        room.say("Print it")
    room.say()
    assert room.answers == {"b": NO_ANSWER}


def test_a_tools_own_question_that_a_chat_goes_on_over_is_not_said_to_be_ours(tmp_path: Path) -> None:
    def ask(text: str) -> str:
        """Asks a colleague."""
        return str(interrupt("Which one?"))

    script = Script(Says(asks=(tool_call("ask", "a", text="x"),)), "I am here.")
    tools = [ask]
    agent = create_agent(
        ScriptedChatModel(script=script),
        tools,
        middleware=[SkillMiddleware(opened())],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(said("Ask"), thread())
    messages = agent.invoke(said(CHAT), thread())["messages"]
    assert [one.text for one in messages if isinstance(one, ToolMessage)] == [NO_ANSWER]


def test_a_chat_from_elsewhere_in_which_an_answer_is_missing_goes_on() -> None:
    agent = create_agent(ScriptedChatModel(script=Script("Yes.")), [], middleware=[SkillMiddleware(opened())])
    call: Any = {"name": "search", "args": {}, "id": "a", "type": "tool_call"}
    chat = [HumanMessage("Look"), AIMessage("", tool_calls=[call]), HumanMessage(CHAT)]
    result = agent.invoke({"messages": chat}, thread())
    assert [one.type for one in result["messages"]] == ["human", "ai", "tool", "human", "ai"]


def test_a_reply_that_is_no_map_of_questions_is_taken_for_the_only_one() -> None:
    require_asked([Interrupt("?", id="0" * 32)], {"verdict": "approved", "by": "Ann"})


async def test_many_threads_go_on_over_their_pauses_at_once() -> None:
    script = Script(*[Says(asks=(tool_call("submit", "p", text="W"),))] * 6, otherwise="Here.")
    agent = with_middleware(opened(matchers=BOTH), script, Workshop(), InMemorySaver())
    names = [f"t{number}" for number in range(6)]
    await asyncio.gather(*(agent.ainvoke(said("Prepare the filing"), thread(name)) for name in names))
    results = await asyncio.gather(*(agent.ainvoke(said(CHAT), thread(name)) for name in names))
    answers = [[one.text for one in found["messages"] if isinstance(one, ToolMessage)] for found in results]
    assert answers == [[NOT_RUN]] * 6


@st.composite
def chats(draw: st.DrawFn) -> list[BaseMessage]:
    """A chat in which any answers are missing, and somebody said something at the end."""
    messages: list[BaseMessage] = []
    for number in range(draw(st.integers(0, 4))):
        messages.append(HumanMessage(f"Question {number}"))
        asked = [f"{number}-{call}" for call in range(draw(st.integers(0, 3)))]
        made: list[Any] = [{"name": "search", "args": {}, "id": one, "type": "tool_call"} for one in asked]
        messages.append(AIMessage(f"Reply {number}", tool_calls=made))
        answered = draw(st.lists(st.sampled_from(asked), unique=True)) if asked else []
        messages += [ToolMessage("found", tool_call_id=one) for one in answered]
    return [*messages, HumanMessage(CHAT)]


@given(chats())
def test_a_chat_that_goes_on_has_one_answer_to_each_call_right_behind_it(chat: list[BaseMessage]) -> None:
    with set_config_context({"configurable": {}}) as context:
        left = context.run(asyncio.run, continued(chat))
        assert context.run(asyncio.run, continued(left)) is left
    assert [one for one in left if one in chat] == chat
    assert all(isinstance(one, ToolMessage) for one in left if one not in chat)
    for place, message in enumerate(left):
        if isinstance(message, AIMessage):
            behind = takewhile(lambda one: isinstance(one, ToolMessage), left[place + 1 :])
            assert sorted(one.tool_call_id for one in behind) == sorted(call["id"] or "" for call in message.tool_calls)
