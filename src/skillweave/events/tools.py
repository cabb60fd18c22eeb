"""The event that a call was denied."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class ToolBlocked(BuiltIn):
    """A tool call that the skills in force do not allow (V004), without its arguments, which may hold secrets.

    `code` is TOOL_FORBIDDEN or TOOL_NOT_ALLOWED; `allowed` None means every tool that is not in `forbidden`. `call_id`
    is the host's name for the call, if it gave one.
    """

    event_type: ClassVar[str] = "tool.blocked"

    tool: str
    code: str
    allowed: tuple[str, ...] | None
    forbidden: tuple[str, ...]
    call_id: str | None
