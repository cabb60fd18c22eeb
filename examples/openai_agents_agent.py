"""An agent of the OpenAI Agents SDK with skills: what they add to a run, and how a person is asked in the middle of it.

The model is a script unless you name one, so that this runs anywhere and always says the same.

    pip install 'skillweave[openai-agents]'
    python examples/openai_agents_agent.py
    python examples/openai_agents_agent.py --model gpt-5    # any name that the SDK knows, with its provider's key
"""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from agents import Agent, Model, RunConfig, Runner, RunState, SQLiteSession, function_tool
from agents.items import ToolCallItem, ToolCallOutputItem
from scripted.openai_agents import ScriptedModel

import skillweave
from skillweave.adapters.openai_agents import Skills
from skillweave_testing.hosts import Says, Script, tool_call

SKILLS = Path(__file__).parent / "skills"
BASE = "You are the assistant of a small company's office."
SAID = (
    "Is this invoice from Brandt GmbH right?",
    "The account is settled now. Pay what arrived.",
    "Good. Please write down what we agreed on, and who does what.",
)
SCRIPT = (
    Says(asks=(tool_call("search_ledger", vendor="Brandt"), tool_call("change_vendor_record", vendor="Brandt"))),
    Says("Verdict: HOLD. The account number differs from the last three payments."),
    Says(asks=(tool_call("pay_invoice", vendor="Brandt"),)),
    Says("Paid."),
    Says(asks=(tool_call("read_skill", skill_id="meeting-minutes"),)),
    Says("Decision: Brandt is paid. Action: Kim asks for a credit note by Friday."),
)


@function_tool
def search_ledger(vendor: str) -> str:
    """The last payments to a vendor."""
    return f"{vendor}: three payments to DE02 1203 0000"


@function_tool
def change_vendor_record(vendor: str) -> str:
    """Change what is kept about a vendor."""
    return f"{vendor}: changed"


@function_tool
def pay_invoice(vendor: str) -> str:
    """Pay the open invoice of a vendor."""
    return f"{vendor}: paid"


async def main(model: Model | str) -> None:
    """One conversation, kept in a session."""
    weaver = skillweave.open(SKILLS, settings=skillweave.Settings(catalog=skillweave.CatalogMode.ALWAYS))
    skills = Skills(weaver)
    tools: list[Any] = [search_ledger, change_vendor_record, pay_invoice]
    agent = skills.agent(Agent(name="Office", instructions=BASE, model=model, tools=tools))
    session = SQLiteSession("office-1")
    config = skills.run_config(session, RunConfig(tracing_disabled=True))
    for said in SAID:
        print(f"\n{said}")
        result = await Runner.run(agent, said, session=session, run_config=config)
        while result.interruptions:
            show(result.new_items)
            kept = json.dumps(result.to_state().to_json())  # a file or a row, for as long as the person takes
            state: RunState[Any] = await RunState.from_json(agent, json.loads(kept))
            asked: list[dict[str, Any]] = await skills.waiting(state, session)
            for question in asked:
                print(f"  person  is asked: {ask(question)}")
            await skills.decide(state, session, asked, {"verdict": "approved", "by": "Ann Lee"})
            print("  person  Ann Lee approves")
            result = await Runner.run(agent, state, session=session, run_config=config)
        show(result.new_items)
        now = await weaver.current_policy("office-1")
        shown = now.tools.offers([tool.name for tool in tools])
        print(f"  skills  {', '.join(one.skill_id for one in (await weaver.ledger.state('office-1')).engaged)}")
        print(f"  hidden  {', '.join(tool.name for tool in tools if tool.name not in shown) or 'nothing'}")
        print(f"  agent   {result.final_output}")
    session.close()


def show(items: list[Any]) -> None:
    """What became of each tool call of a run; a call that waits has no result yet."""
    names = {item.raw_item.call_id: item.raw_item.name for item in items if isinstance(item, ToolCallItem)}
    for item in items:
        if isinstance(item, ToolCallOutputItem):
            done = "blocked" if str(item.output).startswith("TOOL_") else "ran"
            print(f"  tool    {names.get(item.raw_item['call_id'], 'the call that waited')}: {done}")


def ask(question: dict[str, Any]) -> str:
    """A question in words."""
    return " ".join(str(checkpoint["asks"]) for checkpoint in question["checkpoints"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="a real model, as the SDK names it")
    asyncio.run(main(parser.parse_args().model or ScriptedModel(Script(*SCRIPT))))
