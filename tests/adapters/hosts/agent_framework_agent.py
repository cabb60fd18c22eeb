"""An agent of Microsoft's Agent Framework whose session is kept in a file, as a web service keeps it."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_framework import Agent, AgentResponse, AgentSession, Content, FunctionTool, InMemoryHistoryProvider, Message

from examples.scripted.agent_framework import ScriptedChatClient
from skillweave import Placement, Weaver
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to
from skillweave_testing.hosts import Script, Tool, as_json
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop

HISTORY = "in_memory"


class FrameworkAgent:
    """One agent over one session; after each run the session and the open requests are written down as JSON."""

    def __init__(
        self,
        weaver: Weaver,
        script: Script,
        workshop: Workshop,
        memory: Path,
        placement: Placement = Placement.CALL,
    ) -> None:
        self.agent = Agent(
            ScriptedChatClient(script),
            BASE,
            tools=[function(tool) for tool in workshop.tools],
            context_providers=[InMemoryHistoryProvider(HISTORY), SkillContextProvider(weaver, placement=placement)],
        )
        self.file = memory / "session.json"
        kept = json.loads(self.file.read_text("utf-8")) if self.file.exists() else {"requests": []}
        self.session = AgentSession.from_dict(kept["session"]) if "session" in kept else self._new()
        self.requests = [Content.from_dict(request) for request in kept["requests"]]
        self.before = self.session.to_dict()
        self.said = ""

    async def say(self, text: str) -> str:
        self.before, self.said = json.loads(json.dumps(self.session.to_dict())), text
        return await self._run(text)

    async def stream(self, text: str) -> str:
        self.before, self.said = json.loads(json.dumps(self.session.to_dict())), text
        stream = self.agent.run(text, session=self.session, stream=True)
        pieces = "".join([update.text async for update in stream])
        self._keep(await stream.get_final_response())
        return pieces

    def say_sync(self, text: str) -> str:
        raise NotImplementedError("the framework has no blocking way")

    async def again(self) -> str:
        self.session = AgentSession.from_dict(self.before)
        return await self._run(self.said)

    async def compact(self, summary: str) -> None:
        self.session.state[HISTORY]["messages"] = [Message("user", [summary]), Message("assistant", ["I see."])]

    async def kept(self) -> Sequence[str]:
        return [as_json(message.to_dict()) for message in self.session.state.get(HISTORY, {}).get("messages", [])]

    @property
    def waiting(self) -> Sequence[str]:
        checkpoints: list[Any] = []
        for request in self.requests:
            checkpoints += request.additional_properties["checkpoints"]
        return [checkpoint["name"] for checkpoint in checkpoints]

    async def resume(self, reply: Mapping[str, object]) -> str:
        about = reply.get("call")
        called = [(request, request.function_call) for request in self.requests]
        asked = [request for request, call in called if about is None or (call and call.call_id == about)]
        return await self._run(Message("user", [reply_to(request, reply) for request in asked]))

    async def _run(self, said: str | Message) -> str:
        response = await self.agent.run(said, session=self.session)
        self._keep(response)
        return response.text

    def _keep(self, response: AgentResponse[Any]) -> None:
        self.requests = response.user_input_requests
        requests = [request.to_dict() for request in self.requests]
        self.file.write_text(json.dumps({"session": self.session.to_dict(), "requests": requests}), "utf-8")

    def _new(self) -> AgentSession:
        return self.agent.create_session(session_id=CONVERSATION)


def function(tool: Tool) -> FunctionTool:
    """The tool as the framework's."""
    run: Callable[[str], str] = tool.run

    def call(text: str) -> str:
        return run(text)

    return FunctionTool(name=tool.name, description=tool.description, func=call)
