"""What an event may be called."""

import re

EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}", re.ASCII)
"""The form of a name, which has to fit into one line of a stream; use with `fullmatch`."""

RESERVED = ("turn.", "skill.", "tool.", "checkpoint.", "spawn.", "cursor.")
"""What the names of skillweave's own events begin with; a skill must not be able to forge one."""


def name_problem(name: str) -> str | None:
    """Why a skill or a pack cannot have an event of that name; None when it can."""
    if EVENT_NAME.fullmatch(name) is None:
        return "is no event name, which has 1 to 100 ASCII letters, digits, `_`, `.` or `-` and begins with a letter"
    if name.lower().startswith(RESERVED):
        return f"begins like skillweave's own events ({', '.join(RESERVED)})"
    return None
