"""A filing agent in LangGraph: a skill that comes when it is called for, hides a tool, and waits for a person to file.

The model is a script unless you name one; a pause is survived by ending the process, here by opening all files anew.

    pip install 'skillweave[langgraph]' langgraph-checkpoint-sqlite
    python examples/langgraph_agent.py
    python examples/langgraph_agent.py --model anthropic:claude-sonnet-5    # with langchain, its provider and a key
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import skillweave
from skillweave.adapters.langgraph import SkillState, build_skill_agent
from skillweave_testing.hosts import Asks, Says, Script

SKILL: dict[str, Any] = {
    "id": "exception-filing",
    "description": "Assembles the filing for an exception to well spacing and submits it.",
    "text": {"instructions": "Look the offset operators up, draft one notice for each, then submit the filing."},
    "tools": {"forbidden": ["change_record"]},
    "checkpoints": [{"name": "pre_filing", "before": "submit_filing", "asks": "Are all notices and the plat there?"}],
}
THREAD: RunnableConfig = {"configurable": {"thread_id": "filing-7"}}
SCRIPT = Script(
    "There is a skill for that. SKILL_SELECT:exception-filing",
    Says(
        "I prepare it.",
        (
            Asks("find_operators", {"well": "Ranch 1H"}),
            Asks("change_record", {"well": "Ranch 1H", "text": "spacing 467 ft"}),
            Asks("submit_filing", {"well": "Ranch 1H"}),
        ),
    ),
    "The filing for Ranch 1H is submitted under number 117; two operators get a notice.",
)


@tool
def find_operators(well: str) -> str:
    """Finds the operators of wells near this one."""
    return "Brandt Energy, Lee Oil"


@tool
def change_record(well: str, text: str) -> str:
    """Changes the record of a well."""
    return "changed"


@tool
def submit_filing(well: str) -> str:
    """Submits the filing for a well."""
    return f"the filing for {well} has number 117"


TOOLS = (find_operators, change_record, submit_filing)


def chat_model(name: str | None) -> BaseChatModel:
    """The model of that name, `provider:name`, or the script."""
    if name is None:
        from scripted.langchain import ScriptedChatModel

        return ScriptedChatModel(script=SCRIPT)
    from langchain.chat_models import init_chat_model

    model: BaseChatModel = init_chat_model(name)
    return model


def run(model: BaseChatModel, folder: Path, given: Command[Any] | SkillState) -> Mapping[str, Any] | None:
    """One run over the files in the folder, as in a process of its own; gives the question at which it pauses."""
    # Only the model's marker selects here; left out, the words of the user do too.
    weaver = skillweave.open(SKILL, ledger=folder / "ledger.db", matchers=["explicit"])
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        agent = build_skill_agent(
            model, weaver, TOOLS, system_prompt="You are the assistant of a drilling office.", checkpointer=saver
        )
        waits = None
        for step in agent.stream(given, THREAD, stream_mode="updates"):
            for node, update in () if "__metadata__" in step else step.items():  # else it was done before the pause
                if node == "__interrupt__":
                    waits = update[0].value
                else:
                    show(node, (update or {}).get("messages", ()))
    names = [one.name for one in TOOLS]
    offered = weaver.sync.current_policy("filing-7").tools.offers(names)
    print("hidden   ", ", ".join(name for name in names if name not in offered) or "nothing")
    weaver.sync.close()
    return waits


def show(node: str, messages: Sequence[BaseMessage]) -> None:
    """What a step added to the state."""
    for message in messages:
        line = message.text.strip().split("\n")[0]
        if isinstance(message, ToolMessage):
            print("blocked  " if message.status == "error" else "ran      ", f"{message.name}: {line[:60]}")
        elif isinstance(message, AIMessage):
            print(f"{node:<9}", line, *(f"[calls {call['name']}]" for call in message.tool_calls))
        else:
            print("given    ", line)


def main() -> None:
    """A request, the pause, a restart, the approval."""
    options = argparse.ArgumentParser(description="A filing agent in LangGraph.")
    options.add_argument("--model", help="provider:name, such as anthropic:claude-sonnet-5; a script without it")
    model = chat_model(options.parse_args().model)
    with tempfile.TemporaryDirectory() as folder:
        words = "Please file the spacing exception for Ranch 1H."
        print("user     ", words)
        waits = run(model, Path(folder), {"messages": [HumanMessage(words)]})
        while waits:
            point = waits["checkpoints"][0]
            print("pauses   ", f"{point['name']} before {waits['call']['tool']}: {point['asks']}")
            print("-         the process ends; the next one reads the files")
            reply = {"verdict": "approved", "by": "Ann Lee", "note": "Two notices and the plat are there."}
            print("person   ", f"{reply['verdict']} by {reply['by']}")
            waits = run(model, Path(folder), Command(resume=reply))


if __name__ == "__main__":
    main()
