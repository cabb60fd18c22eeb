"""A moment of a conversation in the data form, as `--ctx` and tests spell it (spec 3.2)."""

import json
from collections.abc import Iterator, Mapping, Sequence

from skillweave.conversation import Message, Role, ToolResult
from skillweave.frontmatter.yaml_text import Plain, resolved
from skillweave.frozen import FrozenDict, as_json
from skillweave.graph.declared import STATUSES
from skillweave.graph.move import MoveContext
from skillweave.graph.shape import (
    inside,
    is_null,
    require_count,
    require_items,
    require_known_keys,
    require_mapping,
    require_string,
    require_text,
    shown,
    wrong,
)
from skillweave.skill import Json

CONTEXT_KEYS = ("user", "iteration", "history", "current", "last_tool", "tools", "pick", "visits", "trail")
MESSAGE_KEYS = ("role", "content", "id")
RESULT_KEYS = ("tool", "result", "call", "status")

MOST_MESSAGES = 100_000
MOST_RESULTS = 10_000
MOST_STEPS = 10_000

_ROLES: Mapping[str, Role] = {**{role.value: role for role in Role}, "developer": Role.SYSTEM}
_RESULT = "write {tool: NAME, result: ...}"


def read_context(data: Mapping[str, object]) -> MoveContext:
    """The moment that the data describes; null is absent, `last_tool` counts without `tools`. Raises InvalidGraph."""
    given = require_mapping(data, "the context", "write keys such as `user` and `tools`")
    require_known_keys(given, CONTEXT_KEYS, "the context")
    found = {key: value for key, value in given.items() if not is_null(value)}
    results = enumerate(_items(found.get("tools", ()), "tools", MOST_RESULTS))
    tools = tuple(read_result(result, inside("tools", number)) for number, result in results)
    if "last_tool" in found:
        last = read_result(found["last_tool"], "last_tool")
        tools = tools if "tools" in found else (last,)
    visits = require_mapping(found.get("visits", {}), "visits", "write {ID: 2}")
    return MoveContext(
        user=require_string(found.get("user", ""), "user", "write text"),
        iteration=require_count(found.get("iteration", 1), "iteration", 1),
        history=tuple(_history(found.get("history", ()))),
        current=_name(found["current"], "current") if "current" in found else None,
        tools=tools,
        picks=read_picks(found.get("pick", ()), "pick"),
        visits=FrozenDict({name: require_count(most, inside("visits", name), 0) for name, most in visits.items()}),
        trail=tuple(_names(found.get("trail", ()), "trail")),
    )


def read_result(value: object, place: str) -> ToolResult:
    """`{tool, result, call, status}`, of which only the tool's name is needed; raises InvalidGraph."""
    data = require_mapping(value, place, _RESULT)
    require_known_keys(data, RESULT_KEYS, place)
    if "tool" not in data:
        raise wrong(place, "the result has no `tool`", _RESULT)
    call = data.get("call")
    return ToolResult(
        tool=require_text(data["tool"], inside(place, "tool"), "name the tool"),
        content=read_content(data.get("result", ""), inside(place, "result")),
        status=_status(data.get("status"), inside(place, "status")),
        call=None if is_null(call) else require_text(call, inside(place, "call"), "write the id of the call"),
    )


def read_content(value: object, place: str) -> str:
    """What a tool answered: text as it stands, anything else as JSON; raises InvalidGraph for what JSON has not."""
    if isinstance(value, str) and (not value or not isinstance(value, Plain) or isinstance(resolved(value), str)):
        return str(value)
    return json.dumps(read_json(value, place, "write text or plain JSON data"), ensure_ascii=False)


def read_json(value: object, place: str, fix: str) -> Json:
    """Plain JSON data, unquoted YAML typed; raises InvalidGraph for what JSON has not."""
    try:
        as_json(value)  # which says what JSON has not, and stops where data is nested without end
        return as_json(resolved(value))
    except ValueError as error:
        raise wrong(place, f"it holds {error}", fix) from error


def read_picks(value: object, place: str) -> tuple[str, ...]:
    """One id, or a list of them; raises InvalidGraph."""
    if isinstance(value, str):
        return (_name(value, place),)
    return tuple(_names(value, place))


def _status(value: object, place: str) -> str:
    """A misspelled status would keep routes from firing, and nobody would see why."""
    if is_null(value):
        return STATUSES[0]
    fix = f"write one of {', '.join(STATUSES)}"
    status = require_text(value, place, fix)
    if status not in STATUSES:
        raise wrong(place, f"{shown(status)} is no status of a result", fix)
    return status


def _history(value: object) -> Iterator[Message]:
    for number, message in enumerate(_items(value, "history", MOST_MESSAGES)):
        place = inside("history", number)
        if isinstance(message, str):
            yield Message(Role.USER, str(message))
            continue
        data = require_mapping(message, place, "write a text, or {role, content}")
        require_known_keys(data, MESSAGE_KEYS, place)
        role = data.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise wrong(inside(place, "role"), f"it is {shown(role)}", f"write one of {', '.join(_ROLES)}")
        content, id_ = data.get("content"), data.get("id")
        yield Message(
            _ROLES[role],
            None if is_null(content) else require_string(content, inside(place, "content"), "write text"),
            None if is_null(id_) else require_text(id_, inside(place, "id"), "write the message's id"),
        )


def _names(value: object, place: str) -> Iterator[str]:
    for number, name in enumerate(_items(value, place, MOST_STEPS)):
        yield _name(name, inside(place, number))


def _name(value: object, place: str) -> str:
    return require_text(value, place, "write a skill's id")


def _items(value: object, place: str, most: int) -> Sequence[object]:
    return require_items(value, place, "write a list", most, "leave the oldest out")
