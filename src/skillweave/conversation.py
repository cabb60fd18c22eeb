"""What a host tells about a conversation: messages, tool results and the coming turn, neutral of any framework."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar, TypeAlias, TypedDict

from skillweave.checking import Checked, most, require_few, shown
from skillweave.codec import Portable
from skillweave.errors import InvalidTurn
from skillweave.frozen import EMPTY, Json, as_json
from skillweave.limits import MOST_ENTRIES, ToolLimits
from skillweave.task import Task

LONGEST_ID = 500
"""Characters that a conversation's or a turn's id may have."""
MOST_MESSAGES = 50_000
"""Messages of a transcript, and parts of a message."""
MOST_RESULTS = 10_000
"""Tool results between two turns, and keys of working memory."""
MOST_NAMED = 1_000
"""Skills, or pieces of them, that a turn or a question names."""

Part: TypeAlias = str | Mapping[str, object]
"""A piece of a message: text, or a host's own part (an image, a tool call), which is carried but never read."""


class Role(StrEnum):
    """Who speaks; `system` also stands for a provider's `developer`."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Placement(StrEnum):
    """Where a host puts skill text: in the history, where it stays, or in the call, with which it goes (spec 5.3)."""

    HISTORY = "history"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class Message(Portable):
    """One message; `id` is the host's, where it keeps one. Only text is ever matched, None content is empty.

    `role` is also taken as its text, parts as any list. Raises InvalidTurn for what is not a role, a text or a part.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("id", "role", "content")

    role: Role
    content: str | tuple[Part, ...] | None = field(metadata=most(MOST_MESSAGES))
    id: str | None = None

    def __post_init__(self) -> None:
        if type(self.role) is not Role:
            object.__setattr__(self, "role", _MESSAGE.member("role", self.role, Role))
        if self.content is not None and not isinstance(self.content, str):
            object.__setattr__(self, "content", _parts(self.content))
        if self.id is not None and not isinstance(self.id, str):
            _MESSAGE.refuse("id", self.id, "a text, or None")

    def texts(self) -> tuple[str, ...]:
        """The text parts, in order."""
        if self.content is None:
            return ()
        if isinstance(self.content, str):
            return (self.content,)
        return tuple(part for part in self.content if isinstance(part, str))

    @property
    def text(self) -> str:
        """All text parts, a line break between two."""
        return self.content if isinstance(self.content, str) else "\n".join(self.texts())


@dataclass(frozen=True, slots=True)
class ToolResult(Portable):
    """What a tool answered since the last turn; `call` is the id of the call, `arguments` are its own, where known.

    `status` is one of success, failure, denied, invalid, partial, pending, absent, which routes of a graph look at. A
    turn makes `denied` of it where the answer is our denial and the tool policy denies that call; an answer that only
    reads like one stays what the host says.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "arguments?")

    tool: str
    content: str
    status: str = "success"
    call: str | None = None
    arguments: Mapping[str, Any] | None = field(default=None, hash=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("tool", "content", "status"):
            _RESULT.text(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class ToolCall(Portable):
    """One call of a tool by the model, as a person is shown it; `id` is the model's, one for each call."""

    id: str
    tool: str
    arguments: Mapping[str, object] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        """Raises InvalidTurn for a call of another form."""
        for name in ("id", "tool"):
            _CALL.text(name, getattr(self, name))
        _CALL.kind("arguments", self.arguments, Mapping, "the arguments by name")  # type: ignore[type-abstract]

    @property
    def digest(self) -> str | None:
        """SHA-256 hex of the call itself: its id, tool and arguments; None without an id, or for what is not JSON."""
        return _digest_of((self.id, self.tool, self.arguments)) if self.id else None

    @property
    def content(self) -> str | None:
        """SHA-256 hex of what the call does, whatever its id; None where the arguments are not JSON.

        Numbers that are equal are one, so that 4 and 4.0 do the same.
        """
        return _digest_of((self.tool, self.arguments))

    @property
    def content_as_written(self) -> str | None:
        """The same with each number as it is written, as a no was kept before numbers were compared by value."""
        return _digest_of((self.tool, self.arguments), by_value=False)


_DEEPEST_CALL = 10_000


def _digest_of(parts: Sequence[object], *, by_value: bool = True) -> str | None:
    try:
        # A model may nest its arguments as deep as its host reads them; such a call must be decidable too.
        data = as_json(parts, depth=-_DEEPEST_CALL)
        written = json.dumps(_whole_numbers(data) if by_value else data, sort_keys=True)
    except (ValueError, RecursionError):
        return None
    return sha256(written.encode()).hexdigest()


