"""A lead in LangGraph that gives coding to a sub-agent: a specification first, then code; writing past it is blocked.

The model is a script unless you name one. The sub-agent's code really runs, in a folder of its own, and in no sandbox.

    pip install 'skillweave[langgraph]'
    python examples/coding_langgraph.py
    python examples/coding_langgraph.py --model anthropic:claude-sonnet-5    # with langchain, its provider and a key
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from coding_tools import CodingTool, coding_tools
from coding_tools.script import TASK, script
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

import skillweave
from skillweave.adapters.langgraph import build_skill_agent
from skillweave.adapters.langgraph.spawn import spawn_subagent

LEAD = "You lead a team. Give coding to a sub-agent that has the skills for it, and report what it says."


def chat_model(name: str | None) -> BaseChatModel:
    """The model of that name, `provider:name`, or the script."""
    if name is None:
        from scripted.langchain import ScriptedChatModel

        return ScriptedChatModel(script=script())
    from langchain.chat_models import init_chat_model

    model: BaseChatModel = init_chat_model(name)
    return model


def wrapped(tool: CodingTool) -> BaseTool:
    """One of the neutral tools as LangChain's."""
    return StructuredTool(name=tool.name, description=tool.description, args_schema=tool.parameters, func=tool.run)


def show(who: str, update: dict[str, Any]) -> None:
    """What a step added to the messages."""
    for message in update.get("messages", ()):
        line = message.text.strip().replace("\n", " ")[:80]
        if isinstance(message, ToolMessage):
            print(f"{who:<6} {'blocked' if message.status == 'error' else 'ran    '} {message.name}: {line}")
        elif isinstance(message, AIMessage):
            print(f"{who:<6} says    {line}", *(f"[calls {call['name']}]" for call in message.tool_calls))


def main() -> None:
    """One task, its sub-agent step by step, and the files that are there in the end."""
    options = argparse.ArgumentParser(description="A lead and its coder in LangGraph.")
    options.add_argument("--model", help="provider:name, such as anthropic:claude-sonnet-5; a script without it")
    model = chat_model(options.parse_args().model)
    weaver = skillweave.open(packs=["coding"])
    with tempfile.TemporaryDirectory() as folder:
        tools = [wrapped(tool) for tool in coding_tools(Path(folder))]
        agent = build_skill_agent(model, weaver, [spawn_subagent(model, weaver, tools)], system_prompt=LEAD)
        print("user  ", TASK)
        steps = agent.stream(
            {"messages": [HumanMessage(TASK)]},
            {"configurable": {"thread_id": "office-1"}, "recursion_limit": 100},
            stream_mode="updates",
            subgraphs=True,  # the sub-agent is a graph inside the lead's tool call
        )
        for place, step in steps:
            for update in step.values():
                show("coder" if place else "lead", update or {})
        print("files ", ", ".join(sorted(path.name for path in Path(folder).rglob("*.*"))))


if __name__ == "__main__":
    main()
