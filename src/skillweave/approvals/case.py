"""What a person is asked at a checkpoint, and how the question stands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.conversation import ToolCall, require_id
from skillweave.errors import InvalidValue, InvalidVerdict, SkillweaveError
from skillweave.frozen import EMPTY, FrozenJson, as_json, freeze_mapping
from skillweave.state.approvals import LONGEST_NAME, require_words
from skillweave.state.state import ApprovalVerdict, State

ESCALATE_SECONDS = 24 * 3600.0
"""Seconds after which an undecided approval goes to the next reviewer, where nothing else is said."""
MOST_ESCALATE_SECONDS = 10 * 366 * 24 * 3600.0
"""Seconds that an approval may wait before it escalates."""
LONGEST_APPROVAL_ID = 200
"""Characters of an approval's id."""
MOST_PAYLOAD_BYTES = 64 * 1024
"""Bytes that a payload may have as JSON."""


class ApprovalStatus(StrEnum):
    """How an approval stands: `pending` until a person decides."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    MODIFIED = "modified"


@dataclass(frozen=True, slots=True)
class ApprovalRequest(Portable):
    """What a host asks a person: may the agent pass this checkpoint, with this call where it asks about calls.

    `digest` is that of the skill as shown, None for the present one. After `escalate_seconds` without an answer
    `escalate_to` is asked. `payload` is kept and never read, at most 64 KiB. Raises InvalidTurn, InvalidValue.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("conversation", "skill_id", "checkpoint", "call?", "digest?", "reviewer?", "escalate_to?"),
        *("escalate_seconds?", "payload?"),
    )
    json_exact: ClassVar[bool] = True

    conversation: str
    skill_id: str
    checkpoint: str
    call: ToolCall | None = None
    digest: str | None = None
    reviewer: str = ""
    escalate_to: str | None = None
    escalate_seconds: float = ESCALATE_SECONDS
    payload: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        checked = Checked("ApprovalRequest")
        require_id("conversation", self.conversation, "ApprovalRequest")
        for name in ("skill_id", "checkpoint", "reviewer"):
            checked.text(name, getattr(self, name))
        for name in ("digest", "escalate_to"):
            if getattr(self, name) is not None:
                checked.text(name, getattr(self, name))
        if self.call is not None:
            checked.kind("call", self.call, ToolCall, "skillweave.ToolCall(id, tool, arguments), or None")
        for name in ("reviewer", "escalate_to"):
            if len(getattr(self, name) or "") > LONGEST_NAME:
                checked.refuse(name, getattr(self, name), f"at most {LONGEST_NAME} characters")
        checked.number("escalate_seconds", self.escalate_seconds, 0, MOST_ESCALATE_SECONDS)
        object.__setattr__(self, "payload", _bounded(checked, self.payload))


@dataclass(frozen=True, slots=True)
class ApprovalCase(Portable):
    """A request for a verdict, with all that became of it.

    `reviewer` is who is asked now; `state` is the conversation when the question came up, None in a list. `arguments`
    are those that a `modified` call runs with; `applied`: the conversation has the verdict. `key` is the id and name of
    the API key that gave it. Times are seconds of the store's clock; `due_at` is when it escalates, None for never.
    `logged` is the number and the seal of the log's row with the verdict: who keeps it can tell that the log was cut.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "key?", "logged?")

    id: str
    request: ApprovalRequest
    status: ApprovalStatus
    reviewer: str
    digest: str
    created_at: float
    due_at: float | None
    state: State | None
    decided_at: float | None = None
    by: str = ""
    note: str = ""
    arguments: Mapping[str, FrozenJson] | None = field(default=None, hash=False)
    applied: bool = False
    escalations: int = 0
    key: str = ""
    logged: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalReply(Portable):
    """What a person says to an approval; `note` is told to the model with a no, `arguments` go with `modified`."""

    json_keys: ClassVar[tuple[str, ...]] = ("verdict", "by", "note?", "arguments?")
    json_exact: ClassVar[bool] = True

    verdict: ApprovalVerdict
    by: str
    note: str = ""
    arguments: Mapping[str, FrozenJson] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        checked = Checked("ApprovalReply")
        object.__setattr__(self, "verdict", checked.member("verdict", self.verdict, ApprovalVerdict))
        try:
            require_words(checked.text("by", self.by), checked.text("note", self.note))
        except InvalidVerdict as error:
            raise InvalidValue(f"ApprovalReply: {error}") from None
        if self.arguments is not None:
            if self.verdict is not ApprovalVerdict.MODIFIED:
                checked.refuse("arguments", self.arguments, "them with the verdict 'modified' only")
            object.__setattr__(self, "arguments", _json_object(checked, "arguments", self.arguments))


class ApprovalNotFound(SkillweaveError, LookupError):
    """An approval's id that is not known, or that is another tenant's."""

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"there is no approval {approval_id[:60]!r}; list those that wait with GET /api/v1/approvals")


def require_approval_id(approval_id: str) -> None:
    """Raise InvalidValue for what can be no id of an approval."""
    checked = Checked("ApprovalBook.open")
    text = checked.text("approval_id", approval_id)
    if not 0 < len(text) <= LONGEST_APPROVAL_ID or not text.isprintable():
        checked.refuse("approval_id", text, f"1 to {LONGEST_APPROVAL_ID} printable characters")


class AlreadyDecided(SkillweaveError, ValueError):
    """Another verdict than the one that was given already; `case` is the approval as it stands."""

    def __init__(self, case: ApprovalCase) -> None:
        self.case = case
        super().__init__(
            f"approval {case.id} was {case.status.value} by {case.by!r} already; to change it, ask again with a new "
            "approval, or take the verdict back in the conversation"
        )


def _bounded(checked: Checked, payload: Mapping[str, FrozenJson]) -> Mapping[str, FrozenJson]:
    found = _json_object(checked, "payload", payload)
    size = len(json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > MOST_PAYLOAD_BYTES:
        checked.refuse("payload", "a mapping", f"at most {MOST_PAYLOAD_BYTES:,} bytes of JSON; this has {size:,}")
    return found


def _json_object(checked: Checked, name: str, given: Mapping[str, FrozenJson]) -> Mapping[str, FrozenJson]:
    try:
        found = as_json(given)
    except (ValueError, RecursionError) as error:
        checked.refuse(name, given, f"JSON; it holds {error}")
    if not isinstance(found, dict):
        checked.refuse(name, given, "a mapping")
    return freeze_mapping(found)


@dataclass(frozen=True, slots=True)
class LogRow(Portable):
    """One step of one approval; `number` counts from 1, `seal` is an HMAC-SHA-256 over this row and the seal before."""

    json_keys: ClassVar[tuple[str, ...]] = ("...",)

    number: int
    approval: str
    kind: str
    at: float
    document: str
    seal: str
