"""What a route says about the tool that answered: `on_tool` and `on_status` (spec 3.1)."""

from collections.abc import Mapping

from skillweave.graph.conditions import Regex
from skillweave.graph.data.conditions import read_expression, write_expression
from skillweave.graph.data.shape import require_text, require_texts, shown, wrong

_TOOL = "write a tool's name, or {regex: EXPRESSION}"
_STATUS = "write a status such as success, or a list of them"


def read_on_tool(value: object, place: str) -> str | Regex:
    """A tool's name as it stands, or an expression that is searched in it; raises InvalidGraph."""
    if isinstance(value, Regex):
        value = write_expression(value)
    if isinstance(value, Mapping):
        return read_expression(value, place)
    if not isinstance(value, str):
        raise wrong(place, f"it is {shown(value)}, and a tool is expected", _TOOL)
    return require_text(value, place, _TOOL)


def write_on_tool(on_tool: str | Regex) -> object:
    """The same as plain data."""
    return write_expression(on_tool) if isinstance(on_tool, Regex) else on_tool


def read_on_status(value: object, place: str) -> tuple[str, ...]:
    """The statuses that do, one or several; whether there are such statuses is the checkup's to say."""
    if isinstance(value, str):
        return (require_text(value, place, _STATUS),)
    return require_texts(list(value) if isinstance(value, set | frozenset) else value, place, _STATUS)


def write_on_status(statuses: tuple[str, ...]) -> object:
    """The same as plain data, a single one without a list."""
    return statuses[0] if len(statuses) == 1 else list(statuses)
