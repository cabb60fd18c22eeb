"""An agent of LangChain's `create_agent` with the adapter; what it keeps of a conversation is in a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Placement, Weaver
from skillweave.adapters.langchain import SkillMiddleware
from skillweave_testing.hosts import Script, Tool, as_json
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop

THREAD: Any = {"configurable": {"thread_id": CONVERSATION}}


class LangChainAgent:
    """Each method opens the file and makes the agent anew, as a web service does for each request."""

    def __init__(
        self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path, placement: Placement, *others: Any
    ) -> None:
        self.model = ScriptedChatModel(script=script)
        self.tools = [as_langchain(tool) for tool in workshop.tools]
        self.middleware = [*others, SkillMiddleware(weaver, placement=placement)]
        self.file = str(memory / "threads.db")
        self.before: Any = None
        self.said: Any = None

    async def say(self, text: str) -> str:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            agent = self._agent(saver)
            self.before, self.said = (await agent.aget_state(THREAD)).config, _said(text)
            return _words(await agent.ainvoke(self.said, THREAD))

    async def stream(self, text: str) -> str:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            stream = self._agent(saver).astream(_said(text), THREAD, stream_mode="messages")
            return "".join([piece.text async for piece, _ in stream if isinstance(piece, AIMessageChunk)])

    def say_sync(self, text: str) -> str:
        with SqliteSaver.from_conn_string(self.file) as saver:
            return _words(self._agent(saver).invoke(_said(text), THREAD))

    async def again(self) -> str:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            if "checkpoint_id" not in self.before["configurable"]:
                await saver.adelete_thread(CONVERSATION)
            return _words(await self._agent(saver).ainvoke(self.said, self.before))

    async def compact(self, summary: str) -> None:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            left = [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage(summary), AIMessage("I see.")]
            await self._agent(saver).aupdate_state(THREAD, {"messages": left}, as_node="model")

    async def kept(self) -> Sequence[str]:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            state = await self._agent(saver).aget_state(THREAD)
            return [as_json(message.model_dump()) for message in state.values["messages"]]

    @property
    def waiting(self) -> Sequence[str]:
        return [point["name"] for asked in self._interrupts() for point in asked.value["checkpoints"]]

    async def resume(self, reply: Mapping[str, object]) -> str:
        about = reply.get("call")
        answers = {asked.id: reply for asked in self._interrupts() if about in (None, asked.value["call"]["id"])}
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            return _words(await self._agent(saver).ainvoke(Command(resume=answers), THREAD))

    def _interrupts(self) -> Sequence[Any]:
        with SqliteSaver.from_conn_string(self.file) as saver:
            return self._agent(saver).get_state(THREAD).interrupts

    def _agent(self, saver: BaseCheckpointSaver[str]) -> Any:
        return create_agent(self.model, self.tools, system_prompt=BASE, middleware=self.middleware, checkpointer=saver)


def as_langchain(tool: Tool) -> BaseTool:
    """A tool of the contract as LangChain's."""

    def run(text: str) -> str:
        return tool.run(text)

    return StructuredTool.from_function(run, name=tool.name, description=tool.description)


def _said(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def _words(state: Mapping[str, Any]) -> str:
    return next((str(one.text) for one in reversed(state["messages"]) if isinstance(one, AIMessage)), "")
