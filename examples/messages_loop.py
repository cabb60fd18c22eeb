"""An agent loop without a framework, over plain message lists: what skillweave adds to it, step by step.

The model is a script, so that this runs anywhere and always says the same. Three styles of message lists and two
places for skill text are played through; the loop itself is written once, in `call_model`. Where a call waits for a
person, the user says something else, and the conversation goes on; another one the person approves.

    python examples/messages_loop.py
"""

import json
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import skillweave
from skillweave import CatalogMode, Injection, Placement, Settings, ToolCall, Verdict, Weaver
from skillweave.adapters.messages import Call, anthropic_style, openai_style, responses_style
from skillweave.compose.policy import Ruling
from skillweave.turns import CurrentPolicy

SKILLS = Path(__file__).parent / "skills"
BASE = "You are the assistant of a small company's office."
TOOLS = ("search_ledger", "lookup_purchase_order", "pay_invoice", "change_vendor_record")
MARKER = "SKILL_SELECT:"


@dataclass
class Says:
    """One line of the model's part: a text, and the tools that it calls."""

    text: str
    calls: tuple[str, ...] = ()


SCRIPT = (
    Says("I compare it with the ledger.", ("search_ledger", "change_vendor_record")),
    Says("Verdict: HOLD. The account number differs from the last three payments."),
    Says("Yes: pay only what arrived, and ask for a credit note for the rest."),
    Says("I pay what arrived.", ("pay_invoice",)),
    Says("That calls for proper minutes. SKILL_SELECT:meeting-minutes"),
    Says("Decision: the payment is on hold. Action: Kim calls the supplier by Friday."),
    Says("Not yet; Kim's call is still open."),
    Says("Then I pay it.", ("pay_invoice",)),
    Says("It is paid."),
)


