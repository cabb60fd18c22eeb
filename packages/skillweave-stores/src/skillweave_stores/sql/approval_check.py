"""Comparing approvals with their log: a part at a time, each part about one moment."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave import StoreUnavailable
from skillweave.approvals import ApprovalStatus
from skillweave_stores.approvals.documents import case_from_json, sha256_in, sha256_of
from skillweave_stores.approvals.log import LogCheck, LogHead
from skillweave_stores.sql.approval_log import LOG_COLUMNS, copies_of, log_row, told
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.tables import ApprovalHeadRow, ApprovalLogRow, ApprovalRow

ROWS = 1_000
"""Rows of the log that are read at once."""
CASES = 100
"""Approvals that are read at once; each has a State, which may be long."""
_CASES, _LOG, _HEADS = ApprovalRow, ApprovalLogRow, ApprovalHeadRow


async def check_log(
    database: Database, key: bytes, owner: str, kept: Mapping[int, str]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Returns what is wrong with the log, and the ids of all approvals that it has; `kept` are seals by number."""
    check = LogCheck(key, owner, kept)
    known: set[str] = set()
    last: Any = None
    while True:
        wanted = select(*LOG_COLUMNS).where(_LOG.tenant == owner, *(() if last is None else (_LOG.number > last,)))

        async def work(connection: AsyncConnection, wanted: Any = wanted) -> tuple[Sequence[Any], Any]:  # noqa: ANN401
            rows = (await connection.execute(wanted.order_by(_LOG.number).limit(ROWS))).all()
            head = select(_HEADS.number, _HEADS.last_seal, _HEADS.seal).where(_HEADS.tenant == owner)
            return rows, (await connection.execute(head)).first()

        rows, head = await database.view(work)
        for row in map(log_row, rows):
            check.add(row)
            known.add(row.approval)
        if len(rows) < ROWS:  # then the end is that of the same moment
            end = None if head is None else LogHead(head.number, told(head.last_seal), told(head.seal))
            return check.end(end), frozenset(known)
        last = rows[-1][0]


async def check_approvals(database: Database, owner: str, known: frozenset[str]) -> tuple[str, ...]:
    """Where approvals are not as their log says; those that are `known` to the log have to be there."""
    found: list[str] = []
    there: set[str] = set()
    last: str | None = None
    while True:
        page = select(_CASES).where(_CASES.tenant == owner, *(() if last is None else (_CASES.id > last,)))

        async def work(connection: AsyncConnection, page: Any = page) -> tuple[Sequence[Any], dict[str, Any]]:  # noqa: ANN401
            cases = (await connection.execute(page.order_by(_CASES.id).limit(CASES))).all()
            ids = [case.id for case in cases]
            of_them = (_LOG.tenant == owner, _LOG.approval_id.in_(ids))
            newest = select(func.max(_LOG.number)).where(*of_them).group_by(_LOG.approval_id, _LOG.kind == "decided")
            steps = select(_LOG.approval_id, _LOG.number, _LOG.kind, _LOG.document)
            log = steps.where(_LOG.tenant == owner, _LOG.number.in_(newest)).order_by(_LOG.number)
            return cases, _by_approval((await connection.execute(log)).all())

        cases, steps = await database.view(work)
        for case in cases:
            there.add(case.id)
            why = _difference(case, *steps.get(case.id, (None, None)))
            if why:
                found.append(f"approval {case.id!r} {why}")
        if len(cases) < CASES:
            break
        last = cases[-1].id
    found.extend(f"approval {one!r} was removed: the log has it" for one in sorted(known - there))
    return tuple(found)


def _by_approval(rows: Sequence[Any]) -> dict[str, tuple[str, int | None]]:
    """For each approval the document of its newest step, and the number of its newest verdict."""
    found: dict[str, tuple[str, int | None]] = {}
    for approval, number, kind, document in rows:
        verdict = number if kind == "decided" else found.get(approval, ("", None))[1]
        found[approval] = told(document), verdict
    return found


def _difference(row: Any, document: str | None, verdict: int | None) -> str | None:  # noqa: ANN401 - a row
    if document is None:
        return "is not in the log: it was added"
    if sha256_in(document) != sha256_of(told(row.document)):
        return "was changed: it is not as its newest step in the log says"
    try:
        case = case_from_json(row.document, row.id)
    except StoreUnavailable as error:
        return f"cannot be read: {error}"
    wanted = {**copies_of(case), "decided": None if case.status is ApprovalStatus.PENDING else verdict}
    wrong = [name for name, value in wanted.items() if getattr(row, name) != value]
    return f"was changed: its column {wrong[0]} is not as its document says" if wrong else None
