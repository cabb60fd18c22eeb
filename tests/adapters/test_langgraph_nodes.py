from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from skillweave.adapters.langgraph import SkillState, skill_nodes
from skillweave.errors import InvalidTurn
from skillweave_testing import KnownContext
from skillweave_testing.hosts import Script
from skillweave_testing.hosts.play import GREETINGS, SKILLS, Workshop, heading
from tests.adapters.graphs import BOTH, MARKED, agent_of, holding, marked, nodes_graph, opened, said, thread
from tests.adapters.hosts.langchain_agent import as_langchain


def test_the_select_node_writes_nothing_but_the_selection() -> None:
    weaver = opened()
    result = nodes_graph(weaver, "select").invoke(marked(), thread())
    assert result["selected_skill_ids"] == ["greetings"]
    assert weaver.sync.ledger.state("t1").revision == 0


def test_the_select_node_leaves_out_what_is_in_the_context() -> None:
    weaver = opened()
    after = nodes_graph(weaver, "select", "inject").invoke(marked(), thread())
    again = nodes_graph(weaver, "select").invoke({"messages": [*after["messages"], AIMessage(MARKED)]}, thread())
    assert again["selected_skill_ids"] == []


def test_the_select_node_selects_what_is_in_the_ledger_but_gone_from_the_messages() -> None:
    weaver = opened()
    nodes_graph(weaver, "select", "inject").invoke(marked(), thread())
    again = nodes_graph(weaver, "select").invoke(marked(), thread())
    assert again["selected_skill_ids"] == ["greetings"]


def test_what_the_users_words_select_does_not_count_as_the_hosts_choice() -> None:
    weaver = opened()
    graph = nodes_graph(weaver, "select", "inject", matchers=BOTH)
    graph.invoke(said("Is this invoice right?"), thread())
    assert [(one.skill_id, one.by) for one in weaver.sync.ledger.state("t1").engaged] == [
        ("invoice-checking", "triggers")
    ]


def test_the_host_may_add_to_what_was_selected() -> None:
    weaver = opened()
    after = nodes_graph(weaver, "inject", matchers=BOTH).invoke(
        said("Is this invoice right?", selected_skill_ids=["invoice-checking", "greetings"]), thread()
    )
    engaged = {one.skill_id: one.by for one in weaver.sync.ledger.state("t1").engaged}
    assert engaged == {"invoice-checking": "triggers", "greetings": "explicit"}
    assert sorted(after["injected_skill_ids"]) == ["greetings", "invoice-checking"]


def test_the_inject_node_appends_one_message_with_an_id_of_its_own() -> None:
    after = nodes_graph(opened(), "select", "inject").invoke(marked(), thread())
    assert [message.text.split("\n")[0] for message in after["messages"][2:]] == [heading("greetings")]
    assert after["messages"][2].id.startswith("sw-")
    assert after["selected_skill_ids"] == []


def test_the_inject_node_knows_the_entity_of_the_working_memory() -> None:
    context = KnownContext({"42-329": {"well": "Well: Mitchell Ranch 1H"}})
    weaver = opened(skills=[{**SKILLS[1], "domain_tags": ["well"]}], context=context)
    chat = {**marked(), "working_memory": {"entity_id": "42-329"}}
    after = nodes_graph(weaver, "select", "inject").invoke(chat, thread())
    assert "Well: Mitchell Ranch 1H" in after["messages"][2].text


def test_the_state_carries_the_injection_through_the_run_and_no_checkpoint_does() -> None:
    saver, script = InMemorySaver(), Script("Hello.")
    agent = agent_of(script, opened(), matchers=BOTH, checkpointer=saver)
    result = agent.invoke(said("Is this invoice right?"), thread())
    assert (result["injection"].conversation, result["injection"].present) == ("t1", ("invoice-checking",))
    assert "injection" not in agent.get_state(thread()).values


def test_what_happened_while_a_run_was_paused_counts_in_the_call_of_the_model() -> None:
    weaver, script = opened(), Script("Hello.", "Bye.")
    tools = [as_langchain(tool) for tool in Workshop().tools]
    agent = agent_of(script, weaver, tools=tools, matchers=BOTH, checkpointer=InMemorySaver())
    agent.invoke(said("Prepare the filing"), thread())
    assert "submit" in script.last.tools
    agent.invoke(said("Go on"), thread(), interrupt_before=["model"])
    weaver.sync.approvals.decide("t1", "filing", "pre_filing", "rejected", by="Ann Lee")
    agent.invoke(None, thread())
    assert "submit" not in script.last.tools


def test_what_another_turn_has_only_claimed_is_not_injected() -> None:
    weaver = opened()
    with weaver.sync.delivery("Hello", conversation="t1", named=["greetings"]):
        after = nodes_graph(weaver, "select", "inject").invoke(marked(), thread())
    assert after["injected_skill_ids"] == []
    assert len(after["messages"]) == 2


class _Once:
    """Fails once, after the node behind it has done its work."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.failed = False
        self.gave: list[Any] = []

    def __call__(self, state: SkillState) -> Any:
        self.gave.append(self.node.invoke(state))
        if not self.failed:
            self.failed = True
            raise ConnectionError("lost")
        return self.gave[-1]


def test_an_inject_node_that_is_tried_again_gives_the_same_and_doubles_nothing() -> None:
    weaver = opened()
    inject = _Once(skill_nodes(weaver).skill_inject_node)
    graph = StateGraph(SkillState)
    graph.add_node("inject", inject, retry_policy=RetryPolicy(initial_interval=0.0, jitter=False))
    graph.add_edge(START, "inject")
    result = graph.compile(checkpointer=InMemorySaver()).invoke(marked(), thread())
    first, second = ([one.id for one in gave["messages"]] for gave in inject.gave)
    assert first == second
    assert len(holding(result, GREETINGS)) == 1


def test_an_inject_node_that_a_later_run_repeats_gives_the_same() -> None:
    weaver, saver = opened(), InMemorySaver()
    inject = _Once(skill_nodes(weaver).skill_inject_node)
    graph = StateGraph(SkillState)
    graph.add_node("inject", inject)
    graph.add_edge(START, "inject")
    compiled = graph.compile(checkpointer=saver)
    with pytest.raises(ConnectionError):
        compiled.invoke(marked(), thread())
    result = compiled.invoke(None, thread())
    assert [one.id for one in inject.gave[0]["messages"]] == [result["messages"][-1].id]


def test_the_tools_node_blocks_a_call_of_a_hidden_tool_in_a_graph_of_the_hosts_own() -> None:
    workshop, weaver = Workshop(), opened()
    weaver.sync.weave("Hello", conversation="t1", named=["invoice-checking"])
    tools = [as_langchain(tool) for tool in workshop.tools]
    ask = AIMessage("", tool_calls=[{"name": "write", "args": {"text": "x"}, "id": "w", "type": "tool_call"}])
    result = nodes_graph(weaver, "tools", tools=tools).invoke({"messages": [HumanMessage("Hello"), ask]}, thread())
    assert workshop.ran == []
    assert "TOOL_FORBIDDEN" in result["messages"][-1].text


@pytest.mark.parametrize(
    ("key", "value"), [("selected_skill_ids", "greetings"), ("selected_skill_ids", [3]), ("working_memory", "42-329")]
)
def test_a_key_of_the_state_that_holds_something_else_is_refused_by_its_name(key: str, value: object) -> None:
    with pytest.raises(InvalidTurn, match=f"{key} in the state is a"):
        nodes_graph(opened(), "inject").invoke({**marked(), key: value}, thread())
