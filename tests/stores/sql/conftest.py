"""A database of each kind for every test of this folder that asks for one."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'skills.db'}"
    postgres: str = request.getfixturevalue("postgres_url")
    return postgres
