"""What tests of the service share."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from httpx import AsyncClient
from tests.skillweave_server.guarded import Guarded, guarded_service
from tests.skillweave_server.harbour import asked, harbour_service, write_pack

from skillweave_stores import SqlSource


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    """A service with keys and two tenants, which all tests of a file share."""
    async with guarded_service(tmp_path_factory.mktemp("guarded")) as found:
        yield found


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the tables, which takes longer to make than to copy."""
    path = tmp_path_factory.mktemp("service") / "empty.db"

    async def make() -> None:
        async with SqlSource(f"sqlite:///{path}") as source:
            await source.migrate()

    asyncio.run(make())
    return path


@pytest.fixture
def sqlite_url(empty_database: Path, tmp_path: Path) -> str:
    """The URL of a new, empty SQLite file."""
    return f"sqlite:///{shutil.copy(empty_database, tmp_path / 'service.db')}"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The pack of the harbour."""
    return write_pack(tmp_path)


@pytest_asyncio.fixture
async def client(sqlite_url: str, pack: Path) -> AsyncIterator[AsyncClient]:
    """A client of a service over the pack and an empty SQLite file."""
    async with asked(harbour_service(sqlite_url, pack)) as client:
        yield client
