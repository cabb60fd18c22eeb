"""What a move is decided on: what was said, what tools answered, what the model picked (spec 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.codec import Portable
from skillweave.conversation import Message, ToolResult
from skillweave.frozen import EMPTY


@dataclass(frozen=True, slots=True)
class MoveContext(Portable):
    """One moment of a conversation.

    `user` is what the user said last, `iteration` the model's call since then, counted from 1; `current` the skill that
    the cursor is on, None at the start; `tools` the results since the last move, in the order of the calls; `picks`
    what the model asked for, in order. `visits` and `trail` tell where the cursor has been. `between` two calls of the
    model nothing but picks is judged: no entry begins, no route fires.
    """

    user: str = ""
    iteration: int = 1
    history: tuple[Message, ...] = ()
    current: str | None = None
    tools: tuple[ToolResult, ...] = ()
    picks: tuple[str, ...] = ()
    visits: Mapping[str, int] = field(default=EMPTY, hash=False)
    trail: tuple[str, ...] = ()
    between: bool = False


@dataclass(frozen=True, slots=True)
class Look(Portable):
    """What a condition looks at: the moment, and the one tool result that is judged, None without one."""

    context: MoveContext
    result: ToolResult | None = None
