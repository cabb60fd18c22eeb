"""The Responses API: `/responses`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.chat import SEPARATOR, Call, HostMessage, read_call
from skillweave.adapters.messages import responses_style
from skillweave.adapters.messages.lists import with_parameters
from skillweave.exchange.chain import arguments_value, plain_texts, unmarked
from skillweave.exchange.forms import Answered, Form, added, in_own_words
from skillweave.exchange.streams import Block, Carried, Fate, Sieve, Stream
from skillweave.exchange.wire import Event, Unreadable, write_event

_SYSTEM = ("system", "developer")
_TEXTS = ("input_text", "output_text", "text")
_RUN_BY_CLIENT = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
}
"""Calls of the provider's own tools that the client runs, each with the name by which its tool is judged."""
_CALLS = ("function_call", "custom_tool_call", *_RUN_BY_CLIENT)
LAST = ("compaction_trigger",)
"""Items that must stay the last one."""
KEPT_BY = ("previous_response_id", "conversation")
"""By these keys a request goes on with a history that the provider keeps."""
_ENDINGS = ("response.completed", "response.incomplete", "response.failed")
_BEGINNINGS = ("response.created", "response.queued", "response.in_progress")


class Responses(Form):
    """Items: what is said, called, answered and thought stands each by itself."""

    name, key, style, own_item = "responses", "input", responses_style.STYLE, True

    def items(self, body: Mapping[str, Any]) -> list[Any]:
        given = body.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}]
        return [] if given is None else super().items(body)

    def normal(self, item: Mapping[str, Any]) -> object | None:
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message":
            said = plain_texts(item.get("content"), _TEXTS, tags=role == "user")
            return None if role in _SYSTEM or not said else [role, said]
        if kind == "reasoning":
            return None
        if kind in _CALLS:
            return ["call", item.get("call_id"), item.get("name") or kind, arguments_value(_given(item))]
        if str(kind).endswith("_output"):
            return ["result", item.get("call_id"), plain_texts(item.get("output"), _TEXTS, tags=False)]
        left: object = unmarked({key: one for key, one in item.items() if key not in ("id", "status")})
        return left

    def read(self, items: Sequence[Any], body: Mapping[str, Any]) -> list[HostMessage]:
        if any(body.get(one) for one in KEPT_BY):
            return [in_own_words(piece) for piece in responses_style.host_messages(items)]
        return super().read(items, body)

    def place(self, items: Sequence[Any]) -> int | None:
        return next((n for n in reversed(range(len(items))) if items[n].get("type") not in LAST), None)

    def put(self, item: Mapping[str, Any], text: str) -> list[Any]:
        return [item, {"role": "system", "content": text}]

    def with_catalog(self, body: Mapping[str, Any], catalog: str) -> dict[str, Any]:
        given = body.get("instructions")
        if given is not None and not isinstance(given, str):
            raise Unreadable("`instructions` of this request are no text")
        return {**body, "instructions": f"{given}{SEPARATOR}{catalog}" if given else catalog}

    def forces(self, choice: object) -> str | bool:
        if isinstance(choice, Mapping):
            return str(choice["name"]) if choice.get("name") else choice.get("mode") != "auto"
        return choice == "required"

    def found(self, reply: Mapping[str, Any], tools: Sequence[Any]) -> tuple[Call, ...]:
        calls = (call for item in reply["output"] for call in _calls_in(item))
        return with_parameters(calls, tools)

    def results(self, answered: Sequence[Answered]) -> list[Any]:
        found = super().results(answered)
        kinds = {name: kind for kind, name in _RUN_BY_CLIENT.items()}
        kept = (kinds.get(one.call.name) if isinstance(one.call, HostedCall) else None for one in answered)
        return [{**item, "type": f"{kind}_output"} if kind else item for item, kind in zip(found, kept, strict=True)]

    def unthought(self, item: Mapping[str, Any]) -> list[Any]:
        return [] if item.get("type") == "reasoning" else [item]

    def text(self, reply: Mapping[str, Any]) -> str:
        said = [one for one in reply["output"] if one.get("type") == "message"]
        return "\n".join(
            text
            for one in said
            for text in plain_texts(one.get("content"), _TEXTS, tags=False)
            if isinstance(text, str)
        )

    def history(self, reply: Mapping[str, Any]) -> list[Any]:
        return [{key: one for key, one in item.items() if key != "status" or one} for item in reply["output"]]

    def merged(
        self, replies: Sequence[Mapping[str, Any]], visible: Sequence[Call], *, words: str = ""
    ) -> dict[str, Any]:
        ids = {call.id for call in visible}
        output = [
            one
            for reply in replies
            for one in reply["output"]
            if one.get("type") not in _CALLS or one.get("call_id") in ids
        ]
        if words and all(one.get("type") == "reasoning" for one in output):
            part = {"type": "output_text", "text": words, "annotations": []}
            output.append(
                {
                    "id": f"msg_{replies[0].get('id')}",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )
        same = {
            key: replies[0].get(key)
            for key in ("id", "created_at", *KEPT_BY[:1], "instructions", "tools", "tool_choice")
            if key in replies[0]
        }
        usage = {"usage": added(*(one.get("usage") for one in replies))} if replies[-1].get("usage") else {}
        return {**replies[-1], **same, "output": output, **usage}

    def stream(self, sieve: Sieve, carried: Carried) -> Stream:
        return ResponsesStream(sieve, carried)


class HostedCall(Call):
    """A call of one of the provider's own tools that the client runs."""


def _given(item: Mapping[str, Any]) -> object:
    return item.get("arguments", item.get("input", item.get("action", item.get("operation"))))


def _calls_in(item: Mapping[str, Any]) -> Iterator[Call]:
    """The call that an item of the output makes, if it is one."""
    named = _RUN_BY_CLIENT.get(str(item.get("type")))
    if named is None:
        yield from responses_style.STYLE.found({"output": [item]})
        return
    given = _given(item)
    call = read_call(item.get("call_id"), named, dict(given) if isinstance(given, Mapping) else {"input": given})
    yield HostedCall(call.id, call.name, call.arguments, call.problem)


@dataclass(slots=True)
class ResponsesStream(Stream):
    """Numbered events: the response begins, each item is added, filled and done, the response ends with the whole."""

    _reply: dict[str, Any] = field(default_factory=dict)
    _ending: str = ""
    _begun: dict[str, Any] = field(default_factory=dict)
    _sequence: int | None = None
    _seen: dict[str, Block] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        data = event.data or {}
        kind = str(data.get("type") or "")
        if kind in _BEGINNINGS:
            self._begun = self._begun or dict(data.get("response") or {})
            if not self.carried.id:
                self.put(event)
        elif kind in _ENDINGS:
            self.endings.append(event)
            self._reply, self._ending = dict(data.get("response") or {}), kind
            self.failed = kind == "response.failed"
            self.over()
        elif "output_index" in data:
            block: Block = ("item", int(data["output_index"] or 0))
            self._take_item(block, kind, data)
            self.put(event, block)
        else:
            self.failed = self.failed or kind == "error"
            self.put(event)

    def _take_item(self, block: Block, kind: str, data: Mapping[str, Any]) -> None:
        item = data.get("item") or {}
        if kind == "response.output_item.added":
            if item.get("type") in _CALLS:
                self.named(block, str(item.get("name") or _RUN_BY_CLIENT.get(item["type"], "")))
            elif item.get("type") == "message":
                self.said(block, "")
            else:
                self.fates.setdefault(block, Fate.GO)
        elif kind == "response.output_text.delta":
            self.said(block, str(data.get("delta") or ""))
        elif kind == "response.output_item.done" and item.get("type") in _CALLS:
            self._seen[str(item.get("call_id") or "")] = block
            self.whole(block, next(_calls_in(item)))
        elif kind == "response.output_item.done" and item.get("type") == "message":
            self.fates[block] = self.fates.get(block, Fate.GO)

    @property
    def reply(self) -> dict[str, Any] | None:
        return self._reply if self.ended else None

    @property
    def after(self) -> Carried:
        named = self.carried.id or str(self._begun.get("id") or "")
        return Carried(named, self.carried.blocks + len(self._numbers), sequence=self._next())

    def blocks(self) -> dict[str, Block]:
        return dict(self._seen)

    def _next(self) -> int:
        return self.carried.sequence if self._sequence is None else self._sequence

    def written(self, event: Event, number: int | None) -> bytes:
        data = event.data
        if data is None:
            return event.raw
        changed: dict[str, Any] = {}
        if number is not None and data.get("output_index") != number:
            changed["output_index"] = number
        if "sequence_number" in data:
            if data["sequence_number"] != self._next():
                changed["sequence_number"] = self._next()
            self._sequence = self._next() + 1
        if self.carried.id and "response_id" in data:
            changed["response_id"] = self.carried.id
        return write_event({**data, **changed}, event.name) if changed or not event.raw else event.raw

    def last(self, merged: Mapping[str, Any]) -> bytes:
        number, written = self.carried.blocks + len(self._numbers), b""
        for index, item in enumerate(merged["output"][number:], number):
            for kind in ("response.output_item.added", "response.output_item.done"):
                written += self._event(kind, {"output_index": index, "item": item})
        return written + self._event(self._ending, {"response": dict(merged)})

    def _event(self, kind: str, data: Mapping[str, Any]) -> bytes:
        number = self._next()
        self._sequence = number + 1
        return write_event({"type": kind, "sequence_number": number, **data}, kind)
