"""Skills in agents of the OpenAI Agents SDK: in their instructions, before their tools, at their approvals.

Skill text is placed in the call: what is added to a call's input is not kept in the SDK's sessions.
"""

from importlib import import_module

from skillweave.adapters.supported import require_version
from skillweave.errors import MissingExtra

try:
    require_version("openai-agents", "openai-agents")
    import_module("agents.run_config")  # `agents` alone could be somebody's own package
except ModuleNotFoundError:
    raise MissingExtra("the adapter for the OpenAI Agents SDK", "openai-agents", "openai-agents") from None

from skillweave.adapters.openai_agents.skills import Skills

__all__ = ["Skills"]
