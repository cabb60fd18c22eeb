"""What no guard stands before in an agent of LangChain: what its model's provider does, and agents inside its tools."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import getclosurevars, isfunction, ismethod, unwrap
from itertools import chain
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from skillweave.adapters.langchain_core import OwnTool, name_in, names_of
from skillweave.compose.policy import OWN_TOOLS, Ruling, ToolPolicy
from skillweave.dialogue import Placement
from skillweave.errors import InvalidTurn, UnguardedAgent

Declared: TypeAlias = BaseTool | dict[str, Any]
"""A tool as it is declared to a model; a dict is in the form of the model's provider."""

_CALLED_BACK = ("function", "custom")
_CALLED_BACK_FROM = ("bash_", "text_editor_", "computer_2", "memory_")
"""How the types of tools begin that a provider defines, and the host runs: their calls come by here."""
_MCP = ("mcp", "mcp_toolset")
_RUN_UNSEEN = ("mcp_servers", "web_search_options")
"""Settings of a model with which its provider runs tools that nobody declares."""
_ALLOW = 'or pass unguarded="allow"'


def shown(tools: Sequence[Declared], policy: ToolPolicy) -> list[Declared]:
    """The tools that the model may see; one that its provider runs only while no rule says anything of it.

    Its calls never come by here: nobody could look at their arguments, or wait for a person.
    """
    names = names_of(tools)
    offered = set(policy.offers(names))
    return [
        tool
        for tool, name in zip(tools, names, strict=True)
        if name in offered and (isinstance(tool, BaseTool) or _free(tool, policy))
    ]


def _free(tool: Mapping[str, Any], policy: ToolPolicy) -> bool:
    if not _run_by_provider(tool):
        return True
    judged = (name_in(tool), *(_names_behind(tool) or ())) if tool.get("type") in _MCP else (name_in(tool),)
    return all(policy.authorize(name).ruling is Ruling.ALLOW for name in judged)


def _run_by_provider(tool: Mapping[str, Any]) -> bool:
    kind = str(tool.get("type") or "")
    if not kind:
        return "name" not in tool
    return kind not in _CALLED_BACK and not kind.startswith(_CALLED_BACK_FROM)


