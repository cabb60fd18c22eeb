"""The ready agent: one graph in the order of seed 000, from the system prompt to the output."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Command, Send
from langgraph.typing import StateT

from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import TurnOptions, holds_marker
from skillweave.adapters.langchain_core import (
    Speaker,
    host_messages,
    names_of,
    notice,
    unreadable,
    with_instructions,
    wrote_only_markers,
)
from skillweave.adapters.langchain_guard import run_of
from skillweave.adapters.langchain_models import require_held, require_text_kept
from skillweave.adapters.langchain_pause import keep_together, require_asked
from skillweave.adapters.langgraph.answer import AnswerForm, ResponseFormat
from skillweave.adapters.langgraph.nodes import (
    HostTool,
    ModelCall,
    Node,
    SkillNodes,
    SkillState,
    Step,
    Update,
    memory_in,
    skill_nodes,
)
from skillweave.adapters.supported import Unguarded
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement, Role
from skillweave.disclose.block import LOADS_NOTHING
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.select.selection import MATCHERS
from skillweave.weaver import Weaver

MOST_BOUND = 64
"""Sets of tools for which an agent keeps its model bound."""


def build_skill_agent(
    model: BaseChatModel | str,
    weaver: Weaver,
    tools: Sequence[HostTool] = (),
    *,
    system_prompt: str = "",
    plan: SpawnPlan | None = None,
    matchers: Sequence[str] | None = None,
    speaker: Speaker = Speaker.USER,
    checkpointer: Checkpointer = None,
    name: str | None = None,
    unguarded: Unguarded = Unguarded.REFUSE,
    state_schema: type[Any] = SkillState,
    response_format: ResponseFormat | None = None,
) -> "SkillAgent[SkillState]":
    """An agent over SkillState: what applies is in its first call, what the model then asks for in its next.

    Each call of the model is woven, sees only the tools that it may call, and pauses before it at checkpoints; each
    tool call is judged, and pauses by itself, so that others of the same reply run once. `checkpointer` is what pauses
    and conversations are kept in; the conversation is the run's `thread_id` unless the state or the plan names one.
    `plan` makes it a spawned sub-agent, with the plan's text behind the system prompt. A `model` may be named, as for
    LangChain's `init_chat_model`. `state_schema` is SkillState with keys of the host's own. With a `response_format`
    the model answers by calling a tool of that name, and the answer is the state's `structured_response`. For the other
    arguments see `skill_nodes`. Its loop ends with the run's `recursion_limit`.
    """
    model, form = named_model(model), None if response_format is None else AnswerForm(response_format)
    if missing := sorted(get_type_hints(SkillState).keys() - get_type_hints(state_schema).keys()):
        name = state_schema.__name__
        raise TypeError(f"state_schema {name} lacks {', '.join(missing)}; write it as `class {name}(SkillState)`")
    if Unguarded(unguarded) is Unguarded.REFUSE:
        require_held((), model)
    require_text_kept(model, None, Placement.HISTORY)
    nodes = skill_nodes(weaver, tools, matchers=matchers, speaker=speaker, plan=plan, unguarded=unguarded)
    if form is not None and form.name in nodes.names:
        raise InvalidTurn(f"response_format is named {form.name!r}, as one of the tools; rename it")
    prompt = "\n\n".join(text for text in (system_prompt, plan.text if plan else "") if text)
    call = _ModelCall(model, nodes, SystemMessage(content=prompt) if prompt else None, form).node
    coming, replied = Step("to_model", at_once=_ToModel(nodes).next), _after_model(nodes)
    ways, ways_on = ["approval", "model", "synthesis", "output"], ["tools", "skill_select", "output"]
    graph: StateGraph[Any, None, Any, Any] = StateGraph(state_schema)
    graph.add_node("system_prompt", _begun(nodes, form))
    graph.add_node("model", call)
    graph.add_node("tools", nodes.tool_node)
    graph.add_node("skill_select", _selected(nodes))
    graph.add_node("skill_inject", nodes.skill_inject_node)
    graph.add_node("approval", nodes.approval_node)
    graph.add_node("synthesis", call)
    # The last step of seed 000: whoever follows the steps sees by it that the run has ended.
    graph.add_node("output", Step("output", at_once=lambda state: {}))
    graph.add_edge(START, "system_prompt")
    graph.add_conditional_edges("system_prompt", coming, ways)
    graph.add_conditional_edges("model", replied, ways_on)
    graph.add_edge("tools", "skill_select")
    graph.add_edge("skill_select", "skill_inject")
    graph.add_conditional_edges("skill_inject", coming, ways)
    graph.add_conditional_edges("approval", coming, ways)
    graph.add_conditional_edges("synthesis", replied, ways_on)
    graph.add_edge("output", END)
    return SkillAgent.of(graph.compile(checkpointer=checkpointer, name=name), nodes.bridge)


def named_model(model: BaseChatModel | str) -> BaseChatModel:
    """The model, or the one of that name; raises MissingExtra for a name without the package langchain."""
    if not isinstance(model, str):
        return model
    try:
        from langchain.chat_models import init_chat_model
    except ModuleNotFoundError:
        raise MissingExtra("a model by its name", "langchain", "langchain") from None
    found: BaseChatModel = init_chat_model(model)
    return found


def _begun(nodes: SkillNodes, form: AnswerForm | None) -> Step:
    """The inject node at the begin of a run, after which the model is called whatever the history ends with."""

    async def begin(state: SkillState) -> Update:
        update = await nodes.skill_inject_node.ainvoke(state)
        begun = {**update, "woven": {**update["woven"], "first": True}}
        return begun if form is None else {**begun, "structured_response": None}

    return Step("system_prompt", begin, lambda state: nodes.bridge.run(begin(state)))


def _selected(nodes: SkillNodes) -> Step:
    """The select node where the inject node always comes next, which also gives back what is gone from the history.

    So the ledger is asked only where a skill may be new: in a skill graph it has the place, and the Injection of this
    run says what is present.
    """

    async def select(state: SkillState) -> Update:
        update: Update = {"selected_skill_ids": []}
        if not await _all_present(nodes, state):
            update = await nodes.skill_select_node.ainvoke(state)
        if not update["selected_skill_ids"] and wrote_only_markers(state["messages"]):
            reply = state["messages"][-1]
            return {**update, "messages": [notice(LOADS_NOTHING, str(reply.id), nodes.speaker)]}
        return update

    return Step("skill_select_node", select, lambda state: nodes.bridge.run(select(state)))


async def _all_present(nodes: SkillNodes, state: SkillState) -> bool:
    held = state.get("injection")
    if held is None or held.move is not None:
        return False
    bridge, conversation = await run_of(nodes.bridge, state)
    chat = host_messages(state["messages"])
    fields = TurnOptions(tools=nodes.names, memory=memory_in(state), turn_id=held.turn_id)
    chosen = await bridge.chosen(chat, conversation, **fields)
    return set(chosen) <= set(held.present)


def _after_model(nodes: SkillNodes) -> Step:
    """After the model: each of its calls that waits for a tool by itself, selecting, or at once the end.

    It ends where the reply holds nothing to select and nobody is to be asked: such a reply is not woven. Of the
    built-in matchers only `explicit` reads the model's words, for its markers; others are asked what they match.
    """
    marked_only = MATCHERS.keys() >= set(nodes.bridge.weaver.skills.matchers)

    def seen(state: SkillState) -> list[Send] | str | None:
        if waiting := _waiting_calls(state["messages"]):
            return [Send("tools", [call]) for call in waiting]
        held, reply = state.get("injection"), state["messages"][-1]
        if held is None or held.move is not None or held.waits or held.rejected:
            return "skill_select"
        if state.get("structured_response") is not None:
            return "output"
        if not isinstance(reply, AIMessage) or holds_marker(str(reply.text)):
            return "skill_select"
        return "output" if marked_only else None

    async def matched(state: SkillState) -> str:
        return "output" if await _all_present(nodes, state) else "skill_select"

    return Step("after_model", matched, lambda state: nodes.bridge.run(matched(state)), at_once=seen)


def _waiting_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """The calls of the model's last reply that no tool has answered."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in answered]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return []


