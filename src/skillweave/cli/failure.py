"""What a user is told when a command fails: one line, an exit code, and with `--json` an object on stdout."""

import json
import os
from collections.abc import Sequence
from typing import NoReturn, TypedDict

from skillweave.errors import Contended, SkillweaveError, StoreUnavailable
from skillweave.redaction import without_secrets

MISTAKE, USAGE, UNREACHABLE = 1, 2, 3
INTERRUPTED = 130


def leave_interrupted(how_far: str = "") -> NoReturn:
    """End this process at once, with a line that says how far it came, where that is known."""
    # Leaving in the usual way would wait for the threads that read folders; a database survives this.
    os.write(2, f"\nskillweave: interrupted{how_far}\n".encode())
    os._exit(INTERRUPTED)


class Mistake(SkillweaveError):
    """Something about the command line that only its user can put right."""


class Problem(TypedDict):
    """Why a command failed: the error's name, one line with the remedy, and the exit code."""

    type: str
    message: str
    exit_code: int


class Failed(TypedDict):
    """What every command prints with `--json` when it fails."""

    error: Problem


def failure_in_json(failure: Problem, indent: int | None = 2) -> str:
    """`{$schema, error: {type, message, exit_code}}`; in one line where `indent` is None."""
    from skillweave.schemas import naming

    return json.dumps({**naming("error"), **Failed(error=failure)}, indent=indent)


def failure_of(error: Exception) -> Problem:
    """What an exception means for the user, without the passwords of what was named in the command."""
    kind, line, code = _meaning(error)
    return Problem(type=kind, message=without_secrets(line), exit_code=code)


def _meaning(error: Exception) -> tuple[str, str, int]:
    if isinstance(error, SkillweaveError):
        code = UNREACHABLE if isinstance(error, StoreUnavailable | Contended) else MISTAKE
        return type(error).__name__, str(error), code
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}; check that it exists and is yours" if error.filename else None
        return "SystemRefused", what or f"the system refuses: {error.strerror or error}; try again", MISTAKE
    if isinstance(error, UnicodeError):
        return "UnreadableInput", f"the input cannot be read: {error}; give plain UTF-8 text", MISTAKE
    return _usage(error)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether `--json` is among the options, also when the command line as a whole is wrong."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _usage(error: Exception) -> tuple[str, str, int]:
    format_message = getattr(error, "format_message", lambda: str(error))
    message = str(format_message()).strip().rstrip(".")
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "skillweave")
    params = getattr(getattr(context, "command", None), "params", ())
    if "unexpected extra argument" in message and any(getattr(one, "name", None) == "message" for one in params):
        message += "; a MESSAGE of several words stands in quotes"
    message = message[:1].lower() + message[1:] + ("" if message.endswith("?") else ";")
    return "UsageError", f"{message} `{path} --help` shows how it is used", USAGE
