"""Skills in agents of Pydantic AI: one capability for both placements, and people's verdicts for its deferred tools."""

from skillweave.adapters.pydantic_ai.approval import approvals, approvals_sync
from skillweave.adapters.pydantic_ai.capability import ConversationId, Skills

__all__ = ["ConversationId", "Skills", "approvals", "approvals_sync"]
