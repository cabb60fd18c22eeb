"""A lead in Microsoft's Agent Framework that gives coding to a sub-agent: a specification first, then code.

The model is a script unless you name one. The sub-agent's code really runs, in a folder of its own, and in no sandbox.

    pip install 'skillweave[agent-framework]'
    python examples/coding_agent_framework.py
    python examples/coding_agent_framework.py --model openai:gpt-5    # with agent-framework-openai and a key
"""

import argparse
import asyncio
import importlib
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent_framework import (
    Agent,
    ChatContext,
    FunctionTool,
    InMemoryHistoryProvider,
    SupportsChatGetResponse,
    chat_middleware,
)
from coding_tools import CodingTool, coding_tools
from coding_tools.script import TASK, script
from scripted.agent_framework import ScriptedChatClient

import skillweave
from skillweave import CatalogMode, Settings
from skillweave.adapters.agent_framework import SkillContextProvider
from skillweave.adapters.agent_framework.spawn import spawn_subagent

LEAD = "You lead a team. Give coding to a sub-agent that has the skills for it, and report what it says."
OWN = ("read_skill", "list_skills", "read_artifact", "search_skills")
CLIENTS = {
    "openai": ("agent_framework.openai", "OpenAIChatClient"),
    "anthropic": ("agent_framework.anthropic", "AnthropicClient"),
    "ollama": ("agent_framework.ollama", "OllamaChatClient"),
}


@chat_middleware
async def show(call: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
    """What each model is sent last, and which of the host's tools it sees; it stands at the client, so for both."""
    who = "lead" if "spawn_subagent" in tools_of(call) else "coder"
    for result in (content for content in call.messages[-1].contents if content.type == "function_result"):
        print(f"{who:<6} heard   {str(result.result).strip()[:96]}".replace("\n", " "))
    await call_next()
    print(f"{who:<6} sees    {', '.join(tool for tool in tools_of(call) if tool not in OWN)}")


def tools_of(call: ChatContext) -> list[str]:
    """The names of the tools in a call; skillweave takes out those that the model is not to see."""
    return [tool.name for tool in (call.options or {})["tools"]]


def chat_client(name: str | None) -> SupportsChatGetResponse:
    """The model of that name, `provider:name`, or the script."""
    if name is None:
        return ScriptedChatClient(script(), middleware=[show])
    provider, _, model = name.partition(":")
    if provider not in CLIENTS or not model:
        raise SystemExit(f"--model {name!r} is none; give {', '.join(f'{one}:NAME' for one in CLIENTS)}")
    module, client = CLIENTS[provider]
    try:
        made: SupportsChatGetResponse = getattr(importlib.import_module(module), client)(model=model, middleware=[show])
    except ModuleNotFoundError:
        raise SystemExit(f"{provider} needs one more package: pip install agent-framework-{provider}") from None
    return made


def wrapped(tool: CodingTool) -> FunctionTool:
    """One of the neutral tools as the framework's."""
    return FunctionTool(name=tool.name, description=tool.description, func=tool.run, input_model=tool.parameters)


async def work(client: SupportsChatGetResponse, weaver: skillweave.Weaver, tools: list[FunctionTool]) -> None:
    """The lead's run; the sub-agent runs inside its tool call."""
    agent = Agent(
        client,
        LEAD,
        tools=[spawn_subagent(client, weaver, tools)],
        context_providers=[InMemoryHistoryProvider(), SkillContextProvider(weaver)],
    )
    print("user  ", TASK)
    answer = await agent.run(TASK, session=agent.create_session(session_id="office-1"))
    print("lead   says   ", answer.text)


def main() -> None:
    """One task, its sub-agent call by call, and the files that are there in the end."""
    options = argparse.ArgumentParser(description="A lead and its coder in the Agent Framework.")
    options.add_argument("--model", help="provider:name, such as openai:gpt-5; a script without it")
    client = chat_client(options.parse_args().model)
    weaver = skillweave.open(packs=["coding"], settings=Settings(catalog=CatalogMode.ALWAYS))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(work(client, weaver, [wrapped(tool) for tool in coding_tools(Path(folder))]))
        print("files ", ", ".join(sorted(path.name for path in Path(folder).rglob("*.*"))))


if __name__ == "__main__":
    main()
