"""Tools of the OpenAI Agents SDK: shown, judged and paused as the skills in force say, and skillweave's own."""

import copy
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

from skillweave.adapters.bridge import Bridge, is_own
from skillweave.adapters.call import Call, read_call, words_for
from skillweave.adapters.openai_agents.run import conversation_of
from skillweave.compose.policy import Ruling
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.injection import Injection
from skillweave.relations.rules import read_entry
from skillweave.weaver.reading import ToolSpec

try:
    from agents import (
        FunctionTool,
        RunContextWrapper,
        Tool,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
    )
    from agents.tool_context import ToolContext
except ModuleNotFoundError:
    raise MissingExtra("the adapter for the OpenAI Agents SDK", "openai-agents", "openai-agents") from None


class OwnTool(FunctionTool):
    """A tool of skillweave itself, told from a host's tool of the same name."""


def declared(bridge: Bridge, spec: ToolSpec) -> FunctionTool:
    """One of skillweave's own tools."""

    async def answer(context: ToolContext[Any], arguments: str) -> str:
        call = read_call(context.tool_call_id, spec.name, arguments)
        if call.problem:
            return call.problem
        return (await bridge.answer(call, conversation_of(context))).text

    data = spec.to_dict()
    return OwnTool(spec.name, spec.description, data["parameters"], answer, strict_json_schema=False)


def guarded(bridge: Bridge, tool: Tool) -> Tool:
    """A copy of a host's function tool that is judged at each call, before the host's own guardrails.

    Raises InvalidTurn for one with the name of one of skillweave's own, whose calls are not judged.
    """
    if not isinstance(tool, FunctionTool) or isinstance(tool, OwnTool):
        return tool
    if is_own(tool.name):
        raise InvalidTurn(f"a tool is named {tool.name!r}, as skillweave's own; give it another name, or leave it out")

    async def judged(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = read_call(data.context.tool_call_id, tool.name, data.context.tool_arguments)
        found = await bridge.judge(call, conversation_of(data.context))
        if found.runs:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(words_for(found.verdict))

    copied = copy.copy(tool)
    copied.tool_input_guardrails = [ToolInputGuardrail(judged, "skillweave"), *(tool.tool_input_guardrails or ())]
    return copied


def offered(tools: Sequence[Tool], injection: Injection) -> list[Tool]:
    """The tools that the model may see in this call.

    One that runs elsewhere cannot be judged at its calls: it is shown only while all of them are allowed.
    """
    named = frozenset(injection.tools.offers([tool.name for tool in tools]))
    return [tool for tool in tools if tool.name in named and (isinstance(tool, FunctionTool) or _free(tool, injection))]


def pause(tools: Sequence[Tool], bridge: Bridge, injection: Injection) -> None:
    """Let the SDK pause before a tool that an open checkpoint guards.

    Only there: with a rule in place, the SDK pauses also before each call whose arguments it cannot read.
    """
    before = [read_entry(one.before) for one in injection.checkpoints if one.blocking and one.before]
    for tool in tools:
        if isinstance(tool, FunctionTool) and any(entry.names(tool.name) for entry in before):
            _pause(tool, bridge, injection.conversation)


def _pause(tool: FunctionTool, bridge: Bridge, conversation: str) -> None:
    hosts: Any = tool.needs_approval
    invoke = tool.on_invoke_tool

    async def waits(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        judged = await bridge.judge(Call(call_id, tool.name, arguments), conversation)
        if judged.waits or isinstance(hosts, bool):
            return bool(judged.waits) or hosts is True
        asked = hosts(context, arguments, call_id)
        return bool(await asked if isawaitable(asked) else asked)

    async def invoked(context: ToolContext[Any], arguments: str) -> object:
        return await invoke(context, arguments)

    tool.needs_approval = waits
    if isinstance(hosts, bool):
        # Behind an invoker of its own the SDK would ask about every call that leaves a default to the tool.
        tool.on_invoke_tool = invoked


def _free(tool: Tool, injection: Injection) -> bool:
    return injection.tools.authorize(tool.name).ruling is Ruling.ALLOW
