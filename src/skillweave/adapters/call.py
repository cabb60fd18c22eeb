"""A tool call in a provider's reply, as a neutral value."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillweave.compose.policy import Verdict

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Call:
    """One call: judge it with `injection.tools.authorize(name, arguments)` before anything runs.

    `arguments` is None when what the model wrote is no JSON object; then `problem` says why, in words for the model:
    answer with `refuse(call, call.problem)`.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    problem: str | None = None


def read_call(call_id: object, name: object, arguments: object) -> Call:
    """The call as it was written; a broken one is reported in `problem`, never dropped and never raised."""
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


def words_for(why: Verdict | str) -> str:
    """What the model is told about a call that was not run."""
    return why if isinstance(why, str) else why.message


def _parsed(arguments: object) -> tuple[Mapping[str, Any] | None, str]:
    if not isinstance(arguments, str):
        return None, f"of type {type(arguments).__name__}, not a JSON object"
    try:
        found = json.loads(arguments)
    except json.JSONDecodeError as error:
        return None, f"not JSON ({error.msg} at character {error.pos})"
    except (RecursionError, ValueError):
        return None, "nested too deeply, or hold a number that is too long"
    if not isinstance(found, dict):
        return None, "JSON, but not an object"
    return found, ""
