"""An agent of Pydantic AI with the adapter; what it keeps of a conversation is a JSON file."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart
from pydantic_ai.run import AgentRunResult

from examples.scripted.pydantic_ai import scripted_model
from skillweave import Placement, Weaver
from skillweave.adapters.pydantic_ai import Skills, approvals
from skillweave_testing.hosts import Script, as_json
from skillweave_testing.hosts import Tool as HostTool
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop


class PydanticAgent:
    """One agent object; each message reads the conversation from its file and writes it back."""

    def __init__(
        self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path, placement: Placement, *others: Any
    ) -> None:
        self.weaver = weaver
        self.agent: Agent[None, str | DeferredToolRequests] = Agent(
            scripted_model(script),
            instructions=BASE,
            tools=[as_pydantic(tool) for tool in workshop.tools],
            output_type=[str, DeferredToolRequests],
            capabilities=[*others, Skills(weaver, placement=placement)],
        )
        self.file = memory / "conversation.json"
        self.before = self._read()
        self.said = ""
        self.results = DeferredToolResults()

    async def say(self, text: str) -> str:
        self.before, self.said = self._read(), text
        return self._kept(await self.agent.run(text, conversation=self.before))

    async def stream(self, text: str) -> str:
        async with self.agent.run_stream(text, conversation=self._read()) as result:
            said = "".join([piece async for piece in result.stream_text(delta=True, debounce_by=None)])
        self._write(Conversation(messages=result.all_messages(), conversation_id=CONVERSATION))
        return said

    def say_sync(self, text: str) -> str:
        with asyncio.Runner() as runner:
            runner.get_loop()  # the framework takes the current loop and leaves it open; here it is closed
            return self._kept(self.agent.run_sync(text, conversation=self._read()))

    async def again(self) -> str:
        return self._kept(await self.agent.run(self.said, conversation=self.before))

    async def compact(self, summary: str) -> None:
        left = [ModelRequest.user_text_prompt(summary), ModelResponse(parts=[TextPart("I see.")])]
        self._write(Conversation(messages=left, conversation_id=CONVERSATION))

    async def kept(self) -> Sequence[str]:
        return [as_json(one) for one in ModelMessagesTypeAdapter.dump_python(self._read().messages, mode="json")]

    @property
    def waiting(self) -> Sequence[str]:
        requests = self._read().deferred_tool_requests
        asked = requests.metadata.items() if requests else ()
        left = [question for call, question in asked if call not in self.results.approvals]
        return [point["name"] for question in left for point in question["checkpoints"]]

    async def resume(self, reply: Mapping[str, object]) -> str:
        conversation = self._read()
        assert conversation.deferred_tool_requests is not None
        self.results.update(await approvals(self.weaver, conversation.deferred_tool_requests, reply))
        if self.waiting:
            return ""
        results, self.results = self.results, DeferredToolResults()
        return self._kept(await self.agent.run(conversation=conversation, deferred_tool_results=results))

    def _kept(self, result: AgentRunResult[str | DeferredToolRequests]) -> str:
        self._write(result.conversation)
        return result.output if isinstance(result.output, str) else ""

    def _read(self) -> Conversation:
        if not self.file.exists():
            return Conversation(conversation_id=CONVERSATION)
        return ConversationTypeAdapter.validate_json(self.file.read_bytes())

    def _write(self, conversation: Conversation) -> None:
        self.file.write_bytes(ConversationTypeAdapter.dump_json(conversation))


def as_pydantic(tool: HostTool) -> Tool[None]:
    """A tool of the contract as Pydantic AI's."""

    def run(text: str) -> str:
        return tool.run(text)

    return Tool(run, name=tool.name, description=tool.description)
