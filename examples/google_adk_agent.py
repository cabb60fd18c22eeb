"""An agent of Google's ADK that gets its skills from skillweave: what is given, hidden and blocked, and one pause.

The model is a script, so that this runs anywhere and always says the same; any real one can play its part.

    pip install 'skillweave[google-adk]'
    python examples/google_adk_agent.py
    python examples/google_adk_agent.py --model gemini-2.5-flash    # with the provider's key in the environment
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from scripted.google_adk import ScriptedLlm

import skillweave
from skillweave.adapters.google_adk import SkillPlugin
from skillweave_testing.hosts import Says, Script, tool_call

SKILLS = Path(__file__).parent / "skills"
HEADING = "=== Skill Activated: "
BASE = "You are the assistant of a small company's office."
CONFIRMATION = "adk_request_confirmation"
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


async def office(model: BaseLlm | str) -> None:
    """Three messages of a user in one session."""
    weaver = skillweave.open(SKILLS)
    agent = LlmAgent(
        name="Office", model=model, instruction=BASE, tools=list(TOOLS), before_model_callback=show_what_is_sent
    )
    app = App(name="office", root_agent=agent, plugins=[SkillPlugin(weaver)])
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
    for text in (
        "Is invoice INV-20417 from Brandt GmbH right? If their account has changed, update it.",
        "Kim called them: the known account is the right one. Pay it.",
        "Good. Please write the minutes of what we agreed on.",
    ):
        print(f"user    {text}")
        question = await run(runner, types.Part(text=text))
        while question is not None:
            print("person  approved by Kim Vogt")
            yes = {"confirmed": True, "payload": {"verdict": "approved", "by": "Kim Vogt"}}
            answer = types.FunctionResponse(id=question.id, name=CONFIRMATION, response=yes)
            question = await run(runner, types.Part(function_response=answer))
        print()


async def run(runner: Runner, part: types.Part) -> types.FunctionCall | None:
    """One run; the question at which it paused, None where it did not."""
    message = types.Content(role="user", parts=[part])
    question = None
    async for event in runner.run_async(user_id="kim", session_id="office-1", new_message=message):
        for answer in event.get_function_responses():
            print(f"tool    {answer.name}: {str(next(iter((answer.response or {}).values()))).splitlines()[0][:60]}")
        for call in event.get_function_calls():
            if call.name == CONFIRMATION:
                question = call
                asked = (call.args or {})["toolConfirmation"]["payload"]
                (point,) = asked["checkpoints"]
                print(f"pause   {asked['call']['tool']} waits for {point['reviewer']}: {point['asks']}")
        words = "".join(part.text or "" for part in (event.content and event.content.parts) or ())
        if event.is_final_response() and words:
            print(f"model   {words}")
    return question


def show_what_is_sent(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Shows what goes to the model; the agent's own callbacks come after the plugins, so it sees what these left."""
    texts = [text for content in llm_request.contents for part in content.parts or () for text in texts_of(part)]
    had = [text.splitlines()[0][len(HEADING) : -4] for text in texts if text.startswith(HEADING)]
    tools: list[Any] = list(llm_request.config.tools or ())
    shown = {one.name for tool in tools for one in tool.function_declarations or ()}
    hidden = [tool.__name__ for tool in TOOLS if tool.__name__ not in shown]
    print(f"call    has skills: {', '.join(had) or 'none'}; hidden: {', '.join(hidden) or 'none'}")


def texts_of(part: types.Part) -> list[str]:
    """The text of a part, and of a tool's answer."""
    answer = part.function_response
    return [part.text or ""] if answer is None else [str(value) for value in (answer.response or {}).values()]


def main() -> None:
    """The script plays the model, unless `--model` names one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="the name of a model, as the ADK names it")
    named = parser.parse_args().model
    asyncio.run(office(named or ScriptedLlm(script=SCRIPT)))


if __name__ == "__main__":
    main()
