"""A yes lets a call through once in LangGraph, also where a run goes back in time, forks, or tries a node again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy

from skillweave.adapters.langgraph import SkillState, skill_nodes
from skillweave.errors import InvalidVerdict
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import Workshop
from tests.adapters.graphs import BOTH, agent_of, asked, opened, said, shown, thread
from tests.adapters.hosts.langchain_agent import as_langchain

YES = {"verdict": "approved", "by": "Ann Lee"}
SUBMIT = Says(asks=(tool_call("submit", "a", text="W-1"),))
AGAIN = Says(asks=(tool_call("submit", "b", text="W-1"),))
ASK = "Prepare the filing and submit it"


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as kept:
            yield kept


class Traveller:
    """An agent whose call was approved and ran, and the checkpoint before its tools."""

    def __init__(self, saver: BaseCheckpointSaver[Any], *says: Says | str) -> None:
        self.workshop, self.script = Workshop(), Script(SUBMIT, "Submitted.", *says)
        tools = [as_langchain(one) for one in self.workshop.tools]
        self.agent = agent_of(self.script, opened(matchers=BOTH), tools=tools, checkpointer=saver)
        self.agent.invoke(said(ASK), thread())
        self.agent.invoke(Command(resume=YES), thread())
        assert self.workshop.ran == ["submit(W-1)"]
        self.before = next(one for one in self.agent.get_state_history(thread()) if one.next == ("tools",)).config


@pytest.fixture
def traveller(saver: BaseCheckpointSaver[Any]) -> Traveller:
    return Traveller(saver)


def test_a_run_that_goes_back_to_before_the_call_does_not_run_it_again(traveller: Traveller) -> None:
    traveller.agent.invoke(None, traveller.before)
    assert traveller.workshop.ran == ["submit(W-1)"]


def test_an_earlier_yes_that_is_given_again_lets_nothing_through_and_the_model_is_told(traveller: Traveller) -> None:
    result = traveller.agent.invoke(Command(resume=YES), traveller.before)
    assert traveller.workshop.ran == ["submit(W-1)"]
    assert any("was let through at" in text and "outcome unknown" in text for text in shown(result))


def test_a_fork_does_not_run_the_call_again(traveller: Traveller) -> None:
    fork = traveller.agent.update_state(traveller.before, {"messages": []})
    traveller.agent.invoke(None, fork)
    assert traveller.workshop.ran == ["submit(W-1)"]
    with pytest.raises(InvalidVerdict, match="no question is asked in this thread"):
        traveller.agent.invoke(Command(resume=YES), fork)


def test_after_going_back_the_same_work_is_asked_about_as_a_new_call(saver: BaseCheckpointSaver[Any]) -> None:
    traveller = Traveller(saver, AGAIN, "Submitted again.")
    result = traveller.agent.invoke(Command(resume=YES), traveller.before)
    assert asked(result)["checkpoints"][0]["name"] == "pre_filing"
    traveller.agent.invoke(Command(resume=YES), thread())
    assert traveller.workshop.ran == ["submit(W-1)", "submit(W-1)"]


def test_a_run_that_goes_back_to_before_the_answer_keeps_the_yes_for_it(saver: BaseCheckpointSaver[Any]) -> None:
    workshop, script = Workshop(), Script(SUBMIT, "Submitted.")
    tools = [as_langchain(one) for one in workshop.tools]
    agent = agent_of(script, opened(matchers=BOTH), tools=tools, checkpointer=saver)
    agent.invoke(said(ASK), thread())
    waiting = agent.get_state(thread()).config
    again = agent.invoke(None, waiting)
    assert asked(again)["checkpoints"][0]["name"] == "pre_filing"
    agent.invoke(Command(resume=YES), thread())
    assert workshop.ran == ["submit(W-1)"]


def trying(work: Callable[[str], str], saver: BaseCheckpointSaver[Any]) -> Any:
    """A graph whose node of tools is tried again three times."""

    @tool
    def submit(text: str) -> str:
        """Submits a filing."""
        return work(text)

    nodes = skill_nodes(opened(matchers=BOTH), [submit])
    graph = StateGraph(SkillState)
    graph.add_node("inject", nodes.skill_inject_node)
    graph.add_node("model", lambda state: {"messages": [AIMessage("", tool_calls=[CALL], id="m")]})
    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=ConnectionError)
    graph.add_node("tools", nodes.tool_node, retry_policy=policy)
    for before, after in ((START, "inject"), ("inject", "model"), ("model", "tools"), ("tools", END)):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


CALL = {"name": "submit", "args": {"text": "W-1"}, "id": "a", "type": "tool_call"}


def test_a_node_that_is_tried_again_asks_about_a_call_that_may_have_run(saver: BaseCheckpointSaver[Any]) -> None:
    ran: list[str] = []

    def cut(text: str) -> str:
        ran.append(text)
        raise ConnectionError("the line was cut")

    graph = trying(cut, saver)
    graph.invoke({"messages": [HumanMessage(ASK)]}, thread())
    result = graph.invoke(Command(resume=YES), thread())
    assert ran == ["W-1"]
    assert "outcome unknown" in shown(result)[-1]
