"""A turn as it is asked of the service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import ClassVar

from skillweave.checking import Checked, most
from skillweave.codec import Portable
from skillweave.conversation import (
    MOST_MESSAGES,
    MOST_NAMED,
    MOST_RESULTS,
    Message,
    Placement,
    Read,
    ToolResult,
    Turn,
    message_of,
)
from skillweave.disclose.fit import Budget
from skillweave.errors import InvalidTurn
from skillweave.frozen import EMPTY
from skillweave.limits import MOST_ENTRIES, ToolLimits
from skillweave.task import Task


class DeliveryMode(StrEnum):
    """Whether a turn's texts count as given with the answer, or when the host confirms that it delivered them."""

    GIVEN = "given"
    TWO_PHASE = "two-phase"


@dataclass(frozen=True, slots=True)
class TurnRequest(Portable):
    """A turn of the conversation that the path names: the fields of `Turn`, all but `message` with a default.

    A `message` that is a text is one of the user. Without an `id` the Idempotency-Key is the turn's id. With the
    `delivery` `two-phase` the host confirms or releases the turn within 60 s. Keys of `memory` go before working
    memory.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("message", "id?", "transcript?", "results?", "named?", "reads?", "memory?", "tools?", "placement?"),
        *("task?", "limits?", "append_only?", "delivery?", "budget?"),
    )
    json_exact: ClassVar[bool] = True

    message: str | Message
    id: str | None = None
    transcript: tuple[Message, ...] | None = field(default=None, metadata=most(MOST_MESSAGES))
    results: tuple[ToolResult, ...] = field(default=(), metadata=most(MOST_RESULTS))
    named: tuple[str, ...] = field(default=(), metadata=most(MOST_NAMED))
    reads: tuple[Read, ...] = field(default=(), metadata=most(MOST_NAMED))
    memory: Mapping[str, object] = field(default=EMPTY, hash=False, metadata=most(MOST_RESULTS))
    tools: tuple[str, ...] | None = field(default=None, metadata=most(MOST_ENTRIES))
    placement: Placement = Placement.HISTORY
    task: Task | None = None
    limits: ToolLimits | None = None
    append_only: bool = False
    delivery: DeliveryMode = DeliveryMode.GIVEN
    budget: Budget | None = None

    def __post_init__(self) -> None:
        given: object = self.delivery
        if not isinstance(given, DeliveryMode):
            object.__setattr__(self, "delivery", _CHECKED.member("delivery", given, DeliveryMode))

    def turn(
        self, conversation: str, *, key: str | None, memory: Mapping[str, object], new_id: Callable[[], str]
    ) -> Turn:
        """The turn, its memory over the conversation's. Raises InvalidTurn, also if `id` and `key` differ."""
        known = {one.name: getattr(self, one.name) for one in fields(Turn) if one.name in _SHARED}
        known["id"] = one_key("turn has the id", self.id, key, InvalidTurn) or new_id()
        said = message_of(self.message)
        return Turn(conversation=conversation, message=said, memory={**memory, **self.memory} or EMPTY, **known)


_CHECKED = Checked("TurnRequest", InvalidTurn)
_SHARED = frozenset(one.name for one in fields(TurnRequest)) - {"id", "message", "memory"}


def one_key(what: str, own: str | None, key: str | None, error: Callable[[str], Exception]) -> str | None:
    """The request's own id, else the Idempotency-Key; raises the error where these are two."""
    if own is not None and key is not None and own != key:
        raise error(f"the {what} {own[:60]!r} and the Idempotency-Key {key[:60]!r}; give one of the two")
    return key if own is None else own
