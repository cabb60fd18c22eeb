"""An agent of the OpenAI Agents SDK as people build one: a session in a file, and paused runs in another."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from agents import Agent, FunctionTool, ItemHelpers, RunConfig, Runner, RunState, SQLiteSession, function_tool
from agents.result import RunResultBase

from examples.scripted.openai_agents import ScriptedModel
from skillweave import Placement, Weaver
from skillweave.adapters.openai_agents import Skills
from skillweave_testing.hosts import Script, Tool, as_json
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop

UNTRACED = RunConfig(tracing_disabled=True)


class OpenAiAgent:
    """One conversation; every run opens the session's file anew, as a web server does."""

    def __init__(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path, placement: Placement) -> None:
        self.skills = Skills(weaver, placement=placement)
        self.agent = self.skills.agent(
            Agent(
                name="Office",
                instructions=BASE,
                model=ScriptedModel(script),
                tools=[declared(tool) for tool in workshop.tools],
            )
        )
        self.chat = memory / "chat.db"
        self.paused = memory / "paused.json"
        self.before: list[Any] = []
        self.said = ""
        self.waiting: Sequence[str] = ()

    async def say(self, text: str) -> str:
        with closing(self._session()) as session:
            self.before, self.said = await session.get_items(), text
            return await self._told(await self._run(text, session), session)

    async def stream(self, text: str) -> str:
        with closing(self._session()) as session:
            self.before, self.said = await session.get_items(), text
            config = self.skills.run_config(session, UNTRACED)
            result = Runner.run_streamed(self.agent, text, session=session, run_config=config)
            pieces = [
                event.data.delta
                async for event in result.stream_events()
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
            ]
            await self._told(result, session)
            return "".join(pieces)

    def say_sync(self, text: str) -> str:
        # The SDK runs on the thread's own loop and leaves it open.
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            with closing(self._session()) as session:
                config = self.skills.run_config(session, UNTRACED)
                result = Runner.run_sync(self.agent, text, session=session, run_config=config)
            return str(result.final_output)
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    async def again(self) -> str:
        await self._replace(self.before)
        return await self.say(self.said)

    async def compact(self, summary: str) -> None:
        await self._replace([{"role": "user", "content": summary}, {"role": "assistant", "content": "I see."}])

    async def kept(self) -> Sequence[str]:
        with closing(self._session()) as session:
            return [as_json(item) for item in await session.get_items()]

    async def resume(self, reply: Mapping[str, object]) -> str:
        kept = json.loads(self.paused.read_text("utf-8"))
        state: RunState[Any] = await RunState.from_json(self.agent, kept["state"])
        with closing(self._session()) as session:
            await self.skills.decide(state, session, kept["asked"], reply)
            return await self._told(await self._run(state, session), session)

    def _session(self) -> SQLiteSession:
        return SQLiteSession(CONVERSATION, self.chat)

    async def _run(self, said: "str | RunState[Any]", session: SQLiteSession) -> RunResultBase:
        config = self.skills.run_config(session, UNTRACED)
        return await Runner.run(self.agent, said, session=session, run_config=config)

    async def _told(self, result: Any, session: SQLiteSession) -> str:
        if not result.interruptions:
            self.waiting = ()
            return str(result.final_output)
        state = result.to_state()
        asked: list[Any] = await self.skills.waiting(state, session)
        self.paused.write_text(json.dumps({"state": state.to_json(), "asked": asked}), "utf-8")
        self.waiting = [one["name"] for question in asked for one in question["checkpoints"]]
        return ItemHelpers.text_message_outputs(result.new_items)

    async def _replace(self, items: list[Any]) -> None:
        with closing(self._session()) as session:
            await session.clear_session()
            await session.add_items(items)


def declared(tool: Tool) -> FunctionTool:
    """A tool of the workshop as the SDK declares one."""

    async def run(text: str) -> str:
        return tool.run(text)

    made: Callable[..., Awaitable[str]] = run
    return function_tool(made, name_override=tool.name, description_override=tool.description)
