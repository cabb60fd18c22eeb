"""Connections to PostgreSQL that end at once when their caller gives up; a pool of them for each event loop."""

import asyncio
from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import PQGen
from psycopg.waiting import wait_async

_IDLE_SECONDS = 60
"""After so long without a statement the server ends a transaction, whose client is gone, with all that it locks."""
_REFUSED_BY_POOLER = "unsupported startup parameter"


class PromptConnection(AsyncConnection[Any]):
    """A connection that is closed when the task that waits for it is cancelled.

    The driver would ask the server to end the statement and wait until it did, which takes seconds where the network
    swallows everything.
    """

    async def wait(self, gen: PQGen[Any], interval: float = 0.1, **more: Any) -> Any:  # type: ignore[override] # noqa: ANN401
        """Run what the driver's generator says, as the driver does."""
        try:
            return await wait_async(gen, self.pgconn.socket, interval=interval, **more)
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise


async def connect(seconds: float, **arguments: Any) -> PromptConnection:  # noqa: ANN401 - what the driver takes
    """A new connection, whose statements the server ends after so many seconds, when nobody waits for them any more.

    Where a pooler in between refuses to pass that on, it is left out. `options` of the URL win.
    """
    limits = f"-c statement_timeout={seconds * 1000:.0f} -c idle_in_transaction_session_timeout={_IDLE_SECONDS}s"
    options = f"{limits} {arguments.get('options', '')}".rstrip()
    try:
        return await PromptConnection.connect(**{**arguments, "options": options})
    except OperationalError as error:
        if _REFUSED_BY_POOLER not in str(error):
            raise
        return await PromptConnection.connect(**arguments)
