"""Which agents a workflow, a tool or a provider holds, and whether skillweave stands in front of each of them."""

from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, MethodType

from agent_framework import (
    ContextProvider,
    FunctionTool,
    HistoryProvider,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
)

from skillweave.adapters.agent_framework.messages import name_of
from skillweave.adapters.supported import Unguarded
from skillweave.compose.policy import Ruling, ToolPolicy
from skillweave.errors import UnguardedAgent

DEEPEST = 12
"""How far inside each other workflows, managers and tools are looked through."""


_MCP, _CALLED_HERE = "mcp", ("function", "custom", None)


class GuardingProvider(ContextProvider):
    """A provider that stands before every call of its agent's model and tools."""


def require_guarded(
    held: object, *, unguarded: Unguarded = Unguarded.REFUSE, where: str = "an agent", deepest: int = DEEPEST
) -> None:
    """Raise UnguardedAgent for an agent inside that has tools and no SkillContextProvider.

    `held` is a workflow, its agent, a tool made of an agent, a provider, or a list of these. An agent without tools is
    let be: it can do nothing but speak. What a function of the host calls by a name of its module is not seen.
    """
    if Unguarded(unguarded) is Unguarded.ALLOW:
        return
    for agent, reached in _agents(held, where, set(), deepest):
        if not _is_guarded(agent) and _can_act(agent):
            raise UnguardedAgent(
                str(agent.name or agent.id),
                reached,
                'give it context_providers=[..., SkillContextProvider(weaver)], or allow it with unguarded="allow"',
            )


def free_part(tool: object, policy: ToolPolicy) -> object | None:
    """What of a tool that the service runs itself the model may have: all of it only while no rule is about it.

    Its calls never come by here: nobody could look at their arguments, or wait for a person.
    """
    if not _run_by_service(tool):
        return tool
    if policy.authorize(name_of(tool)).ruling is not Ruling.ALLOW:
        return None
    names = names_behind(tool)
    if names is None:
        return tool
    left = [name for name in names if policy.authorize(name).ruling is Ruling.ALLOW]
    return {**tool, "allowed_tools": left} if left and isinstance(tool, Mapping) else None


def require_named(tools: Iterable[object], *, unguarded: Unguarded) -> None:
    """Raise UnguardedAgent for an MCP server that the service calls, where nobody says which tools it has."""
    for tool in tools if unguarded is Unguarded.REFUSE else ():
        if isinstance(tool, Mapping) and tool.get("type") == _MCP and names_behind(tool) is None:
            raise UnguardedAgent(
                str(tool.get("server_label") or _MCP),
                "an MCP server that the service calls",
                "say in allowed_tools which of its tools there are, connect to it from here with "
                'MCPStreamableHTTPTool, or allow it with unguarded="allow"',
            )


def names_behind(tool: object) -> list[str] | None:
    """The names of the tools of an MCP server that the service calls; None where only the server knows them."""
    listed = tool.get("allowed_tools") if isinstance(tool, Mapping) and tool.get("type") == _MCP else None
    listed = listed.get("tool_names") if isinstance(listed, Mapping) else listed
    return [str(name) for name in listed] if isinstance(listed, list | tuple) else None


def _run_by_service(tool: object) -> bool:
    return isinstance(tool, Mapping) and tool.get("type") not in _CALLED_HERE


def _agents(held: object, where: str, seen: set[int], depth: int) -> Iterator[tuple[SupportsAgentRun, str]]:
    if held is None or isinstance(held, str | bytes | int | float) or id(held) in seen or not depth:
        return
    seen.add(id(held))
    # Asking the framework's protocol is slow, and this is asked of every part of every run.
    runs = callable(getattr(held, "run", None))
    if runs and isinstance(held, SupportsAgentRun) and not isinstance(held, WorkflowAgent):
        yield held, where
        return
    for inside, reached in _inside(held, where):
        yield from _agents(inside, reached, seen, depth - 1)


def _inside(held: object, where: str) -> Iterator[tuple[object, str]]:
    if isinstance(held, Workflow):
        for executor in held.get_executors_list():
            yield executor, f"the member {executor.id!r} of the workflow {held.name or held.id!r}"
    elif isinstance(held, FunctionTool):
        yield held.func, f"the tool {held.name!r}"
    elif isinstance(held, FunctionType):
        yield from ((cell, where) for cell in _cells(held))
    elif isinstance(held, MethodType):
        yield from ((inner, where) for inner in (held.__func__, held.__self__))
    elif isinstance(held, Mapping):
        yield from ((value, where) for value in held.values())
    elif isinstance(held, list | tuple | set | frozenset):
        yield from ((value, where) for value in held)
    elif type(held).__module__.partition(".")[0].startswith("agent_framework"):
        yield from ((value, where) for value in getattr(held, "__dict__", {}).values())


def _cells(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is not bound yet
            continue


def _is_guarded(agent: SupportsAgentRun) -> bool:
    return any(isinstance(one, GuardingProvider) for one in getattr(agent, "context_providers", None) or ())


def _can_act(agent: SupportsAgentRun) -> bool:
    """Whether it has tools, or nobody can tell: one that runs elsewhere, or whose providers may bring some."""
    options = getattr(agent, "default_options", None)
    if not isinstance(options, Mapping):
        return True
    providers = getattr(agent, "context_providers", None) or ()
    brings = any(not isinstance(one, HistoryProvider) for one in providers)
    return bool(options.get("tools") or getattr(agent, "mcp_tools", None) or brings)
