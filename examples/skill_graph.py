"""A support desk that is led from skill to skill by what its tools answer, with the built-in graph `support-triage`.

The model is a script, so that this runs anywhere and always says the same. It tries two things that it may not: to open
the skill that closes a ticket before anything was done, and to pay money back from where nothing is known yet.

    python examples/skill_graph.py
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import skillweave
from skillweave import Injection, Weaver
from skillweave.adapters.messages import Call
from skillweave.adapters.messages import openai_style as style
from skillweave.compose.policy import Ruling

BASE = {"role": "system", "content": "You are the support desk of a photo service."}
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "classify_ticket": [{"category": "refund", "risk": "low"}, {"category": "problem", "risk": "high"}],
    "lookup_order": [{"order": 4711, "paid": 25, "refundable": True}],
    "issue_refund": [{"refunded": 25}],
    "send_summary": [{"sent": True}],
    "assign_to_person": [{"state": "open"}],
}
"""What the tools answer, one after the other."""
TOOLS = [
    *({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ANSWERS),
    *style.skill_tools(),
]

SCRIPT: list[tuple[str, dict[str, Any]] | str] = [
    ("read_skill", {"skill_id": "ticket-follow-up"}),
    ("issue_refund", {"order": 4711}),
    ("classify_ticket", {"about": "money paid twice"}),
    ("lookup_order", {"order": 4711}),
    ("issue_refund", {"order": 4711}),
    ("send_summary", {"order": 4711}),
    "The 25 euros are on their way back. Is that what you came for?",
    ("classify_ticket", {"about": "photos of others"}),
    ("assign_to_person", {"team": "on call"}),
    "A person takes over at once, because data of others is at stake.",
]
"""The model's part: calls of tools, and what it says to the user."""


def call_model(number: int, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
    """What a provider's client does; the end of the system prompt tells the model what it may open from here."""
    print(f"told     {messages[0]['content'].splitlines()[-1]}")
    print(f"offered  {', '.join(name for tool in tools if (name := tool['function']['name']) in ANSWERS)}")
    part = SCRIPT[number]
    if isinstance(part, str):
        return {"role": "assistant", "content": part}
    function = {"name": part[0], "arguments": json.dumps(part[1])}
    call = {"id": f"call-{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answer(call: Call, weaver: Weaver, injection: Injection, chat: list[Any]) -> dict[str, Any]:
    """Read a skill, refuse what belongs to another place, else run the tool."""
    if call.name == "read_skill":
        there = style.transcript(chat)
        read = weaver.sync.tools.call(
            call.name, call.arguments or {}, conversation="desk-1", call_id=call.id, transcript=there
        )
        print(f"read     {read.text.splitlines()[0]}")
        return style.answer(call, read)
    verdict = injection.tools.authorize(call.name, call.arguments)
    if call.problem or verdict.ruling is not Ruling.ALLOW:
        print(f"refused  {call.problem or verdict.message}")
        return style.refuse(call, call.problem or verdict)
    told = json.dumps(ANSWERS[call.name].pop(0))
    print(f"tool     {call.name}: {told}")
    return {"role": "tool", "tool_call_id": call.id, "content": told}


def show(injection: Injection) -> None:
    """Where the turn went and why, and which texts it gave."""
    move = injection.move
    if move is None:
        raise SystemExit("there is no graph")
    if move.moved:
        print(f"move     {move.from_ or 'start'} -> {move.to}, by {move.by}")
        print(f"why      {move.reason}")
        print(f"given    {', '.join(injection.skills) or 'nothing new'}")
    else:
        print(f"stays    at {move.to}")


def talk(text: str, weaver: Weaver, chat: list[Any], numbers: Iterator[int]) -> list[Any]:
    """One message of the user, until the model calls no more tools."""
    print(f"user     {text}")
    chat = [*chat, {"role": "user", "content": text}]
    while True:
        turn = style.turn(chat, conversation="desk-1", tools=TOOLS)
        with weaver.sync.delivery(turn) as injection:  # what the tools answered is in the chat: the graph looks there
            chat = style.place(chat, injection)
            show(injection)
            messages = [style.system(BASE, injection), *style.with_tail(chat, injection)]
            reply = call_model(next(numbers), messages, style.offer(TOOLS, injection))
        chat.append(reply)
        calls = style.calls(reply)
        if not calls:
            print(f"model    {reply['content']}")
            return chat
        chat += [answer(call, weaver, injection, chat) for call in calls]


def main() -> None:
    """Two messages; between them the process ends, and the next one goes on where the conversation was."""
    numbers = iter(range(len(SCRIPT)))
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "state.db"
        chat = talk("Hello, about my last bill", skillweave.open(packs=["support-triage"], ledger=ledger), [], numbers)
        print("-        the process ends; the next one opens the same ledger")
        again = skillweave.open(packs=["support-triage"], ledger=ledger)
        talk("Yes. One more thing: I see photos of strangers!", again, chat, numbers)
        cursor = again.sync.ledger.state("desk-1").cursor
        print(f"trail    {' -> '.join(cursor.trail) if cursor else 'nowhere'}")


if __name__ == "__main__":
    main()
