"""Skills in the agents of an App of Google's Agent Development Kit, as one plugin that guards all of them."""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

from skillweave.adapters.supported import Unguarded, require_version
from skillweave.errors import MissingExtra

try:
    require_version("google-adk", "google-adk")
    from google.adk.agents.context import Context
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.llm.task._finish_task_tool import FinishTaskTool
    from google.adk.events.event import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.sessions.base_session_service import GetSessionConfig
    from google.adk.tools.agent_tool import AgentTool
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.set_model_response_tool import SetModelResponseTool
    from google.adk.tools.tool_confirmation import ToolConfirmation
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ModuleNotFoundError:
    raise MissingExtra("the adapter for Google's ADK", "google-adk", "google-adk") from None

from skillweave.adapters.approval import (
    KIND,
    Reply,
    as_replied,
    question,
    read_asked_call,
    read_question,
    read_reply,
    record,
    require_decided,
)
from skillweave.adapters.bridge import CALLER, Bridge, Caller, Judged, tail_of
from skillweave.adapters.chat import (
    NOT_RUN,
    Call,
    HostMessage,
    answer_of_tool,
    parameters_in,
    read_call,
    spoken,
    words_for,
)
from skillweave.adapters.google_adk_conversations import ConversationOf, conversation_of, judging
from skillweave.adapters.messages.lists import texts_left
from skillweave.checking import Checked
from skillweave.compose.policy import OWN_TOOLS, Ruling, ToolPolicy
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Part, Placement, Role
from skillweave.disclose.block import TAKEN_OUT
from skillweave.errors import InvalidTurn, InvalidVerdict, UnguardedAgent
from skillweave.injection import Drop, Injection
from skillweave.state.state import ApprovalVerdict
from skillweave.weaver import Weaver
from skillweave.weaver.tools import TOOLS, ToolSpec

_ALSO = "also"
"""The key of a question under which the same is asked for other conversations in which the call waits."""
_MOMENT = 1e-6
"""Seconds: the shortest time that session services tell apart."""
_RECENT = 64
"""The latest events of a session, among which a text that another run gave just now is looked for."""
MARK = "skillweave"
"""The key of an event's `custom_metadata` under which the plugin notes what is ours: a UI may hide such events."""


def is_skill_event(event: Event) -> bool:
    """Whether the plugin put this event into the session: for a UI that hides it, and for a summary that leaves it out.

    Only for showing: what is ours in a conversation the ledger knows, whatever an event says.
    """
    return event.author == "user" and MARK in (event.custom_metadata or {})


def history(events: Sequence[Event]) -> list[Event]:
    """The events of a session without the skill texts that left it, which the model is not sent any more.

    A session only ever grows: that a text left is an event of its own, and each call of the model heeds it.
    """
    contents = [event.content or types.Content(parts=[]) for event in events]
    left = _changed(contents, _noted(events).taken_out)
    pairs = zip(events, contents, left, strict=True)
    return [
        event if now is before else event.model_copy(update={"content": now}) for event, before, now in pairs if now
    ]


