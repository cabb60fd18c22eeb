"""The transcript of a conversation from a JSON file: a list of `{role, content, id}`."""

import json
from collections.abc import Mapping
from pathlib import Path

from skillweave.cli.arguments.message import decoded
from skillweave.cli.failure import Mistake
from skillweave.conversation import Message, Part, Role

_ROLES: Mapping[str, Role] = {**{role.value: role for role in Role}, "developer": Role.SYSTEM}


def read_transcript(path: str | None) -> tuple[Message, ...] | None:
    """The messages, None where no file is named; raises Mistake naming the file, the entry and the rule."""
    if path is None:
        return None
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Mistake(f"transcript {path!r} cannot be read: {why}; name a JSON file with a list of messages") from None
    return messages_of(decoded(data, f"transcript {path!r}"), f"transcript {path!r}")


def messages_of(text: str, what: str) -> tuple[Message, ...]:
    """The messages in a JSON text; `what` names it in errors."""
    try:
        entries = json.loads(text)
    except RecursionError:
        raise Mistake(f"{what} is nested too deeply; give a list of {{role, content, id}}") from None
    except json.JSONDecodeError as error:
        raise Mistake(f"{what} is no JSON: {error.msg} in line {error.lineno}; give a list of messages") from None
    if not isinstance(entries, list):
        raise Mistake(f"{what} is {_kind(entries)}, not a list; give a list of {{role, content, id}}")
    return tuple(_message(entry, f"{what}, entry {place}") for place, entry in enumerate(entries, start=1))


def _message(entry: object, where: str) -> Message:
    if not isinstance(entry, dict):
        raise Mistake(f"{where} is {_kind(entry)}, not an object; write it as {{role, content, id}}")
    role = entry.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise Mistake(f"{where} has the role {_shown(role)}; use one of {', '.join(_ROLES)}")
    name = entry.get("id")
    if name is not None and not isinstance(name, str):
        raise Mistake(f"{where} has an id that is {_kind(name)}; make it a text, or leave it out")
    return Message(_ROLES[role], _content(entry.get("content"), where), name)


def _content(content: object, where: str) -> str | tuple[Part, ...] | None:
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Mistake(f"{where} has content that is {_kind(content)}; make it a text, a list of parts, or null")
    return tuple(_part(part, where) for part in content)


def _part(part: object, where: str) -> Part:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise Mistake(f"{where} has a part that is {_kind(part)}; make it a text or an object such as {{type, text}}")
    text = part.get("text")
    return text if part.get("type", "text") in ("text", "input_text", "output_text") and isinstance(text, str) else part


def _kind(value: object) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), "a number")


def _shown(value: object) -> str:
    return repr(value[:40]) if isinstance(value, str) else _kind(value)
