"""A skill with a body of 20,000 tokens, used within a budget of 2,000: an outline, and sections read one by one.

The model is a script, so that this runs anywhere and always says the same; the loop around it is a real one. When a
section does not fit any more, the host takes out what skillweave says may go, and asks again.

    python examples/long_handbook.py
"""

import json
from itertools import count
from typing import Any

import skillweave
from skillweave import Budget, Settings
from skillweave.adapters.messages import openai_style as style
from skillweave.disclose.block import SkillTools
from skillweave.weaver.tools import ToolAnswer

BUDGET = 2_000
CONVERSATION = "service-desk"
ASSEMBLIES = {
    "Water inlet": ("inlet valve", "supply hose", "flow meter", "leak sensor", "particle filter"),
    "Pump": ("pump rotor", "pressure valve", "vibration damper", "suction hose", "pump bearing"),
    "Boiler": ("heating element", "thermostat", "safety valve", "level probe", "boiler gasket", "steam valve"),
    "Brew group": ("piston seal", "upper sieve", "lower sieve", "drive belt", "end switch"),
    "Grinder": ("upper burr", "lower burr", "bean sensor", "dosing chamber", "grinder motor"),
    "Milk system": ("milk hose", "air valve", "foam nozzle", "cleaning valve", "temperature probe"),
    "Controls": ("main board", "display", "door switch", "cable loom", "power supply"),
    "Waste": ("drip tray", "grounds box", "drain hose", "float switch", "tray contact"),
}
FAULTS = {
    "worn": "works, but worse from week to week; the counter shows more cycles than the service plan allows",
    "blocked": "does nothing for some seconds and then too much at once; the flow figures jump",
    "leaking": "leaves moisture or grounds where none should be; the tray fills faster than cups are drawn",
    "not recognised": "is reported as missing although it is there; the message goes when the door is opened",
}


def handbook() -> str:
    """The body of the skill: a service handbook with a chapter for each assembly and a topic for each part."""
    chapters = [
        "# Service handbook\n\nFind the assembly first, then the part, then the fault. Never work under power.\n"
    ]
    for assembly, parts in ASSEMBLIES.items():
        chapters.append(f"## {assembly}\n\nParts that fail in this assembly, the most frequent ones first.\n")
        for part in parts:
            chapters.append(f"### {part.capitalize()}\n")
            chapters += [_topic(assembly.lower(), part, fault, sign) for fault, sign in FAULTS.items()]
    return "\n".join(chapters)


def _topic(assembly: str, part: str, fault: str, sign: str) -> str:
    return (
        f"**The {part} is {fault}.** Sign: the {part} {sign}.\n\n"
        f"1. Switch the machine off and wait until the {assembly} shows less than 40 degrees.\n"
        f"2. Take the cover off, mark how the {part} sits, and photograph it before anything is loosened.\n"
        f"3. Clean the {part} and its seat, and look for hairline cracks under a lamp from the side.\n"
        f"4. If the fault stays, change the {part}, write its serial number into the report, and run two test cycles.\n"
    )


class Desk:
    """An agent loop of a service desk: what skillweave adds to it is in `call_tool`."""

    def __init__(self) -> None:
        skill: dict[str, Any] = {
            "id": "machine-service",
            "name": "Machine Service",
            "description": "Finds and mends faults of coffee machines, part by part",
            "text": {"instructions": handbook()},
            "triggers": {"keywords": ["coffee machine"]},
            "tools": {"forbidden": ["order_machine"]},
        }
        settings = Settings(budget=Budget(total=BUDGET), skill_tools=SkillTools.OFFERED)
        self.weaver = skillweave.open(skill, settings=settings)
        self.chat: list[dict[str, Any]] = []
        self.calls = count(1)

    def user_says(self, text: str) -> None:
        """A message of the user, and what it makes skillweave give."""
        print(f"user     {text}")
        self.chat.append({"role": "user", "content": text})
        injection = self.weaver.sync.weave(style.turn(self.chat, conversation=CONVERSATION))
        self.chat = style.place(self.chat, injection)
        for decision in injection.decisions:
            print(f"         {decision.outcome.value}: {decision.reason}")
        self.show_context()

    def model_calls(self, name: str, **arguments: str) -> None:
        """A tool call of the model, answered by skillweave."""
        print(f"model    {name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})")
        call_id = f"call-{next(self.calls)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        called = {"id": call_id, "type": "function", "function": function}
        self.chat.append({"role": "assistant", "content": None, "tool_calls": [called]})
        (call,) = style.calls(self.chat[-1])
        answer = self.call_tool(name, arguments, call_id)
        if answer.failed and answer.drop:
            print(f"         does not fit; the host takes out {sum(drop.tokens for drop in answer.drop):,} tokens")
            self.chat = style.take_out(self.chat, answer.drop)
            answer = self.call_tool(name, arguments, call_id)
        self.chat.append(style.answer(call, answer))
        print(f"         {answer.text.splitlines()[0][:100]}")
        self.show_context()

    def call_tool(self, name: str, arguments: dict[str, str], call_id: str) -> ToolAnswer:
        """One call; the transcript tells skillweave what is still there."""
        there = style.transcript(self.chat)
        return self.weaver.sync.tools.call(
            name, arguments, conversation=CONVERSATION, call_id=call_id, transcript=there
        )

    def show_context(self) -> None:
        """How many tokens of skill text the model has now, counted in what it would be sent."""
        texts = [str(message["content"]) for message in self.chat if message["role"] != "user"]
        skill_text = [text for text in texts if text.startswith("=== Skill")]
        tokens = sum(self.weaver.skills.counter.count(text) for text in skill_text)
        print(f"         context: {tokens:,} of {BUDGET:,} tokens of skill text in {len(skill_text)} blocks")
        if tokens > BUDGET:
            raise SystemExit("the budget is exceeded")


def main() -> None:
    """Three faults of one machine, looked up in one conversation."""
    desk = Desk()
    print(f"the skill's body has {desk.weaver.skills.counter.count(handbook()):,} tokens; the budget is {BUDGET:,}")
    desk.user_says("Our coffee machine loses water below the pump, and the milk foam is cold.")
    desk.model_calls("read_skill", skill_id="machine-service", section="2")
    desk.model_calls("read_skill", skill_id="machine-service", section="2.2")
    desk.model_calls("read_skill", skill_id="machine-service", section="6.5")
    desk.model_calls("read_skill", skill_id="machine-service", section="6.2")
    desk.model_calls("read_skill", skill_id="machine-service", section="2.2")
    desk.user_says("Thanks. And the door is reported open all the time.")
    desk.model_calls("read_skill", skill_id="machine-service", section="Door switch")


if __name__ == "__main__":
    main()
