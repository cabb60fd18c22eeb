"""An agent of LangChain's `create_agent` with skills: one middleware, and what it does around each call.

The model is a script unless you name one, so that this runs anywhere and always says the same.

    pip install 'skillweave[langchain]'
    python examples/langchain_agent.py
    python examples/langchain_agent.py --model anthropic:claude-sonnet-5    # with its provider's package and key
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from scripted.langchain import ScriptedChatModel

import skillweave
from skillweave.adapters.langchain import SkillMiddleware
from skillweave.decisions import Outcome
from skillweave_testing.hosts import Says, Script, tool_call

SKILLS = Path(__file__).parent / "skills"
BASE = "You are the assistant of a small company's office."
SAID = (
    "Is this invoice from Brandt GmbH right?",
    "Two boxes were missing. Does that matter?",
    "Good. Please write down what we agreed on, and who does what.",
    "The account is settled now. Pay what arrived.",
)
SCRIPT = (
    Says(
        "I compare it with the ledger.",
        (tool_call("search_ledger", vendor="Brandt"), tool_call("change_vendor_record", vendor="Brandt")),
    ),
    Says("Verdict: HOLD. The account number differs from the last three payments."),
    Says("Yes: pay only what arrived, and ask for a credit note for the rest."),
    Says("That calls for proper minutes.", (tool_call("read_skill", skill_id="meeting-minutes"),)),
    Says("Decision: the payment is on hold. Action: Kim calls the supplier by Friday."),
    Says("I pay it.", (tool_call("pay_invoice", vendor="Brandt"),)),
    Says("Paid."),
)


def search_ledger(vendor: str) -> str:
    """The last payments to a vendor."""
    return f"{vendor}: three payments to DE02 1203 0000"


def change_vendor_record(vendor: str) -> str:
    """Change what is kept about a vendor."""
    return f"{vendor}: changed"


def pay_invoice(vendor: str) -> str:
    """Pay the open invoice of a vendor."""
    return f"{vendor}: paid"


class Watching(AgentMiddleware[Any, Any, Any]):
    """Prints what the model is about to be sent; it stands behind the skills, next to the model."""

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        texts = [request.system_prompt or "", *(str(message.text) for message in request.messages)]
        skills = [line[21:-4] for text in texts for line in text.splitlines() if line.startswith("=== Skill Activated")]
        tools = [tool.name for tool in request.tools if isinstance(tool, BaseTool) and tool.name not in OWN]
        print(f"  model   sees {', '.join(skills) or 'no skill'}; may call {', '.join(tools)}")
        return handler(request)


def answer(agent: CompiledStateGraph[Any, Any, Any, Any], said: str) -> None:
    """One message of the user: what happens, and what the agent says."""
    print(f"\n{said}")
    state = agent.get_state(THREAD).values
    before = len(state.get("messages", ()))
    result = agent.invoke({"messages": [{"role": "user", "content": said}]}, THREAD)
    while asked := result.get("__interrupt__"):
        point = asked[0].value["checkpoints"][0]
        print(f"  person  is asked: {point['asks']}")
        print(f"  person  {point['name']}: Ann Lee approves")
        result = agent.invoke(Command(resume={"verdict": "approved", "by": "Ann Lee"}), THREAD)
    messages = result["messages"]
    for message in messages[before:]:
        if isinstance(message, ToolMessage):
            print(f"  tool    {message.name}: {'blocked' if message.status == 'error' else 'ran'}")
    print(f"  agent   {messages[-1].text}")


def main(model: BaseChatModel) -> None:
    """One conversation."""
    weaver = skillweave.open(str(SKILLS), settings=skillweave.Settings(catalog=skillweave.CatalogMode.ALWAYS))
    agent = create_agent(
        model,
        tools=[search_ledger, change_vendor_record, pay_invoice],
        system_prompt=BASE,
        middleware=[SkillMiddleware(weaver), Watching()],
        checkpointer=InMemorySaver(),
    )
    for said in SAID:
        answer(agent, said)
    print("\nwhy")
    for entry in weaver.sync.why("office-1"):
        if entry.decision.outcome is Outcome.INJECTED:
            print(f"  skill   {entry.decision.skill_id}: {entry.decision.reason}")


THREAD: Any = {"configurable": {"thread_id": "office-1"}}
OWN = {"read_skill", "list_skills", "read_artifact", "search_skills"}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="a real model, as provider:name")
    named = parser.parse_args().model
    main(init_chat_model(named) if named else ScriptedChatModel(script=Script(*SCRIPT)))
