"""The ready agent of the LangGraph adapter; what it keeps of a conversation is in a file."""

from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from skillweave import Placement, Weaver
from skillweave.adapters.langgraph import build_skill_agent
from skillweave_testing.hosts import Script
from skillweave_testing.hosts.play import BASE, Workshop
from tests.adapters.hosts.langchain_agent import THREAD, LangChainAgent


class LangGraphAgent(LangChainAgent):
    """The same steps over the graph that `build_skill_agent` gives."""

    def __init__(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> None:
        super().__init__(weaver, script, workshop, memory, Placement.HISTORY)
        self.weaver = weaver

    async def compact(self, summary: str) -> None:
        async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
            left = [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage(summary), AIMessage("I see.")]
            await self._agent(saver).aupdate_state(THREAD, {"messages": left}, as_node="output")

    def _agent(self, saver: BaseCheckpointSaver[str]) -> Any:
        return build_skill_agent(self.model, self.weaver, self.tools, system_prompt=BASE, checkpointer=saver)
