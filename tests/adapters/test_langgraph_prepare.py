"""Own graphs of LangGraph: one verb prepares a call of the model, and is told what is really sent."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Settings, Weaver
from skillweave.adapters.langchain_pause import NO_ANSWER
from skillweave.adapters.langgraph import SkillState, skill_nodes
from skillweave.errors import ApprovalNeeded
from skillweave.settings import CatalogMode
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, GREETINGS, INVOICES, Workshop
from tests.adapters.graphs import BOTH, holding, opened, said, thread
from tests.adapters.hosts.crowd import CROWD
from tests.adapters.hosts.langchain_agent import as_langchain
from tests.adapters.hosts.tails import OVERVIEW, QUESTION

INVOICE = "Is this invoice right?"
Trim = Callable[[list[BaseMessage]], list[BaseMessage]]


def last_three(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The newest messages, as hosts trim them: from a user's words on."""
    trimmed: Any = trim_messages(messages, max_tokens=3, token_counter=len, strategy="last", start_on="human")
    return list(trimmed)


def whole(messages: list[BaseMessage]) -> list[BaseMessage]:
    return messages


def own_graph(weaver: Weaver, script: Script, trim: Trim | None, workshop: Workshop, *, inject: bool = True) -> Any:
    nodes = skill_nodes(weaver, [as_langchain(tool) for tool in workshop.tools], matchers=None)
    model = ScriptedChatModel(script=script)

    def call_model(state: Any) -> Any:
        sent = trim(state["messages"]) if trim else None
        call = nodes.bridge.run(nodes.prepare(state, sent))
        chat = [SystemMessage(f"{BASE}\n\n{call.instructions}"), *call.messages]
        return {"messages": [*call.changes, model.bind_tools(call.tools).invoke(chat)]}

    async def acall_model(state: Any) -> Any:
        sent = trim(state["messages"]) if trim else None
        call = await nodes.prepare(state, sent)
        chat = [SystemMessage(f"{BASE}\n\n{call.instructions}"), *call.messages]
        return {"messages": [*call.changes, await model.bind_tools(call.tools).ainvoke(chat)]}

    def after_model(state: Any) -> Any:
        return [Send("tools", [call]) for call in state["messages"][-1].tool_calls] or END

    graph = StateGraph(SkillState)
    graph.add_node("model", RunnableLambda(call_model, acall_model))
    graph.add_node("tools", nodes.tool_node)
    graph.add_conditional_edges("model", after_model)
    first = "model"
    if inject:
        graph.add_node("inject", nodes.skill_inject_node)
        graph.add_edge("inject", "model")
        first = "inject"
    graph.add_edge(START, first)
    graph.add_edge("tools", first)
    return graph.compile(checkpointer=InMemorySaver())


GRAPHS = pytest.mark.parametrize("inject", [True, False], ids=["behind inject", "alone"])


def play(trim: Trim | None, *texts: str, inject: bool, **options: Any) -> tuple[Script, Any, Any]:
    script = options.pop("script", None) or Script()
    weaver = options.pop("weaver", None) or opened(matchers=BOTH)
    graph = own_graph(weaver, script, trim, options.pop("workshop", Workshop()), inject=inject)
    result: Any = None
    for text in texts:
        result = graph.invoke(said(text), thread())
    return script, result, graph


@GRAPHS
@pytest.mark.parametrize("trim", [None, whole], ids=["unsaid", "said"])
def test_an_untrimmed_history_is_given_its_skill_once(inject: bool, trim: Trim | None) -> None:
    script, result, _ = play(trim, INVOICE, "Go on", "And now?", inject=inject)
    assert [sent.times_in_messages(INVOICES) for sent in script.sent] == [1, 1, 1]
    assert len(holding(result, INVOICES)) == 1


@GRAPHS
def test_a_skill_that_is_trimmed_away_inside_the_node_is_given_in_that_call(inject: bool) -> None:
    script, _, _ = play(last_three, INVOICE, "Go on", "And now?", "And then?", inject=inject)
    assert [sent.times_in_messages(INVOICES) for sent in script.sent] == [1, 1, 1, 1]
    assert "write" not in script.last.tools


@GRAPHS
def test_what_was_only_trimmed_away_stands_once_in_the_state(inject: bool) -> None:
    _, result, _ = play(last_three, INVOICE, "Go on", "And now?", "And then?", inject=inject)
    assert len(holding(result, INVOICES)) == 1


