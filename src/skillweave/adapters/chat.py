"""A chat as a host keeps it, read: its messages, its tool calls, our blocks in it, and the Turn that comes next."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypedDict, Unpack

from skillweave.compose.policy import Verdict
from skillweave.dialogue import Message, Part, Placement, Role, ToolResult, Turn
from skillweave.disclose.block import FIXED_LINES, HEADER_END, HEADERS, TAKEN_OUT
from skillweave.errors import InvalidTurn
from skillweave.limits import ToolLimits
from skillweave.select.selection import MARKER
from skillweave.state.approvals import NOTICE_END
from skillweave.turn.reconcile import split_at_blocks

SEPARATOR = "\n\n"
"""Between two of our texts in one place; blocks are recognised from header to header."""
NOT_RUN = (
    "not run: the chat went on before a person had decided about this call; call again if it is still wanted, "
    "and the person is asked again"
)
"""What the model is told of a call that waited for a person."""

_SHOWN = 60
_HEADER = re.compile(
    f"(?:{'|'.join(re.escape(header) for header in HEADERS)})[^\r\n]*{re.escape(HEADER_END)}(?:\r?\n|$)"
)
_MORE_PARAMETERS = ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model: judge it with `injection.tools.authorize(name, arguments)` before anything runs.

    `arguments` is None when what the model wrote is not a JSON object; then `problem` says why, in words for the model:
    answer with `refuse(call, call.problem)`. `parameters` are the names of all parameters that the tool has, None where
    they are not known or it takes any; rules on arguments are judged on no others.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    problem: str | None = None
    parameters: tuple[str, ...] | None = None


def read_call(call_id: object, name: object, arguments: object) -> Call:
    """The call as the model wrote it; a broken one is reported in `problem`, never dropped and never raised."""
    known_id = call_id if isinstance(call_id, str) else ""
    if not isinstance(name, str) or not name:
        return Call(known_id, "", None, "this call names no tool; call again with a tool's name")
    if isinstance(arguments, Mapping):
        return Call(known_id, name, arguments)
    if arguments is None or arguments == "":
        return Call(known_id, name, {})
    found, problem = _parsed(arguments)
    if problem:
        shown = f"the arguments of this call of {name[:_SHOWN]!r} are {problem}"
        return Call(known_id, name, None, f"{shown}; call again with a JSON object")
    return Call(known_id, name, found)


def _parsed(arguments: object) -> tuple[Mapping[str, Any] | None, str]:
    if not isinstance(arguments, str):
        return None, f"of type {type(arguments).__name__}, not a JSON object"
    try:
        found = json.loads(arguments)
    except json.JSONDecodeError as error:
        return None, f"not JSON ({error.msg} at character {error.pos})"
    except (RecursionError, ValueError):
        return None, "nested too deeply, or hold a number that is too long"
    return (found, "") if isinstance(found, dict) else (None, "JSON, but not an object")


def parameters_in(schema: object) -> tuple[str, ...] | None:
    """The names of all parameters that a tool's JSON Schema declares; None where it takes others too, or says none.

    An argument that no parameter declares counts as one that the tool has not, unless the schema asks for more.
    """
    if not isinstance(schema, Mapping) or any(schema.get(key) for key in _MORE_PARAMETERS):
        return None
    # What says nothing at all takes anything, in the words of JSON Schema; tools without parameters say so.
    declared = schema.get("properties", {} if schema.get("additionalProperties") is False else None)
    return tuple(map(str, declared)) if isinstance(declared, Mapping) else None


def words_for(why: Verdict | str) -> str:
    """What the model is told about a call that was not run."""
    return why if isinstance(why, str) else why.message


def holds_marker(text: str) -> bool:
    """Whether the model asks for a skill by a `SKILL_SELECT:` marker."""
    return MARKER.search(text) is not None


def only_markers(text: str) -> bool:
    """Whether the model said nothing but `SKILL_SELECT:` markers, so that nobody was answered."""
    return holds_marker(text) and not MARKER.sub("", text).strip(" \t\r\n.,;:`*'\"")


def is_block(part: Part) -> bool:
    """Whether the part looks like a text of ours: it has a block's header line, or is one of our fixed sentences.

    This is for the id of a turn alone, which has to be the same whether our texts stand in the chat already or not.
    Whose words a text is, and whether a block is in the context, is the ledger's question: how a text begins proves
    nothing there (spec 5.4).
    """
    if not isinstance(part, str):
        return False
    return _HEADER.match(part) is not None or part in FIXED_LINES or part.endswith(NOTICE_END)


def all_blocks(parts: Sequence[Part]) -> bool:
    """Whether there is nothing but what looks like ours, and at least one such part."""
    return bool(parts) and all(is_block(part) for part in parts)


def without_blocks(parts: Sequence[Part]) -> tuple[Part, ...]:
    """A tool's answer without our blocks: equal whether they still stand there or were taken out."""
    texts = ("" if part == TAKEN_OUT else split_at_blocks(part)[0] for part in parts if isinstance(part, str))
    others = (part for part in parts if not isinstance(part, str))
    return (*(left for text in texts if (left := text.rstrip())), *others)


