"""From the words and files of a command line to the parts of a Turn, and the settings that it runs under."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from skillweave.cli.arguments.reading import read_file, read_input
from skillweave.cli.failure import Mistake
from skillweave.conversation import Message, ToolResult
from skillweave.errors import InvalidData, InvalidTurn

if TYPE_CHECKING:
    from skillweave.select.own_fit import OwnFit
    from skillweave.settings import Settings

_FORM = 'write for example lookup_order={"paid":true}, or lookup_order:failure={}'
MOST_TRANSCRIPT_BYTES = 64 * 1024 * 1024


def settings_of(*, catalog: str, max_skills: int, budget: int, fitted: str | None = None) -> "Settings":
    """The settings that the options name, the others at their defaults. Raises Mistake if `fitted` cannot be read."""
    from skillweave.disclose.fit import Budget
    from skillweave.settings import CatalogMode, Settings

    read = None if fitted is None else _read_fitted(fitted)
    return Settings(budget=Budget(total=budget), max_skills=max_skills, catalog=CatalogMode(catalog), fitted=read)


def _read_fitted(path: str) -> "OwnFit":
    from skillweave.select.own_fit import OwnFit

    try:
        return OwnFit.from_dict(json.loads(read_file(path, "--fitted", "a file that `skillweave eval fit` wrote")))
    except (ValueError, InvalidData) as error:
        raise Mistake(f"{path!r} is nothing that `skillweave eval fit` wrote: {error}; fit anew") from None


def message_text(given: str) -> str:
    """The text of the message; `-` reads standard input. Raises Mistake for what is no UTF-8, and over 16 MiB."""
    if given == "-":
        return decoded(read_input("the message"), "standard input")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise Mistake(
            f"MESSAGE is no UTF-8 text from its character {error.start + 1} on; give it in UTF-8, or by standard input "
            "with `-` as MESSAGE"
        ) from None
    return given


def decoded(data: bytes, what: str) -> str:
    """Bytes as text, without a byte order mark; raises Mistake naming the first byte that is no UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Mistake(f"{what} is no UTF-8 text (byte {error.start + 1}); save it as UTF-8 and try again") from None


def memory_of(pairs: Iterable[str] | None) -> dict[str, object]:
    """The values by key, the last one of a key; raises BadParameter for what is no pair."""
    memory: dict[str, object] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(
                f"{pair[:60]!r} is no KEY=VALUE; write for example entity_id=ship-7", param_hint="'--memory'"
            )
        memory[key] = value
    return memory


def results_of(given: Iterable[str] | None) -> tuple[ToolResult, ...]:
    """The results in the order given: TOOL=TEXT, or TOOL:STATUS=TEXT. Raises BadParameter for broken JSON."""
    return tuple(map(_result, given or ()))


def _result(text: str) -> ToolResult:
    from skillweave.frontmatter.documents import refuse_constant
    from skillweave.graph.declared import STATUSES

    called, equals, content = text.partition("=")
    tool, _, status = called.rpartition(":") if ":" in called else (called, "", "success")
    wrong = ""
    if not equals or not tool.strip():
        wrong = f"{text[:60]!r} is no TOOL=JSON"
    elif status not in STATUSES:
        wrong = f"{status[:60]!r} is no status of a result, which is one of {', '.join(STATUSES)}"
    elif content.lstrip().startswith(("{", "[")):
        # A slip in quoting would make prose of an object, in which no guard finds a field.
        try:
            json.loads(content, parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            wrong = f"what {tool[:60]!r} answered is no JSON: {error}"
    if wrong:
        raise typer.BadParameter(f"{wrong}; {_FORM}", param_hint="'--result'")
    return ToolResult(tool, content, status)


def read_transcript(path: str | None) -> tuple[Message, ...] | None:
    """The messages, None where no file is named; raises Mistake naming the file, the entry and the rule."""
    if path is None:
        return None
    data = read_file(path, "transcript", "a JSON file with a list of messages", limit=MOST_TRANSCRIPT_BYTES)
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
        raise Mistake(f"{what} is not a list; give a list of {{role, content, id}}")
    return tuple(_message(entry, f"{what}, entry {place}") for place, entry in enumerate(entries, start=1))


def _message(entry: object, where: str) -> Message:
    if isinstance(entry, dict):
        role, content = entry.get("role"), entry.get("content")
        parts = [*map(_part, content)] if isinstance(content, list) else content
        entry = {**entry, "role": "system" if role == "developer" else role, "content": parts}
    try:
        return Message.from_dict(entry)
    except (InvalidData, InvalidTurn) as error:
        raise Mistake(f"{where}: {error}; write it as {{role, content, id}}") from None


def _part(part: object) -> object:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "input_text", "output_text"):
        return part
    return part["text"] if isinstance(part.get("text"), str) else part
