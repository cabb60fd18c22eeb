"""What tests of the service share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.service.guarded import Guarded, guarded_service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    """A service with keys and two tenants, which all tests of a file share."""
    async with guarded_service(tmp_path_factory.mktemp("guarded")) as found:
        yield found
