"""An office agent in Microsoft's Agent Framework: a skill in its instructions, a tool that is kept from it, a person.

The model is a script unless you name one. The pause is survived by writing the session down and reading it again.

    pip install 'skillweave[agent-framework]'
    python examples/agent_framework_agent.py
    python examples/agent_framework_agent.py --model openai:gpt-5    # with agent-framework-openai and a key
"""

import argparse
import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent_framework import (
    Agent,
    AgentRunInputs,
    AgentSession,
    ChatContext,
    Content,
    ContextProvider,
    InMemoryHistoryProvider,
    SessionContext,
    SupportsChatGetResponse,
    chat_middleware,
)
from scripted.agent_framework import ScriptedChatClient

import skillweave
from skillweave import CatalogMode, Settings
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to
from skillweave_testing.hosts import Asks, Says, Script

SKILLS = Path(__file__).parent / "skills"
CLIENTS = {
    "openai": ("agent_framework.openai", "OpenAIChatClient"),
    "anthropic": ("agent_framework.anthropic", "AnthropicClient"),
    "ollama": ("agent_framework.ollama", "OllamaChatClient"),
}
SCRIPT = Script(
    "Four.",
    Says(
        "I compare it with the ledger.",
        (Asks("search_ledger", {"vendor": "Brandt"}), Asks("change_vendor_record", {"vendor": "Brandt"})),
    ),
    "Verdict: PAY. The account is that of the last three payments.",
    Says("I pay it.", (Asks("pay_invoice", {"number": "INV-20417"}),)),
    "INV-20417 is paid.",
)


def search_ledger(vendor: str) -> str:
    """Finds the last payments to a supplier."""
    return f"three payments to {vendor}, all to DE02 1203 0000"


def change_vendor_record(vendor: str) -> str:
    """Changes the account of a supplier."""
    return f"{vendor} changed"


def pay_invoice(number: str) -> str:
    """Pays an invoice."""
    return f"{number} paid"


TOOLS = [search_ledger, change_vendor_record, pay_invoice]


class Shown(ContextProvider):
    """Prints what the model is really sent; it stands behind the skills, so it sees what they made of the call."""

    async def before_run(self, *, context: SessionContext, **_: object) -> None:
        @chat_middleware
        async def show(call: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
            sent, options = call.messages[-1], call.options or {}
            for result in (content for content in sent.contents if content.type == "function_result"):
                print("   tool   ", str(result.result).split(":")[0][:70])
            skills = [line.strip("= ") for line in options["instructions"].splitlines() if line.startswith("=== Skill")]
            offered = {tool.name for tool in options["tools"]}
            hidden = [tool.__name__ for tool in TOOLS if tool.__name__ not in offered]
            print("   model   has", ", ".join(skills) or "no skill", f"(hidden: {', '.join(hidden) or 'nothing'})")
            await call_next()

        context.extend_middleware(self.source_id, [show])


def chat_client(name: str | None) -> SupportsChatGetResponse:
    """The model of that name, `provider:name`, or the script."""
    if name is None:
        return ScriptedChatClient(SCRIPT)
    provider, _, model = name.partition(":")
    if provider not in CLIENTS or not model:
        raise SystemExit(f"--model {name!r} is none; give {', '.join(f'{one}:NAME' for one in CLIENTS)}")
    module, client = CLIENTS[provider]
    try:
        made: SupportsChatGetResponse = getattr(importlib.import_module(module), client)(model=model)
    except ModuleNotFoundError:
        raise SystemExit(f"{provider} needs one more package: pip install agent-framework-{provider}") from None
    return made


async def answer(agent: Agent, given: AgentRunInputs, kept: str) -> tuple[list[Content], str]:
    """One run, as a process of its own would do it: what waits for a person, and the session as it is to be kept."""
    session = AgentSession.from_dict(json.loads(kept)) if kept else AgentSession(session_id="office-1")
    response = await agent.run(given, session=session)
    print("   agent  ", [message.text for message in response.messages if message.text][-1])
    return response.user_input_requests, json.dumps(session.to_dict())


async def main() -> None:
    """Three messages of a user; the last one needs an accountant."""
    options = argparse.ArgumentParser(description="An office agent in the Agent Framework.")
    options.add_argument("--model", help="provider:name, such as openai:gpt-5; a script without it")
    client = chat_client(options.parse_args().model)
    weaver = skillweave.open(SKILLS, settings=Settings(catalog=CatalogMode.ALWAYS))
    agent = Agent(
        client,
        "You are the assistant of a small company's office.",
        tools=TOOLS,
        context_providers=[InMemoryHistoryProvider(), SkillContextProvider(weaver, max_skills=3), Shown("shown")],
    )
    kept = ""
    for text in ("What is 2+2?", "Is invoice INV-20417 from Brandt GmbH right?", "Then pay it, please."):
        print("user:", text)
        waits, kept = await answer(agent, text, kept)
        while waits:
            checkpoint = waits[0].additional_properties["checkpoints"][0]
            print("   waits   for", checkpoint["name"], "-", checkpoint["asks"])
            reply = {"verdict": "approved", "by": "Kim Park", "note": "Account compared."}
            print("   person ", reply["verdict"], "by", reply["by"])
            waits, kept = await answer(agent, [reply_to(request, reply) for request in waits], kept)


if __name__ == "__main__":
    asyncio.run(main())
