"""The nodes that bring skills into a graph, and their state: select, inject, guarded tools, approval (spec 7)."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Annotated, Any, NotRequired, TypeAlias, cast

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
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict  # of Python 3.12: pydantic takes no other on 3.11

from skillweave.adapters.approval import (
    from_data,
    question,
    read_reply,
    record,
    require_decided,
    to_data,
    waiting,
)
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import TurnOptions, last_words
from skillweave.adapters.langchain_core import (
    Speaker,
    block_messages,
    host_messages,
    names_of,
    notice,
    own_tools,
    removals,
    require_other_names,
    with_tail,
)
from skillweave.adapters.langchain_guard import ToolGuard, run_of
from skillweave.adapters.langchain_models import require_guarded, require_held, shown
from skillweave.adapters.langchain_pause import continued, in_place_of_all
from skillweave.adapters.supported import Unguarded
from skillweave.compose.spawn import SpawnPlan
from skillweave.errors import CheckpointNotFound, InvalidTurn, InvalidVerdict, SkillNotFound, StoreUnavailable
from skillweave.injection import CurrentPolicy, Injection
from skillweave.state.approvals import rejection_notice
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
    are about the texts of then). `structured_response` is the ready agent's answer where it has a `response_format`.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    selected_skill_ids: list[str]
    injected_skill_ids: list[str]
    working_memory: dict[str, Any]
    conversation_id: str
    woven: WovenTurn
    injection: Annotated[Injection | None, UntrackedValue, SkipJsonSchema()]
    awaiting: list[dict[str, Any]]
    open_checkpoints: list[dict[str, Any]]
    structured_response: Any


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
    """What LangGraph runs, and traces, as a node or an edge: `work` awaited, `blocking` in a run that does not await.

    Each runs in the context of its run. A RunnableLambda does that too, with a run of its own inside, which costs as
    much as skillweave's own work. `at_once` looks at the state first, with neither a task nor the context; only where
    it gives None the others run.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[SkillState], Coroutine[Any, Any, Any]] | None = None,
        blocking: Callable[[SkillState], Any] | None = None,
        at_once: Callable[[SkillState], Any] | None = None,
    ) -> None:
        self.name = name
        self._work = work
        self._blocking = blocking
        self._at_once = at_once

    def invoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it blocking; without a config in the context of the caller."""
        found = None if self._at_once is None else self._at_once(input)
        if found is not None or self._blocking is None:
            return found
        if config is None:
            return self._blocking(input)
        with set_config_context(config) as context:
            return context.run(self._blocking, input)

    async def ainvoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it awaited; without a config in the context of the caller."""
        found = None if self._at_once is None else self._at_once(input)
        if found is not None or self._work is None:
            return found
        if config is None:
            return await self._work(input)
        with set_config_context(config) as context:
            return await asyncio.create_task(self._work(input), context=context)


Update: TypeAlias = dict[str, Any]
Node: TypeAlias = Runnable[Any, Any]
HostTool: TypeAlias = BaseTool | Callable[..., Any] | dict[str, Any]
"""A tool as LangGraph takes it; a dict is one that the model's provider runs itself."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the model, ready to be made.

    `messages` are those of this call only, `instructions` are for its system prompt, behind the host's own; `tools` are
    those that it may be shown. `changes` belong into the state's messages, in front of the reply.
    """

    injection: Injection
    instructions: str
    messages: list[BaseMessage]
    tools: list[BaseTool | dict[str, Any]]
    changes: list[BaseMessage]