@dataclass(frozen=True, slots=True)
class HostMessage:
    """One message of a chat as the model is sent it; `host_part` is it without what looks like ours, None for nothing.

    The host's part is what a turn's id is made of, and nothing more. `calls` are what the model asks for in it,
    `result` is what a tool answered in it; `where` names its place in errors. `said` is what a turn takes for the words
    of it, where these are not the message's own.
    """

    where: str
    message: Message
    host_part: Message | None
    calls: tuple[Call, ...] = ()
    result: ToolResult | None = None
    said: Message | None = None


def spoken(
    where: str,
    role: Role,
    parts: Sequence[Part],
    calls: Sequence[Call] = (),
    *,
    ours: Collection[Role] = (Role.USER, Role.SYSTEM),
    message_id: str | None = None,
) -> HostMessage:
    """The message of anybody but a tool; one of a role in `ours` may be nothing but what looks like ours."""
    whole = Message(role, tuple(parts), message_id)
    return HostMessage(where, whole, None if role in ours and all_blocks(parts) else whole, tuple(calls))


def answer_of_tool(
    where: str,
    parts: Sequence[Part],
    *,
    tool: str = "",
    status: str = "success",
    call: object = None,
    message_id: str | None = None,
) -> HostMessage:
    """The message in which a tool answered the call of this id; what skillweave gave in it is not the host's."""
    whole = Message(Role.TOOL, tuple(parts), message_id)
    result = ToolResult(tool, whole.text, status, call if isinstance(call, str) else None)
    return HostMessage(where, whole, Message(Role.TOOL, without_blocks(parts), message_id), result=result)


class TurnOptions(TypedDict, total=False):
    """What a host may add to its chat; the fields are those of `Turn`, `turn_id` is its `id`.

    `tools` are names, and for lists of messages also the provider's declarations. `append_only` says that the host
    keeps its chat where nothing can be taken out of it.
    """

    turn_id: str | None
    placement: Placement
    tools: Sequence[Any] | None
    memory: Mapping[str, object]
    named: Sequence[str]
    limits: ToolLimits | None
    append_only: bool


