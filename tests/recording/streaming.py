"""The replies of the recording server as streams of events, as the providers cut them."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

PIECE = 7
"""Characters that come at once."""


def pieces(text: str) -> list[str]:
    """The text as it comes."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _event(data: Mapping[str, Any], name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(data)}\n\n".encode()


def chat_events(body: Mapping[str, Any], reply: Mapping[str, Any]) -> Iterator[bytes]:
    """Chunks with deltas, a finish reason, usage where it was asked for."""
    head = {key: reply[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(choice: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        return _event({**head, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": finish}]})

    for choice in reply["choices"]:
        message = choice["message"]
        yield chunk(choice, {"role": "assistant", "content": ""})
        for piece in pieces(message.get("content") or ""):
            yield chunk(choice, {"content": piece})
        for number, call in enumerate(message.get("tool_calls") or ()):
            begun = {**call, "index": number, "function": {"name": call["function"]["name"], "arguments": ""}}
            yield chunk(choice, {"tool_calls": [begun]})
            for piece in pieces(call["function"]["arguments"]):
                yield chunk(choice, {"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
        yield chunk(choice, {}, choice["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": reply["usage"]})
    yield b"data: [DONE]\n\n"


def anthropic_events(_: Mapping[str, Any], reply: Mapping[str, Any]) -> Iterator[bytes]:
    """A message's start, its blocks, its delta and its stop."""

    def event(kind: str, **more: Any) -> bytes:
        return _event({"type": kind, **more}, kind)

    begun = {**reply, "content": [], "stop_reason": None, "usage": {**reply["usage"], "output_tokens": 1}}
    yield event("message_start", message=begun)
    yield event("ping")
    for index, block in enumerate(reply["content"]):
        empty = {"text": {"text": ""}, "tool_use": {"input": {}}, "thinking": {"thinking": "", "signature": ""}}
        yield event("content_block_start", index=index, content_block={**block, **empty[block["type"]]})
        deltas = {
            "text": [{"type": "text_delta", "text": one} for one in pieces(block.get("text", ""))],
            "tool_use": [
                {"type": "input_json_delta", "partial_json": one} for one in pieces(json.dumps(block.get("input", {})))
            ],
            "thinking": [
                {"type": "thinking_delta", "thinking": block.get("thinking", "")},
                {"type": "signature_delta", "signature": block.get("signature", "")},
            ],
        }
        for delta in deltas[block["type"]]:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": reply["usage"]["output_tokens"]})
    yield event("message_stop")


def responses_events(_: Mapping[str, Any], reply: Mapping[str, Any]) -> Iterator[bytes]:
    """Numbered events of the response and of its items."""
    number = -1

    def event(kind: str, **more: Any) -> bytes:
        nonlocal number
        number += 1
        return _event({"type": kind, "sequence_number": number, **more}, kind)

    begun = {**reply, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(reply["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        kind = item["type"]
        empty = {"message": {"content": []}, "function_call": {"arguments": ""}}.get(kind, {})
        yield event("response.output_item.added", output_index=index, item={**item, **empty, "status": "in_progress"})
        if kind == "message":
            part = item["content"][0]
            yield event("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield event("response.output_text.delta", **at, content_index=0, delta=piece, logprobs=[])
            yield event("response.output_text.done", **at, content_index=0, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **at, content_index=0, part=part)
        if kind == "function_call":
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield event("response.function_call_arguments.done", **at, **done)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=reply)


EVENTS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[bytes]]] = {
    "/v1/chat/completions": chat_events,
    "/v1/responses": responses_events,
    "/v1/messages": anthropic_events,
}