@GRAPHS
def test_a_history_that_is_no_longer_trimmed_has_the_skill_once(inject: bool) -> None:
    cut = [True]

    def sometimes(messages: list[BaseMessage]) -> list[BaseMessage]:
        return last_three(messages) if cut[0] else messages

    script, _, graph = play(sometimes, INVOICE, "Go on", "And now?", inject=inject)
    cut[0] = False
    graph.invoke(said("All of it"), thread())
    assert script.last.times_in_messages(INVOICES) == 1


@GRAPHS
def test_a_summary_in_place_of_the_history_gets_the_skill_too(inject: bool) -> None:
    def summed(messages: list[BaseMessage]) -> list[BaseMessage]:
        return [HumanMessage("Earlier: Brandt sent an invoice."), messages[-1]] if len(messages) > 3 else messages

    script, _, _ = play(summed, INVOICE, "Go on", inject=inject)
    assert script.last.times_in_messages(INVOICES) == 1
    assert script.last.times_in_messages("Earlier: Brandt") == 1


@GRAPHS
async def test_the_same_holds_in_an_awaited_run(inject: bool) -> None:
    script = Script()
    graph = own_graph(opened(matchers=BOTH), script, last_three, Workshop(), inject=inject)
    for text in (INVOICE, "Go on", "And now?"):
        await graph.ainvoke(said(text), thread())
    assert [sent.times_in_messages(INVOICES) for sent in script.sent] == [1, 1, 1]


@GRAPHS
def test_a_message_counts_once_however_often_its_calls_are_woven(inject: bool) -> None:
    weaver = opened(matchers=BOTH)
    play(last_three, INVOICE, "Go on", inject=inject, weaver=weaver)
    assert [(one.skill_id, one.idle) for one in weaver.sync.ledger.state("t1").engaged] == [("invoice-checking", 1)]


@GRAPHS
def test_a_tool_loop_over_a_trimmed_history_keeps_the_skill_and_its_rules(inject: bool) -> None:
    workshop = Workshop()
    script = Script("Yes.", "Yes.", Says(asks=(tool_call("search", text="x"),)), Says(asks=(tool_call("write"),)), "No")
    play(last_three, INVOICE, "Go on", "Look", inject=inject, workshop=workshop, script=script)
    assert workshop.ran == ["search(x)"]
    assert [sent.times_in_messages(INVOICES) for sent in script.sent] == [1] * 5


@GRAPHS
def test_what_the_host_selects_in_the_state_is_in_the_first_call(inject: bool) -> None:
    script = Script()
    graph = own_graph(opened(matchers=BOTH), script, None, Workshop(), inject=inject)
    graph.invoke(said("Hello", selected_skill_ids=["greetings"]), thread())
    assert script.sent[0].times_in_messages(GREETINGS) == 1


@GRAPHS
def test_what_is_for_one_call_only_stands_at_its_end_and_in_no_state(inject: bool) -> None:
    weaver = opened(skills=CROWD, matchers=BOTH, settings=Settings(catalog=CatalogMode.FALLBACK))
    script, result, _ = play(last_three, QUESTION, inject=inject, weaver=weaver)
    assert OVERVIEW not in script.last.messages[0]
    assert holding(result, OVERVIEW) == []


@GRAPHS
def test_a_checkpoint_that_is_open_does_not_reach_the_model(inject: bool) -> None:
    script = Script()
    with pytest.raises(ApprovalNeeded, match="good_cause_review"):
        play(None, "Write the narrative", inject=inject, script=script)
    assert script.sent == []


@GRAPHS
def test_a_call_that_a_chat_goes_on_over_is_answered_in_the_state(inject: bool) -> None:
    script = Script()
    graph = own_graph(opened(matchers=BOTH), script, last_three, Workshop(), inject=inject)
    call: Any = {"name": "search", "args": {}, "id": "a", "type": "tool_call"}
    chat = [HumanMessage("Look"), AIMessage("", tool_calls=[call]), HumanMessage("Are you there?")]
    result = graph.invoke({"messages": chat}, thread())
    assert [one.text for one in result["messages"] if isinstance(one, ToolMessage)] == [NO_ANSWER]
    assert script.last.messages[-1].count("Are you there?") == 1
