"""What is kept of a conversation, the ports of those who keep it, and what a backend is written with."""

from skillweave.servers import Migrated, Served, ServerFacts
from skillweave.state.codec import decision_from_json, decision_to_json, state_from_json, state_to_json, stored_state
from skillweave.state.port import KEEP_DECISIONS_SECONDS, DecisionLog, Logged, TurnDecisions
from skillweave.state.sharing import given_keys, with_edits
from skillweave.state.state import (
    CLAIM_SECONDS,
    Approval,
    Delivery,
    Engaged,
    FallbackKind,
    Fragment,
    Lifecycle,
    Superseded,
    Told,
    Writes,
    full_key,
    skill_key,
)
from skillweave.state.working_memory import (
    KEEP_MEMORY_SECONDS,
    MOST_MEMORY_BYTES,
    MemoryTooLarge,
    WorkingMemory,
    memory_from_json,
    memory_to_json,
    merged,
)

__all__ = [
    "CLAIM_SECONDS",
    "KEEP_DECISIONS_SECONDS",
    "KEEP_MEMORY_SECONDS",
    "MOST_MEMORY_BYTES",
    "Approval",
    "DecisionLog",
    "Delivery",
    "Engaged",
    "FallbackKind",
    "Fragment",
    "Lifecycle",
    "Logged",
    "MemoryTooLarge",
    "Migrated",
    "Served",
    "ServerFacts",
    "Superseded",
    "Told",
    "TurnDecisions",
    "WorkingMemory",
    "Writes",
    "decision_from_json",
    "decision_to_json",
    "full_key",
    "given_keys",
    "memory_from_json",
    "memory_to_json",
    "merged",
    "skill_key",
    "state_from_json",
    "state_to_json",
    "stored_state",
    "with_edits",
]
