"""A turn as it is asked of the service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import ClassVar

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.dialogue import Message, Placement, Read, ToolResult, Turn, message_of
from skillweave.disclose.fit import Budget
from skillweave.errors import InvalidTurn
from skillweave.frozen import EMPTY
from skillweave.limits import ToolLimits
from skillweave.task import Task


class DeliveryMode(StrEnum):
    """Whether a turn's texts count as given with the answer, or when the host confirms that it delivered them."""

    GIVEN = "given"
    TWO_PHASE = "two-phase"


@dataclass(frozen=True, slots=True)
class TurnRequest(Portable):
    """A turn of the conversation that the path names; all but `message` has a default.

    The fields are those of `Turn`; a `message` that is a text is one of the user. Without an `id` the turn has the
    Idempotency-Key, else a new one. `delivery` is `given` or `two-phase`, in which the host confirms or releases the
    turn within 60 s; `budget` is one for this turn, None the service's. A conversation's working memory is part of the
    turn; keys of `memory` go before its keys, for this turn.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("message", "id?", "transcript?", "results?", "named?", "reads?", "memory?", "tools?", "placement?"),
        *("task?", "limits?", "append_only?", "delivery?", "budget?"),
    )
    json_exact: ClassVar[bool] = True

    message: str | Message
    id: str | None = None
    transcript: tuple[Message, ...] | None = None
    results: tuple[ToolResult, ...] = ()
    named: tuple[str, ...] = ()
    reads: tuple[Read, ...] = ()
    memory: Mapping[str, object] = field(default=EMPTY, hash=False)
    tools: tuple[str, ...] | None = None
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
        """The turn, with the conversation's working memory below its own; `key` is the Idempotency-Key.

        Raises InvalidTurn for a turn that cannot be run, and where `id` and `key` are two.
        """
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
