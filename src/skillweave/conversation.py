"""What a host tells about a conversation: messages, tool results and the coming turn, neutral of any framework."""

import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import ClassVar, TypeAlias, TypedDict

from skillweave.codec import Portable
from skillweave.errors import InvalidTurn
from skillweave.frozen import EMPTY, as_json
from skillweave.limits import ToolLimits
from skillweave.task import Task

LONGEST_ID = 500
"""Characters that a conversation's or a turn's id may have."""

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
    """One message; `id` is the host's, where it keeps one. Only text is ever matched, None content is empty."""

    json_keys: ClassVar[tuple[str, ...]] = ("id", "role", "content")

    role: Role
    content: str | tuple[Part, ...] | None
    id: str | None = None

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
    """What a tool answered since the last turn; `call` is the id of the call.

    `status` is one of success, failure, denied, invalid, partial, pending, absent, which routes of a graph look at.
    """

    tool: str
    content: str
    status: str = "success"
    call: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall(Portable):
    """One call of a tool by the model, as a person is shown it; `id` is the model's, one for each call."""

    id: str
    tool: str
    arguments: Mapping[str, object] = field(default=EMPTY, hash=False)

    @property
    def digest(self) -> str | None:
        """SHA-256 hex of the call itself: its id, tool and arguments; None without an id or where these are no JSON."""
        return _digest_of((self.id, self.tool, self.arguments)) if self.id else None

    @property
    def content(self) -> str | None:
        """SHA-256 hex of what the call does, whatever its id; None where the arguments are no JSON."""
        return _digest_of((self.tool, self.arguments))


def _digest_of(parts: Sequence[object]) -> str | None:
    try:
        written = json.dumps(as_json(parts), sort_keys=True)
    except ValueError:
        return None
    return sha256(written.encode()).hexdigest()


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
    host cannot take anything out of its history, so that no room can be made there.
    """

    id: str
    conversation: str
    message: Message
    transcript: tuple[Message, ...] | None = None
    results: tuple[ToolResult, ...] = ()
    named: tuple[str, ...] = ()
    reads: tuple[Read, ...] = ()
    memory: Mapping[str, object] = field(default=EMPTY, hash=False)
    tools: tuple[str, ...] | None = None
    placement: Placement = Placement.HISTORY
    task: Task | None = None
    limits: ToolLimits | None = None
    append_only: bool = False

    def __post_init__(self) -> None:
        for name, value in (("conversation", self.conversation), ("id", self.id)):
            if not value or len(value) > LONGEST_ID:
                raise InvalidTurn(
                    f"Turn({name}={value[:40]!r}) has {len(value)} characters; give 1 to {LONGEST_ID} of them"
                )
            if not value.isprintable():
                raise InvalidTurn(f"Turn({name}={value!r}) holds an unprintable character; remove it")
        if self.task is not None and not isinstance(self.task, Task):
            raise InvalidTurn(f"Turn(task=...) is a {type(self.task).__name__}; give a Task, such as Task(coding=True)")
        if self.limits is not None and not isinstance(self.limits, ToolLimits):
            raise InvalidTurn(
                f"Turn(limits=...) is a {type(self.limits).__name__}; give a plan's limits or ToolLimits.from_dict(...)"
            )


def latest(role: Role, messages: Sequence[Message]) -> Message | None:
    """The last message of that role, None when there is none."""
    return next((message for message in reversed(messages) if message.role is role), None)


class TurnFields(TypedDict, total=False):
    """What a plain message may bring along; the fields are those of `Turn`, `turn_id` is its `id`."""

    conversation: str
    turn_id: str
    role: Role
    transcript: Sequence[Message] | None
    results: Sequence[ToolResult]
    named: Sequence[str]
    memory: Mapping[str, object]
    tools: Sequence[str] | None
    placement: Placement
    task: Task | None
    limits: ToolLimits | None
    append_only: bool


def turn_of(message: str | Turn, fields: TurnFields, new_id: Callable[[], str]) -> Turn:
    """The Turn itself, or one made of the text and its fields.

    Raises InvalidTurn when no conversation is named, TypeError for a field that a turn does not have.
    """
    require_known(fields, TurnFields.__optional_keys__)
    if isinstance(message, Turn):
        if fields:
            raise InvalidTurn(f"a Turn already says {', '.join(sorted(fields))}; change the Turn instead")
        return message
    if "conversation" not in fields:
        raise InvalidTurn("no conversation is named; add conversation='some-id', the same for every turn of one chat")
    transcript, tools = fields.get("transcript"), fields.get("tools")
    return Turn(
        id=fields.get("turn_id") or new_id(),
        conversation=fields["conversation"],
        message=Message(Role(fields.get("role", Role.USER)), message),
        transcript=None if transcript is None else tuple(transcript),
        results=tuple(fields.get("results", ())),
        named=tuple(fields.get("named", ())),
        memory=fields.get("memory", {}),
        tools=None if tools is None else tuple(tools),
        placement=Placement(fields.get("placement", Placement.HISTORY)),
        task=fields.get("task"),
        limits=fields.get("limits"),
        append_only=fields.get("append_only", False),
    )


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
