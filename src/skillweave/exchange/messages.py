"""Anthropic's messages: `/v1/messages`, and `/v1/messages/count_tokens`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.chat import Call, read_call
from skillweave.adapters.messages import anthropic_style
from skillweave.adapters.messages.lists import listed, with_parameters
from skillweave.exchange.chain import plain_texts
from skillweave.exchange.forms import Answered, Form, added, part_put
from skillweave.exchange.streams import Block, Carried, Fate, Sieve, Stream
from skillweave.exchange.wire import Event, write_event, write_json

_TEXTS = ("text",)
_THINKING = ("thinking", "redacted_thinking")
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Messages(Form):
    """Messages with parts; calls and their results are parts, and results stand first in a message of the user."""

    name, key, style = "messages", "messages", anthropic_style.STYLE

    def normal(self, item: Mapping[str, Any]) -> object | None:
        role = item.get("role")
        if role == "system":
            return None
        parts = [_part(part, role) for part in _blocks(item.get("content"))]
        said = [one for part in parts if part is not None for one in part]
        return [role, said] if said or role == "assistant" else None

    def place(self, items: Sequence[Any]) -> int | None:
        return next((n for n in reversed(range(len(items))) if items[n].get("role") == "user"), None)

    def put(self, item: Mapping[str, Any], text: str) -> list[Any]:
        blocks = _blocks(item.get("content"))
        last = max((n for n, one in enumerate(blocks) if one.get("type") == "tool_result"), default=None)
        if last is None:
            return [{**item, "content": part_put(item.get("content"), text)}]
        # A text behind the results would look like the user's turn: models end theirs then.
        result = {**blocks[last], "content": part_put(blocks[last].get("content"), text)}
        return [{**item, "content": [*blocks[:last], result, *blocks[last + 1 :]]}]

    def with_catalog(self, body: Mapping[str, Any], catalog: str) -> dict[str, Any]:
        return {**body, "system": part_put(body.get("system"), catalog)}

    def forces(self, choice: object) -> str | bool:
        if not isinstance(choice, Mapping):
            return False
        return str(choice.get("name")) if choice.get("type") == "tool" else choice.get("type") == "any"

    def choice(self, *, none: bool) -> object:
        return {"type": "none" if none else "auto"}

    def found(self, reply: Mapping[str, Any], tools: Sequence[Any]) -> tuple[Call, ...]:
        used = (one for one in listed(reply.get("content")) if one.get("type") == "tool_use")
        calls = (read_call(one.get("id"), one.get("name"), _plain(one.get("input"))) for one in used)
        return with_parameters(calls, tools)

    def text(self, reply: Mapping[str, Any]) -> str:
        return "\n".join(one["text"] for one in _blocks(reply.get("content")) if one.get("type") == "text")

    def history(self, reply: Mapping[str, Any]) -> list[Any]:
        blocks = [{key: one for key, one in block.items() if key != "citations" or one} for block in reply["content"]]
        return [{"role": "assistant", "content": blocks}]

    def results(self, answered: Sequence[Answered]) -> list[Any]:
        return [{"role": "user", "content": super().results(answered)}] if answered else []

    def unthought(self, item: Mapping[str, Any]) -> list[Any]:
        return [{**item, "content": [one for one in _blocks(item.get("content")) if one.get("type") not in _THINKING]}]

    def joined(self, items: Sequence[Any], held: Sequence[Any]) -> list[Any]:
        if not held or not items or items[0].get("role") != "user":
            return [*held, *items]
        first, *others = items
        return [{**first, "content": [*held[0]["content"], *_blocks(first.get("content"))]}, *others]

    def merged(
        self, replies: Sequence[Mapping[str, Any]], visible: Sequence[Call], *, words: str = ""
    ) -> dict[str, Any]:
        first, last, ids = replies[0], replies[-1], {call.id for call in visible}
        content = [one for reply in replies for one in reply["content"] if _seen(one, ids)]
        if not any(one.get("type") not in _THINKING for one in content) and words:
            content.append({"type": "text", "text": words, "citations": None})
        stop = last.get("stop_reason")
        stop = "end_turn" if stop == "tool_use" and not visible else stop
        usage = added(*(one.get("usage") for one in replies))
        return {**last, "id": first.get("id"), "content": content, "stop_reason": stop, "usage": usage}

    def stream(self, sieve: Sieve, carried: Carried) -> Stream:
        return MessagesStream(sieve, carried)

    def keep_alive(self) -> bytes:
        return write_event({"type": "ping"}, "ping")


def _blocks(content: object) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [one for one in listed(content) if isinstance(one, dict)]


def _plain(value: object) -> object:
    return write_json(value).decode() if isinstance(value, Mapping) else value


def _part(part: Mapping[str, Any], role: object) -> list[Any] | None:
    kind = part.get("type")
    if kind in _THINKING:
        return None
    if kind == "tool_use":
        return [["call", part.get("id"), part.get("name"), part.get("input")]]
    if kind == "tool_result":
        said = plain_texts(part.get("content"), _TEXTS, tags=False)
        return [["result", part.get("tool_use_id"), said, bool(part.get("is_error"))]]
    if kind == "text" and role == "assistant":
        return [part["text"]] if part.get("text") else None
    return plain_texts([part], _TEXTS, tags=role == "user")


def _seen(block: Mapping[str, Any], ids: set[str]) -> bool:
    return block.get("type") != "tool_use" or block.get("id") in ids


@dataclass(slots=True)
class MessagesStream(Stream):
    """A message's start, blocks with deltas, a delta of the message, its stop."""

    _message: dict[str, Any] = field(default_factory=dict)
    _blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    _inputs: dict[int, str] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        data = event.data or {}
        kind = data.get("type")
        if kind == "message_start":
            self._message = dict(data["message"])
            if not self.carried.id:
                self.put(event)
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            self._take_block(event, data, int(data.get("index") or 0))
        elif kind == "message_delta":
            self.endings.append(event)
            self._message = {**self._message, **data.get("delta", {})}
            self._message["usage"] = {**(self._message.get("usage") or {}), **_known(data.get("usage"))}
        elif kind == "message_stop":
            self.endings.append(event)
            self.over()
        else:
            self.failed = self.failed or kind == "error"
            self.put(event)

    def _take_block(self, event: Event, data: Mapping[str, Any], index: int) -> None:
        block: Block = ("block", index)
        if data["type"] == "content_block_start":
            begun = self._blocks[index] = dict(data["content_block"])
            if begun.get("type") == "tool_use":
                self.named(block, str(begun.get("name") or ""))
            elif begun.get("type") == "text":
                self.said(block, str(begun.get("text") or ""))
            self.fates.setdefault(block, Fate.WAIT if begun.get("type") == "tool_use" else Fate.GO)
        elif data["type"] == "content_block_delta":
            self._take_delta(block, index, data.get("delta") or {})
        elif index in self._inputs or self._blocks[index].get("type") == "tool_use":
            self._close(block, index)
        self.put(event, block)

    def _take_delta(self, block: Block, index: int, delta: Mapping[str, Any]) -> None:
        begun, kind = self._blocks[index], delta.get("type")
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + str(delta.get("partial_json") or "")
        elif kind == "citations_delta":
            begun["citations"] = [*(begun.get("citations") or ()), delta.get("citation")]
        elif kind in _DELTAS:
            key = _DELTAS[kind]
            begun[key] = str(begun.get(key) or "") + str(delta.get(key) or "")
            if key == "text":
                self.said(block, str(delta.get("text") or ""))

    def _close(self, block: Block, index: int) -> None:
        begun, written = self._blocks[index], self._inputs.get(index, "")
        call = read_call(begun.get("id"), begun.get("name"), written or _plain(begun.get("input")))
        if written:
            begun["input"] = call.arguments if call.arguments is not None else {}
        if begun.get("type") == "tool_use":
            self.whole(block, call)

    @property
    def reply(self) -> dict[str, Any] | None:
        return {**self._message, "content": list(self._blocks.values())} if self.ended else None

    @property
    def after(self) -> Carried:
        named = self.carried.id or str(self._message.get("id") or "")
        return Carried(named, self.carried.blocks + len(self._numbers))

    def blocks(self) -> dict[str, Block]:
        used = ((n, one) for n, one in self._blocks.items() if one.get("type") == "tool_use")
        return {str(one.get("id") or ""): ("block", n) for n, one in used}

    def written(self, event: Event, number: int | None) -> bytes:
        data = event.data
        if data is None or number is None or (event.raw and data.get("index") == number):
            return event.raw
        return write_event({**data, "index": number}, str(data["type"]))

    def last(self, merged: Mapping[str, Any]) -> bytes:
        seen = [one for one in merged["content"] if one.get("type") not in _THINKING]
        number, words = self.carried.blocks + len(self._numbers), b""
        if len(merged["content"]) > number and seen:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": seen[-1]["text"]}
            words = b"".join(
                write_event({"type": kind, "index": number, **more}, kind)
                for kind, more in (
                    ("content_block_start", {"content_block": block}),
                    ("content_block_delta", {"delta": delta}),
                    ("content_block_stop", {}),
                )
            )
        delta = {"stop_reason": merged.get("stop_reason"), "stop_sequence": merged.get("stop_sequence")}
        end = {"type": "message_delta", "delta": delta, "usage": merged.get("usage")}
        return words + write_event(end, "message_delta") + write_event({"type": "message_stop"}, "message_stop")


def _known(usage: object) -> dict[str, Any]:
    return {key: one for key, one in usage.items() if one is not None} if isinstance(usage, Mapping) else {}
