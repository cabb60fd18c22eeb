"""The nodes that bring skills into a graph: select, inject, guarded tools, approval (seed 000, spec 7)."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

from skillweave.adapters.approval import question, read_reply, record, rejected_texts, rejection_told, waiting
from skillweave.adapters.bridge import Bridge, ChatFields
from skillweave.adapters.langchain_core.messages import Speaker, given, heard, taken_out, told
from skillweave.adapters.langchain_core.tools import (
    ToolGuard,
    conversation_of,
    names_of,
    own_tools,
    require_other_names,
    shown_by,
)
from skillweave.adapters.langgraph.state import SkillState, WovenTurn, memory_in, selected_in
from skillweave.adapters.langgraph.step import Step
from skillweave.compose.spawn import SpawnPlan
from skillweave.errors import (
    CheckpointNotFound,
    InvalidVerdict,
    SkillNotFound,
    StoreUnavailable,
)
from skillweave.injection import PendingCheckpoint
from skillweave.settings import CatalogMode
from skillweave.state.state import SKILL, ApprovalVerdict, Delivery, skill_of
from skillweave.weaver import Weaver

Update: TypeAlias = dict[str, Any]
Node: TypeAlias = Runnable[Any, Any]
HostTool: TypeAlias = BaseTool | Callable[..., Any] | dict[str, Any]
"""A tool as LangGraph takes it; a dict is one that the model's provider runs itself."""

EXPLICIT = ("explicit",)
"""What selects unless the host says otherwise: the model's `SKILL_SELECT:` markers, and the host itself."""


