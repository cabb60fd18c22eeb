"""An agent of Pydantic AI that gets its skills from skillweave: what is given, hidden and blocked, and one pause.

The model is a script, so that this runs anywhere and always says the same; any real one can play its part.

    pip install 'skillweave[pydantic-ai]'
    python examples/pydantic_ai_agent.py
    python examples/pydantic_ai_agent.py --model anthropic:claude-sonnet-5    # with the provider's package and key
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.capabilities import Hooks
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestContext
from scripted.pydantic_ai import scripted_model

import skillweave
from skillweave.adapters.pydantic_ai import Skills, approvals
from skillweave_testing.hosts import Says, Script, tool_call

SKILLS = Path(__file__).parent / "skills"
HEADING = "=== Skill Activated: "
BASE = "You are the assistant of a small company's office."
SCRIPT = Script(
    Says(asks=(tool_call("search_ledger", vendor="Brandt"), tool_call("change_vendor_record", account="DE99"))),
    "HOLD: the account differs from the last three payments.",
    Says(asks=(tool_call("pay_invoice", number="INV-20417"),)),
    "Paid to the known account.",
    Says(asks=(tool_call("read_skill", skill_id="meeting-minutes"),)),
    "Decision: INV-20417 was paid to the known account. No open action.",
)


def search_ledger(vendor: str) -> str:
    """Look up the payments to a vendor."""
    return f"three payments to {vendor}, all to DE02 1203 0000 0000 2020 51"


def change_vendor_record(account: str) -> str:
    """Change a vendor's bank account."""
    return f"the account is now {account}"


def pay_invoice(number: str) -> str:
    """Pay an invoice."""
    return f"{number} is paid"


TOOLS = (search_ledger, change_vendor_record, pay_invoice)


async def office(model: Model | str) -> None:
    """Three messages of a user in one conversation."""
    weaver = skillweave.open(SKILLS)
    agent: Agent[None, str | DeferredToolRequests] = Agent(
        model,
        instructions=BASE,
        tools=TOOLS,
        output_type=[str, DeferredToolRequests],  # so that a run can pause where a person must decide
        capabilities=[Skills(weaver), watch()],
    )
    conversation = None
    for text in (
        "Is invoice INV-20417 from Brandt GmbH right? If their account has changed, update it.",
        "Kim called them: the known account is the right one. Pay it.",
        "Good. Please write the minutes of what we agreed on.",
    ):
        print(f"user    {text}")
        result = await agent.run(text, conversation=conversation)
        while isinstance(result.output, DeferredToolRequests):
            for question in result.output.metadata.values():
                (point,) = question["checkpoints"]
                print(f"pause   {question['call']['tool']} waits for {point['reviewer']}: {point['asks']}")
            results = await approvals(weaver, result.output, {"verdict": "approved", "by": "Kim Vogt"})
            print("person  approved by Kim Vogt")
            result = await agent.run(conversation=result.conversation, deferred_tool_results=results)
        conversation = result.conversation
        print(f"model   {result.output}\n")


def watch() -> Hooks[Any]:
    """Shows what goes to the model; it stands behind Skills, so it sees what Skills left."""
    hooks: Hooks[Any] = Hooks()

    @hooks.on.prepare_model_request
    async def show(ctx: Any, request_context: ModelRequestContext) -> ModelRequestContext:  # noqa: ANN401
        parts = [part for message in request_context.messages for part in message.parts]
        for part in request_context.messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                print(f"tool    {part.tool_name}: {part.outcome}, {str(part.content).splitlines()[0][:60]}")
        prompts = (part.content for part in parts if isinstance(part, UserPromptPart))
        texts = [prompt if isinstance(prompt, str) else str(getattr(prompt[0], "content", "")) for prompt in prompts]
        texts += [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
        had = [text.splitlines()[0][len(HEADING) : -4] for text in texts if text.startswith(HEADING)]
        shown = {tool.name for tool in request_context.model_request_parameters.function_tools}
        hidden = [tool.__name__ for tool in TOOLS if tool.__name__ not in shown]
        print(f"call    has skills: {', '.join(had) or 'none'}; hidden: {', '.join(hidden) or 'none'}")
        return request_context

    return hooks


def main() -> None:
    """The script plays the model, unless `--model` names one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="provider:name, as Pydantic AI names models")
    named = parser.parse_args().model
    asyncio.run(office(named or scripted_model(SCRIPT)))


if __name__ == "__main__":
    main()
