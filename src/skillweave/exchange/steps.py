"""What an exchange asks of its door, and what it gets from it: all I/O with client and upstream is the door's."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from skillweave.adapters.approval import Reply
from skillweave.adapters.chat import Call
from skillweave.errors import SkillweaveError
from skillweave.exchange.identify import Scope
from skillweave.injection import Injection, PendingCheckpoint
from skillweave.state.insertions import Insertions
from skillweave.weaver import Weaver


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a client; names of headers are in lower case, `conversation` is what the process itself says."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The answer of a provider; `body` is None where it is a stream that the door has not read yet."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Send:
    """Send this body upstream; the door answers with an Upstream."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Pass:
    """Give what upstream answered to the client as it comes, a stream too; nothing else follows."""

    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """Give this to the client; nothing else follows."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a streamed answer, with the headers of upstream and these."""

    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Relay:
    """Read the stream of upstream to its end; what `feed` makes of each piece goes on to the client."""

    feed: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Write:
    """Give these bytes of a streamed answer to the client."""

    data: bytes


Step: TypeAlias = Send | Pass | Answer | Start | Relay | Write


@dataclass(frozen=True, slots=True)
class Question:
    """A call at a checkpoint: what a person is asked while the reply is held. `turn_id` is that of the request."""

    conversation: str
    turn_id: str
    call: Call
    checkpoints: Sequence[PendingCheckpoint]


Approve: TypeAlias = Callable[[Question], Awaitable[Reply | None]]
"""Asks a person, and has the conversation know the verdict; None where nobody answered in time."""


class Refused(SkillweaveError):
    """A request that is not sent on; `status` and `code` are those of the problem, the message says what to do."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True)
class Parts:
    """What every exchange of a door works with; `approve` None means that a call at a checkpoint is denied.

    `before` is awaited with the conversation before its turn, and `seen` is told of each injection.
    """

    weaver: Weaver
    insertions: Insertions
    scope: Scope = field(default_factory=Scope)
    approve: Approve | None = None
    require_conversation: bool = False
    before: Callable[[str], Awaitable[object]] | None = None
    seen: Callable[[Injection], None] = lambda _: None
