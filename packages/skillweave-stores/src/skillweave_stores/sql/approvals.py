"""Approvals with their sealed log in a SQLite file or a PostgreSQL database (spec 8)."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import func, select, text, tuple_

from skillweave import CheckpointVerdict, State
from skillweave.approvals import (
    ApprovalCase,
    ApprovalNotFound,
    ApprovalRequest,
    ApprovalStatus,
    LogRow,
    applied,
    asked,
    asked_again,
    decided,
    escalated,
    refused,
)
from skillweave.errors import InvalidValue
from skillweave.values import DEFAULT_TENANT, Checked
from skillweave_stores.approvals.log import LogCheck, read_kept
from skillweave_stores.sql.approval_check import check_approvals, check_log
from skillweave_stores.sql.approval_log import (
    LOG_COLUMNS,
    OpenLog,
    case_of,
    hash_of,
    log_row,
    open_log,
    with_rows,
)
from skillweave_stores.sql.database import Database, InDatabase, clock_of, owner_of
from skillweave_stores.sql.documents import held_text, is_storable_text
from skillweave_stores.sql.tables import WAITING, ApprovalHeadRow, ApprovalLogRow, ApprovalRow

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, TextClause
    from sqlalchemy.ext.asyncio import AsyncConnection
    from sqlalchemy.orm import InstrumentedAttribute

T = TypeVar("T")

LEAST_KEY_BYTES = 32
"""Bytes that the key of the log has at least."""
MOST_LISTED = 1_000
"""Approvals, or rows of the log, that one call answers."""
MOST_COUNTED = 10_000
"""Approvals that wait are counted up to here."""
_ESCALATED = 50
"""Approvals that go on to the next reviewer in one transaction."""
_CASES = ApprovalRow


class SqlApprovals(InDatabase):
    """Approvals of all tenants in a database: `sqlite:///path` or `postgresql://user:password@host/name`.

    `database` is a URL, or a Database that several stores share. `key` seals the log: at least 32 bytes, the same for
    all processes, kept outside of the database. Without a `clock`, which gives seconds, PostgreSQL's own counts. Each
    step waits for the one before of the same tenant, in whatever process, so that the log is one chain. A file that is
    not there holds nothing, and only steps make it.

    Raises InvalidValue for a URL that cannot be read and a key that is too short. All methods raise
    StoreUnavailable, which names the server but no password; steps
    raise ApprovalLogBroken, which is one, where the log does not end as it was sealed.
    """

    def __init__(self, database: Database | str, key: bytes, *, clock: Callable[[], float] | None = None) -> None:
        if len(key) < LEAST_KEY_BYTES:
            raise InvalidValue(
                f"the key of the log of approvals has {len(key)} bytes; give at least {LEAST_KEY_BYTES} random ones, "
                "such as those of skillweave_stores.approvals.key.read_or_make_key"
            )
        super().__init__(database)
        self._key = bytes(key)
        self._clock = clock

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        """Keep a new question; one with that id and the same request is answered as it stands.

        Raises InvalidValue for an id that belongs to another request, or that can be none.
        """
        asked(approval_id, request, digest, state, 0.0)  # what can be no question is refused before anything is locked

        async def step(log: OpenLog) -> ApprovalCase:
            before = await log.case(approval_id)
            if before is not None:
                return asked_again(before, request)
            return await log.add("created", None, asked(approval_id, request, digest, state, log.now))

        return await self._step(tenant, step)

    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """The approval as it stands; one round trip. Raises ApprovalNotFound."""
        owner = owner_of(tenant)
        found = (
            await self._cases(1, _CASES.tenant == owner, _CASES.id == approval_id)
            if is_storable_text(approval_id)
            else ()
        )
        if not found:
            raise ApprovalNotFound(approval_id)
        return found[0]

    async def list(
        self,
        *,
        status: ApprovalStatus | None = None,
        conversation: str | None = None,
        reviewer: str | None = None,
        after: str = "",
        limit: int = 20,
        tenant: str = "",
    ) -> tuple[ApprovalCase, ...]:
        """At most `limit` approvals after the one with the id `after`, the oldest first, by when they were asked.

        Raises ApprovalNotFound for an `after` that is not known, InvalidValue for a limit that is not from 1 to 1000.
        """
        owner, most = owner_of(tenant), _limit("list", limit)
        conditions: list[ColumnElement[bool]] = [_CASES.tenant == owner]
        if status is not None:
            conditions.append(_CASES.status == ApprovalStatus(status).value)
        if conversation is not None:
            conditions.append(_CASES.conversation_hash == hash_of(conversation))
        if reviewer is not None:
            conditions.append(_CASES.reviewer == held_text(reviewer))
        if after:
            last = await self.get(after, tenant=tenant)
            conditions.append(tuple_(_CASES.created_at, _CASES.id) > tuple_(last.created_at, last.id))
        return await self._cases(most, *conditions)

    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        """Keep what a person said, not applied yet, and the API key it came with; the same again changes nothing.

        Raises ApprovalNotFound, AlreadyDecided for another verdict, and InvalidVerdict for one that is not about what
        was asked.
        """
        return await self._change(approval_id, "decided", lambda case, now: decided(case, verdict, now, key), tenant)

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """Note that the conversation has the verdict; again changes nothing.

        Raises ApprovalNotFound, and InvalidValue for an approval without a verdict.
        """
        return await self._change(approval_id, "applied", lambda case, _: applied(case), tenant)

    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        """Note that the verdict could not be kept in the conversation, and ask anew: it is pending again.

        One that is pending, or applied, stays as it is. Raises ApprovalNotFound.
        """
        return await self._change(approval_id, "refused", refused, tenant, why)

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """The decided approvals of a conversation that are not applied, in the order in which they were decided."""
        open_ones = _CASES.conversation_hash == hash_of(conversation), text(WAITING)
        return await self._cases(None, _CASES.tenant == owner_of(tenant), *open_ones, order=(_CASES.decided,))

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        """The conversations with a decided approval that is not applied."""
        wanted = select(_CASES.conversation).where(_CASES.tenant == owner_of(tenant), text(WAITING)).distinct()
        return frozenset(one for (one,) in await self._rows(wanted))

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """Hand every pending approval whose time is over to the next reviewer; those whose time was over.

        Each has the same time again with its `escalate_to`. One without, or that is there already, is only noted, once:
        its `due_at` is None then.
        """
        owner = owner_of(tenant)
        handed: dict[str, ApprovalCase] = {}  # also of a try whose answer was lost, after which there are none left

        async def is_due(connection: "AsyncConnection") -> bool:
            due = select(_CASES.id).where(_CASES.tenant == owner, _CASES.due_at <= clock_of(connection, self._clock))
            return await connection.scalar(due.limit(1)) is not None

        async def step(log: OpenLog) -> None:
            for case in await log.due(_ESCALATED):
                handed[case.id] = await log.add("escalated", case, escalated(case, log.now))

        while not self._database.is_missing and await self._database.read(is_due):
            await self._step(tenant, step)
        return tuple(handed.values())

    async def log(self, *, after: int = 0, limit: int = 1000, tenant: str = "") -> Sequence[LogRow]:
        """At most `limit` rows of the log after that number."""
        owner, most = owner_of(tenant), _limit("log", limit)
        wanted = select(*LOG_COLUMNS).where(ApprovalLogRow.tenant == owner, ApprovalLogRow.number > after)
        return tuple(map(log_row, await self._rows(wanted.order_by(ApprovalLogRow.number).limit(most))))

    async def verify(self, kept: Collection[str] = (), *, tenant: str = "") -> tuple[str, ...]:
        """Returns what is wrong with the tenant's log, and where an approval differs from its log; empty if nothing.

        `kept` are what verdicts answered as `logged`. The log is read a part at a time, while others may go on.
        """
        owner, seals = owner_of(tenant), read_kept(kept)
        if self._database.is_missing:
            return LogCheck(self._key, owner, seals).end(None)
        found, known = await check_log(self._database, self._key, owner, seals)
        return (*found, *await check_approvals(self._database, owner, known))

    async def count_pending(self, tenants: Sequence[str]) -> int:
        """How many approvals of these tenants nobody has decided, 10,000 at most."""
        owners = sorted(map(owner_of, tenants))
        pending = select(_CASES.id).where(_CASES.tenant.in_(owners), _CASES.status == ApprovalStatus.PENDING.value)
        found = await self._rows(select(func.count()).select_from(pending.limit(MOST_COUNTED).subquery()))
        return int(found[0][0]) if found else 0

    async def tenants(self) -> tuple[str, ...]:
        """The tenants that have a log, sorted; the default one by its name in code, the empty text."""
        known = select(ApprovalLogRow.tenant).union(select(ApprovalHeadRow.tenant))
        return tuple(sorted("" if owner == DEFAULT_TENANT else owner for (owner,) in await self._rows(known)))

    async def _cases(
        self,
        most: int | None,
        *conditions: "ColumnElement[bool] | TextClause",
        order: "Sequence[InstrumentedAttribute[Any]]" = (_CASES.created_at, _CASES.id),
    ) -> tuple[ApprovalCase, ...]:
        rows = await self._rows(with_rows().where(*conditions).order_by(*order).limit(most))
        return tuple(map(case_of, rows))

    async def _change(
        self,
        approval_id: str,
        kind: str,
        change: Callable[[ApprovalCase, float], ApprovalCase],
        tenant: str,
        why: str = "",
    ) -> ApprovalCase:
        await self.get(approval_id, tenant=tenant)  # what is not there makes no file, and no log

        async def step(log: OpenLog) -> ApprovalCase:
            before = await log.case(approval_id)
            if before is None:
                raise ApprovalNotFound(approval_id)
            after = change(before, log.now)
            return before if after == before else await log.add(kind, before, after, why)

        return await self._step(tenant, step)

    async def _step(self, tenant: str, step: Callable[[OpenLog], Awaitable[T]]) -> T:
        owner = owner_of(tenant)

        async def work(connection: "AsyncConnection") -> T:
            return await step(await open_log(connection, self._key, owner, self.place, self._clock))

        return await self._database.write(work)


def _limit(where: str, limit: int) -> int:
    checked = Checked(f"ApprovalBook.{where}")
    if checked.whole("limit", limit, 1) > MOST_LISTED:
        checked.refuse("limit", limit, f"a whole number from 1 to {MOST_LISTED}")
    return limit
