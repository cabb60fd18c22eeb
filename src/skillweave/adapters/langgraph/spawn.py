"""A tool with which an agent of LangGraph or LangChain starts sub-agents that have skills (spec 4.4).

A sub-agent is a graph inside the tool's call: it is checkpointed with its parent, and a question to a person pauses
both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolRuntime

from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call, read_call
from skillweave.adapters.langchain_core import names_of
from skillweave.adapters.langchain_guard import caller, conversation_of
from skillweave.adapters.langchain_models import require_guarded, require_held
from skillweave.adapters.langgraph.agent import build_skill_agent, named_model
from skillweave.adapters.langgraph.nodes import SkillState
from skillweave.adapters.spawning import SPAWN_TOOL, SpawnBounds, Spawning, same_for_all
from skillweave.adapters.supported import Unguarded
from skillweave.compose.spawn import SpawnPlan, SpawnRequest
from skillweave.errors import InvalidSpawn
from skillweave.weaver import Weaver

ModelOf: TypeAlias = Callable[[SpawnRequest], BaseChatModel]
"""The model for a request, which may name one; it raises InvalidSpawn, in words for the model, for what it has not."""
Tool: TypeAlias = BaseTool | dict[str, Any]

STEPS = 250
"""Steps of a sub-agent's graph unless said otherwise."""

ONE_AT_A_TIME = "the sub-agent is not started: only one at a time can be started here; call spawn_subagent once"


def spawn_subagent(
    model: BaseChatModel | str | ModelOf,
    weaver: Weaver,
    tools: Sequence[Tool],
    *,
    system_prompt: str = "",
    bounds: SpawnBounds | None = None,
    recursion_limit: int = STEPS,
    unguarded: Unguarded = Unguarded.REFUSE,
) -> BaseTool:
    """The tool `spawn_subagent`, for `build_skill_agent`, `create_agent` or a graph that sends each call by itself.

    A sub-agent is a `build_skill_agent` on the model with those of `tools` that its plan offers, and with this tool
    while `bounds` leave a generation. `model` may also be a function that finds the model for a request, asked before
    anything starts and again at the start; `recursion_limit` bounds the steps of a sub-agent's graph, about five for
    each call of the model. A run names its conversation as for `build_skill_agent`. Raises InvalidSpawn
    for a tool of the same name among `tools`, and UnguardedAgent like `skill_nodes`, unless `unguarded` is `allow`.
    """
    if Unguarded(unguarded) is Unguarded.REFUSE:
        require_held(tools)
        require_guarded(tools)
    if SPAWN_TOOL.name in names_of(tools):
        raise InvalidSpawn(f"{SPAWN_TOOL.name} is among the tools of its own sub-agents; they are given it anyway")
    find = same_for_all(named_model(model)) if isinstance(model, BaseChatModel | str) else model
    spawning = Spawning(weaver, bounds=bounds, check=find, passing=(GraphBubbleUp,))
    config: RunnableConfig = {"recursion_limit": recursion_limit}
    return _Spawner(spawning, find, weaver, tuple(tools), system_prompt, config, Unguarded(unguarded)).tool()


@dataclass(frozen=True, slots=True)
class _Spawner:
    """One agent's way to sub-agents: runs each in the call of the tool that asked for it."""

    spawning: Spawning
    model: ModelOf
    weaver: Weaver
    tools: tuple[Tool, ...]
    system_prompt: str
    config: RunnableConfig
    unguarded: Unguarded

    def tool(self) -> BaseTool:
        data = SPAWN_TOOL.to_dict()
        return StructuredTool(
            name=SPAWN_TOOL.name,
            description=SPAWN_TOOL.description,
            args_schema=data["parameters"],
            func=self._run,
            coroutine=self._arun,
        )

    def _run(self, runtime: ToolRuntime[Any, Any], **arguments: object) -> str:
        if _in_one_step(runtime):
            return ONE_AT_A_TIME

        def start(plan: SpawnPlan) -> str:
            return _last_words(self._agent(plan).invoke(_task(plan), self.config))

        return self.spawning.run_blocking(*self._asked(runtime, arguments), start, bridge=self._lead)

    async def _arun(self, runtime: ToolRuntime[Any, Any], **arguments: object) -> str:
        if _in_one_step(runtime):
            return ONE_AT_A_TIME

        async def start(plan: SpawnPlan) -> str:
            return _last_words(await self._agent(plan).ainvoke(_task(plan), self.config))

        return await self.spawning.run(*self._asked(runtime, arguments), start, bridge=self._lead)

    def _asked(self, runtime: ToolRuntime[Any, Any], arguments: Mapping[str, object]) -> tuple[Call, str, list[str]]:
        """The call, the conversation of the agent that makes it, and the tools that there are for the sub-agent."""
        call, lead = read_call(runtime.tool_call_id, SPAWN_TOOL.name, arguments), caller()
        return call, lead.conversation if lead else conversation_of(self.spawning.bridge, runtime.state), self._names

    @property
    def _lead(self) -> Bridge:
        """The agent that calls, with its plan and its settings, where a guard stands before its tools."""
        lead = caller()
        return lead.bridge if lead else self.spawning.bridge

    @property
    def _names(self) -> list[str]:
        return self.spawning.names_below(names_of(self.tools))

    def _agent(self, plan: SpawnPlan) -> CompiledStateGraph[SkillState, None, SkillState, SkillState]:
        """The sub-agent; what its plan does not offer it does not have, so that there is nothing to run."""
        offered = set(plan.policy.offers(self._names))
        below = replace(self, spawning=self.spawning.within(plan))
        tools = [tool for tool, name in zip(self.tools, names_of(self.tools), strict=True) if name in offered]
        return build_skill_agent(
            self.model(plan.request),
            self.weaver,
            [*tools, *([below.tool()] if SPAWN_TOOL.name in offered else [])],
            system_prompt=self.system_prompt,
            plan=plan,
            name=SPAWN_TOOL.name,
            unguarded=self.unguarded,
        )


def _in_one_step(runtime: ToolRuntime[Any, Any]) -> bool:
    """Whether a graph runs several sub-agents in one step: it tells them apart by which begins first.

    A graph that resumes could then give one of them what a person answered to another.
    """
    if runtime.config.get("metadata", {}).get("langgraph_path", ("",))[0] != "__pregel_pull":
        return False
    messages = runtime.state["messages"] if isinstance(runtime.state, Mapping) else runtime.state
    asked = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    return asked is not None and sum(call["name"] == SPAWN_TOOL.name for call in asked.tool_calls) > 1


def _task(plan: SpawnPlan) -> SkillState:
    return {"messages": [HumanMessage(plan.request.task)]}


def _last_words(state: Mapping[str, Any]) -> str:
    messages: Sequence[BaseMessage] = state["messages"]
    return next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), "")
