"""Skills in an agent of the OpenAI Agents SDK: in its instructions, before its tools, at its approvals.

The SDK's sessions keep nothing of what is added to a call, so skill text is put back into each one where it stood.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from agents import Agent, Model, RunConfig, RunContextWrapper, RunState, Tool, ToolOriginType
from agents.items import ToolApprovalItem
from agents.memory import Session

from skillweave.adapters.approval import as_replied, question, read_question, read_reply, record
from skillweave.adapters.bridge import Bridge, Judged
from skillweave.adapters.chat import Call, read_call, words_for
from skillweave.adapters.messages.lists import plain
from skillweave.adapters.openai_agents.native import (
    MAKE_IT,
    MOST_ANSWERED,
    Answered,
    acts_unguarded,
    call_in,
    names_of,
    require_guarded,
)
from skillweave.adapters.openai_agents.run import (
    ConversationFilter,
    OwnTool,
    Woven,
    WovenProvider,
    declared,
    guarded,
    id_of,
)
from skillweave.adapters.supported import Unguarded
from skillweave.compose.policy import OWN_TOOLS
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement
from skillweave.errors import InvalidTurn, InvalidVerdict, UnguardedAgent
from skillweave.injection import PendingCheckpoint
from skillweave.relations.rules import read_entry
from skillweave.weaver import Weaver
from skillweave.weaver.tools import TOOLS

_Context = TypeVar("_Context")


class Skills:
    """A Weaver for agents of the SDK: `agent` guards an agent, `run_config` makes a run part of a conversation.

    In history placement skill text stands among the input, as words of the user, in call placement in the instructions
    of each call; the SDK's sessions have neither. `plan` is that of a spawned sub-agent, whose runs are in
    `plan.conversation`. With `unguarded="allow"` agents and tools pass that no rule can hold back. Any number of agents
    and conversations may share one object: everything that counts is in the weaver's ledger.
    """

    def __init__(
        self,
        weaver: Weaver,
        *,
        placement: Placement = Placement.HISTORY,
        plan: SpawnPlan | None = None,
        unguarded: Unguarded = Unguarded.REFUSE,
    ) -> None:
        self._bridge = Bridge(weaver, placement, plan=plan)
        self._unguarded = Unguarded(unguarded)
        self._answered: Answered = OrderedDict()

    def agent(self, agent: "Agent[_Context]") -> "Agent[_Context]":
        """A copy of the agent with skills, whose function tools, also those of MCP servers, are judged at each call.

        Its handoffs stay as they are: an agent that is handed to has skills where it was made here too. Raises
        InvalidTurn when a tool has the name of one of skillweave's own, and UnguardedAgent for a tool, an agent behind
        a tool, or an agent that it hands to, that no rule could hold back.
        """
        if isinstance(agent, _Skilled) and agent.bridge is self._bridge:
            return agent
        hosts = [tool for tool in agent.tools if not isinstance(tool, OwnTool)]
        taken = sorted(tool.name for tool in hosts if tool.name in OWN_TOOLS)
        if taken:
            raise InvalidTurn(
                f"agent {agent.name!r} has a tool {taken[0]!r}, as skillweave has; give yours another name"
            )
        if self._unguarded is Unguarded.REFUSE:
            for tool in hosts:
                require_guarded(tool, agent.name)
            for target in agent.handoffs:
                if isinstance(target, Agent) and acts_unguarded(target):
                    raise UnguardedAgent(target.name, f"a handoff of agent {agent.name!r}", MAKE_IT)
        values = {one.name: getattr(agent, one.name) for one in fields(agent) if one.init}
        values["tools"] = [*hosts, *(declared(self._bridge, spec) for spec in TOOLS.values())]
        bases = (type(agent),) if isinstance(agent, _Skilled) else (_Skilled, type(agent))
        known = {"answered": self._answered, "unguarded": self._unguarded}
        kind = type(type(agent).__name__, bases, {**known, "bridge": self._bridge})
        return cast("Agent[_Context]", kind(**values))

    def run_config(self, conversation: "str | Session", base: "RunConfig | None" = None) -> "RunConfig":
        """The configuration of a run in the conversation, which is named by its id or by the session that keeps it.

        `base` is the host's own. Raises InvalidTurn for a conversation without an id, and for a base that runs input
        guardrails before a person has approved.
        """
        own = base or RunConfig()
        if own.tool_execution and own.tool_execution.pre_approval_tool_input_guardrails:
            raise InvalidTurn(
                "pre_approval_tool_input_guardrails refuses calls that are to wait for a person; leave it off"
            )
        named, plan, hosts = id_of(conversation), self._bridge.plan, own.call_model_input_filter
        if isinstance(hosts, ConversationFilter):  # the base is a run's of ours
            hosts = hosts.hosts
        if plan is not None and named != plan.conversation:
            raise InvalidTurn(f"this plan belongs to conversation {plan.conversation!r}, not to {named!r}")
        return replace(
            own,
            model=Woven(own.model) if isinstance(own.model, Model) else own.model,
            model_provider=WovenProvider(own.model_provider),
            call_model_input_filter=ConversationFilter(named, hosts, plan, self._unguarded),
        )

    async def waiting(self, state: "RunState[Any]", conversation: "str | Session") -> list[dict[str, object]]:
        """What a person is asked, as JSON data, for each interrupted call that `decide` settles.

        One that may not run, whatever the person says, has a `problem`.
        """
        named = id_of(conversation)
        return [
            question(named, judged.waits, call, "" if judged.waits or judged.runs else words_for(judged.verdict))
            for _, call, judged in await self._interrupted(state, named)
        ]

    async def decide(
        self,
        state: "RunState[Any]",
        conversation: "str | Session",
        asked: Sequence[Mapping[str, Any]],
        reply: object,
        *,
        call_id: str | None = None,
    ) -> "RunState[Any]":
        """Keep a person's reply for the interrupted calls, or the one of this id, and give the state to run on.

        `asked` are the questions of `waiting` that the person was shown, `reply` is `{verdict, by, note, call,
        arguments}`, about them alone; the new arguments of a modified call are remembered in this object until it runs.
        A call that may not run is rejected with words for the model; what only the host's own rules interrupted, or a
        checkpoint that nobody was asked about, stays as it is. Doing it again, as after a crash, changes nothing.
        Raises InvalidVerdict for any other reply, for an id that no such call has, and where a skill has changed since
        the person was asked.
        """
        said, named = read_reply(reply), id_of(conversation)
        found = await self._interrupted(state, named)
        waiting = {call.id for _, call, _ in found}
        pending = {call: shown for call, shown in _shown(asked, named).items() if call in waiting}
        call_id = call_id or said.call or None
        if call_id is not None:
            if call_id not in pending:
                raise InvalidVerdict(
                    f"no call {call_id[:60]!r} waits here; it is one of {', '.join(pending) or 'none'}"
                )
            pending = {call_id: pending[call_id]}
        replied = [(pending[call.id], said, call) for _, call, _ in found if call.id in pending]
        await record(self._bridge.weaver, named, *replied)
        for item, call, _ in found:
            if call.id not in pending:
                continue
            left = as_replied(call, said)
            now = await self._bridge.judge(left, named)
            if now.waits:
                continue
            if now.runs:
                self._remember((named, call.id), said.arguments)
                state.approve(item)
            else:
                state.reject(item, rejection_message=words_for(now.verdict))
        return state

    def _remember(self, call: tuple[str, str], arguments: Mapping[str, Any] | None) -> None:
        self._answered[call] = arguments
        self._answered.move_to_end(call)
        if len(self._answered) > MOST_ANSWERED:
            self._answered.popitem(last=False)

    async def _interrupted(
        self, state: "RunState[Any]", conversation: str
    ) -> "list[tuple[ToolApprovalItem, Call, Judged]]":
        found = [
            (item, call)
            for item in state.get_interruptions()
            if isinstance(item.agent, _Skilled) and (call := _call_of(item)) is not None
        ]
        judged = [(item, call, await self._bridge.judge(call, conversation)) for item, call in found]
        kept = (
            (await self._bridge.weaver.ledger.state(conversation)).approvals
            if any(one[2].runs for one in judged)
            else ()
        )
        # What runs now was interrupted at a checkpoint that was decided since, in this conversation and no nested one.
        decided = [read_entry(before) for approval in kept for before in approval.before]
        return [
            one
            for one in judged
            if not one[2].runs
            or (any(entry.names(one[1].name) for entry in decided) and await _only_ours(one[0], state))
        ]


def _call_of(item: "ToolApprovalItem") -> Call | None:
    raw = plain(item.raw_item) or {}
    if raw.get("type") == "function_call":
        return read_call(item.call_id, item.tool_name, item.arguments)
    return call_in(raw, item.tool_name or "")


def _shown(asked: Sequence[Mapping[str, Any]], conversation: str) -> "dict[str, tuple[PendingCheckpoint, ...]]":
    found: dict[str, tuple[PendingCheckpoint, ...]] = {}
    for one in asked:
        named, points = read_question(one)
        if named != conversation:
            raise InvalidVerdict(f"a question of conversation {named[:60]!r} is none of {conversation[:60]!r}")
        call = one.get("call")
        if not isinstance(call, Mapping):
            raise InvalidVerdict("this question is about no call; give those of `waiting` back as they were")
        found[str(call.get("id"))] = points
    return found


async def _only_ours(item: "ToolApprovalItem", state: "RunState[Any]") -> bool:
    """Whether the host itself never asks before this tool, so that its call was interrupted at a checkpoint."""
    tools = item.agent.tools
    if item.tool_origin is not None and item.tool_origin.type is ToolOriginType.MCP:
        tools = await item.agent.get_mcp_tools(state._context or RunContextWrapper(None))  # noqa: SLF001 - filters read it
    same = [tool for tool in tools if tool.name == item.tool_name]
    return bool(same) and all(getattr(tool, "needs_approval", None) is False for tool in same)


class _Skilled(Agent[Any]):
    """An agent whose tools are made anew for each call of the model, so that one call's rules are never another's."""

    bridge: Bridge
    answered: Answered
    unguarded: Unguarded

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]  # as the SDK has it
        if isinstance(self.model, Model) and not isinstance(self.model, Woven):
            self.model = Woven(self.model, self.name)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        tools = await super().get_all_tools(run_context)
        if self.unguarded is Unguarded.REFUSE:
            for tool in tools:
                require_guarded(tool, self.name)
        names = names_of(tools)
        return [guarded(self.bridge, tool, names, self.answered) for tool in tools]
