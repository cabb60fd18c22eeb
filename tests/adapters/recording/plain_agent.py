"""Loops written by hand over the providers' own SDKs and plain lists, which are kept in a file.

As a process of its own: `python -m tests.adapters.recording.plain_agent STYLE ADDRESS FOLDER MESSAGE`.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillweave import Ruling, Verdict, Weaver
from skillweave.adapters.approval import read_reply, record
from skillweave.adapters.messages import Call, anthropic_style, openai_style, responses_style
from skillweave.compose.policy import OWN_TOOLS
from skillweave.turns import CurrentPolicy
from skillweave_testing.hosts import Tool
from skillweave_testing.hosts.play import BASE, CONVERSATION
from tests.adapters.recording.agents import CLAUDE, MODEL, Clients, Made, WireAgent

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class ChatLists:
    """Lists of OpenAI's chat completions."""

    style: Any = openai_style

    def declared(self, tool: Tool) -> dict[str, Any]:
        function = {"name": tool.name, "description": tool.description, "parameters": SCHEMA}
        return {"type": "function", "function": function}

    async def ask(self, clients: Clients, system: Any, sent: list[Any], tools: list[Any]) -> tuple[list[Any], str]:
        messages: Any = [{"role": "system", "content": system}, *sent]
        reply = await clients.openai.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        said = reply.choices[0].message
        assert openai_style.calls(reply) == openai_style.calls(said)
        return [said.model_dump(mode="json", exclude_none=True)], said.content or ""

    def result(self, call: Call, text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    def answered(self, chat: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        return [*chat, *results]


class ResponsesLists(ChatLists):
    """Lists of OpenAI's Responses API; nothing is kept by the server."""

    style: Any = responses_style

    def declared(self, tool: Tool) -> dict[str, Any]:
        return {"type": "function", "name": tool.name, "description": tool.description, "parameters": SCHEMA}

    async def ask(self, clients: Clients, system: Any, sent: list[Any], tools: list[Any]) -> tuple[list[Any], str]:
        given: Any = {"instructions": system, "input": sent, "tools": tools}
        reply = await clients.openai.responses.create(model=MODEL, **given)
        responses_style.calls(reply)
        return [item.model_dump(mode="json", exclude_none=True) for item in reply.output], reply.output_text

    def result(self, call: Call, text: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call.id, "output": text}


class AnthropicLists(ChatLists):
    """Lists of Anthropic's messages."""

    style: Any = anthropic_style

    def declared(self, tool: Tool) -> dict[str, Any]:
        return {"name": tool.name, "description": tool.description, "input_schema": SCHEMA}

    async def ask(self, clients: Clients, system: Any, sent: list[Any], tools: list[Any]) -> tuple[list[Any], str]:
        given: Any = {"system": system, "messages": sent, "tools": tools}
        reply = await clients.anthropic.messages.create(model=CLAUDE, max_tokens=1000, **given)
        content = [block.model_dump(mode="json", exclude_none=True) for block in reply.content]
        said = "".join(block["text"] for block in content if block["type"] == "text")
        return [{"role": "assistant", "content": content}], said

    def result(self, call: Call, text: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call.id, "content": text}

    def answered(self, chat: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        return [*chat, {"role": "user", "content": list(results)}]


class PlainAgent(WireAgent):
    """The loop: weave, place, ask, judge; it stops where a call waits, and goes on with a reply or another message."""

    def __init__(
        self, lists: ChatLists, clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], file: Path
    ) -> None:
        self._lists, self._style, self._clients, self._weaver = lists, lists.style, clients, weaver
        self._runs = {tool.name: tool.run for tool in tools}
        self._tools = [*map(lists.declared, tools), *(self._style.skill_tools() if weaver else ())]
        self._file = file
        self._chat: list[Any] = json.loads(file.read_text("utf-8")) if file.exists() else []

    async def say(self, text: str) -> str:
        self._chat = self._style.go_on(self._chat, text)
        return await self._run()

    async def resume(self, reply: Mapping[str, object]) -> str:
        assert self._weaver is not None
        now, said = await self._weaver.current_policy(CONVERSATION), read_reply(reply)
        for call in self._style.unanswered(self._chat, self._tools):
            names = (await self._judged(call, now)).checkpoints
            asked = [one for one in now.checkpoints if one.name in names]
            await record(self._weaver, CONVERSATION, (asked, said, call))
        return await self._run()

    async def _judged(self, call: Call, now: CurrentPolicy) -> Verdict:
        assert self._weaver is not None
        return await self._weaver.authorize(now, call.name, call.arguments, call_id=call.id, parameters=call.parameters)

    async def _run(self) -> str:
        self.waiting, said = False, ""
        while not self.waiting:
            waiting = self._style.unanswered(self._chat, self._tools)
            if waiting:
                await self._answer(waiting)
                continue
            said = await self._ask()
            if not self._style.unanswered(self._chat):
                break
        self._file.write_text(json.dumps(self._chat), "utf-8")
        return said

    async def _ask(self) -> str:
        sent, system, tools = self._chat, BASE, self._tools
        if self._weaver is None:
            system = [{"type": "text", "text": BASE}] if self._style is anthropic_style else BASE
            heard, said = await self._lists.ask(self._clients, system, sent, tools)
        else:
            async with self._weaver.delivery(
                self._style.turn(self._chat, conversation=CONVERSATION, tools=self._tools)
            ) as injection:
                self._chat = self._style.place(self._chat, injection)
                sent, tools = self._style.with_tail(self._chat, injection), self._style.offer(tools, injection)
                heard, said = await self._lists.ask(self._clients, self._style.system(BASE, injection), sent, tools)
        self._chat = [*self._chat, *heard]
        return said

    async def _answer(self, calls: Sequence[Call]) -> None:
        if self._weaver is None:
            results = [self._ran(call) for call in calls]
        else:
            now = await self._weaver.current_policy(CONVERSATION)
            verdicts = [await self._judged(call, now) for call in calls]
            self.waiting = any(verdict.ruling is Ruling.ASK for verdict in verdicts)
            if self.waiting:
                return
            results = [
                await self._own(call)
                if call.name in OWN_TOOLS
                else self._ran(call)
                if verdict.ruling is Ruling.ALLOW
                else self._style.refuse(call, verdict)
                for call, verdict in zip(calls, verdicts, strict=True)
            ]
        self._chat = self._lists.answered(self._chat, results)

    def _ran(self, call: Call) -> dict[str, Any]:
        return self._lists.result(call, self._runs[call.name](str((call.arguments or {})["text"])))

    async def _own(self, call: Call) -> dict[str, Any]:
        assert self._weaver is not None
        transcript = self._style.transcript(self._chat)
        answer = await self._weaver.tools.call(
            call.name, call.arguments, conversation=CONVERSATION, call_id=call.id, transcript=transcript
        )
        told: dict[str, Any] = self._style.answer(call, answer)
        return told


def plain(lists: ChatLists) -> Made:
    """A loop by hand."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        return PlainAgent(lists, clients, weaver, tools, folder / "chat.json")

    return made


STYLES: Mapping[str, ChatLists] = {
    "chat completions": ChatLists(),
    "responses": ResponsesLists(),
    "anthropic": AnthropicLists(),
}
PLAIN: Mapping[str, Made] = {f"plain lists, {name}": plain(lists) for name, lists in STYLES.items()}


async def main(style: str, address: str, folder: str, message: str) -> None:
    """One message of the user in a process of its own."""
    from skillweave_testing.hosts.play import Workshop
    from tests.adapters.recording.play import weaver_in

    clients = Clients(address)
    try:
        made = PLAIN[f"plain lists, {style}"]
        print(await made(clients, weaver_in(Path(folder)), Workshop().tools, Path(folder)).say(message))
    finally:
        await clients.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
