"""Skills in agents of the OpenAI Agents SDK: in their instructions, before their tools, at their approvals.

Skill text is placed in the call: what is added to a call's input is not kept in the SDK's sessions.
"""

from skillweave.adapters.supported import require_version

require_version("openai-agents", "openai-agents")

from skillweave.adapters.openai_agents.skills import Skills

__all__ = ["Skills"]
