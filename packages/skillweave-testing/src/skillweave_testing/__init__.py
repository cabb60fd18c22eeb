"""Fakes for skillweave's own ports, and contract suites that every implementation of a port can inherit.

The contract suites need pytest with pytest-asyncio, the state machine needs Hypothesis; the fakes need nothing.
"""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave_testing.embedders import EmbedderContract
    from skillweave_testing.entities import EntityGraphContract
    from skillweave_testing.fakes import (
        FailingSource,
        FailingStore,
        FakeEmbedder,
        KnownContext,
        ManualClock,
        ScriptedReranker,
        WordCounter,
    )
    from skillweave_testing.ledger import LedgerContract
    from skillweave_testing.machine import ConversationMachine
    from skillweave_testing.observers import Recorder
    from skillweave_testing.rerankers import RerankerContract
    from skillweave_testing.scorers import ScorerContract
    from skillweave_testing.sources import SourceContract, WritableSourceContract
    from skillweave_testing.writable_entities import WritableGraphContract

__all__ = [
    "ConversationMachine",
    "EmbedderContract",
    "EntityGraphContract",
    "FailingSource",
    "FailingStore",
    "FakeEmbedder",
    "KnownContext",
    "LedgerContract",
    "ManualClock",
    "Recorder",
    "RerankerContract",
    "ScorerContract",
    "ScriptedReranker",
    "SourceContract",
    "WordCounter",
    "WritableGraphContract",
    "WritableSourceContract",
]

__getattr__ = door(
    __name__,
    """
embedders: EmbedderContract
entities: EntityGraphContract
fakes: FailingSource FailingStore FakeEmbedder KnownContext ManualClock ScriptedReranker WordCounter
ledger: DECISION FULL_STATE LedgerContract
machine: ConversationMachine
matchers: MatcherContract
observers: Recorder
rerankers: RerankerContract
scorers: ScorerContract
sources: ARTIFACT CONTENT SourceContract WritableSourceContract
writable_entities: WritableGraphContract
""",
)
