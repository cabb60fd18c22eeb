"""What tools answered, from `--result TOOL=JSON`."""

import json
from collections.abc import Iterable, Iterator

import typer

from skillweave.conversation import ToolResult
from skillweave.frontmatter.documents import refuse_constant
from skillweave.graph.declared import STATUSES

_FORM = 'write for example lookup_order={"paid":true}, or lookup_order:failure={}'


def results_of(given: Iterable[str] | None) -> tuple[ToolResult, ...]:
    """The results in the order given: TOOL=TEXT, or TOOL:STATUS=TEXT for a status that is not success.

    Text that begins like a JSON object or list has to be one. Raises BadParameter for anything else.
    """
    return tuple(_results(given or ()))


def _results(given: Iterable[str]) -> Iterator[ToolResult]:
    for text in given:
        called, equals, content = text.partition("=")
        tool, _, status = called.rpartition(":") if ":" in called else (called, "", "success")
        if not equals or not tool.strip():
            raise _bad(f"{text[:60]!r} is no TOOL=JSON; {_FORM}")
        if status not in STATUSES:
            raise _bad(f"{status[:60]!r} is no status of a result; write one of {', '.join(STATUSES)}")
        _require_json(tool, content)
        yield ToolResult(tool, content, status)


def _require_json(tool: str, content: str) -> None:
    """A slip in quoting would make prose of an object, in which no guard finds a field."""
    if not content.lstrip().startswith(("{", "[")):
        return
    try:
        json.loads(content, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _bad(f"what {tool[:60]!r} answered is no JSON: {error}; {_FORM}") from None


def _bad(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="'--result'")
