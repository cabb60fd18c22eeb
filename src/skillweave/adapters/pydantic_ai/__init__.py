"""Skills in an agent of Pydantic AI, as one capability, and people's verdicts for its deferred tools."""

from skillweave.adapters.pydantic_ai.messages import (
    about_to_be_sent,
    host_messages,
    is_skill_part,
    without_skill_text,
)
from skillweave.adapters.pydantic_ai.skills import Skills, approvals, approvals_sync
from skillweave.adapters.supported import Unguarded

__all__ = [
    "Skills",
    "Unguarded",
    "about_to_be_sent",
    "approvals",
    "approvals_sync",
    "host_messages",
    "is_skill_part",
    "without_skill_text",
]