@dataclass(frozen=True, slots=True)
class SkillNodes:
    """The nodes of one graph; each runs blocking and awaited, and twice with the same result.

    `skill_select_node` and `skill_inject_node` are those of seed 000. `tool_node` answers skillweave's own tools and
    judges every other call; to let a call wait for a person while others run once, send it each call by itself:
    `Send("tools", [call])`. `approval_node` pauses for checkpoints that stand before no one tool. `declared` are all
    tools, the host's first, and `names` theirs; `prepare` says which of them a call of the model may be shown, and what
    it is to be sent.
    """

    bridge: Bridge
    speaker: Speaker
    declared: tuple[BaseTool | dict[str, Any], ...]
    names: list[str]
    skill_select_node: Node
    skill_inject_node: Node
    tool_node: Node
    approval_node: Node

    async def prepare(self, state: SkillState, sent: Sequence[BaseMessage] | None = None) -> ModelCall:
        """All for the coming call of the model, in the node that makes it: `bridge.run(...)` where nothing is awaited.

        `sent` is what of the history the call is to hold, where a host trims or summarises it there; else all of it.
        What a skill needs and is not in there is given in this call, and what is new goes into the state too. Behind
        the inject node nothing is woven twice, unless `sent` is another history. Raises ApprovalNeeded where a person
        has to decide first.
        """
        here, held, turn = await _here(self.bridge, state), state.get("injection"), state.get("woven")
        whole = await continued(state["messages"])
        chat = whole if sent is None else await continued(sent)
        same = len(chat) == len(whole) and all(map(is_, chat, whole))
        if same and turn and held is not None and here.step <= turn.get("step", 0) + 2:
            injection = replace(held, messages=(), drop=())
        else:
            read = host_messages(chat)
            same_said = last_words(read) == last_words(host_messages(whole))
            fields = self._fields(state, here, same=same_said)
            injection = await here.bridge.weave(read, here.conversation, **fields)
        require_decided(injection)
        given = block_messages(injection, self.speaker)
        # What was only trimmed away stands in the state still.
        new = [block for block in given if not any(block.text in message.text for message in whole)]
        changes = [*removals(whole, injection.drop), *new]
        if whole is not state["messages"]:
            changes = in_place_of_all(_added(whole, changes))
        return ModelCall(
            injection=injection,
            instructions=injection.instructions,
            messages=with_tail(_added(chat, [*removals(chat, injection.drop), *given]), injection.tail, self.speaker),
            tools=shown(self.declared, injection.tools),
            changes=changes,
        )

    def _fields(self, state: SkillState, here: "_Here", *, same: bool) -> TurnOptions:
        """What is known of the turn: that of the inject node where the `same` was said, so that it counts once."""
        turn = state.get("woven")
        known = TurnOptions(tools=self.names, memory=memory_in(state))
        if turn is None:
            return TurnOptions(**known, turn_id=here.turn, named=selected_in(state))
        return TurnOptions(**known, turn_id=turn["id"] if same else None, named=turn["named"])


def _added(before: Sequence[BaseMessage], changes: Sequence[BaseMessage]) -> list[BaseMessage]:
    left: list[Any] = [*before]
    right: list[Any] = [*changes]
    after: Any = add_messages(left, right) if right else left
    return list(after)


def _changed(state: SkillState, update: Update) -> Update:
    """The keys of the update that the state does not hold so yet: each key that is written is stored again."""
    return {key: value for key, value in update.items() if key not in state or state[key] != value}  # type: ignore[literal-required]


def skill_nodes(
    weaver: Weaver,
    tools: Sequence[HostTool] = (),
    *,
    matchers: Sequence[str] | None = None,
    speaker: Speaker = Speaker.USER,
    plan: SpawnPlan | None = None,
    unguarded: Unguarded = Unguarded.REFUSE,
) -> SkillNodes:
    """The nodes for a graph over SkillState.

    `matchers` None are the weaver's own; `speaker` is as whose words skill text stands in the history; `plan` is that
    of a spawned sub-agent. Raises InvalidTurn for a host's tool with the name of one of skillweave's own, and
    UnguardedAgent for one that starts an agent without a guard, or whose tools only the model's provider knows, unless
    `unguarded` is `allow`.
    """
    bridge = Bridge(weaver if matchers is None else weaver.variant(matchers=matchers), plan=plan)
    hosts = _as_tools(tools)
    if Unguarded(unguarded) is Unguarded.REFUSE:
        require_held(hosts)
        require_guarded(hosts)
    declared = (*hosts, *own_tools())
    names = names_of(declared)
    guard = ToolGuard(bridge, names)
    steps = _Steps(bridge, Speaker(speaker), names)
    ran_here = [tool for tool in declared if isinstance(tool, BaseTool)]
    return SkillNodes(
        bridge=bridge,
        speaker=Speaker(speaker),
        declared=declared,
        names=names,
        skill_select_node=steps.node("skill_select_node", steps.select),
        skill_inject_node=steps.node("skill_inject_node", steps.inject),
        tool_node=ToolNode(ran_here, wrap_tool_call=guard.wrap, awrap_tool_call=guard.awrap),
        approval_node=steps.node("approval_node", steps.approve),
    )


@dataclass(frozen=True, slots=True)
class _Here:
    """Where a node runs: its conversation, its step in the run, and a turn id that is the same when it runs again.

    `turn` is None where the graph has no thread.
    """

    bridge: Bridge
    conversation: str
    step: int
    turn: str | None


