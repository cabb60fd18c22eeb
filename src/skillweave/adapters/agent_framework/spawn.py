"""A tool with which an agent of the Agent Framework starts sub-agents that have skills (spec 4.4).

A sub-agent runs inside the tool's call, in a session of its own. Where it waits for a person, the call waits: the run
of its parent ends with an approval request that shows the sub-agent's question, and its session is kept in its parent's
until the reply comes. A reply that rejects ends the sub-agent: the framework then does not make the call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agent_framework import (
    SKIP_PARSING,
    Agent,
    AgentSession,
    Content,
    FunctionInvocationContext,
    FunctionTool,
    InMemoryHistoryProvider,
    Message,
    MiddlewareFailure,
    SupportsChatGetResponse,
    ToolTypes,
    UserInputRequiredException,
    normalize_tools,
)

from skillweave.adapters.agent_framework import SkillContextProvider, reply_to
from skillweave.adapters.agent_framework.approval import answers
from skillweave.adapters.agent_framework.messages import call_of, name_of
from skillweave.adapters.agent_framework.provider import CALLER
from skillweave.adapters.approval import question, read_reply
from skillweave.adapters.chat import Call, read_call
from skillweave.adapters.spawning import SPAWN_TOOL, SpawnBounds, Spawning, same_for_all
from skillweave.compose.spawn import SpawnPlan, SpawnRequest
from skillweave.errors import InvalidSpawn, InvalidTurn, InvalidVerdict
from skillweave.weaver import Weaver

ClientOf: TypeAlias = Callable[[SpawnRequest], SupportsChatGetResponse[Any]]
"""The client for a request, which may name a model; raises InvalidSpawn, in words for the model, where it has none."""

WAITING = "skillweave.sub-agents"
"""Where a parent's session keeps those that wait for a person: session and requests, by conversation."""
MOST_WAITING = 32
"""Sub-agents of one session that are kept while they wait; one that is forgotten starts anew, and asks again."""


def spawn_subagent(
    client: SupportsChatGetResponse[Any] | ClientOf,
    weaver: Weaver,
    tools: Sequence[ToolTypes | Callable[..., Any]],
    *,
    instructions: str = "",
    bounds: SpawnBounds | None = None,
) -> FunctionTool:
    """The tool `spawn_subagent`, for an agent with a SkillContextProvider, run with a session.

    A sub-agent is an Agent on the client with those of `tools` that its plan offers, and with this tool while `bounds`
    leave a generation. `client` may also be a function that finds the client for a request, asked before anything
    starts and again at the start. Raises InvalidSpawn for a tool of the same name among `tools`.
    """
    known = tuple(normalize_tools(list(tools)))
    if SPAWN_TOOL.name in map(name_of, known):
        raise InvalidSpawn(f"{SPAWN_TOOL.name} is among the tools of its own sub-agents; they are given it anyway")
    find = same_for_all(client) if isinstance(client, SupportsChatGetResponse) else client
    passing = (_Waits, MiddlewareFailure, UserInputRequiredException)
    spawning = Spawning(weaver, bounds=bounds, check=find, passing=passing)
    return _Spawner(spawning, find, weaver, known, instructions).tool()