@dataclass
class OpenAiModel:
    """Plays the script in the shapes of OpenAI's chat completions, and keeps what it was sent."""

    script: list[Says]
    style: Any = openai_style
    sent: list[str] = field(default_factory=list)

    def tool(self, name: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}

    def __call__(self, system: object, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
        self.sent.append(json.dumps([{"role": "system", "content": system}, *messages]))
        says = self.script.pop(0)
        message: dict[str, Any] = {"role": "assistant", "content": says.text}
        if says.calls:
            message["tool_calls"] = [
                {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
                for name in says.calls
            ]
        return {"choices": [{"message": message}]}

    def ready(self, chat: list[Any]) -> list[Any]:
        return chat

    def with_reply(self, chat: list[Any], reply: dict[str, Any]) -> list[Any]:
        return [*chat, reply["choices"][0]["message"]]

    def result(self, call: Call, content: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    def with_results(self, chat: list[Any], results: list[Any]) -> list[Any]:
        return [*chat, *results]


@dataclass
class ResponsesModel(OpenAiModel):
    """The same in the shapes of OpenAI's Responses API: items, with what the model thought; all of them are kept."""

    style: Any = responses_style

    def tool(self, name: str) -> dict[str, Any]:
        return {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}}

    def __call__(self, system: object, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
        self.sent.append(json.dumps([system, messages]))
        says = self.script.pop(0)
        content = [{"type": "output_text", "text": says.text, "annotations": []}]
        calls = [
            {"type": "function_call", "call_id": f"call-{name}", "name": name, "arguments": "{}"} for name in says.calls
        ]
        thought = {"type": "reasoning", "id": f"rs_{len(self.sent)}", "summary": []}
        said = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        return {"object": "response", "output": [thought, said, *calls]}

    def with_reply(self, chat: list[Any], reply: dict[str, Any]) -> list[Any]:
        return [*chat, *reply["output"]]

    def result(self, call: Call, content: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call.id, "output": content}


@dataclass
class AnthropicModel:
    """The same in the shapes of Anthropic's messages API: the system prompt apart, results inside a user message."""

    script: list[Says]
    style: Any = anthropic_style
    sent: list[str] = field(default_factory=list)

    def tool(self, name: str) -> dict[str, Any]:
        return {"name": name, "input_schema": {"type": "object", "properties": {}}}

    def __call__(self, system: object, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
        self.sent.append(json.dumps([system, messages]))
        says = self.script.pop(0)
        calls = [{"type": "tool_use", "id": f"call-{name}", "name": name, "input": {}} for name in says.calls]
        return {"role": "assistant", "content": [{"type": "text", "text": says.text}, *calls]}

    def ready(self, chat: list[Any]) -> list[Any]:
        # The last message must be a user's: behind its marker the model is told to go on.
        return chat if chat[-1]["role"] == "user" else [*chat, {"role": "user", "content": "Go on."}]

    def with_reply(self, chat: list[Any], reply: dict[str, Any]) -> list[Any]:
        return [*chat, reply]

    def result(self, call: Call, content: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call.id, "content": content}

    def with_results(self, chat: list[Any], results: list[Any]) -> list[Any]:
        return [*chat, {"role": "user", "content": results}]


Model = OpenAiModel | AnthropicModel


def call_model(weaver: Weaver, model: Model, chat: list[Any], placement: Placement) -> tuple[list[Any], bool]:
    """One call of the model with everything around it; gives the chat after, and whether the model wants to go on."""
    style = model.style
    tools = [model.tool(name) for name in TOOLS]
    turn = style.turn(chat, conversation="office-1", tools=tools, placement=placement)
    with weaver.sync.delivery(turn) as injection:  # counts as delivered only if the call comes back
        chat = model.ready(style.place(chat, injection))
        offered = style.offer(tools, injection)
        sent = style.with_tail(chat, injection)  # what is for this call only stands at its end, and is not kept
        reply = model(style.system(BASE, injection), sent, offered)
    show_call(injection, model, len(offered))
    chat = model.with_reply(chat, reply)
    calls = style.calls(reply, tools)
    for call in calls:
        if judged(weaver, call, injection).ruling is Ruling.ASK:
            print(f"   person  is asked whether {call.name} may run")
            return chat, False  # nothing runs until a person replies, or the user says something else
    results = [answer(weaver, call, injection, model) for call in calls]
    if results:
        chat = model.with_results(chat, results)
    return chat, bool(results) or MARKER in json.dumps(reply)


def judged(weaver: Weaver, call: Call, injection: Injection | CurrentPolicy) -> Verdict:
    """May this call run? A person's yes to it, known by its id, lets it run once."""
    return weaver.sync.authorize(injection, call.name, call.arguments, call_id=call.id, parameters=call.parameters)


def answer(weaver: Weaver, call: Call, injection: Injection | CurrentPolicy, model: Model) -> dict[str, Any]:
    """Run the tool if the skills in force let it run; a model may name a tool that it was never shown."""
    verdict = judged(weaver, call, injection)
    if call.problem or verdict.ruling is not Ruling.ALLOW:
        print(f"   tool    {call.name}: refused, {(call.problem or verdict.message).split(':')[0]}")
        refusal: dict[str, Any] = model.style.refuse(call, call.problem or verdict)
        return refusal
    print(f"   tool    {call.name}: ran")
    return model.result(call, "three payments to DE02 1203 0000 0000 2020 51")


def show_call(injection: Injection, model: Model, offered: int) -> None:
    """Say what this call added, what the model had before it in all, and how much of it was there before."""
    for decision in injection.decisions:
        if decision.skill_id in injection.skills and decision.stage == "disclose":
            print(f"   skill   {decision.skill_id}: {decision.outcome.value} ({decision.reason})")
    request = model.sent[-1]
    had = [name for name in ("Invoice Checking", "Meeting Minutes") for _ in range(request.count(f"Activated: {name}"))]
    print(f"   model   had {', '.join(had) or 'no skill'}; {offered} of {len(TOOLS)} tools{unchanged(model.sent)}")


def unchanged(sent: list[str]) -> str:
    """How much of the call before stands unchanged at the start of the last one: a provider's cache finds it there."""
    if len(sent) < 2:
        return ""
    before, now = sent[-2].rstrip('"]}'), sent[-1]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
    return f"; {100 * same // len(before)}% of the call before unchanged"


def play(model: Model, placement: Placement) -> None:
    """Six messages of a user, from the first skill to the compaction of the history and a person's yes."""
    weaver = skillweave.open(SKILLS, settings=Settings(catalog=CatalogMode.ALWAYS))
    chat: list[Any] = []
    for text in (
        "Is invoice INV-20417 from Brandt GmbH right before we pay it?",
        "Two boxes were missing. Does that matter?",
        "Good. Then pay what arrived.",
        "Wait, let me ask Kim first. Please write down what we agreed on, and who does what.",
        "Summary: the bill is on hold, Kim calls. Now the user asks: did they answer?",
        "They did: everything arrived. Pay it.",
    ):
        if text.startswith("Summary:"):
            chat = []
            print("   -       the host replaces its history by a summary")
        print(f"   user    {text}")
        for call in model.style.unanswered(chat):
            print(f"   tool    {call.name}: not run, the conversation goes on without it")
        chat, goes_on = call_model(weaver, model, model.style.go_on(chat, text), placement)
        while goes_on:
            chat, goes_on = call_model(weaver, model, chat, placement)
    chat = approved(weaver, model, chat, placement)
    call_model(weaver, model, chat, placement)


def approved(weaver: Weaver, model: Model, chat: list[Any], placement: Placement) -> list[Any]:
    """The chat after a person said yes to the call that waits: this one alone, with its id and its arguments."""
    results = []
    for call in model.style.unanswered(chat):
        shown = ToolCall(call.id, call.name, call.arguments or {})
        now = weaver.sync.current_policy("office-1", placement=placement)
        for one in now.checkpoints:
            if one.before == call.name:
                weaver.sync.approvals.decide(
                    "office-1", one.skill_id, one.name, "approved", by="Ann Lee", digest=one.digest, call=shown
                )
        print(f"   person  Ann Lee says yes to {call.name}")
        results.append(answer(weaver, call, weaver.sync.current_policy("office-1", placement=placement), model))
    return model.with_results(chat, results)


def main() -> None:
    """All styles, both placements."""
    styles = (("OpenAI style", OpenAiModel), ("Responses style", ResponsesModel), ("Anthropic style", AnthropicModel))
    for name, made in styles:
        for placement in Placement:
            print(f"{name}, {placement.value} placement")
            play(made(list(SCRIPT)), placement)
            print()


if __name__ == "__main__":
    main()
