"""What a run of Pydantic AI could do past the rules: agents behind tools, and tools that the provider runs itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import getclosurevars, unwrap
from typing import Any

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.native_tools import AbstractNativeTool, MCPServerTool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

from skillweave.compose.policy import Ruling, ToolPolicy
from skillweave.errors import UnguardedAgent


class GuardingCapability(AbstractCapability[Any]):
    """A capability that stands before every call of its agent's model and tools."""


class OwnToolset(FunctionToolset[Any]):
    """The tools of skillweave itself."""


def require_guarded(toolset: AbstractToolset[Any]) -> None:
    """Raise UnguardedAgent for a tool whose function refers to an agent with tools and without Skills."""
    if not isinstance(toolset, FunctionToolset) or isinstance(toolset, OwnToolset):
        return
    for name, tool in toolset.tools.items():
        for agent in _agents_in(tool.function):
            if _can_act(agent) and not _has_skills(agent):
                raise UnguardedAgent(
                    agent.name or "an agent without a name",
                    f"the tool {name!r} refers to it",
                    'give it capabilities=[Skills(weaver)], or allow it with Skills(weaver, unguarded="allow")',
                )


def require_named(natives: Sequence[AbstractNativeTool]) -> None:
    """Raise UnguardedAgent for an MCP server that the provider calls, where nobody says which tools it has."""
    for native in natives:
        if isinstance(native, MCPServerTool) and native.allowed_tools is None:
            raise UnguardedAgent(
                native.id,
                "an MCP server that the model's provider calls",
                "say in allowed_tools which of its tools there are, connect to it from here with MCPToolset, or allow "
                'it with Skills(weaver, unguarded="allow")',
            )


def free_part(native: AbstractNativeTool, policy: ToolPolicy) -> AbstractNativeTool | None:
    """What of a tool that the provider runs itself the model may have: all of it only while no rule is about it.

    Its calls never come by here: nobody could look at their arguments, or wait for a person.
    """
    if policy.authorize(native.kind).ruling is not Ruling.ALLOW:
        return None
    if not isinstance(native, MCPServerTool) or native.allowed_tools is None:
        return native
    left = [name for name in native.allowed_tools if policy.authorize(name).ruling is Ruling.ALLOW]
    return replace(native, allowed_tools=left) if left else None


def _agents_in(function: Callable[..., Any]) -> list[AbstractAgent[Any, Any]]:
    try:
        named = getclosurevars(unwrap(function))
    except TypeError:  # not written in Python
        return []
    found = (*named.nonlocals.values(), *named.globals.values())
    return [one for one in found if isinstance(one, AbstractAgent)]


def _can_act(agent: AbstractAgent[Any, Any]) -> bool:
    return any(not isinstance(one, FunctionToolset) or one.tools for one in agent.toolsets)


def _has_skills(agent: AbstractAgent[Any, Any]) -> bool:
    found: list[AbstractCapability[Any]] = []
    agent.root_capability.apply(found.append)
    return any(isinstance(one, GuardingCapability) for one in found)