def turn_from(chat: Sequence[HostMessage], conversation: str, **fields: Unpack[TurnOptions]) -> Turn:
    """The Turn of the coming call of the model: the chat is its transcript, the last words in it are its message.

    The message is whole: the turn finds out which of its words are ours. Raises InvalidTurn when neither user nor model
    said anything, or when the model's last calls are not all answered: no provider takes such a chat.
    """
    said = last_spoken(chat)
    if said is None:
        raise InvalidTurn("the chat holds no message of a user or of the model; add what the user said")
    tools = fields.get("tools")
    return Turn(
        id=fields.get("turn_id") or _stable_id(conversation, chat),
        conversation=conversation,
        message=said,
        transcript=tuple(piece.message for piece in chat),
        results=_results(chat),
        named=tuple(fields.get("named", ())),
        memory=fields.get("memory", {}),
        tools=None if tools is None else tuple(tools),
        placement=Placement(fields.get("placement", Placement.HISTORY)),
        limits=fields.get("limits"),
        append_only=fields.get("append_only", False),
    )


def last_spoken(chat: Sequence[HostMessage]) -> Message | None:
    """The last message of the user or the model, None where neither said anything; it may hold texts of ours."""
    messages = (piece.said or piece.message for piece in reversed(chat))
    return next((said for said in messages if said.role in (Role.USER, Role.ASSISTANT)), None)


def last_words(chat: Sequence[HostMessage]) -> Message | None:
    """What was said last without what looks like ours: to compare two forms of one chat, as a turn's id does."""
    parts = (piece.host_part for piece in reversed(chat))
    return next((said for said in parts if said and said.role in (Role.USER, Role.ASSISTANT)), None)


def asked_now(chat: Sequence[HostMessage]) -> bool:
    """Whether the user said something that the model has not answered to yet, not even by calling a tool."""
    for piece in reversed(chat):
        if piece.message.role is Role.ASSISTANT:
            return False
        if piece.message.role is Role.USER and piece.host_part is not None:
            return True
    return False


def _results(chat: Sequence[HostMessage]) -> tuple[ToolResult, ...]:
    """What the tools answered since the model's last words; raises InvalidTurn where a call of it has no answer."""
    last = next((n for n in reversed(range(len(chat))) if chat[n].message.role is Role.ASSISTANT), -1)
    results = [piece.result for piece in chat[last + 1 :] if piece.result is not None]
    if not results and (last < 0 or not chat[last].calls):
        return ()
    answered = {result.call for result in results}
    for call in chat[last].calls if last >= 0 else ():
        if call.id and call.id not in answered:
            raise InvalidTurn(
                f"{chat[last].where} calls {call.name[:_SHOWN]!r} and no result follows; append the results of all"
                " calls before the next turn"
            )
    asked = {call.id: call for piece in chat for call in piece.calls}
    return tuple(_named(result, asked.get(result.call or "")) for result in results)


def _named(result: ToolResult, call: Call | None) -> ToolResult:
    """The result with its tool, and a status in the words of a graph's routes, also where a framework has none."""
    named = result if call is None else replace(result, tool=call.name, arguments=call.arguments)
    if call is not None and call.problem:
        return replace(named, status="invalid")
    return replace(named, status="failure") if result.status == "error" else named


def _stable_id(conversation: str, chat: Sequence[HostMessage]) -> str:
    """An id that a retry of the chat has again.

    A system prompt in front may tell the time of day; what was said is what makes a turn the same turn again.
    """
    said = [(piece.message.role, piece.host_part, piece.where) for piece in chat if piece.host_part is not None]
    start = next((n for n, (role, _, _) in enumerate(said) if role is not Role.SYSTEM), len(said))
    digest = sha256(_written([conversation], "the conversation"))
    for role, part, where in said[start:]:
        digest.update(_written([role.value, [_stable(one) for one in part.content or ()]], where))
    return f"chat-{digest.hexdigest()[:32]}"


def _stable(part: Part) -> Part:
    # Hosts move their cache markers on from call to call.
    return part if isinstance(part, str) else {key: value for key, value in part.items() if key != "cache_control"}


def _written(value: object, where: str) -> bytes:
    try:
        return _JSON.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTurn(f"{where} cannot be written as JSON: {error}; no provider accepts it; correct it") from error


def _dumped(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else type(value).__name__


_JSON = json.JSONEncoder(sort_keys=True, default=_dumped)