class SkillPlugin(BasePlugin):
    """Weaves before every call of the model, hides tools from it, and judges every call of a tool.

    In history placement skill text stands in the session as events of the user, in call placement in the system
    instruction of each call. `conversation` tells the id of a conversation; without it, app, user and session name it,
    and a branch of parallel agents, or a delegated task, is a conversation of its own. The rules of the session hold in
    it too, with those of the branches around it, and those of a caller in an agent that is used as a tool. `plan` is
    that of a spawned sub-agent. `unguarded` says what to do with an agent that is called as a tool and leaves plugins
    out.
    """

    def __init__(
        self,
        weaver: Weaver,
        *,
        conversation: ConversationOf | None = None,
        placement: Placement = Placement.HISTORY,
        plan: SpawnPlan | None = None,
        unguarded: Unguarded = Unguarded.REFUSE,
    ) -> None:
        super().__init__(name=MARK)
        self._bridge = Bridge(weaver, placement, plan=plan)
        self._conversation = conversation
        self._unguarded = Checked("SkillPlugin").member("unguarded", unguarded, Unguarded)
        self._own = [_OwnTool(self, spec) for spec in TOOLS.values()]
        self._denied: dict[str, set[str]] = {}

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Refuse a live run: its model is called without the plugins, so that no skill would reach it."""
        if invocation_context.live_request_queue is not None:
            raise InvalidTurn(
                "a live run calls its model without plugins, so no skill and no rule would reach it; use run_async, or"
                " a Runner without this plugin"
            )
        return None

    async def before_model_callback(self, *, callback_context: Context, llm_request: LlmRequest) -> LlmResponse | None:
        """Give what belongs into this call, and leave out the tools that may not be called."""
        self._require_guarded(llm_request)
        noted = _noted(callback_context.session.events)
        contents = _without(llm_request.contents, noted.taken_out)
        said = host_messages(contents, noted.denied)
        injection = await self._bridge.weave(said, self._conversation_of(callback_context))
        require_decided(injection)
        await _keep(callback_context.get_invocation_context(), injection)
        given = [_said_by_user(message.text) for message in injection.messages]
        tail = tail_of(injection, said, kept_by_service=False)
        ends = [_said_by_user(tail)] if tail else []
        llm_request.contents = [*_without(contents, injection.leaving), *given, *ends]
        if injection.instructions:
            llm_request.append_instructions([injection.instructions])
        llm_request.append_tools(list(self._own))
        answers = [tool.name for tool in llm_request.tools_dict.values() if _is_an_answer(tool)]
        around = [one for one in self._judging(callback_context) if one != injection.conversation]
        policies = [(await self._bridge.current_policy(one)).tools for one in around]
        _hide(llm_request, [injection.tools, *policies], answers)
        return None

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Let a call pass, wait for a person, or answer it with what the model may do instead."""
        if isinstance(tool, _OwnTool) or _is_an_answer(tool):
            return None
        written = read_call(tool_context.function_call_id, tool.name, dict(tool_args))
        call = replace(written, parameters=_parameters_of(tool))
        confirmation = tool_context.tool_confirmation
        asked = None if confirmation is None else _question_of(tool_context)
        if confirmation is not None and asked is not None:
            if _went_on(tool_context):
                return self._refused(call, NOT_RUN, tool_context)
            reply = _reply_in(confirmation, asked, tool_context.user_id)
            for one in (asked, *asked.get(_ALSO, ())):
                conversation, pending = read_question(one)
                await record(self._bridge.weaver, conversation, (pending, reply, read_asked_call(asked) or call))
            call = as_replied(call, reply)
        judged = {one: await self._bridge.judge(call, one) for one in self._judging(tool_context)}
        waiting = {conversation: one for conversation, one in judged.items() if one.waits}
        denied = [one for one in judged.values() if not one.waits and not one.runs]
        if waiting and not denied:
            return self._asked(call, waiting, tool_context)
        denied = denied or await self._not_taken(call, judged)
        if denied:
            return self._refused(call, words_for(denied[0].verdict), tool_context)
        if call.arguments is not None and call.arguments != tool_args:
            tool_args.clear()
            tool_args.update(copy.deepcopy(dict(call.arguments)))
        if not isinstance(tool, AgentTool):  # the agent in such a tool is judged in its callers' conversations too
            caller = CALLER.get()
            for conversation in judged:
                caller = Caller(self._bridge, conversation, above=caller)
            CALLER.set(caller)  # ADK runs each call in a task of its own, so this ends with it
        return None

    async def _not_taken(self, call: Call, judged: Mapping[str, Judged]) -> list[Judged]:
        """Take the yes to the call in each conversation, for all of them or for none; answers what may not run."""
        taken = {where: await self._bridge.take(one, call, where) for where, one in judged.items()}
        denied = [one for one in taken.values() if not one.runs]
        for where, one in taken.items() if denied else ():
            if judged[where].verdict.approved and one.runs:
                await self._bridge.give_back(call, where)
        return denied

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Note with the answers of tools which of them are denials of ours, as their texts prove nothing."""
        denied = self._denied.get(invocation_context.invocation_id, set())
        ids = sorted(denied & {response.id or "" for response in event.get_function_responses()})
        if not ids:
            return None
        denied.difference_update(ids)
        noted = {**(event.custom_metadata or {}), MARK: {"denied": ids}}
        return event.model_copy(update={"custom_metadata": noted})

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget what the run noted."""
        self._denied.pop(invocation_context.invocation_id, None)

    async def answered(self, spec: ToolSpec, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The answer to a call of one of skillweave's own tools."""
        call = read_call(context.function_call_id, spec.name, arguments)
        answer = await self._bridge.answer(call, self._conversation_of(context))
        return {"error" if answer.failed else "result": answer.text}

    def _asked(self, call: Call, waiting: Mapping[str, Judged], context: ToolContext) -> dict[str, Any]:
        """Ask a person once for all conversations in which the call waits; tell the model that it does."""
        messages = "; ".join(dict.fromkeys(one.verdict.message for one in waiting.values()))
        if context.tool_confirmation is not None:
            # The framework asks about a call only once. A call that is made again is another one.
            shown = json.dumps(call.arguments, ensure_ascii=False, default=str)
            return self._refused(
                call, f"not run: {messages}; call again with {shown}, and the person is asked", context
            )
        asked, *also = [question(conversation, one.waits, call) for conversation, one in waiting.items()]
        context.request_confirmation(hint=_hint(messages), payload={**asked, _ALSO: also} if also else asked)
        context.actions.skip_summarization = True  # the model goes on when a person has decided
        return {"error": f"not run: {messages}"}

    def _refused(self, call: Call, why: str, context: ToolContext) -> dict[str, Any]:
        self._denied.setdefault(context.invocation_id, set()).add(call.id)
        return {"error": why}

    def _conversation_of(self, context: Context) -> str:
        plan = self._bridge.plan
        return conversation_of(context, self._conversation) if plan is None else plan.conversation

    def _judging(self, context: Context) -> Sequence[str]:
        plan = self._bridge.plan
        return judging(context, self._conversation) if plan is None else (plan.conversation,)

    def _require_guarded(self, request: LlmRequest) -> None:
        if request.previous_interaction_id:
            raise InvalidTurn(
                "the provider keeps this conversation, and the model is sent only what is new in it; use a model"
                " without use_interactions_api"
            )
        for tool in request.tools_dict.values():
            if tool.name in OWN_TOOLS and not isinstance(tool, _OwnTool):
                raise InvalidTurn(
                    f"a tool is named {tool.name!r}, as one of skillweave's own; give it another name, or its toolset, "
                    "such as ADK's SkillToolset, a tool_name_prefix"
                )
            if isinstance(tool, AgentTool) and not tool.include_plugins and self._unguarded is Unguarded.REFUSE:
                raise UnguardedAgent(
                    tool.name,
                    "an AgentTool without plugins",
                    "make it with include_plugins=True, or accept that with SkillPlugin(unguarded='allow')",
                )


class _OwnTool(BaseTool):
    """A tool of skillweave itself, told from a host's tool of the same name."""

    def __init__(self, plugin: SkillPlugin, spec: ToolSpec) -> None:
        super().__init__(name=spec.name, description=spec.description)
        self._plugin = plugin
        self._spec = spec

    def _get_declaration(self) -> types.FunctionDeclaration:
        data = self._spec.to_dict()
        return types.FunctionDeclaration(
            name=data["name"], description=data["description"], parameters_json_schema=data["parameters"]
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:  # noqa: ANN401
        return await self._plugin.answered(self._spec, args, tool_context)


def host_messages(contents: Sequence[types.Content], denied: frozenset[str] = frozenset()) -> list[HostMessage]:
    """What is said in each content; each answer of a tool is a message of its own.

    `denied` are the ids of the calls that were answered with a denial.
    """
    return list(_read(contents, denied))


def _read(contents: Sequence[types.Content], denied: frozenset[str]) -> Iterator[HostMessage]:
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        parts: list[Part] = []
        calls: list[Call] = []
        for number, part in enumerate(content.parts or ()):
            if part.function_response is not None:
                yield _result(part.function_response, f"{where}.parts[{number}]", denied)
            elif part.function_call is not None:
                asked = part.function_call
                calls.append(read_call(asked.id, asked.name, asked.args))
                parts.append({"type": "function_call", "name": asked.name or "", "args": dict(asked.args or {})})
            elif part.text and not part.thought:
                parts.append(part.text)
            elif not part.text:
                parts.append({"type": next(iter(part.model_dump(exclude_none=True)), "empty")})
        if parts:
            yield spoken(where, Role.ASSISTANT if content.role == "model" else Role.USER, parts, calls)


def _result(answer: types.FunctionResponse, where: str, denied: frozenset[str]) -> HostMessage:
    response = answer.response or {}
    text = _text_of(answer)
    status = "denied" if answer.id in denied else "error" if set(response) == {"error"} else "success"
    written = json.dumps(response, ensure_ascii=False, default=str) if text is None else text
    return answer_of_tool(where, (written,), tool=answer.name or "", status=status, call=answer.id)


def _text_of(answer: types.FunctionResponse) -> str | None:
    response = answer.response or {}
    found = next(iter(response.values())) if len(response) == 1 else None
    return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True)
class _Notes:
    """What earlier events of a session note: calls that were denied, and texts that left."""

    denied: frozenset[str]
    taken_out: tuple[Drop, ...]


def _noted(events: Iterable[Event]) -> _Notes:
    denied: set[str] = set()
    gone: dict[str, None] = {}
    for event in events:
        noted = (event.custom_metadata or {}).get(MARK)
        if isinstance(noted, Mapping):
            denied.update(map(str, noted.get("denied", ())))
            gone.update(dict.fromkeys(map(str, noted.get("taken_out", ()))))
    return _Notes(frozenset(denied), tuple(Drop("", carrier, 0) for carrier in gone))


async def _keep(invocation: InvocationContext, injection: Injection) -> None:
    """Write what was given, and what leaves, into the session, where the next call finds it."""
    others = await _given_meanwhile(invocation) if injection.messages else {}
    for message in injection.messages:
        if message.text in others:
            invocation.session.events.append(others[message.text])
        else:
            await _append(invocation, {"given": message.id}, _said_by_user(message.text))
    if injection.leaving:
        await _append(invocation, {"taken_out": [drop.message_id for drop in injection.leaving]}, None)


async def _given_meanwhile(invocation: InvocationContext) -> dict[str, Event]:
    """By text, what another run of this session wrote into it since this run read it."""
    own = invocation.session
    kept = await invocation.session_service.get_session(
        app_name=own.app_name,
        user_id=own.user_id,
        session_id=own.id,
        config=GetSessionConfig(num_recent_events=_RECENT),
    )
    known, place = {event.id for event in own.events}, (invocation.branch, invocation.isolation_scope)
    return {
        (event.content.parts[0].text or ""): event
        for event in (kept.events if kept else ())
        if event.id not in known
        and (event.branch, event.isolation_scope) == place
        and is_skill_event(event)
        and event.content
        and event.content.parts
    }


async def _append(invocation: InvocationContext, note: Mapping[str, object], content: types.Content | None) -> None:
    before = invocation.session.events
    event = Event(
        invocation_id=invocation.invocation_id,
        author="user",
        branch=invocation.branch,
        isolation_scope=invocation.isolation_scope,
        content=content,
        custom_metadata={MARK: dict(note)},
    )
    if before:
        # Databases order events by their time, and the reply that this call of the model brings has that of its start.
        event.timestamp = before[-1].timestamp + _MOMENT
    await invocation.session_service.append_event(invocation.session, event)


def _said_by_user(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def _without(contents: Sequence[types.Content], drops: Sequence[Drop]) -> list[types.Content]:
    """The contents without these texts; an answer of a tool keeps a line, so that its call stays answered."""
    return [kept for kept in _changed(contents, drops) if kept is not None]


def _changed(contents: Sequence[types.Content], drops: Sequence[Drop]) -> list[types.Content | None]:
    if not drops:
        return list(contents)
    left = iter(texts_left([_text_in(part) for content in contents for part in content.parts or ()], drops))
    return [_left_of(content, left) for content in contents]


def _text_in(part: types.Part) -> str:
    if part.function_response is not None:
        return _text_of(part.function_response) or ""
    return part.text or ""


def _left_of(content: types.Content, left: Iterator[str]) -> types.Content | None:
    before = content.parts or []
    parts = [part if (text := next(left)) == _text_in(part) else _with_text(part, text) for part in before]
    if all(map(is_, parts, before)):
        return content
    kept = [part for part in parts if part.text != TAKEN_OUT]
    return content.model_copy(update={"parts": kept}) if kept else None


def _with_text(part: types.Part, text: str) -> types.Part:
    answer = part.function_response
    if answer is None:
        return part.model_copy(update={"text": text})
    key = next(iter(answer.response or {"result": ""}))
    return part.model_copy(update={"function_response": answer.model_copy(update={"response": {key: text}})})


def _is_an_answer(tool: BaseTool) -> bool:
    """Whether a call of the tool is the model's answer itself: nothing is done by it, and no rule is about it."""
    return isinstance(tool, SetModelResponseTool | FinishTaskTool)


def _hide(request: LlmRequest, policies: Sequence[ToolPolicy], answers: Sequence[str]) -> None:
    """Leave out the declarations that may not be called; one that the provider runs, unless all its calls may.

    `policies` are those of the agent's conversation and of those around it, such as a caller's.

    Those of `answers` are always shown. The tools stay known to the run, so that a call of a hidden one is judged and
    answered.
    """
    shown: list[Any] = []
    for tool in request.config.tools or ():
        if not isinstance(tool, types.Tool):
            shown.append(tool)
            continue
        declared = tool.function_declarations or []
        names = [one.name or "" for one in declared]
        offered = {*set(names).intersection(*(policy.offers(names) for policy in policies)), *answers}
        kept: dict[str, Any] = {"function_declarations": [one for one in declared if one.name in offered] or None}
        for name in type(tool).model_fields:
            if name != "function_declarations" and getattr(tool, name) is not None:
                free = all(policy.authorize(name).ruling is Ruling.ALLOW for policy in policies)
                kept[name] = getattr(tool, name) if free else None
        if any(value is not None for value in kept.values()):
            shown.append(types.Tool(**{name: value for name, value in kept.items() if value is not None}))
    request.config.tools = shown or None


def _parameters_of(tool: BaseTool) -> tuple[str, ...] | None:
    declared = tool._get_declaration()  # noqa: SLF001 - what every tool of the framework overrides
    if declared is None:
        return None
    if declared.parameters_json_schema is not None:
        return parameters_in(declared.parameters_json_schema)
    schema = declared.parameters
    return () if schema is None else parameters_in(schema.model_dump(exclude_none=True, by_alias=True))


def _hint(message: str) -> str:
    return f"{message}. Answer with confirmed and, as payload, the person's name: {{'verdict': ..., 'by': ...}}"


def _question_of(context: ToolContext) -> Mapping[str, Any] | None:
    """The question that a person's confirmation answers, as the session has it; None where it is not one of ours."""
    for event in reversed(context.session.events):
        asked = (event.actions.requested_tool_confirmations or {}).get(context.function_call_id or "")
        if asked is not None:
            payload = asked.payload
            return payload if isinstance(payload, Mapping) and payload.get("kind") == KIND else None
    return None


def _reply_in(confirmation: ToolConfirmation, asked: Mapping[str, Any], user: str) -> Reply:
    """What the person said; a plain yes or no of a UI is that of the session's user.

    Raises InvalidVerdict where confirmation and payload say different things: no yes is guessed.
    """
    told = confirmation.payload
    if told is None or told == asked:
        return Reply(ApprovalVerdict.APPROVED if confirmation.confirmed else ApprovalVerdict.REJECTED, user)
    reply = read_reply(told)
    if reply.refuses is confirmation.confirmed:
        raise InvalidVerdict(
            f"the confirmation says {'yes' if confirmation.confirmed else 'no'}, and its payload says"
            f" {reply.verdict.value!r}; answer again with both the same"
        )
    return reply


def _went_on(context: ToolContext) -> bool:
    """Whether the user said something else between the question and this answer."""
    call = context.function_call_id or ""
    asked = False
    for event in context.session.events:
        if call in (event.actions.requested_tool_confirmations or {}):
            asked = True
        elif (
            asked
            and event.author == "user"
            and event.content is not None
            and not event.get_function_responses()
            and MARK not in (event.custom_metadata or {})
        ):
            return True
    return False