@dataclass(frozen=True, slots=True)
class SkillNodes:
    """The nodes of one graph; each runs blocking and awaited, and twice with the same result.

    `skill_select_node` and `skill_inject_node` are those of seed 000. `tool_node` answers skillweave's own tools and
    judges every other call; to let a call wait for a person while others run once, send it each call by itself:
    `Send("tools", [call])`. `approval_node` pauses for checkpoints that stand before no one tool. `declared` are all
    tools, the host's first, to be shown to the model as far as `bridge` says that they may be.
    """

    bridge: Bridge
    speaker: Speaker
    declared: tuple[BaseTool | dict[str, Any], ...]
    skill_select_node: Node
    skill_inject_node: Node
    tool_node: Node
    approval_node: Node

    @property
    def names(self) -> list[str]:
        """The names of all declared tools."""
        return names_of(self.declared)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A person has to decide before the model acts."""

    conversation: str
    pending: tuple[PendingCheckpoint, ...]
    problem: str = ""

    @property
    def question(self) -> dict[str, object]:
        return question(self.conversation, self.pending, problem=self.problem)


def skill_nodes(
    weaver: Weaver,
    tools: Sequence[HostTool] = (),
    *,
    matchers: Sequence[str] | None = EXPLICIT,
    speaker: Speaker = Speaker.USER,
    plan: SpawnPlan | None = None,
    max_skills: int | None = None,
) -> SkillNodes:
    """The nodes for a graph over SkillState; the catalog is in every call, whatever the weaver's settings say.

    `matchers` None are the weaver's own; `speaker` is as whose words skill text stands in the history; `plan` is that
    of a spawned sub-agent. Raises InvalidTurn for a host's tool with the name of one of skillweave's own.
    """
    settings = replace(weaver.settings, catalog=CatalogMode.ALWAYS)
    bridge = Bridge(weaver, plan=plan, max_skills=max_skills, matchers=matchers, settings=settings)
    hosts = _as_tools(tools)
    declared = (*hosts, *own_tools(bridge))
    guard = ToolGuard(bridge)
    steps = _Steps(bridge, Speaker(speaker), names_of(declared))
    ran_here = [tool for tool in declared if isinstance(tool, BaseTool)]
    return SkillNodes(
        bridge=bridge,
        speaker=Speaker(speaker),
        declared=declared,
        skill_select_node=steps.node("skill_select_node", steps.select),
        skill_inject_node=steps.node("skill_inject_node", steps.inject),
        tool_node=ToolNode(ran_here, wrap_tool_call=guard.wrap, awrap_tool_call=guard.awrap),
        approval_node=Step(steps.approve, steps.aapprove, "approval_node"),
    )


def turn_here() -> str | None:
    """Thread and checkpoint of the running node: the same when it runs again. None where the graph has no thread."""
    info = get_runtime().execution_info
    if info is None or info.thread_id is None:
        return None
    return f"{str(info.thread_id)[-400:]}/{info.checkpoint_id}"


class _Steps:
    """What the nodes do; `conversation` and turn are read in the node's own context, the rest may run elsewhere."""

    def __init__(self, bridge: Bridge, speaker: Speaker, names: list[str]) -> None:
        self._bridge = bridge
        self._speaker = speaker
        self._names = names

    def node(self, name: str, work: Callable[[SkillState, str, str | None], Coroutine[Any, Any, Update]]) -> Node:
        def run(state: SkillState) -> Update:
            return self._bridge.weaver.sync.run(work(state, conversation_of(self._bridge, state), turn_here()))

        async def arun(state: SkillState) -> Update:
            return await work(state, conversation_of(self._bridge, state), turn_here())

        return Step(run, arun, name)

    async def select(self, state: SkillState, conversation: str, turn: str | None) -> Update:
        coming = await self._bridge.coming(heard(state["messages"]), conversation, **self._known(state, turn))
        return {"selected_skill_ids": list(coming)}

    async def inject(self, state: SkillState, conversation: str, turn: str | None) -> Update:
        chat, known = heard(state["messages"]), self._known(state, turn)
        named: list[str] = []
        if selected := selected_in(state):
            # What the matchers say counts as theirs; only the rest is the host's own choice.
            coming = await self._bridge.coming(chat, conversation, **known)
            named = [skill_id for skill_id in selected if skill_id not in coming]
        injection = await self._bridge.weave(chat, conversation, **ChatFields(**known, named=named))
        return {
            "messages": given(injection, self._speaker),
            "selected_skill_ids": [],
            "woven": WovenTurn(id=injection.turn_id, named=named, first=False),
            "awaiting": [one.to_dict() for one in waiting(injection)],
            "open_checkpoints": shown_by(injection),
            **await self._injected(conversation),
        }

    def approve(self, state: SkillState) -> Update:
        conversation, run = conversation_of(self._bridge, state), self._bridge.weaver.sync.run
        found = run(self._asked(state, conversation))
        while isinstance(found, _Asked):
            found = run(self._decided(state, found, interrupt(found.question)))
        return found

    async def aapprove(self, state: SkillState) -> Update:
        conversation = conversation_of(self._bridge, state)
        found = await self._asked(state, conversation)
        while isinstance(found, _Asked):
            found = await self._decided(state, found, interrupt(found.question))
        return found

    def _known(self, state: SkillState, turn: str | None) -> ChatFields:
        return ChatFields(tools=self._names, memory=memory_in(state), turn_id=turn)

    async def _asked(self, state: SkillState, conversation: str) -> _Asked | Update:
        open_now = waiting(await self._bridge.current_policy(conversation, self._names))
        if not open_now:
            return await self._settled(state, conversation, open_now)
        # The first reply is about what the state says was shown, also when a skill was edited during the pause.
        still = {(one.skill_id, one.name) for one in open_now}
        shown = (PendingCheckpoint(**one) for one in state.get("awaiting", ()))
        pending = tuple(one for one in shown if (one.skill_id, one.name) in still)
        return _Asked(conversation, pending or open_now)

    async def _decided(self, state: SkillState, asked: _Asked, value: object) -> _Asked | Update:
        try:
            reply = read_reply(value)
        except InvalidVerdict as error:
            return replace(asked, problem=str(error))
        try:
            await record(self._bridge.weaver, asked.conversation, asked.pending, reply)
        except (InvalidVerdict, SkillNotFound, CheckpointNotFound) as error:
            open_now = waiting(await self._bridge.current_policy(asked.conversation, self._names))
            if open_now:
                return _Asked(asked.conversation, open_now, str(error))
        open_now = waiting(await self._bridge.current_policy(asked.conversation, self._names))
        return await self._settled(state, asked.conversation, open_now)

    async def _settled(self, state: SkillState, conversation: str, open_now: Sequence[PendingCheckpoint]) -> Update:
        """The texts of rejected skills go, and the model is told."""
        update: Update = {"awaiting": [one.to_dict() for one in open_now]}
        try:
            drops = await rejected_texts(self._bridge.weaver, conversation)
            if changed := taken_out(state["messages"], drops):
                update["messages"] = [*changed, *await self._said(conversation, {drop.skill_id for drop in drops})]
        except StoreUnavailable:
            return update  # the texts go at the next step at which the ledger answers
        return update

    async def _injected(self, conversation: str) -> Update:
        try:
            records = (await self._bridge.weaver.state(conversation)).records
        except StoreUnavailable:
            return {}  # what the state says stays until the ledger answers
        found = (skill_of(one.key) for one in records if one.key.startswith(SKILL) and one.state is Delivery.GIVEN)
        return {"injected_skill_ids": [skill_id for skill_id in found if skill_id]}

    async def _said(self, conversation: str, skills: set[str]) -> list[BaseMessage]:
        verdicts = (await self._bridge.weaver.state(conversation)).approvals
        return [
            told(
                rejection_told(one),
                f"{conversation}/{one.skill_id}/{one.checkpoint}/{one.at}",
                self._speaker,
            )
            for one in verdicts
            if one.verdict is ApprovalVerdict.REJECTED and one.skill_id in skills and not one.before
        ]


def _as_tools(tools: Sequence[HostTool]) -> list[BaseTool | dict[str, Any]]:
    made = [tool if isinstance(tool, dict) else next(iter(ToolNode([tool]).tools_by_name.values())) for tool in tools]
    require_other_names(made)
    return made
