"""Skills in an agent of Pydantic AI, as one capability, and people's verdicts for its deferred tools."""

from skillweave.adapters.supported import require_version

require_version("pydantic-ai-slim", "pydantic-ai")

from skillweave.adapters.pydantic_ai.messages import is_skill_part, without_skill_text
from skillweave.adapters.pydantic_ai.skills import Skills, approvals, approvals_sync
from skillweave.adapters.supported import Unguarded

__all__ = ["Skills", "Unguarded", "approvals", "approvals_sync", "is_skill_part", "without_skill_text"]
