"""Agents and graphs of the LangGraph adapter over scripts, for its tests."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import skillweave
from examples.scripted.langchain import ScriptedChatModel
from skillweave import Weaver
from skillweave.adapters.langgraph import SkillState, build_skill_agent, skill_nodes
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Script
from skillweave_testing.hosts.play import BASE, SKILLS, Workshop
from tests.adapters.hosts.langchain_agent import as_langchain

MARKED = "That calls for it. SKILL_SELECT:greetings"
BOTH = ("explicit", "triggers")


def opened(**options: Any) -> Weaver:
    return skillweave.open(*options.pop("skills", SKILLS), counter=WordCounter(), **options)


def thread(name: str = "t1") -> Any:
    return {"configurable": {"thread_id": name}}


def said(text: str, **more: object) -> Any:
    return {"messages": [HumanMessage(text)], **more}


def agent_of(script: Script, weaver: Weaver, **options: Any) -> Any:
    tools = options.pop("tools", [as_langchain(tool) for tool in Workshop().tools])
    options.setdefault("checkpointer", InMemorySaver())
    return build_skill_agent(ScriptedChatModel(script=script), weaver, tools, system_prompt=BASE, **options)


def shown(result: Mapping[str, Any]) -> list[str]:
    return [str(message.text) for message in result["messages"]]


def holding(result: Mapping[str, Any], text: str) -> list[BaseMessage]:
    return [message for message in result["messages"] if text in message.text]


def asked(result: Mapping[str, Any]) -> Any:
    (one,) = result["__interrupt__"]
    return one.value


NODES = {"select": "skill_select_node", "inject": "skill_inject_node", "tools": "tool_node"}


def nodes_graph(weaver: Weaver, *order: str, **options: Any) -> Any:
    nodes = skill_nodes(weaver, **options)
    graph = StateGraph(SkillState)
    for before, name in zip((START, *order), order, strict=False):
        graph.add_node(name, getattr(nodes, NODES[name]))
        graph.add_edge(before, name)
    graph.add_edge(order[-1], END)
    return graph.compile(checkpointer=InMemorySaver())


def marked(text: str = MARKED) -> Any:
    return {"messages": [HumanMessage("Hello", id="1"), AIMessage(text, id="2")]}
