"""The log of approvals in a database: its end is locked, a row is added, the approval is written beside it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.approvals import ApprovalCase, ApprovalStatus, LogRow
from skillweave_stores.approvals.documents import case_from_json, case_to_json, step_to_json
from skillweave_stores.approvals.log import ApprovalLogBroken, LogHead, first_head, is_sealed, next_row, row_kept
from skillweave_stores.sql.database import clock_of
from skillweave_stores.sql.documents import held_text
from skillweave_stores.sql.tables import ApprovalHeadRow, ApprovalLogRow, ApprovalRow
from skillweave_stores.sql.upserts import insert_into, put_row

_CASES, _LOG, _HEADS = ApprovalRow, ApprovalLogRow, ApprovalHeadRow


class OpenLog:
    """A tenant's log in a transaction that nobody else can add to it: `now` is the time of all its steps."""

    def __init__(self, connection: AsyncConnection, key: bytes, owner: str, head: LogHead, now: float) -> None:
        self._connection = connection
        self._key = key
        self._owner = owner
        self._head = head
        self.now = now

    async def case(self, approval_id: str) -> ApprovalCase | None:
        """The approval as it stands, None where there is none."""
        asked = with_rows().where(_CASES.tenant == self._owner, _CASES.id == approval_id)
        found = (await self._connection.execute(asked)).first()
        return None if found is None else case_of(found)

    async def due(self, limit: int) -> list[ApprovalCase]:
        """The approvals whose time is over, the first ones first."""
        asked = with_rows().where(_CASES.tenant == self._owner, _CASES.due_at <= self.now)
        found = await self._connection.execute(asked.order_by(_CASES.due_at, _CASES.id).limit(limit))
        return [case_of(row) for row in found]

    async def add(self, kind: str, before: ApprovalCase | None, after: ApprovalCase, why: str = "") -> ApprovalCase:
        """Write a step and the approval after it, which is answered."""
        row, self._head = next_row(
            self._key,
            self._owner,
            self._head,
            approval=after.id,
            kind=kind,
            at=self.now,
            document=step_to_json(before, after, why),
        )
        values = {
            "number": row.number,
            "approval_id": row.approval,
            "kind": row.kind,
            "at": row.at,
            "document": row.document,
            "seal": row.seal,
        }
        await self._connection.execute(insert(_LOG).values(tenant=self._owner, **values))
        number = row.number if kind == "decided" else None
        if number is None and after.status is not ApprovalStatus.PENDING:
            asked = select(_CASES.decided).where(_CASES.tenant == self._owner, _CASES.id == after.id)
            number = await self._connection.scalar(asked)
        written = {"document": case_to_json(after), "decided": number, **copies_of(after)}
        await put_row(self._connection, _CASES, {"tenant": self._owner, "id": after.id, **written})
        head = {"number": self._head.number, "last_seal": self._head.last_seal, "seal": self._head.seal}
        await self._connection.execute(update(_HEADS).where(_HEADS.tenant == self._owner).values(**head))
        return replace(after, logged=row_kept(row)) if kind == "decided" else after


async def open_log(
    connection: AsyncConnection, key: bytes, owner: str, place: str, clock: Callable[[], float] | None
) -> OpenLog:
    """Lock the end of the tenant's log until the transaction ends. Raises ApprovalLogBroken."""
    now = clock_of(connection, clock)
    columns = (_HEADS.number, _HEADS.last_seal, _HEADS.seal)
    asked = select(*columns).where(_HEADS.tenant == owner).with_for_update()
    found = (await connection.execute(asked)).first()
    if found is None:
        first = first_head(key, owner)
        values = {"tenant": owner, "number": first.number, "last_seal": first.last_seal, "seal": first.seal}
        await connection.execute(insert_into(connection, _HEADS).values(**values).on_conflict_do_nothing())
        found = (await connection.execute(asked)).one()
    head = LogHead(found.number, told(found.last_seal), told(found.seal))
    if not is_sealed(key, owner, head):
        raise ApprovalLogBroken(place, "the seal of its end does not fit")
    # After the lock, so that times follow the order of the rows.
    at = float(await connection.scalar(select(now)) or 0.0)
    last = select(_LOG.number, _LOG.seal).where(_LOG.tenant == owner, _LOG.number >= head.number)
    rows = (await connection.execute(last.order_by(_LOG.number).limit(2))).all()
    if [(number, told(seal)) for number, seal in rows] != [(head.number, head.last_seal)][: head.number]:
        raise ApprovalLogBroken(place, f"its end says {head.number} rows")
    return OpenLog(connection, key, owner, head, at)


def with_rows() -> Select[str, str, int, str]:
    """Returns the query for approvals, each with the number and the seal of its verdict's row, for `case_of`."""
    row = (_LOG.tenant == _CASES.tenant) & (_LOG.number == _CASES.decided)
    return select(_CASES.document, _CASES.id, _LOG.number, _LOG.seal).outerjoin(_LOG, row)


def case_of(values: Sequence[Any]) -> ApprovalCase:
    """Returns the approval of a row that `with_rows` found."""
    document, approval_id, number, seal = values
    case = case_from_json(document, approval_id)
    return case if number is None else replace(case, logged=f"{number}:{seal}")


def copies_of(case: ApprovalCase) -> dict[str, Any]:
    """What stands in columns of its own, to find the approval by."""
    return {
        "conversation_hash": hash_of(case.request.conversation),
        "conversation": case.request.conversation,
        "skill_id": held_text(case.request.skill_id),
        "checkpoint": held_text(case.request.checkpoint),
        "status": case.status.value,
        "reviewer": held_text(case.reviewer),
        "created_at": case.created_at,
        "due_at": case.due_at,
        "applied": case.applied,
    }


def hash_of(conversation: str) -> bytes:
    """What a conversation is found by in an index."""
    return sha256(conversation.encode("utf-8", "surrogatepass")).digest()


def log_row(values: Sequence[Any]) -> LogRow:
    """A row of the log from its columns, also one that somebody wrote by hand in a file without types."""
    number, approval, kind, at, document, seal = values
    return LogRow(number, told(approval), told(kind), at, told(document), told(seal))


def told(value: object) -> str:
    """The text, or what stands in its place in a file without types."""
    return value if isinstance(value, str) else repr(value)


LOG_COLUMNS = (_LOG.number, _LOG.approval_id, _LOG.kind, _LOG.at, _LOG.document, _LOG.seal)