def _whole_numbers(data: Json) -> Json:
    """The data with an integer in place of each equal float; an integer keeps all its digits."""
    if isinstance(data, dict):
        return {key: _whole_numbers(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_whole_numbers(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data


@dataclass(frozen=True, slots=True)
class Read(Portable):
    """What the model asked to see of a skill: one section of its text, or an artifact whole or in a section."""

    skill_id: str
    section: str | None = None
    artifact: str | None = None


@dataclass(frozen=True, slots=True)
class Turn(Portable):
    """One coming model call.

    `id` is the host's idempotency key: the same id again is a replay and changes nothing. `transcript` is everything
    that the model will be sent; None means that the host cannot say, while a list, even an empty one, is complete.
    `named` are skills that the host itself asks for, `reads` what the model asked for by a tool call; `tools` are the
    names it grants, None when not stated; `memory` may name the entity that is being worked on. `task` is the work as a
    whole, which task rules look at; `limits` are those of a spawned agent, from its plan. `append_only` says that the
    host cannot take anything out of its history, so that no room can be made there. Raises InvalidTurn for a list with
    more members than its schema says.
    """

    id: str
    conversation: str
    message: Message
    transcript: tuple[Message, ...] | None = field(default=None, metadata=most(MOST_MESSAGES))
    results: tuple[ToolResult, ...] = field(default=(), metadata=most(MOST_RESULTS))
    named: tuple[str, ...] = field(default=(), metadata=most(MOST_NAMED))
    reads: tuple[Read, ...] = field(default=(), metadata=most(MOST_NAMED))
    memory: Mapping[str, object] = field(default=EMPTY, hash=False, metadata=most(MOST_RESULTS))
    tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    placement: Placement = Placement.HISTORY
    task: Task | None = None
    limits: ToolLimits | None = None
    append_only: bool = False

    def __post_init__(self) -> None:
        require_id("conversation", self.conversation)
        require_id("id", self.id)
        if type(self.message) is not Message:
            object.__setattr__(self, "message", message_of(self.message))
        stated = self.transcript is not None
        if self.transcript is not None:
            object.__setattr__(self, "transcript", messages_of("transcript", self.transcript))
        for name, (left_out, read) in _OPTIONAL.items():
            value = getattr(self, name)
            # What a host leaves out, as most do of nearly all, is as it must be.
            if value is not left_out:
                stated = True
                object.__setattr__(self, name, read(name, value))
        if stated:
            require_few(self, InvalidTurn, self.limits)


def require_id(name: str, value: object, where: str = "Turn") -> None:
    """Raise InvalidTurn for what cannot be the id of a conversation or a turn; `where` is what it was given to."""
    known = value if isinstance(value, str) else Checked(where, InvalidTurn).text(name, value)
    if not known or len(known) > LONGEST_ID:
        raise InvalidTurn(f"{where}({name}={known[:40]!r}) has {len(known)} characters; give 1 to {LONGEST_ID} of them")
    if not known.isprintable():
        raise InvalidTurn(f"{where}({name}={known!r}) holds an unprintable character; remove it")


MessageLike: TypeAlias = str | Message | Mapping[str, object]
"""What is taken for a message: a text of the user, a Message, or a mapping with `role` and `content`."""

_TURN, _MESSAGE, _RESULT, _CALL = (Checked(name, InvalidTurn) for name in ("Turn", "Message", "ToolResult", "ToolCall"))
_OPTIONAL: Mapping[str, tuple[object, Callable[[str, Any], object]]] = {
    "results": ((), lambda name, given: _TURN.items(name, given, ToolResult, "skillweave.ToolResult(tool, content)")),
    "named": ((), lambda name, given: _TURN.texts(name, given, "invoice-checking")),
    "reads": ((), lambda name, given: _TURN.items(name, given, Read, "skillweave.turns.Read(skill_id)")),
    "memory": (EMPTY, _TURN.mapping),
    "tools": (None, lambda name, given: _TURN.texts(name, given, "read_file")),
    "placement": (Placement.HISTORY, lambda name, given: _TURN.member(name, given, Placement)),
    "task": (None, lambda name, given: _TURN.kind(name, given, Task, "a Task, such as Task(coding=True)")),
    "limits": (
        None,
        lambda name, given: _TURN.kind(name, given, ToolLimits, "a plan's limits or ToolLimits.from_dict(...)"),
    ),
    "append_only": (False, _TURN.truth),
}
"""What a turn may have beside its ids and its message: what it is where nobody gives any, and how it is read."""
_OTHER_ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}
_MESSAGE_WANTED = "a text, a Message, or a mapping with role and content"


def message_of(said: MessageLike, role: Role = Role.USER, place: str = "message") -> Message:
    """The message that was handed in; a text is one of `role`.

    A mapping is read like a chat message of the well-known providers: parts with a `text` are text. Raises InvalidTurn
    for anything else, naming the `place`.
    """
    if isinstance(said, Message):
        return said
    if isinstance(said, str):
        return Message(role, said)
    if not isinstance(said, Mapping):
        _TURN.refuse(place, said, _MESSAGE_WANTED)
    if "role" not in said or "content" not in said:
        raise InvalidTurn(f"Turn({place}=...) is a mapping without {'content' if 'role' in said else 'role'}; add it")
    speaker, named = said["role"], said.get("id")
    speaker = _OTHER_ROLES.get(speaker, speaker) if isinstance(speaker, str) else speaker
    content = said["content"]
    parts = content if content is None or isinstance(content, str) else tuple(map(_text_of, _parts(content)))
    return Message(_MESSAGE.member("role", speaker, Role), parts, named if isinstance(named, str) else None)


def messages_of(name: str, several: Iterable[MessageLike]) -> tuple[Message, ...]:
    """The messages of a list; raises InvalidTurn with the position of what is none."""
    if type(several) is tuple and all(type(one) is Message for one in several):
        return several
    if isinstance(several, str | bytes | Mapping | Message) or not isinstance(several, Iterable):
        _TURN.refuse(name, several, "a list of messages")
    return tuple(message_of(one, place=f"{name}[{position}]") for position, one in enumerate(several))


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, bytes | bytearray | Mapping) or not isinstance(content, Iterable):
        _MESSAGE.refuse("content", content, "a text, a list of parts, or None")
    parts = tuple(content)
    if len(parts) > MOST_MESSAGES:
        raise InvalidTurn(f"Message(content=...) has {len(parts):,} parts; give at most {MOST_MESSAGES:,}")
    for part in parts:
        if not isinstance(part, str | Mapping):
            raise InvalidTurn(f"Message(content=...) has a part {shown(part)}; give texts and mappings")
    return parts


def _text_of(part: Part) -> Part:
    if isinstance(part, str):
        return part
    text = part.get("text")
    return text if isinstance(text, str) and part.get("type") in _TEXT_PARTS else part


_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def latest(role: Role, messages: Sequence[Message]) -> Message | None:
    """The last message of that role, None when there is none."""
    return next((message for message in reversed(messages) if message.role is role), None)


class TurnFields(TypedDict, total=False):
    """What a plain message may bring along; the fields are those of `Turn`, `turn_id` is its `id`."""

    conversation: str
    turn_id: str
    role: Role
    transcript: Sequence[MessageLike] | None
    results: Sequence[ToolResult]
    named: Sequence[str]
    memory: Mapping[str, object]
    tools: Sequence[str] | None
    placement: Placement
    task: Task | None
    limits: ToolLimits | None
    append_only: bool


def turn_of(message: MessageLike | Turn, fields: TurnFields, new_id: Callable[[], str]) -> Turn:
    """The Turn itself, or one made of the message and its fields.

    Raises InvalidTurn when no conversation is named or a field is not as it must be, TypeError for a field that a turn
    does not have.
    """
    require_known(fields, TurnFields.__optional_keys__)
    if isinstance(message, Turn):
        if fields:
            raise InvalidTurn(f"a Turn already says {', '.join(sorted(fields))}; change the Turn instead")
        return message
    if "conversation" not in fields:
        raise InvalidTurn("no conversation is named; add conversation='some-id', the same for every turn of one chat")
    role = _TURN.member("role", fields["role"], Role) if "role" in fields else Role.USER
    if not isinstance(message, str) and "role" in fields:
        raise InvalidTurn("the message already says its role; leave role= out, or give the text alone")
    known: dict[str, Any] = {name: value for name, value in fields.items() if name not in ("turn_id", "role")}
    turn_id = fields.get("turn_id")
    return Turn(id=new_id() if turn_id is None else turn_id, message=message_of(message, role), **known)


def nothing_said(
    turn_id: str,
    conversation: str,
    *,
    tools: Sequence[str] | None = None,
    limits: ToolLimits | None = None,
    placement: Placement = Placement.HISTORY,
) -> Turn:
    """A turn in which nobody says anything: what is engaged stays so."""
    granted = None if tools is None else tuple(tools)
    return Turn(turn_id, conversation, Message(Role.TOOL, None), tools=granted, limits=limits, placement=placement)


def require_known(fields: Mapping[str, object], known: Set[str]) -> None:
    """Raise TypeError for a misspelt field: ignored, it would change what is given and nobody would see why."""
    unknown = sorted(fields.keys() - known)
    if unknown:
        raise TypeError(f"a turn has no field {unknown[0]!r}; use {', '.join(sorted(known))}")