class _Waits(Exception):
    """A sub-agent waits for a person."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        super().__init__("a sub-agent waits for a person")
        self.asked = asked


@dataclass(frozen=True, slots=True)
class _Spawner:
    """One agent's way to sub-agents: runs each in the call of the tool that asked for it."""

    spawning: Spawning
    client: ClientOf
    weaver: Weaver
    tools: tuple[ToolTypes, ...]
    instructions: str

    def tool(self) -> FunctionTool:
        data = SPAWN_TOOL.to_dict()
        return FunctionTool(
            name=SPAWN_TOOL.name,
            description=SPAWN_TOOL.description,
            func=self._run,
            input_model=data["parameters"],
            result_parser=SKIP_PARSING,
        )

    async def _run(self, ctx: FunctionInvocationContext, **arguments: object) -> str | Content:
        if ctx.session is None:
            raise InvalidTurn("this run names no conversation; run with session=agent.create_session()")
        session = ctx.session
        call = read_call(ctx.metadata.get("call_id"), SPAWN_TOOL.name, arguments)
        bridge, conversation = ctx.metadata.get(CALLER, (None, session.session_id))

        async def start(plan: SpawnPlan) -> str:
            return await self._started(plan, session, ctx.metadata.get("approval_response"))

        try:
            return await self.spawning.run(call, conversation, self._names, start, bridge=bridge)
        except _Waits as waits:
            return _question(call, str(ctx.metadata.get("function_call_occurrence_id") or call.id), waits.asked)

    async def _started(self, plan: SpawnPlan, parent: AgentSession, response: Content | None) -> str:
        """Run the sub-agent to its end, from where it waited if it did; raises _Waits where it waits for a person."""
        waiting: dict[str, Any] = parent.state.setdefault(WAITING, {})
        kept = waiting.get(plan.conversation)
        if kept is None:
            session, said = AgentSession(session_id=plan.conversation), Message("user", [plan.request.task])
        else:
            requests = [Content.from_dict(request) for request in kept["requests"]]
            session = AgentSession.from_dict(kept["session"])
            said = _replies(requests, _shown(plan.conversation, requests), response)
        answer = await self._agent(plan).run(said, session=session)
        waiting.pop(plan.conversation, None)
        if answer.user_input_requests:
            requests = answer.user_input_requests
            for forgotten in list(waiting)[: len(waiting) + 1 - MOST_WAITING]:
                waiting.pop(forgotten)  # nobody tells of those that a person rejected
            waiting[plan.conversation] = {
                "session": session.to_dict(),
                "requests": [request.to_dict() for request in requests],
            }
            raise _Waits(_shown(plan.conversation, requests))
        return next((message.text for message in reversed(answer.messages) if message.text), "")

    @property
    def _names(self) -> list[str]:
        return self.spawning.names_below([name_of(tool) for tool in self.tools])

    def _agent(self, plan: SpawnPlan) -> Agent[Any]:
        """The sub-agent; of what its plan does not offer it has the name alone, for the guard to say why not."""
        offered = set(plan.policy.offers(self._names))
        below = replace(self, spawning=self.spawning.within(plan))
        held = [tool for tool in self.tools if name_of(tool) in offered or isinstance(tool, FunctionTool)]
        tools = [tool if name_of(tool) in offered else _withheld(name_of(tool)) for tool in held]
        return Agent(
            self.client(plan.request),
            self.instructions or None,
            name=SPAWN_TOOL.name,
            tools=[*tools, *([below.tool()] if SPAWN_TOOL.name in offered else [])],
            context_providers=[InMemoryHistoryProvider(), SkillContextProvider(self.weaver, plan=plan)],
        )


def _withheld(name: str) -> FunctionTool:
    """In place of a tool that the model is not shown: the guard denies it in words, and there is nothing to run."""

    def refuse() -> str:
        raise InvalidTurn(f"{name[:60]!r} is no tool of this sub-agent; its skills do not allow it")

    return FunctionTool(name=name, description="Not for this agent.", func=refuse)


def _replies(requests: Sequence[Content], asked: Mapping[str, Any], response: Content | None) -> Message:
    """What a person said when asked, as the reply to each of the sub-agent's requests.

    Raises _Waits where it says too little, or was said to an earlier question of the sub-agent.
    """
    said: Mapping[str, Any] = {} if response is None else response.additional_properties
    if response is not None and not answers(response, asked):
        raise _Waits(asked)
    try:
        reply = read_reply({name: said[name] for name in ("verdict", "by", "note") if name in said})
    except InvalidVerdict:
        raise _Waits(asked) from None
    return Message("user", [reply_to(request, reply) for request in requests])


def _question(call: Call, occurrence: str, asked: Mapping[str, Any]) -> Content:
    """The approval request for the call whose sub-agent waits: one question with all that it waits for."""
    waiting = Content.from_function_call(call.id, call.name, arguments=dict(call.arguments or {}), id=occurrence)
    return Content.from_function_approval_request(occurrence, waiting, additional_properties=dict(asked))


def _shown(conversation: str, requests: Sequence[Content]) -> dict[str, Any]:
    """All that the requests ask, in the form of one question; also those that the framework makes by itself."""
    asked: list[Mapping[str, Any]] = [request.additional_properties for request in requests]
    form = next((one for one in asked if "kind" in one), question(conversation, ()))
    return {
        **form,
        "checkpoints": [checkpoint for one in asked for checkpoint in one.get("checkpoints", ())],
        "calls": [call for request in requests for call in _calls(request)],
    }


def _calls(request: Content) -> Sequence[Mapping[str, Any]]:
    asked, waiting = request.additional_properties, request.function_call
    if "calls" in asked:
        return list(asked["calls"])  # those of a sub-agent's sub-agent
    if "call" in asked or waiting is None:
        return [asked["call"]] if "call" in asked else []
    call = call_of(waiting)
    return [{"id": call.id, "tool": call.name, "arguments": dict(call.arguments or {})}]
