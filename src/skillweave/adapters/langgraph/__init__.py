"""LangGraph: nodes that select and inject skills, guard tools and ask people, and a ready agent of them (spec 7).

History placement: a skill's text is appended to the state's messages once, and the ledger knows that it is there.
"""

from skillweave.adapters.supported import require_version

require_version("langgraph", "langgraph")

from skillweave.adapters.langchain_core import is_skill_message, without_skill_text
from skillweave.adapters.langchain_pause import require_asked
from skillweave.adapters.langgraph.agent import SkillAgent, build_skill_agent
from skillweave.adapters.langgraph.nodes import ModelCall, SkillNodes, SkillState, skill_nodes
from skillweave.adapters.langgraph.spawn import spawn_subagent
from skillweave.adapters.spawning import SpawnBounds

__all__ = [
    "ModelCall",
    "SkillAgent",
    "SkillNodes",
    "SkillState",
    "SpawnBounds",
    "build_skill_agent",
    "is_skill_message",
    "require_asked",
    "skill_nodes",
    "spawn_subagent",
    "without_skill_text",
]
