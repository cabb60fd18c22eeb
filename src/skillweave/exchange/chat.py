"""Chat completions: `/chat/completions`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.chat import SEPARATOR, Call
from skillweave.adapters.messages import openai_style
from skillweave.adapters.messages.lists import listed, with_parameters
from skillweave.exchange.chain import arguments_value, plain_texts
from skillweave.exchange.forms import Form, added, part_put
from skillweave.exchange.streams import Block, Carried, Sieve, Stream
from skillweave.exchange.wire import Event, write_event

_SYSTEM = ("system", "developer")
_TEXTS = ("text",)
_NOT_SENT_BACK = frozenset({"annotations", "audio", "logprobs"})
_JOINED = frozenset({"content", "refusal", "reasoning", "reasoning_content"})


class Chat(Form):
    """Messages with a role and content; calls stand beside the content."""

    name, key, style = "chat", "messages", openai_style.STYLE

    def normal(self, item: Mapping[str, Any]) -> object | None:
        role = item.get("role")
        if role in _SYSTEM:
            return None
        said = plain_texts(item.get("content"), _TEXTS, tags=role == "user")
        if role == "assistant":
            return [role, [one for one in said if one], [_called(one) for one in listed(item.get("tool_calls"))]]
        if role in ("tool", "function"):
            return ["tool", item.get("tool_call_id") or item.get("name"), said]
        return [role, said] if said else None

    def place(self, items: Sequence[Any]) -> int | None:
        return next((n for n in reversed(range(len(items))) if items[n].get("role") in ("user", "tool")), None)

    def put(self, item: Mapping[str, Any], text: str) -> list[Any]:
        return [{**item, "content": part_put(item.get("content"), text)}]

    def with_catalog(self, body: Mapping[str, Any], catalog: str) -> dict[str, Any]:
        first, *others = body[self.key]
        if first.get("role") not in _SYSTEM:
            return {**body, self.key: [{"role": "system", "content": catalog}, first, *others]}
        content = first.get("content")
        whole = f"{content}{SEPARATOR}{catalog}" if isinstance(content, str) else part_put(content, catalog)
        return {**body, self.key: [{**first, "content": whole}, *others]}

    def forces(self, choice: object) -> str | bool:
        if isinstance(choice, Mapping):
            inner = choice.get("function") or choice.get("custom")
            named = inner.get("name") if isinstance(inner, Mapping) else None
            return str(named) if named else True
        return choice == "required"

    def text(self, reply: Mapping[str, Any]) -> str:
        content = _message(reply).get("content")
        return content if isinstance(content, str) else ""

    def found(self, reply: Mapping[str, Any], tools: Sequence[Any]) -> tuple[Call, ...]:
        calls = (call for choice in listed(reply.get("choices")) for call in self.style.found({"choices": [choice]}))
        return with_parameters(calls, tools)

    def history(self, reply: Mapping[str, Any]) -> list[Any]:
        said = {key: one for key, one in _message(reply).items() if one is not None and key not in _NOT_SENT_BACK}
        said = {"role": "assistant", **said}
        return [said if said.get("content") or said.get("tool_calls") else {**said, "content": ""}]

    def merged(
        self, replies: Sequence[Mapping[str, Any]], visible: Sequence[Call], *, words: str = ""
    ) -> dict[str, Any]:
        last, ids = replies[-1], {call.id for call in visible}
        texts = [text for one in replies if (text := self.text(one))]
        choices = [_left(choice, ids, words) for choice in listed(last.get("choices"))]
        if len(texts) > 1 and choices:
            message = {**choices[0]["message"], "content": SEPARATOR.join(texts)}
            choices = [{**choices[0], "message": message}, *choices[1:]]
        named = {key: replies[0][key] for key in ("id", "created") if key in replies[0]}
        usage = {"usage": added(*(one.get("usage") for one in replies))} if last.get("usage") else {}
        return {**last, **named, "choices": choices, **usage}

    def stream(self, sieve: Sieve, carried: Carried) -> Stream:
        return ChatStream(sieve, carried)


def _called(raw: Any) -> list[Any]:  # noqa: ANN401 - JSON
    call = raw if isinstance(raw, Mapping) else {}
    inner = call.get("function") or call.get("custom") or {}
    return [call.get("id"), inner.get("name"), arguments_value(inner.get("arguments", inner.get("input")))]


def _message(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = listed(reply.get("choices"))
    message = choices[0].get("message") if choices and isinstance(choices[0], Mapping) else None
    return message if isinstance(message, Mapping) else {}


def _left(choice: Mapping[str, Any], ids: set[str], words: str) -> dict[str, Any]:
    """The choice with the calls of these ids only; `words` where nothing else is left of it."""
    message = choice.get("message") or {}
    calls = listed(message.get("tool_calls"))
    kept = [call for call in calls if call.get("id") in ids]
    if len(kept) == len(calls):
        return dict(choice)
    message = {key: one for key, one in message.items() if key != "tool_calls"}
    if kept:
        return {**choice, "message": {**message, "tool_calls": kept}}
    message = {**message, "content": message.get("content") or words}
    finish = "stop" if choice.get("finish_reason") == "tool_calls" else choice.get("finish_reason")
    return {**choice, "message": message, "finish_reason": finish}


@dataclass(slots=True)
class ChatStream(Stream):
    """Chunks with deltas, for each choice; a call is whole when the next one begins, or the choice ends."""

    _head: dict[str, Any] = field(default_factory=dict)
    _choices: dict[int, dict[str, Any]] = field(default_factory=dict)
    _usage: dict[str, Any] | None = None
    _open: dict[int, Block] = field(default_factory=dict)
    _apart: bool = False

    def take(self, event: Event) -> None:
        chunk = event.data
        if chunk is None:
            if b"[DONE]" in event.raw:
                self.endings.append(event)
                self._end()
            else:
                self.put(event)
            return
        if "error" in chunk:
            self.failed = True
        if "choices" in chunk and not self._head:
            self._head = {key: one for key, one in chunk.items() if key not in ("choices", "usage")}
        if chunk.get("usage"):
            self._usage = chunk["usage"]
            if not listed(chunk.get("choices")):
                self.endings.append(event)
                return
        if not listed(chunk.get("choices")):
            self.put(event)
        for raw in listed(chunk.get("choices")):
            self._take_choice(event, chunk, raw, alone=len(chunk["choices"]) == 1)

    def _take_choice(self, event: Event, chunk: Mapping[str, Any], raw: Mapping[str, Any], *, alone: bool) -> None:
        number = int(raw.get("index") or 0)
        state = self._choices.setdefault(number, {"message": {"role": "assistant"}, "index": number})
        given = raw.get("delta")
        delta: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        calls, others = listed(delta.get("tool_calls")), {k: one for k, one in delta.items() if k != "tool_calls"}
        if self.carried.id and others.pop("role", None):
            # A client adds up what it gets: a second role would be one word with the first.
            alone = alone and bool(others.get("content"))
        _collect(state["message"], others)
        finish = raw.get("finish_reason")
        if raw.get("logprobs"):
            state["logprobs"] = raw["logprobs"]
        plain = not calls and finish is None
        if others and (plain or any(others.values())):
            block: Block | None = None
            if others.get("content"):  # a role comes with an empty one
                block = ("text", number)
                self.said(block, others["content"])
            same = alone and plain and len(others) == len(delta)
            self.put(event if same else _part(chunk, raw, others), block)
        for call in calls:
            self._take_call(chunk, raw, number, call, state["message"])
        if finish is not None:
            state["finish_reason"] = finish
            self._close(number)
            bare = alone and not calls and not any(others.values()) and not chunk.get("usage")
            self.endings.append(event if bare else _part(chunk, {**raw, "finish_reason": finish}, {}))
            if all("finish_reason" in one for one in self._choices.values()):
                self.over()

    def _take_call(
        self,
        chunk: Mapping[str, Any],
        raw: Mapping[str, Any],
        number: int,
        call: Mapping[str, Any],
        message: dict[str, Any],
    ) -> None:
        block: Block = ("call", number, int(call.get("index") or 0))
        if self._open.get(number) not in (None, block):
            self._close(number)
        self._open[number] = block
        whole = message.setdefault("tool_calls", {}).setdefault(block, {})
        _collect_call(whole, call)
        inner = whole.get("function") or whole.get("custom") or {}
        if inner.get("name"):
            self.named(block, inner["name"])
        self.put(_part(chunk, {**raw, "finish_reason": None}, {"tool_calls": [call]}), block)

    def _close(self, number: int) -> None:
        block = self._open.pop(number, None)
        if block is not None:
            call = self._choices[number]["message"]["tool_calls"][block]
            found = openai_style.STYLE.found({"tool_calls": [call]})
            self.whole(block, next(iter(found)))

    def _end(self) -> None:
        for number in list(self._open):
            self._close(number)
        self.over()

    @property
    def reply(self) -> dict[str, Any] | None:
        if not self.ended:
            return None
        choices = []
        for state in self._choices.values():
            message = dict(state["message"])
            if "tool_calls" in message:
                message["tool_calls"] = list(message["tool_calls"].values())
            choices.append({**state, "message": {"content": None, **message}})
        usage = {"usage": self._usage} if self._usage else {}
        return {**self._head, "object": "chat.completion", "choices": choices, **usage}

    @property
    def after(self) -> Carried:
        said = self.carried.text or any(one["message"].get("content") for one in self._choices.values())
        # Calls are numbered among themselves.
        calls = sum(1 for block in self._numbers if block[0] == "call")
        named = self.carried.id or str(self._head.get("id") or "")
        return Carried(named, self.carried.blocks + calls, bool(said) and not self.marked)

    def blocks(self) -> dict[str, Block]:
        called = (state["message"].get("tool_calls") or {} for state in self._choices.values())
        return {str(call.get("id") or ""): block for calls in called for block, call in calls.items()}

    def written(self, event: Event, number: int | None) -> bytes:
        chunk = event.data
        if chunk is None:
            return event.raw
        changed: dict[str, Any] = {"id": self.carried.id} if self.carried.id and "id" in chunk else {}
        choices = chunk.get("choices") or []
        for choice in choices:
            delta = choice.get("delta") or {}
            if delta.get("tool_calls") and number is not None:
                numbered = self.carried.blocks + self._order(number)
                if delta["tool_calls"][0].get("index") != numbered:
                    calls = [{**delta["tool_calls"][0], "index": numbered}]
                    changed["choices"] = [{**choice, "delta": {**delta, "tool_calls": calls}}]
            elif self.carried.text and not self._apart and delta.get("content"):
                self._apart = True
                changed["choices"] = [{**choice, "delta": {**delta, "content": SEPARATOR + delta["content"]}}]
        return write_event({**chunk, **changed}) if changed or not event.raw else event.raw

    def _order(self, number: int) -> int:
        """The place of the call with this number among the calls of its choice."""
        block = next(one for one, given in self._numbers.items() if given == number)
        calls = [one for one in self._numbers if one[0] == "call" and one[1] == block[1]]
        return calls.index(block)

    def last(self, merged: Mapping[str, Any]) -> bytes:
        return b"".join(self._last(merged))

    def _last(self, merged: Mapping[str, Any]) -> Iterator[bytes]:
        by_index = {int(one.get("index") or 0): one for one in merged["choices"]}
        for event in self.endings:
            chunk = dict(event.data or {})
            if self.carried.id and chunk:
                chunk["id"] = self.carried.id
            if chunk.get("usage") and not chunk.get("choices"):
                chunk["usage"] = merged.get("usage", chunk["usage"])
            choices = []
            for choice in chunk.get("choices") or ():
                whole = by_index[int(choice.get("index") or 0)]
                delta = {"content": whole["message"]["content"]} if self._only_words(choice, whole) else {}
                choices.append({**choice, "delta": delta, "finish_reason": whole.get("finish_reason")})
            yield write_event({**chunk, "choices": choices}) if chunk else event.raw

    def _only_words(self, choice: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
        """Whether words of ours stand in for what was taken out of a choice."""
        said = self._choices[int(choice.get("index") or 0)]["message"]
        return bool(whole["message"].get("content")) and not said.get("content") and not self.carried.text


def _part(chunk: Mapping[str, Any], raw: Mapping[str, Any], delta: Mapping[str, Any]) -> Event:
    choice = {**raw, "delta": dict(delta), "finish_reason": raw.get("finish_reason") if not delta else None}
    return Event({**{k: one for k, one in chunk.items() if k != "usage"}, "choices": [choice]}, b"")


def _collect(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, one in delta.items():
        before = message.get(key)
        if key in _JOINED and isinstance(one, str) and isinstance(before, str):
            message[key] = f"{before}{one}"
        elif isinstance(one, list) and isinstance(before, list):
            message[key] = [*before, *one]
        elif one is not None or key not in message:
            message[key] = one


def _collect_call(whole: dict[str, Any], call: Mapping[str, Any]) -> None:
    for key, one in call.items():
        if key in ("function", "custom") and isinstance(one, Mapping):
            inner = whole.setdefault(key, {})
            for name, piece in one.items():
                before = inner.get(name)
                joined = name in ("arguments", "input") and isinstance(piece, str) and isinstance(before, str)
                inner[name] = f"{before}{piece}" if joined else before if piece is None else piece
        elif key != "index" and one is not None:
            whole[key] = one
