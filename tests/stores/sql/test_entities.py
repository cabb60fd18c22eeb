"""The entity graph in a database of each kind: the contract, and what is particular to a database."""

from collections.abc import AsyncIterator

import pytest_asyncio

from skillweave.stores.sql.entities import SqlGraph
from skillweave.testing.writable_entities import WritableGraphContract


@pytest_asyncio.fixture
async def empty(url: str) -> AsyncIterator[SqlGraph]:
    """A new, empty graph."""
    async with SqlGraph(url) as graph:
        yield graph


class TestSqlGraph(WritableGraphContract):
    @pytest_asyncio.fixture
    async def empty(self, url: str) -> AsyncIterator[SqlGraph]:
        async with SqlGraph(url) as graph:
            yield graph
