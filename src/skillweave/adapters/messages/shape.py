"""What stands in a list of messages, checked: every error names the index and the fix."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillweave.conversation import Part
from skillweave.errors import InvalidTurn


def plain(value: object) -> Mapping[str, Any] | None:
    """The value as a mapping: itself, or what an SDK's object dumps; None when it is neither."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) and not isinstance(value, type) else None
    return dumped if isinstance(dumped, Mapping) else None


def listed(value: object) -> Sequence[Any]:
    """The elements of a list or tuple, none for anything else."""
    return value if isinstance(value, list | tuple) else ()


def entries(chat: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each message with the words that name its place; raises InvalidTurn for what is no list of messages."""
    if not isinstance(chat, Sequence) or isinstance(chat, str | bytes):
        raise InvalidTurn(f"the chat is a {_kind(chat)}; give a list of messages")
    if not chat:
        raise InvalidTurn("the chat is empty; give at least the user's message")
    for index, raw in enumerate(chat):
        message = plain(raw)
        if message is None:
            raise InvalidTurn(f"chat[{index}] is a {_kind(raw)}, no message; give a dict with 'role' and 'content'")
        yield f"chat[{index}]", message


def role_of(message: Mapping[str, Any], where: str, known: Sequence[str]) -> str:
    """The message's role; raises InvalidTurn for one that the provider does not know."""
    role = message.get("role")
    if not isinstance(role, str) or role not in known:
        given = "no role" if role is None else f"the unknown role {str(role)[:40]!r}"
        raise InvalidTurn(f"{where} has {given}; use one of {', '.join(known)}")
    return role


def parts_of(content: object, where: str) -> tuple[Part, ...]:
    """Content as parts: text as text, a host's other parts as they are; no part for an empty text."""
    if isinstance(content, str):
        return (content,) if content else ()
    if not isinstance(content, list | tuple):
        what = "no content" if content is None else f"content of type {_kind(content)}"
        raise InvalidTurn(f"{where} has {what}; give a text or a list of parts")
    return tuple(_part(raw, f"{where}.content[{index}]") for index, raw in enumerate(content))


def text_in(parts: Sequence[Part]) -> str:
    """The text parts, a line break between two."""
    return "\n".join(part for part in parts if isinstance(part, str))


def _part(raw: object, where: str) -> Part:
    part = plain(raw)
    if part is None or not isinstance(part.get("type"), str):
        raise InvalidTurn(f"{where} is a {_kind(raw)} without a type; give a dict such as {{'type': 'text', ...}}")
    if part["type"] != "text":
        return part
    text = part.get("text")
    if not isinstance(text, str):
        raise InvalidTurn(f"{where} is a text part without text; give it a 'text' of type str")
    return text


def _kind(value: object) -> str:
    return type(value).__name__
