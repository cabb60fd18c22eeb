"""Fakes for skillweave's own ports, and contract suites that every implementation of a port can inherit.

The contract suites need pytest with pytest-asyncio, the state machine needs Hypothesis; the fakes need nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.testing.embedders import EmbedderContract
    from skillweave.testing.fakes import FailingStore, FakeEmbedder, KnownContext, ManualClock, WordCounter
    from skillweave.testing.ledger import LedgerContract
    from skillweave.testing.machine import ConversationMachine
    from skillweave.testing.observers import Recorder
    from skillweave.testing.scorers import ScorerContract
    from skillweave.testing.sources import SourceContract, WritableSourceContract

_HOMES = {
    "ConversationMachine": "machine",
    "EmbedderContract": "embedders",
    "FailingStore": "fakes",
    "FakeEmbedder": "fakes",
    "KnownContext": "fakes",
    "LedgerContract": "ledger",
    "ManualClock": "fakes",
    "Recorder": "observers",
    "ScorerContract": "scorers",
    "SourceContract": "sources",
    "WordCounter": "fakes",
    "WritableSourceContract": "sources",
}

__all__ = [
    "ConversationMachine",
    "EmbedderContract",
    "FailingStore",
    "FakeEmbedder",
    "KnownContext",
    "LedgerContract",
    "ManualClock",
    "Recorder",
    "ScorerContract",
    "SourceContract",
    "WordCounter",
    "WritableSourceContract",
]


def __getattr__(name: str) -> object:
    """Load an export at its first use: most of them need packages that only tests have."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillweave.testing' has no attribute {name!r}; it exports {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.testing.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
