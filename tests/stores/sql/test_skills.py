from collections.abc import AsyncIterator

import pytest_asyncio

from skillweave.stores.sql.skills import SqlSource
from skillweave.testing import WritableSourceContract


@pytest_asyncio.fixture
async def source(url: str) -> AsyncIterator[SqlSource]:
    source = SqlSource(url)
    yield source
    await source.close()


class TestSqlSource(WritableSourceContract):
    @pytest_asyncio.fixture
    async def source(self, url: str) -> AsyncIterator[SqlSource]:
        source = SqlSource(url)
        yield source
        await source.close()
