"""Clients of the three forms, as their users write them: they keep their own history, and know nothing of skills."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anthropic import Anthropic
from openai import OpenAI

import skillweave
from skillweave_testing.hosts import Script
from tests.recording.server import KEY, RecordingServer

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": True}
MODEL = "a-model"
BASE = "Be brief."


@dataclass(frozen=True)
class Asked:
    """A call that reached the client."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Talk:
    """One conversation of one client, whose requests are made by the provider's own SDK; wrapped, or at a gateway.

    `told` are the headers of each answer.
    """

    form: str

    def __init__(
        self,
        server: RecordingServer,
        weaver: Any,
        tools: Sequence[str] = ("search", "write"),
        *,
        stream: bool = False,
        system: str = BASE,
        gateway: str = "",
        **options: Any,
    ) -> None:
        self.server, self.stream, self.system = server, stream, system
        self.client: Any = self.made(gateway or server.anthropic)
        if not gateway:
            self.client = skillweave.wrap(self.client, weaver, **options)
        self.told: list[Mapping[str, str]] = []
        self.client._client.event_hooks["response"].append(lambda response: self.told.append(response.headers))
        self.tools = [self.declared(name) for name in tools]
        self.more: dict[str, Any] = {}
        self.history: list[Any] = []
        self.calls: list[Asked] = []
        self.headers: Mapping[str, str] = {}
        self.reply: Any = None

    def made(self, url: str) -> Any:
        return OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)

    def declared(self, name: str) -> dict[str, Any]:
        raise NotImplementedError

    def say(self, text: str) -> str:
        """A message of the user, and the model's words."""
        self.history.append({"role": "user", "content": text})
        return self.ask()

    def answer(self, **texts: str) -> str:
        """The results of the calls, by the name of the tool, and the model's words."""
        self.history += self.results([(call, texts.get(call.name, f"{call.name} did it")) for call in self.calls])
        return self.ask()

    def results(self, answered: Sequence[tuple[Asked, str]]) -> list[Any]:
        raise NotImplementedError

    def ask(self) -> str:
        raise NotImplementedError

    def body(self) -> dict[str, Any]:
        return {"model": MODEL, **({"tools": self.tools} if self.tools else {}), **self.more}

    @property
    def behind(self) -> Any:
        return skillweave.wrapped(self.client)

    @property
    def conversation(self) -> str:
        """What the ledger calls it."""
        return self.told[-1]["x-skillweave-conversation"]


class ChatTalk(Talk):
    form = "chat"

    def declared(self, name: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "description": "A tool.", "parameters": SCHEMA}}

    def results(self, answered: Sequence[tuple[Asked, str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in answered]

    def ask(self) -> str:
        body = {**self.body(), "messages": [{"role": "system", "content": self.system}, *self.history]}
        if self.stream:
            with self.client.chat.completions.stream(**body) as events:
                for _ in events:
                    pass
                self.reply = events.get_final_completion()
        else:
            raw = self.client.chat.completions.with_raw_response.create(**body)
            self.headers, self.reply = raw.headers, raw.parse()
        assert len({one.finish_reason for one in self.reply.choices}) == 1
        message = self.reply.choices[0].message
        said = message.model_dump(mode="json", exclude_none=True, exclude={"parsed"})
        for call in said.get("tool_calls", ()):
            call["function"].pop("parsed_arguments", None)
            call.pop("index", None)
        self.history.append(said)
        called = message.tool_calls or ()
        self.calls = [Asked(one.id, one.function.name, json.loads(one.function.arguments)) for one in called]
        return message.content or ""


class ResponsesTalk(Talk):
    form = "responses"

    def declared(self, name: str) -> dict[str, Any]:
        return {"type": "function", "name": name, "description": "A tool.", "parameters": SCHEMA, "strict": False}

    def results(self, answered: Sequence[tuple[Asked, str]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in answered]

    def ask(self) -> str:
        body = {**self.body(), "instructions": self.system, "input": self.history, "store": False}
        self.reply = self.sent(body)
        self.history += [
            item.model_dump(mode="json", exclude_none=True, exclude={"parsed_arguments", "parsed"})
            for item in self.reply.output
        ]
        for item in self.history:
            for part in item.get("content") if isinstance(item.get("content"), list) else ():
                part.pop("parsed", None)
        self.calls = [
            Asked(one.call_id, one.name, json.loads(one.arguments))
            for one in self.reply.output
            if one.type == "function_call"
        ]
        return str(self.reply.output_text)

    def sent(self, body: dict[str, Any]) -> Any:
        if self.stream:
            with self.client.responses.stream(**body) as events:
                numbers = [event.sequence_number for event in events]
                assert numbers == sorted(set(numbers))
                return events.get_final_response()
        raw = self.client.responses.with_raw_response.create(**body)
        self.headers = raw.headers
        return raw.parse()


class KeptTalk(ResponsesTalk):
    """The provider keeps the history: each request brings what is new, and the id of the response before."""

    form = "responses, kept"

    def ask(self) -> str:
        body = {**self.body(), "instructions": self.system, "input": self.history}
        if self.reply is not None:
            body["previous_response_id"] = self.reply.id
        self.reply = self.sent(body)
        self.history = []
        self.calls = [
            Asked(one.call_id, one.name, json.loads(one.arguments))
            for one in self.reply.output
            if one.type == "function_call"
        ]
        return str(self.reply.output_text)


class MessagesTalk(Talk):
    form = "messages"

    def made(self, url: str) -> Any:
        return Anthropic(base_url=url, api_key=KEY, max_retries=0)

    def declared(self, name: str) -> dict[str, Any]:
        return {"name": name, "description": "A tool.", "input_schema": SCHEMA}

    def results(self, answered: Sequence[tuple[Asked, str]]) -> list[Any]:
        parts = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in answered]
        return [{"role": "user", "content": parts}]

    def ask(self) -> str:
        body = {**self.body(), "max_tokens": 1000, "system": self.system, "messages": self.history}
        if self.stream:
            with self.client.messages.stream(**body) as events:
                for _ in events:
                    pass
                self.reply = events.get_final_message()
        else:
            raw = self.client.messages.with_raw_response.create(**body)
            self.headers, self.reply = raw.headers, raw.parse()
        content = [
            block.model_dump(mode="json", exclude_none=True, exclude={"parsed_output"}) for block in self.reply.content
        ]
        self.history.append({"role": "assistant", "content": content})
        self.calls = [Asked(one.id, one.name, one.input) for one in self.reply.content if one.type == "tool_use"]
        return "".join(block["text"] for block in content if block["type"] == "text")


TALKS: Sequence[type[Talk]] = (ChatTalk, ResponsesTalk, MessagesTalk)


def server_of(*says: Any, thinks: bool = False) -> RecordingServer:
    """A recording server whose model says this."""
    return RecordingServer(Script(*says), thinks=thinks)
