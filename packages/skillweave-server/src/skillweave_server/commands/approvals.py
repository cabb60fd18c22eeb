"""`skillweave approvals`: the log of approvals of a service, and whether it is whole."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave import Store
from skillweave.approvals import logged_in
from skillweave.commands import MISTAKE, OUTPUT, Answer, Mistake, option, whole_number
from skillweave.errors import InvalidValue
from skillweave_server.commands import options

if TYPE_CHECKING:
    from skillweave_stores.sql.approvals import SqlApprovals

EXAMPLES = {
    "verify": """
skillweave approvals verify
skillweave approvals verify --store postgresql://weaver@db.internal/skills --approval-key-file approvals.key --json
""",
    "log": """
skillweave approvals log
skillweave approvals log --after 100 --limit 20 --tenant acme --json
""",
}
_After = Annotated[int, option(OUTPUT, "--after N", "Only rows after this number.", parser=whole_number)]
_Limit = Annotated[int, option(OUTPUT, "--limit N", "At most so many, from 1 to 1,000.", parser=whole_number)]
_MOST = 1_000
_UNUSED = bytes(32)
"""A key for reading alone, which seals nothing."""


async def verify(
    tenant: options.CheckedLogs = None,
    approval_key_file: options.ApprovalKeyFile = None,
    store: options.ServiceStore = options.DEFAULT_STORE,
    redis: options.RedisUrl = None,
) -> Answer:
    """Check that no row of the log was changed, removed or put in another place, and that its end was not cut off.

    Each approval must be as its log says, and the log must have each verdict that a conversation keeps: name the Redis
    where the service has one. The exit code is 1 if something is wrong. Nothing is changed.
    """
    from skillweave_server.commands.output import LogVerified, TenantLog, verified_text
    from skillweave_server.opening import conversations_in, key_file_of, place_of
    from skillweave_stores.approvals.key import read_key

    place = place_of(store)
    file = key_file_of(place) if approval_key_file is None else Path(approval_key_file)
    if file is None:
        raise Mistake("the log in a PostgreSQL is checked with the key that seals it; name it with --approval-key-file")
    if not file.exists():
        raise Mistake(f"there is no key file {file}; name the one that seals the log with --approval-key-file")
    async with _approvals_in(store, read_key(file)) as book, conversations_in(place, redis) as ledger:
        whose = await book.tenants() if tenant is None else (tenant,)
        shown = LogVerified(tuple([TenantLog(one, await _found_in(book, ledger, one)) for one in whose]))
    return Answer(lambda: shown, partial(verified_text, shown), code=0 if shown.whole else MISTAKE)


async def log(
    tenant: options.ShownLog = "",
    after: _After = 0,
    limit: _Limit = 100,
    store: options.ServiceStore = options.DEFAULT_STORE,
) -> Answer:
    """List the rows of the log: who was asked what, and each step of it, in their order.

    With --json each row has its document and its seal. Whether the rows are whole is said by `verify`.
    """
    from skillweave_server.commands.output import LogShown, log_text

    if not 1 <= limit <= _MOST:
        raise typer.BadParameter(f"{limit:,} is not from 1 to {_MOST:,}", param_hint="'--limit'")
    async with _approvals_in(store, _UNUSED) as book:
        shown = LogShown(tenant, tuple(await book.log(after=after, limit=limit, tenant=tenant)))
    return Answer(lambda: shown, partial(log_text, shown))


async def _found_in(book: "SqlApprovals", ledger: Store, tenant: str) -> tuple[str, ...]:
    """What is wrong with the log of a tenant; of one whose name is refused by now, that: the others are checked too."""
    try:
        return await book.verify(await logged_in(ledger, tenant), tenant=tenant)
    except InvalidValue as error:
        return (str(error),)


@asynccontextmanager
async def _approvals_in(store: str, key: bytes) -> "AsyncIterator[SqlApprovals]":
    from skillweave_server.opening import place_of
    from skillweave_stores.sql.approvals import SqlApprovals

    async with SqlApprovals(place_of(store).url, key=key) as book:
        yield book
