"""Fakes for skillweave's own ports, and contract suites that every implementation of a port can inherit.

The contract suites need pytest with pytest-asyncio, the state machine needs Hypothesis; the fakes need nothing.
"""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave_testing.approvals import ApprovalBookContract
    from skillweave_testing.embedders import EmbedderContract
    from skillweave_testing.entities import EntityGraphContract
    from skillweave_testing.event_stream import EventStreamContract
    from skillweave_testing.fakes import (
        FailingSource,
        FailingStore,
        FakeEmbedder,
        KnownContext,
        ManualClock,
        ScriptedReranker,
        WordCounter,
    )
    from skillweave_testing.kept_events import KeptEventsContract
    from skillweave_testing.keys import KeyStoreContract
    from skillweave_testing.ledger import LedgerContract
    from skillweave_testing.machine import ConversationMachine
    from skillweave_testing.observers import Recorder
    from skillweave_testing.rerankers import RerankerContract
    from skillweave_testing.scorers import ScorerContract
    from skillweave_testing.sources import SourceContract, WritableSourceContract
    from skillweave_testing.working_memory import WorkingMemoryContract
    from skillweave_testing.writable_entities import WritableGraphContract

__all__ = [
    "ApprovalBookContract",
    "ConversationMachine",
    "EmbedderContract",
    "EntityGraphContract",
    "EventStreamContract",
    "FailingSource",
    "FailingStore",
    "FakeEmbedder",
    "KeptEventsContract",
    "KeyStoreContract",
    "KnownContext",
    "LedgerContract",
    "ManualClock",
    "Recorder",
    "RerankerContract",
    "ScorerContract",
    "ScriptedReranker",
    "SourceContract",
    "WordCounter",
    "WorkingMemoryContract",
    "WritableGraphContract",
    "WritableSourceContract",
]

__getattr__ = door(
    __name__,
    """
approvals: ApprovalBookContract
embedders: EmbedderContract
entities: EntityGraphContract
event_stream: EventStreamContract
fakes: FailingSource FailingStore FakeEmbedder KnownContext ManualClock ScriptedReranker WordCounter
keys: KeyStoreContract
kept_events: KeptEventsContract
ledger: DECISION FULL_STATE LedgerContract
machine: ConversationMachine
matchers: MatcherContract
observers: Recorder
rerankers: RerankerContract
scorers: ScorerContract
sources: ARTIFACT CONTENT SourceContract WritableSourceContract
working_memory: WorkingMemoryContract
writable_entities: WritableGraphContract
""",
)
