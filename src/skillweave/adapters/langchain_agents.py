"""Agents of LangGraph that run inside a tool: found where they can be seen, and refused where nothing guards them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import getclosurevars, isfunction, ismethod, unwrap
from itertools import chain
from typing import Any

from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from skillweave.adapters.langchain_core import OwnTool
from skillweave.errors import UnguardedAgent

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