async def _here(bridge: Bridge, state: SkillState) -> _Here:
    info = get_runtime().execution_info
    turn = None if info is None or info.thread_id is None else f"{str(info.thread_id)[-400:]}/{info.checkpoint_id}"
    step = get_config().get("metadata", {}).get("langgraph_step", 0)
    return _Here(*await run_of(bridge, state), step, turn)


@dataclass(frozen=True, slots=True)
class _Steps:
    """What the nodes do; where a node runs is read in its own context, the rest may run elsewhere."""

    _bridge: Bridge
    _speaker: Speaker
    _names: list[str]

    def node(self, name: str, work: Callable[[SkillState], Coroutine[Any, Any, Update]]) -> Node:
        async def over_pauses(state: SkillState) -> Update:
            """Do the work over a chat in which each call has an answer."""
            chat = await continued(state["messages"])
            if chat is state["messages"]:
                return await work(state)
            update = await work(cast("SkillState", {**state, "messages": chat}))
            return {**update, "messages": in_place_of_all(_added(chat, update.get("messages", [])))}

        return Step(name, over_pauses, lambda state: self._bridge.run(over_pauses(state)))

    async def select(self, state: SkillState) -> Update:
        here, chat = await _here(self._bridge, state), host_messages(state["messages"])
        coming = await here.bridge.coming(chat, here.conversation, **self._known(state, here))
        return {"selected_skill_ids": list(coming)}

    async def inject(self, state: SkillState) -> Update:
        here, chat = await _here(self._bridge, state), host_messages(state["messages"])
        known = self._known(state, here)
        named: list[str] = []
        if selected := selected_in(state):
            # What the matchers say counts as theirs; only the rest is the host's own choice.
            coming = await here.bridge.coming(chat, here.conversation, **known)
            named = [skill_id for skill_id in selected if skill_id not in coming]
        injection = await here.bridge.weave(chat, here.conversation, **TurnOptions(**known, named=named))
        kept: Update = {
            "selected_skill_ids": [],
            "awaiting": to_data(waiting(injection)),
            "open_checkpoints": to_data(injection.checkpoints),
        }
        # Without the ledger, what the state says stays until it answers.
        if not injection.without_ledger:
            kept["injected_skill_ids"] = list(injection.present)
        changes = [*removals(state["messages"], injection.drop), *block_messages(injection, self._speaker)]
        return {
            **_changed(state, kept),
            **({"messages": changes} if changes else {}),
            "woven": WovenTurn(id=injection.turn_id, named=named, first=False, step=here.step),
            "injection": injection,
        }

    async def approve(self, state: SkillState) -> Update:
        here, held = await _here(self._bridge, state), state.get("injection")
        # Right behind the inject node nothing can have changed: there is nobody to ask, and nothing to take out.
        if held is not None and here.step == state["woven"].get("step", 0) + 1 and not (held.waits or held.rejected):
            return _changed(state, {"awaiting": []})
        now = await here.bridge.current_policy(here.conversation, self._names)
        # The first reply is about what the state says was shown, also when a skill was edited during the pause.
        still = {(one.skill_id, one.name) for one in waiting(now)}
        shown = from_data(state.get("awaiting", ()))
        pending, problem = tuple(one for one in shown if (one.skill_id, one.name) in still) or waiting(now), ""
        while pending:
            said = interrupt(question(here.conversation, pending, problem=problem))
            try:
                reply = read_reply(said)
            except InvalidVerdict as error:
                problem = str(error)
                continue
            problem = ""
            try:
                await record(here.bridge.weaver, here.conversation, (pending, reply, None))
            except (InvalidVerdict, SkillNotFound, CheckpointNotFound) as error:
                problem = str(error)
            now = await here.bridge.current_policy(here.conversation, self._names)
            pending = waiting(now) if problem else ()
        return await self._settled(state, now)

    def _known(self, state: SkillState, here: _Here) -> TurnOptions:
        return TurnOptions(tools=self._names, memory=memory_in(state), turn_id=here.turn)

    async def _settled(self, state: SkillState, now: CurrentPolicy) -> Update:
        """The texts of rejected skills go, and the model is told; the coming call of the model is woven again."""
        update: Update = {"awaiting": to_data(waiting(now)), "injection": None}
        if changed := removals(state["messages"], now.rejected):
            try:
                said = await self._said(now.conversation, {drop.skill_id for drop in now.rejected})
            except StoreUnavailable:
                return update  # the texts go at the next step at which the ledger answers
            update["messages"] = [*changed, *said]
        return update

    async def _said(self, conversation: str, skills: set[str]) -> list[BaseMessage]:
        verdicts = (await self._bridge.weaver.ledger.state(conversation)).approvals
        return [
            notice(
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
