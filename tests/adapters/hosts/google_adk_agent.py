"""An agent of Google's ADK as people build one: a Runner with the plugin; what it keeps of a session is a JSON file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.function_tool import FunctionTool
from google.genai import types

from examples.scripted.google_adk import ScriptedLlm
from skillweave import Placement, Weaver
from skillweave.adapters.google_adk import SkillPlugin, history
from skillweave_testing.hosts import Script, as_json
from skillweave_testing.hosts import Tool as HostTool
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop

APP, USER = "office", "Ann"
CONFIRMATION = "adk_request_confirmation"


class GoogleAdkAgent:
    """One conversation; each message reads the session from its file and writes it back."""

    def __init__(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path, placement: Placement) -> None:
        self.agent = LlmAgent(
            name="Office",
            model=ScriptedLlm(script=script),
            instruction=BASE,
            tools=[as_adk(tool) for tool in workshop.tools],
        )
        self.plugin = SkillPlugin(weaver, conversation=lambda context: CONVERSATION, placement=placement)
        self.file = memory / "session.json"
        self.before: list[Event] = []
        self.said = ""

    async def say(self, text: str) -> str:
        self.before, self.said = self.events(), text
        return await self.run(said(text))

    async def stream(self, text: str) -> str:
        return await self.run(said(text), RunConfig(streaming_mode=StreamingMode.SSE))

    def say_sync(self, text: str) -> str:
        raise NotImplementedError("the framework's blocking way is for local tests only, and runs a loop of its own")

    async def again(self) -> str:
        self.write(self.before)
        return await self.say(self.said)

    async def compact(self, summary: str) -> None:
        self.write([_event(USER_ROLE, summary), _event(self.agent.name, "I see.")])

    async def kept(self) -> Sequence[str]:
        return [as_json(event.model_dump(mode="json", exclude_none=True)) for event in history(self.events())]

    @property
    def waiting(self) -> Sequence[str]:
        return [point["name"] for _, asked in self.asked() for point in asked["payload"]["checkpoints"]]

    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        """The open questions, by the id that an answer has to name."""
        open_ones: dict[str, dict[str, Any]] = {}
        for event in self.events():
            for call in event.get_function_calls():
                if call.name == CONFIRMATION:
                    open_ones[call.id or ""] = (call.args or {})["toolConfirmation"]
            for answer in event.get_function_responses():
                open_ones.pop(answer.id or "", None)
        return list(open_ones.items())

    async def resume(self, reply: Mapping[str, object]) -> str:
        said = {"confirmed": reply["verdict"] != "rejected", "payload": dict(reply)}
        about = [
            question
            for question, asked in self.asked()
            if reply.get("call", "") in ("", asked["payload"]["call"]["id"])
        ]
        return await self.run(types.Content(role="user", parts=[answer(question, said) for question in about]))

    async def run(self, message: types.Content, config: RunConfig | None = None) -> str:
        """One run of the agent, and its last words."""
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name=APP, user_id=USER, session_id=CONVERSATION)
        for event in self.events():
            await sessions.append_event(session, event)
        app = App(name=APP, root_agent=self.agent, plugins=[self.plugin])
        runner = Runner(app=app, session_service=sessions)
        run = runner.run_async(user_id=USER, session_id=CONVERSATION, new_message=message, run_config=config)
        try:
            words = [words_in(event) async for event in run if event.is_final_response() and not event.partial]
        finally:
            left = await sessions.get_session(app_name=APP, user_id=USER, session_id=CONVERSATION)
            assert left is not None
            self.write(left.events)
        return words[-1] if words else ""

    def events(self) -> list[Event]:
        """The events of the session, as they were kept."""
        if not self.file.exists():
            return []
        return [Event.model_validate(event) for event in json.loads(self.file.read_text("utf-8"))]

    def write(self, events: Sequence[Event]) -> None:
        """Keep these events as the session."""
        dumped = [event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in events]
        self.file.write_text(json.dumps(dumped), "utf-8")


USER_ROLE = "user"


def words_in(event: Event) -> str:
    """What is said in an event."""
    return "".join(part.text or "" for part in (event.content and event.content.parts) or ())


def said(text: str) -> types.Content:
    """A message of the user."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def answer(question: str, response: dict[str, Any]) -> types.Part:
    """The answer to a question of the framework about one call."""
    return types.Part(function_response=types.FunctionResponse(id=question, name=CONFIRMATION, response=response))


def _event(author: str, text: str) -> Event:
    role = "user" if author == USER_ROLE else "model"
    return Event(author=author, content=types.Content(role=role, parts=[types.Part(text=text)]))


def as_adk(tool: HostTool) -> FunctionTool:
    """A tool of the contract as the framework's."""

    def run(text: str) -> str:
        return tool.run(text)

    run.__name__, run.__doc__ = tool.name, tool.description
    return FunctionTool(run)
