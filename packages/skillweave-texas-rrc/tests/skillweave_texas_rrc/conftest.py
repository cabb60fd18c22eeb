import asyncio

import pytest

import skillweave
from skillweave import Skill, Weaver
from skillweave.registry import Snapshot
from skillweave.tokens.counter import Tiktoken


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave single trigger tests to `make soak`: `test_trigger_files.py` asks all of them in one visit."""
    if item.path.name.endswith(".triggers.yaml"):
        item.add_marker(pytest.mark.soak)


@pytest.fixture(scope="session")
def weaver() -> Weaver:
    """The pack, read once: for what a snapshot says, and as a base of variants."""
    return skillweave.open(packs=["texas-rrc"])


@pytest.fixture(scope="session")
def snapshot(weaver: Weaver) -> Snapshot:
    """All that the pack brings."""
    return asyncio.run(weaver.skills.snapshot())


@pytest.fixture(scope="session")
def skills(snapshot: Snapshot) -> dict[str, Skill]:
    """All skills of the pack by their ids."""
    return dict(snapshot)


@pytest.fixture(scope="session")
def counter() -> Tiktoken:
    """What counts tokens by default."""
    return Tiktoken()
