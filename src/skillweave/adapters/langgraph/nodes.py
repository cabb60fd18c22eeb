"""The nodes that bring skills into a graph, and their state: select, inject, guarded tools, approval (spec 7)."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import BaseTool
from langgraph.channels import UntrackedValue
from langgraph.config import get_config
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

from skillweave.adapters.approval import question, read_reply, record, rejected_texts, rejection_notice, waiting
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import HostFields
from skillweave.adapters.langchain_core import (
    Speaker,
    ToolGuard,
    conversation_of,
    given,
    host_messages,
    names_of,
    own_tools,
    require_other_names,
    shown_by,
    taken_out,
    told,
)
from skillweave.compose.spawn import SpawnPlan
from skillweave.errors import (
    CheckpointNotFound,
    InvalidTurn,
    InvalidVerdict,
    SkillNotFound,
    StoreUnavailable,
)
from skillweave.injection import Injection, PendingCheckpoint
from skillweave.settings import CatalogMode
from skillweave.state.state import ApprovalVerdict
from skillweave.weaver import Weaver


class WovenTurn(TypedDict):
    """The turn that the coming call of the model belongs to, so that it can be woven again after a pause.

    `first` says that the run begins with it, `step` is that of the graph's run in which it was injected.
    """

    id: str
    named: list[str]
    first: bool
    step: NotRequired[int]


class SkillState(TypedDict, total=False):
    """What the nodes read and write; extend it with a host's own keys.

    `selected_skill_ids` are selected and not yet injected; a host may add its own choice. `injected_skill_ids` only
    tells what the ledger says, whatever stood there before. `working_memory` may name the entity that is being worked
    on, `conversation_id` the conversation where it is not the thread's. `injection` is what was injected last in this
    run; it is not checkpointed, so that a run that resumes asks the ledger anew. The nodes' own are `woven`, `awaiting`
    (the checkpoints that a person is shown) and `open_checkpoints` (all that are open as the model is called: verdicts
    are about the texts of then).
    """

    messages: Annotated[list[AnyMessage], add_messages]
    selected_skill_ids: list[str]
    injected_skill_ids: list[str]
    working_memory: dict[str, Any]
    conversation_id: str
    woven: WovenTurn
    injection: Annotated[Injection | None, UntrackedValue]
    awaiting: list[dict[str, Any]]
    open_checkpoints: list[dict[str, Any]]


def selected_in(state: SkillState) -> list[str]:
    """The skills that a host selected; raises InvalidTurn for anything but a list of ids."""
    selected: Any = state.get("selected_skill_ids") or []
    if not isinstance(selected, list) or not all(isinstance(one, str) for one in selected):
        raise InvalidTurn(f"selected_skill_ids in the state is a list of skill ids; got {str(selected)[:60]!r}")
    return [*selected]


def memory_in(state: SkillState) -> Mapping[str, Any]:
    """The working memory; raises InvalidTurn for anything but a mapping."""
    memory: Any = state.get("working_memory") or {}
    if not isinstance(memory, Mapping):
        raise InvalidTurn(
            f"working_memory in the state is a dict, such as {{'entity_id': ...}}; got {str(memory)[:60]!r}"
        )
    return memory


class Step(Runnable[SkillState, Any]):
    """What LangGraph runs, and traces, as a node or an edge; each function runs in the context of its run.

    A RunnableLambda does the same with a run of its own inside, which costs as much as skillweave's own work.
    """

    def __init__(
        self, run: Callable[[SkillState], Any], arun: Callable[[SkillState], Coroutine[Any, Any, Any]], name: str
    ) -> None:
        self._work = run
        self._awork = arun
        self.name = name

    def invoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it blocking; without a config in the context of the caller."""
        if config is None:
            return self._work(input)
        with set_config_context(config) as context:
            return context.run(self._work, input)

    async def ainvoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it awaited; without a config in the context of the caller."""
        if config is None:
            return await self._awork(input)
        with set_config_context(config) as context:
            return await asyncio.create_task(self._awork(input), context=context)


def at_once(work: Callable[[SkillState], Any]) -> Step:
    """A step that is over in microseconds, which an awaited run need not hand to a thread."""

    async def awaited(state: SkillState) -> Any:  # noqa: ANN401 - what the step gives
        return work(state)

    return Step(work, awaited, getattr(work, "__name__", "step"))


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


@dataclass(frozen=True, slots=True)
class _Here:
    """Where a node runs: its conversation, its step in the run, and a turn id that is the same when it runs again.

    `turn` is None where the graph has no thread.
    """

    conversation: str
    step: int
    turn: str | None


def _here(bridge: Bridge, state: SkillState) -> _Here:
    info = get_runtime().execution_info
    turn = None if info is None or info.thread_id is None else f"{str(info.thread_id)[-400:]}/{info.checkpoint_id}"
    return _Here(conversation_of(bridge, state), get_config().get("metadata", {}).get("langgraph_step", 0), turn)


class _Steps:
    """What the nodes do; where a node runs is read in its own context, the rest may run elsewhere."""

    def __init__(self, bridge: Bridge, speaker: Speaker, names: list[str]) -> None:
        self._bridge = bridge
        self._speaker = speaker
        self._names = names

    def node(self, name: str, work: Callable[[SkillState, _Here], Coroutine[Any, Any, Update]]) -> Node:
        def run(state: SkillState) -> Update:
            return self._bridge.weaver.sync.run(work(state, _here(self._bridge, state)))

        async def arun(state: SkillState) -> Update:
            return await work(state, _here(self._bridge, state))

        return Step(run, arun, name)

    async def select(self, state: SkillState, here: _Here) -> Update:
        chat, known = host_messages(state["messages"]), self._known(state, here)
        coming = await self._bridge.coming(chat, here.conversation, state.get("injection"), **known)
        return {"selected_skill_ids": list(coming)}

    async def inject(self, state: SkillState, here: _Here) -> Update:
        chat, known = host_messages(state["messages"]), self._known(state, here)
        named: list[str] = []
        if selected := selected_in(state):
            # What the matchers say counts as theirs; only the rest is the host's own choice.
            coming = await self._bridge.coming(chat, here.conversation, **known)
            named = [skill_id for skill_id in selected if skill_id not in coming]
        injection = await self._bridge.weave(chat, here.conversation, **HostFields(**known, named=named))
        update = {
            "messages": given(injection, self._speaker),
            "selected_skill_ids": [],
            "woven": WovenTurn(id=injection.turn_id, named=named, first=False, step=here.step),
            "injection": injection,
            "awaiting": [one.to_dict() for one in waiting(injection)],
            "open_checkpoints": shown_by(injection),
        }
        # Without the ledger, what the state says stays until it answers.
        return update if injection.without_ledger else {**update, "injected_skill_ids": list(injection.present)}

    def approve(self, state: SkillState) -> Update:
        here, run = _here(self._bridge, state), self._bridge.weaver.sync.run
        found = run(self._asked(state, here))
        while isinstance(found, _Asked):
            found = run(self._decided(state, found, interrupt(found.question)))
        return found

    async def aapprove(self, state: SkillState) -> Update:
        found = await self._asked(state, _here(self._bridge, state))
        while isinstance(found, _Asked):
            found = await self._decided(state, found, interrupt(found.question))
        return found

    def _known(self, state: SkillState, here: _Here) -> HostFields:
        return HostFields(tools=self._names, memory=memory_in(state), turn_id=here.turn)

    async def _asked(self, state: SkillState, here: _Here) -> _Asked | Update:
        held = state.get("injection")
        # Right behind the inject node nothing can have changed: there is nobody to ask, and nothing to take out.
        if held is not None and here.step == state["woven"].get("step", 0) + 1 and not (held.waits or held.rejected):
            return {"awaiting": []}
        open_now = waiting(await self._bridge.current_policy(here.conversation, self._names))
        if not open_now:
            return await self._settled(state, here.conversation, open_now)
        # The first reply is about what the state says was shown, also when a skill was edited during the pause.
        still = {(one.skill_id, one.name) for one in open_now}
        shown = (PendingCheckpoint(**one) for one in state.get("awaiting", ()))
        pending = tuple(one for one in shown if (one.skill_id, one.name) in still)
        return _Asked(here.conversation, pending or open_now)

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
        """The texts of rejected skills go, and the model is told; the coming call of the model is woven again."""
        update: Update = {"awaiting": [one.to_dict() for one in open_now], "injection": None}
        try:
            drops = await rejected_texts(self._bridge.weaver, conversation)
            if changed := taken_out(state["messages"], drops):
                update["messages"] = [*changed, *await self._said(conversation, {drop.skill_id for drop in drops})]
        except StoreUnavailable:
            return update  # the texts go at the next step at which the ledger answers
        return update

    async def _said(self, conversation: str, skills: set[str]) -> list[BaseMessage]:
        verdicts = (await self._bridge.weaver.state(conversation)).approvals
        return [
            told(
                rejection_notice(one),
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