class SkillAgent(CompiledStateGraph[StateT, None, StateT, StateT]):
    """A compiled graph that looks at replies before it resumes: several to calls that wait are kept in one write.

    A reply to a question that is not asked any more is refused with InvalidVerdict.
    """

    bridge: Bridge

    @classmethod
    def of(cls, compiled: CompiledStateGraph[StateT, None, StateT, StateT], bridge: Bridge) -> "SkillAgent[StateT]":
        """The same graph; LangGraph's own copy leaves out what it notes while it compiles."""
        agent = cls.__new__(cls)
        vars(agent).update(vars(compiled))
        agent.bridge = bridge
        return agent

    def copy(self, update: dict[str, Any] | None = None) -> "SkillAgent[StateT]":
        """The same graph with other settings."""
        agent = self.of(self, self.bridge)
        vars(agent).update(update or {})
        return agent

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002, ANN401
        """What LangGraph's own does."""
        if isinstance(input, Command) and input.resume is not None:
            interrupts = self.get_state(config or {}).interrupts
            require_asked(interrupts, input.resume)
            self.bridge.run(keep_together(self.bridge.weaver, interrupts, input.resume))
        yield from super().stream(input, config, **kwargs)

    def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002, ANN401
        """What LangGraph's own does."""
        resumes = isinstance(input, Command) and input.resume is not None
        return (self._resumed if resumes else super().astream)(input, config, **kwargs)

    async def _resumed(self, input: Command[Any], config: RunnableConfig | None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002, ANN401
        interrupts = (await self.aget_state(config or {})).interrupts
        require_asked(interrupts, input.resume)
        await keep_together(self.bridge.weaver, interrupts, input.resume)
        async for piece in super().astream(input, config, **kwargs):
            yield piece


class _ToModel:
    """Before the model: asking a person, its first call for the user's words, one for what is new, or none."""

    def __init__(self, nodes: SkillNodes) -> None:
        self._direct = {tool.name for tool in nodes.declared if isinstance(tool, BaseTool) and tool.return_direct}

    def next(self, state: SkillState) -> str:
        held = state.get("injection")
        if state.get("awaiting") or (held is not None and (held.waits or held.rejected)):
            return "approval"
        if state["woven"]["first"]:
            return "model"
        if state.get("structured_response") is not None:
            return "output"
        chat = host_messages(state["messages"])
        replies = [n for n, piece in enumerate(chat) if piece.message.role is Role.ASSISTANT]
        after = chat[replies[-1] + 1 :] if replies else chat
        if not replies or any(piece.host_part is not None and piece.message.role is Role.USER for piece in after):
            return "model"
        # Results are the answer where each is of a tool that returns directly, and not blocked.
        results = [one.result for one in after if one.result]
        answered = results and all(one.tool in self._direct and one.status != "error" for one in results)
        return "synthesis" if after and not answered else "output"


@dataclass(frozen=True, slots=True)
class _ModelCall:
    """One call of the model: with the catalog in the system prompt, and without the tools that it may not use."""

    _model: BaseChatModel
    _nodes: SkillNodes
    _system: SystemMessage | None
    _form: AnswerForm | None
    _bound: dict[tuple[str, ...], Runnable[Any, BaseMessage]] = field(default_factory=dict)

    @property
    def node(self) -> Node:
        return Step("model", self._acall, self._call)

    def _call(self, state: SkillState) -> Update:
        call = self._nodes.bridge.run(self._nodes.prepare(state))
        return self._heard(call, self._model_with(call.tools).invoke(self._sent(call)))

    async def _acall(self, state: SkillState) -> Update:
        call = await self._nodes.prepare(state)
        return self._heard(call, await self._model_with(call.tools).ainvoke(self._sent(call)))

    def _sent(self, call: ModelCall) -> list[BaseMessage]:
        system = with_instructions(self._system, call.injection)
        return [*([system] if system else []), *call.messages]

    def _model_with(self, tools: Sequence[BaseTool | dict[str, Any]]) -> Runnable[Any, BaseMessage]:
        """The model with these of the declared tools, kept: making their schemas takes longer than a turn."""
        names = tuple(names_of(tools))
        if names not in self._bound:
            if len(self._bound) >= MOST_BOUND:
                self._bound.clear()
            self._bound[names] = (
                self._model.bind_tools(tools)
                if self._form is None
                else self._model.bind_tools([*tools, self._form.declared], tool_choice="any")
            )
        return self._bound[names]

    def _heard(self, call: ModelCall, reply: BaseMessage) -> Update:
        said = {"messages": [*call.changes, reply, *unreadable(reply)]}
        if self._form is None:
            return said
        answer, results = self._form.heard(reply)
        return {"messages": [*said["messages"], *results], "structured_response": answer}