def _names_behind(tool: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names of the tools of an MCP server that the provider calls; None where only the server knows them."""
    allowed = tool.get("allowed_tools")
    listed = allowed.get("tool_names") if isinstance(allowed, Mapping) else allowed
    if isinstance(listed, list | tuple):
        return tuple(map(str, listed))
    if (tool.get("default_config") or {}).get("enabled") is False:
        configured: Mapping[str, Any] = tool.get("configs") or {}
        return tuple(name for name, one in configured.items() if (one or {}).get("enabled", True))
    return None


def require_held(tools: Sequence[Declared], model: object = None, settings: Mapping[str, Any] | None = None) -> None:
    """Raise UnguardedAgent for tools that a provider runs and that no rule of a skill can be about.

    These are an MCP server's without a list of them, and what the `settings` of a model switch on.
    """
    for tool in tools:
        if isinstance(tool, dict) and tool.get("type") in _MCP and _names_behind(tool) is None:
            server = str(tool.get("server_label") or tool.get("mcp_server_name") or name_in(tool))
            listed = "allowed_tools" if tool["type"] == "mcp" else "default_config and configs"
            raise UnguardedAgent(
                server,
                "an MCP server that the model's provider calls",
                f"say in {listed} which of its tools there are, connect to it from here, {_ALLOW}",
            )
    for name in _RUN_UNSEEN:
        if _setting(model, settings, name):
            raise UnguardedAgent(
                name,
                f"a setting of {type(model).__name__}, with which its provider runs tools",
                f"give the tools in `tools`, each by its name, {_ALLOW}",
            )


def require_text_kept(model: object, settings: Mapping[str, Any] | None, placement: Placement) -> None:
    """Raise InvalidTurn for a mode of the model in which skill text would be lost, naming the way out."""
    if placement is Placement.CALL and kept_by_service(model):
        raise InvalidTurn(
            "the model has use_previous_response_id=True: OpenAI keeps the history, and is not sent the system prompt "
            "of a later call, where call placement puts skills; use placement='history', or leave that option out"
        )
    if placement is Placement.HISTORY and (edit := _clears_results(_setting(model, settings, "context_management"))):
        raise InvalidTurn(
            f"the model has context_management with {edit!r}: Anthropic takes skill texts that were read with a tool "
            f"out of the history unseen; add 'exclude_tools': {sorted(OWN_TOOLS)} to that edit, or use "
            "placement='call'"
        )


def kept_by_service(model: object) -> bool:
    """Whether the provider keeps the history and is sent only what is new."""
    return bool(getattr(model, "use_previous_response_id", False))


def _clears_results(management: object) -> str:
    edits = management.get("edits") if isinstance(management, Mapping) else None
    for edit in edits or ():
        kind = str(edit.get("type", ""))
        if kind.startswith("clear_tool_uses") and not set(OWN_TOOLS) <= set(edit.get("exclude_tools") or ()):
            return kind
    return ""


def _setting(model: object, settings: Mapping[str, Any] | None, name: str) -> object:
    """A setting for the coming call, else one of the model; a model with settings bound to it is looked through."""
    if settings and name in settings:
        return settings[name]
    while (bound := getattr(model, "bound", None)) is not None:
        if name in (kwargs := getattr(model, "kwargs", {})):
            return kwargs[name]
        model = bound
    return getattr(model, name, None) or (getattr(model, "model_kwargs", None) or {}).get(name)


_WAY_OUT = (
    "give it a SkillMiddleware of its own (with deepagents in `middleware` of each of `subagents`, also of one named "
    "'general-purpose'), make it with build_skill_agent, or pass unguarded=\"allow\""
)


def require_guarded(tools: Sequence[BaseTool | dict[str, Any]]) -> None:
    """Raise UnguardedAgent where a tool starts an agent that has tools, and no guard of skillweave before them.

    Seen is what the tool's function refers to by name: a graph, or a collection of graphs, as in the tool `task` of
    deepagents. An agent that a tool makes while it runs, or reaches over a network, cannot be seen.
    """
    for tool in tools:
        for work in (getattr(tool, "func", None), getattr(tool, "coroutine", None)):
            if isinstance(tool, BaseTool) and callable(work) and (name := _unguarded_in(unwrap(work))) is not None:
                raise UnguardedAgent(name, f"a sub-agent that the tool {tool.name!r} starts", _WAY_OUT)


@cache
def _unguarded_in(work: Callable[..., Any]) -> str | None:
    """The name of an unguarded agent that the function refers to; what it refers to is looked up once."""
    function = getattr(work, "__func__", work) if ismethod(work) else work
    if not isfunction(function):
        return None
    known = getclosurevars(function)
    named = chain(known.nonlocals.items(), known.globals.items())
    return next((name for key, value in named for name, graph in _graphs(key, value) if not _guarded(graph)), None)


def _graphs(name: str, value: object) -> Iterator[tuple[str, Pregel[Any, Any, Any, Any]]]:
    if isinstance(value, RunnableBinding):
        yield from _graphs(name, value.bound)
    elif isinstance(value, Pregel):
        yield (value.name if value.name != "LangGraph" else name), value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if isinstance(one, Pregel | RunnableBinding):
                yield from _graphs(str(key), one)
    elif isinstance(value, list | tuple):
        for one in value:
            if isinstance(one, Pregel | RunnableBinding):
                yield from _graphs(name, one)


def _guarded(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether every node of it that runs tools has skillweave's own among them, which only a guard answers."""
    graphs = chain((graph,), (inner for _, inner in graph.get_subgraphs(recurse=True)))
    nodes = (node.bound for one in graphs if isinstance(one, Pregel) for node in one.nodes.values())
    tools = (node.tools_by_name.values() for node in nodes if isinstance(node, ToolNode))
    return all(any(isinstance(tool, OwnTool) for tool in here) for here in tools if here)
