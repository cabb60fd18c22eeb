"""Anthropic-style chats: what was given stands as a text part of the user message that called for it.

A system message in mid-conversation is refused by most models and platforms; the system prompt is apart, with markers
for its cache.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from skillweave.adapters.chat import (
    NOT_RUN,
    SEPARATOR,
    Call,
    HostMessage,
    TurnOptions,
    answer_of_tool,
    is_block,
    read_call,
    spoken,
)
from skillweave.adapters.messages.lists import (
    Style,
    entries,
    listed,
    offer,
    parts_of,
    plain,
    role_of,
    take_out,
)
from skillweave.dialogue import Message, Part, Placement, Role, Turn
from skillweave.errors import InvalidTurn
from skillweave.injection import Injection
from skillweave.weaver.tools import ToolSpec

__all__ = [
    "answer",
    "calls",
    "go_on",
    "offer",
    "place",
    "refuse",
    "skill_tools",
    "system",
    "take_out",
    "transcript",
    "turn",
    "unanswered",
    "with_tail",
]

_ROLES = ("user", "assistant", "system")
_CACHED = {"type": "ephemeral"}


def turn(chat: Sequence[Any], *, conversation: str, **options: Unpack[TurnOptions]) -> Turn:
    """Returns the Turn of a chat that is about to be sent; the same chat is the same turn, with or without our blocks.

    Messages are dicts, or objects of an SDK that dump as such; the system prompt is not among them. Raises
    InvalidTurn, naming the index.
    """
    where, first = next(entries(chat))
    if first.get("role") == "system":
        raise InvalidTurn(f"{where} is a system message; the API takes the system prompt apart: see system()")
    return STYLE.turn(chat, conversation=conversation, **options)


def go_on(chat: Sequence[Any], said: str | Sequence[Any]) -> list[Any]:
    """A new list with the user's next message, a text or parts; calls that still wait are answered as not run.

    So a chat can go on while a person has yet to approve a call: the question about it is void then. The results stand
    in front of the words, and words behind a user's message join it.
    """
    void = [refuse(call, NOT_RUN) for call in unanswered(chat)]
    last = (plain(chat[-1]) or {}) if chat else {}
    if last.get("role") != "user":
        return [*chat, {"role": "user", "content": [*void, *_blocks(said)] if void else said}]
    there = _blocks(last.get("content"))
    results = [block for block in there if _is_result(plain(block) or {})]
    others = [block for block in there if not _is_result(plain(block) or {})]
    return [*chat[:-1], {**last, "content": [*results, *void, *others, *_blocks(said)]}]


def place(chat: Sequence[Any], injection: Injection) -> list[Any]:
    """A new list with the given blocks as one more part of the last user message, without the texts that leave.

    Keep it as the history; `chat` stays as it is, and so do the user's own parts. Behind a message of the model the
    blocks are a user message of their own. They are recognised by their text. Nothing is added in call placement.
    """
    left = take_out(chat, injection.leaving)
    return _ended(left, SEPARATOR.join(message.text for message in injection.messages))


def with_tail(chat: Sequence[Any], injection: Injection) -> list[Any]:
    """The messages of this call only: the chat, and as the last part of the user's message what the model may open.

    Give it the chat that `place` made, and don't keep it: the next call has another tail, or none. A cache marker
    stands in front of the tail, where the next call finds the chat again; a chat that has markers keeps only its own.
    A user's text is sent as a part in every call, so that its bytes stay the same.
    """
    sent = [_in_parts(raw) for raw in chat]
    return _ended(_cached_to_the_end(sent), injection.tail) if injection.tail else sent


def system(base: str | Sequence[Mapping[str, Any]], injection: Injection) -> list[dict[str, Any]]:
    """The system prompt of this call only, as text blocks: base, catalog, in call placement all skill text.

    A cache marker stands after base and catalog, and another after the last block: one or two of the four that a
    request may have.
    """
    stable = _marked([*_blocks(base), *([_text(injection.catalog)] if injection.catalog else [])])
    in_call = injection.blocks if injection.placement is Placement.CALL else ()
    return [*stable, *_marked([_text(block.text) for block in in_call])]


def _read(chat: Sequence[Any]) -> list[HostMessage]:
    return [piece for where, message in entries(chat) for piece in _pieces(message, where)]


def _pieces(message: Mapping[str, Any], where: str) -> Iterator[HostMessage]:
    role = Role(role_of(message, where, _ROLES))
    content = message.get("content")
    parts = parts_of(content, where)
    if role is not Role.USER:
        yield spoken(where, role, parts, tuple(_found(message)) if role is Role.ASSISTANT else ())
        return
    if not parts:
        raise InvalidTurn(f"{where} is a user message without content, which the API refuses; add the user's words")
    yield from (_answered(part, where) for part in parts if _is_result(part))
    said = tuple(part for part in parts if not _is_result(part))
    if said:
        theirs = said if isinstance(content, str) else _theirs(parts)
        yield HostMessage(where, Message(role, said), Message(role, theirs) if theirs else None)


def _theirs(parts: Sequence[Part]) -> tuple[Part, ...]:
    # `place` writes behind other parts, or a part alone: what stands first among several is the user's own, even when
    # it was pasted from a block.
    ours = {n for n, part in enumerate(parts) if is_block(part) and (n > 0 or len(parts) == 1)}
    return tuple(part for n, part in enumerate(parts) if n not in ours and not _is_result(part))


def _answered(part: Part, where: str) -> HostMessage:
    block = part if isinstance(part, Mapping) else {}
    content = block.get("content")
    parts = () if content is None else parts_of(content, where)
    status = "error" if block.get("is_error") else "success"
    return answer_of_tool(where, parts, status=status, call=block.get("tool_use_id"))


def _is_result(part: Part) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


def _ended(chat: Sequence[Any], text: str) -> list[Any]:
    """The chat with the text as the last part of its last message of the user, or in one of its own."""
    if not text:
        return list(chat)
    spoken = [(n, message) for n, raw in enumerate(chat) if (message := plain(raw)) and message.get("role") != "system"]
    index, last = spoken[-1] if spoken else (-1, {})
    if last.get("role") != "user":
        return [*chat, {"role": "user", "content": [_text(text)]}]
    placed = {**last, "content": [*_blocks(last.get("content")), _text(text)]}
    return [*chat[:index], placed, *chat[index + 1 :]]


def _in_parts(raw: Any) -> Any:  # noqa: ANN401 - messages are the host's
    message = plain(raw) or {}
    written = message.get("role") == "user" and isinstance(message.get("content"), str)
    return {**message, "content": _blocks(message["content"])} if written else raw


def _cached_to_the_end(chat: Sequence[Any]) -> list[Any]:
    """The chat with a cache marker after the user's last part, where its messages have none.

    A host that sets markers itself has counted them: a request may have four.
    """
    contents = [_blocks((plain(raw) or {}).get("content")) for raw in chat]
    last = (plain(chat[-1]) or {}) if chat else {}
    if last.get("role") != "user" or any("cache_control" in (plain(part) or {}) for one in contents for part in one):
        return list(chat)
    return [*chat[:-1], {**last, "content": [*contents[-1][:-1], *_marked(contents[-1][-1:])]}]


def _blocks(content: object) -> list[Any]:
    if isinstance(content, str):
        return [_text(content)] if content else []
    return list(listed(content))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _marked(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    copied = [dict(plain(block) or {}) for block in blocks]
    if copied:
        copied[-1].setdefault("cache_control", dict(_CACHED))
    return copied


def _found(reply: Mapping[str, Any]) -> Iterator[Call]:
    blocks = (plain(raw) or {} for raw in listed(reply.get("content")))
    used = (block for block in blocks if block.get("type") == "tool_use")
    return (read_call(block.get("id"), block.get("name"), block.get("input")) for block in used)


def _declared(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.to_dict()["parameters"]}


def _result(call: Call, text: str, failed: bool) -> dict[str, Any]:  # noqa: FBT001 - as a Style asks
    return {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}


STYLE = Style("anthropic_style", _read, _found, _declared, _result)
transcript, unanswered = STYLE.transcript, STYLE.unanswered
answer, calls, refuse, skill_tools = STYLE.answer, STYLE.calls, STYLE.refuse, STYLE.skill_tools
