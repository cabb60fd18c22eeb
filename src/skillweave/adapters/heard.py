"""From a read chat to a Turn: what was said last, what tools answered, and an id that a retry has again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypedDict, Unpack

from skillweave.adapters.call import Call
from skillweave.compose.policy import Refusal
from skillweave.conversation import Message, Part, Placement, Role, ToolResult, Turn
from skillweave.errors import InvalidTurn
from skillweave.limits import ToolLimits
from skillweave.task import Task

_REFUSED = tuple(f"{code.value}: " for code in Refusal)


class HostFields(TypedDict, total=False):
    """What a host knows of a turn beside its chat; the fields are those of `Turn`, `turn_id` is its `id`."""

    turn_id: str | None
    placement: Placement
    tools: Sequence[str] | None
    memory: Mapping[str, object]
    named: Sequence[str]
    task: Task | None
    limits: ToolLimits | None


@dataclass(frozen=True, slots=True)
class Heard:
    """One message as the model is sent it: `theirs` is what of it the host wrote, None when all of it is ours.

    `calls` are what the model asks for in it, `result` is what a tool answered in it; `where` names its place in
    errors.
    """

    where: str
    message: Message
    theirs: Message | None
    calls: tuple[Call, ...] = ()
    result: ToolResult | None = None


def turn_from(pieces: Sequence[Heard], conversation: str, **fields: Unpack[HostFields]) -> Turn:
    """The coming call: the whole chat is its transcript, the last words of user or model its message.

    Raises InvalidTurn when nobody said anything, or when the model's last calls are not all answered: no provider
    takes such a chat.
    """
    said = last_words(pieces)
    if said is None:
        raise InvalidTurn("the chat holds no message of a user or of the model; add what the user said")
    tools = fields.get("tools")
    return Turn(
        id=fields.get("turn_id") or _stable_id(conversation, pieces),
        conversation=conversation,
        message=said,
        transcript=transcript_of(pieces),
        results=_results(pieces),
        named=tuple(fields.get("named", ())),
        memory=fields.get("memory", {}),
        tools=None if tools is None else tuple(tools),
        placement=Placement(fields.get("placement", Placement.HISTORY)),
        task=fields.get("task"),
        limits=fields.get("limits"),
    )


def last_words(pieces: Sequence[Heard]) -> Message | None:
    """What the user or the model said last, None where neither did."""
    theirs = (piece.theirs for piece in reversed(pieces))
    return next((said for said in theirs if said and said.role in (Role.USER, Role.ASSISTANT)), None)


def transcript_of(pieces: Sequence[Heard]) -> tuple[Message, ...]:
    """Everything that the model is sent, our own texts with it."""
    return tuple(piece.message for piece in pieces)


def _results(pieces: Sequence[Heard]) -> tuple[ToolResult, ...]:
    last = max((n for n, piece in enumerate(pieces) if piece.message.role is Role.ASSISTANT), default=-1)
    results = [piece.result for piece in pieces[last + 1 :] if piece.result is not None]
    answered = {result.call for result in results}
    for call in pieces[last].calls if last >= 0 else ():
        if call.id and call.id not in answered:
            raise InvalidTurn(
                f"{pieces[last].where} calls {call.name[:60]!r} and no result follows; append the results of all calls"
                " before the next turn"
            )
    asked = {call.id: call for piece in pieces for call in piece.calls}
    return tuple(_answered(result, asked.get(result.call or "")) for result in results)


def _answered(result: ToolResult, call: Call | None) -> ToolResult:
    """The result with its tool, and a status in the words of a graph's routes, also where a framework has none."""
    named = result if call is None else replace(result, tool=call.name)
    if call is not None and call.problem:
        return replace(named, status="invalid")
    if result.content.startswith(_REFUSED):
        return replace(named, status="denied")
    return replace(named, status="failure") if result.status == "error" else named


def _stable_id(conversation: str, pieces: Sequence[Heard]) -> str:
    # A system prompt in front may tell the time of day; what was said is what makes a turn the same turn again.
    theirs = [piece for piece in pieces if piece.theirs is not None]
    start = next(n for n, piece in enumerate(theirs) if piece.message.role is not Role.SYSTEM)
    digest = sha256(_written([conversation], "the conversation"))
    for piece in theirs[start:]:
        content = piece.theirs.content if piece.theirs else ()
        digest.update(_written([piece.message.role.value, [_stable(part) for part in content or ()]], piece.where))
    return f"chat-{digest.hexdigest()[:32]}"


def _stable(part: Part) -> Part:
    # Hosts move their cache markers on from call to call.
    return part if isinstance(part, str) else {key: value for key, value in part.items() if key != "cache_control"}


def _written(value: object, where: str) -> bytes:
    try:
        return json.dumps(value, sort_keys=True, default=_dumped).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTurn(f"{where} cannot be written as JSON: {error}; no provider takes it, so mend it") from error


def _dumped(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else type(value).__name__
