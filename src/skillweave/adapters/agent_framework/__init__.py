"""Skills in agents of Microsoft's Agent Framework: a context provider with skills in the instructions of every call."""

from skillweave.adapters.supported import require_version

require_version("agent-framework-core", "agent-framework")

from skillweave.adapters.agent_framework.approval import reply_to
from skillweave.adapters.agent_framework.guarded import require_guarded
from skillweave.adapters.agent_framework.provider import SkillContextProvider
from skillweave.adapters.agent_framework.spawn import spawn_subagent
from skillweave.adapters.approval import Reply
from skillweave.adapters.spawning import SpawnBounds
from skillweave.adapters.supported import Unguarded

__all__ = [
    "Reply",
    "SkillContextProvider",
    "SpawnBounds",
    "Unguarded",
    "reply_to",
    "require_guarded",
    "spawn_subagent",
]
