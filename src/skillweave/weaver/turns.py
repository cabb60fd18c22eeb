"""From what a caller has at hand to a Turn."""

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypedDict

from skillweave.conversation import Message, Placement, Role, ToolResult, Turn
from skillweave.errors import InvalidTurn
from skillweave.limits import ToolLimits
from skillweave.task import Task


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
