import asyncio

import pytest

from skillweave import Skill
from skillweave.tokens.counter import Tiktoken
from skillweave_texas_rrc import pack


@pytest.fixture(scope="session")
def skills() -> dict[str, Skill]:
    """All skills of the pack by their ids."""
    return {skill.id: skill for skill in asyncio.run(pack().load(None)).skills}


@pytest.fixture(scope="session")
def counter() -> Tiktoken:
    """What counts tokens by default."""
    return Tiktoken()
