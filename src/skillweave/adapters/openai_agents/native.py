"""Tools of the OpenAI Agents SDK that are no function tools: judged at the call, or refused where nothing holds them.

The SDK runs some of them in the host (custom tools, a shell, patches), the provider the others. It runs whatever the
model names, shown to it or not, so hiding is never enough for what runs in the host.
"""

import copy
import shlex
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, TypeAlias

from agents import (
    Agent,
    ApplyPatchTool,
    CodeInterpreterTool,
    CustomTool,
    FileSearchTool,
    FunctionTool,
    HostedMCPTool,
    ImageGenerationTool,
    LocalShellTool,
    RunContextWrapper,
    ShellTool,
    Tool,
    ToolSearchTool,
    WebSearchTool,
)
from agents.editor import ApplyPatchOperation, ApplyPatchResult
from agents.items import ToolApprovalItem
from agents.tool import LocalShellCommandRequest, ProgrammaticToolCallingTool, ShellCommandRequest
from agents.tool_context import ToolContext

from skillweave.adapters.bridge import Bridge, Judged
from skillweave.adapters.chat import Call, words_for
from skillweave.errors import UnguardedAgent

Answered: TypeAlias = OrderedDict[tuple[str, str], Mapping[str, Any] | None]
"""By conversation and call, what persons let run: None, or the arguments that they gave the call."""
MOST_ANSWERED = 1024
"""Calls that are remembered until they run; one that was forgotten is asked about again, or not run."""

_ELSEWHERE = (
    *(FileSearchTool, WebSearchTool, CodeInterpreterTool, ImageGenerationTool),
    *(ToolSearchTool, ProgrammaticToolCallingTool),
)
_WAY_OUT = "leave it out, or say Skills(..., unguarded='allow')"
_PATCH = ("type", "path", "diff", "move_to")


def require_guarded(tool: Tool, agent: str) -> None:
    """Raise UnguardedAgent for a tool that could act past the rules.

    That is one that runs in the host where nothing stands before its calls, one whose tools only the provider knows,
    one of a kind that is not known here, and an agent with tools of its own that was not made by `Skills.agent`.
    """
    where = f"{type(tool).__name__} of agent {agent!r}"
    if isinstance(tool, FunctionTool):
        inner = getattr(tool, "_agent_instance", None)
        if isinstance(inner, Agent) and acts_unguarded(inner):
            raise UnguardedAgent(inner.name, f"an agent behind the tool {tool.name!r} of {agent!r}", MAKE_IT)
    elif isinstance(tool, HostedMCPTool):
        if not isinstance(tool.tool_config.get("allowed_tools"), list):
            raise UnguardedAgent(tool.name, where, f"name its tools in `allowed_tools` as a list, or {_WAY_OUT}")
    elif not isinstance(tool, (CustomTool, ShellTool, ApplyPatchTool, LocalShellTool, *_ELSEWHERE)):
        raise UnguardedAgent(str(getattr(tool, "name", tool)), where, _WAY_OUT)


MAKE_IT = "make it with `skills.agent(...)` of the same Skills, or say Skills(..., unguarded='allow')"


def acts_unguarded(agent: "Agent[Any]") -> bool:
    """Whether the agent has tools, and skillweave does not stand before them."""
    if isinstance(getattr(agent, "bridge", None), Bridge):
        return False
    return bool(agent.tools or agent.mcp_servers) or type(agent).get_all_tools is not Agent.get_all_tools


def names_in(tool: Tool) -> tuple[str, ...]:
    """The names of all that the tool can do, by which rules may speak of it."""
    if isinstance(tool, HostedMCPTool):
        listed = tool.tool_config.get("allowed_tools")
        return (tool.name, *(map(str, listed) if isinstance(listed, list) else ()))
    return (tool.name,)


def names_of(tools: Sequence[Tool]) -> list[str]:
    """The names of all that an agent's tools can do."""
    return [name for tool in tools for name in names_in(tool)]


def runs_in_host(tool: Tool) -> bool:
    """Whether each call of it is judged here, so that it may be shown while only some calls are allowed."""
    if isinstance(tool, ShellTool):
        return tool.executor is not None
    return isinstance(tool, FunctionTool | CustomTool | ApplyPatchTool | LocalShellTool)


def call_in(item: Mapping[str, Any], name: str) -> Call | None:
    """The call of such a tool in an item of the model's reply, as it is judged; None for an item of another kind."""
    call_id = str(item.get("call_id") or "")
    if item.get("type") == "custom_tool_call":
        return _custom(call_id, name, str(item.get("input") or ""))
    if item.get("type") == "shell_call":
        action = item.get("action") or {}
        return _shell(call_id, name, [str(one) for one in action.get("commands") or ()])
    if item.get("type") == "apply_patch_call":
        operation = item.get("operation") or {}
        return Call(
            call_id, name, {key: operation[key] for key in _PATCH if operation.get(key) is not None}, None, _PATCH
        )
    return None


def _custom(call_id: str, name: str, text: str) -> Call:
    return Call(call_id, name, {"input": text}, None, ("input",))


def _shell(call_id: str, name: str, commands: Sequence[str]) -> Call:
    return Call(call_id, name, {"command": "\n".join(commands)}, None, ("command",))


@dataclass(slots=True)
class NativeGuard:
    """What stands before the calls of one such tool; `conversation` is known once the model was called with it."""

    bridge: Bridge
    names: Sequence[str]
    answered: Answered
    conversation: str = ""

    async def why_not(self, call: Call) -> str:
        """What the model is told in place of running the call; empty where it runs."""
        conversation = self._conversation(call.id)
        if not conversation:
            return "not run: this run names no conversation that skillweave knows; call again"
        judged = await self.bridge.judge(call, conversation, self.names)
        judged = await self.bridge.take(judged, call, conversation, self.names)
        return "" if judged.runs else words_for(judged.verdict)

    async def why_not_any(self, call: Call) -> str:
        """The same for a call whose id is not known here: one that a person let run is known by what it does."""
        known = [one for where, one in self.answered if self.conversation in ("", where)]
        first = ""
        for call_id in ("", *known):
            why = await self.why_not(replace(call, id=call_id))
            if not why:
                return ""
            first = first or why
        return first

    async def judged(self, call: Call) -> Judged:
        """The ruling while the SDK asks whether a call needs an approval, which it does behind the model's call."""
        return await self.bridge.judge(call, self.conversation, self.names)

    def left_of(self, call: Call) -> Call:
        """The call with the arguments that a person gave it."""
        given = self.answered.get((self._conversation(call.id), call.id))
        return call if given is None else replace(call, arguments=given)

    def _conversation(self, call_id: str) -> str:
        if self.conversation:
            return self.conversation
        # A run that resumes calls tools before the model: the person's reply said in which conversation.
        found = {conversation for conversation, known in self.answered if known == call_id}
        return found.pop() if len(found) == 1 else ""


def natively_guarded(bridge: Bridge, tool: Tool, names: Sequence[str], answered: Answered) -> Tool:
    """A copy of a tool that the SDK runs in the host, judged at each call; any other tool as it is."""
    guard = NativeGuard(bridge, names, answered)
    made = copy.copy(tool)
    copied: Any = made
    if isinstance(tool, CustomTool):
        _guard_custom(copied, tool, guard)
    elif isinstance(tool, ShellTool) and tool.executor is not None:
        _guard_shell(copied, tool, guard)
    elif isinstance(tool, ApplyPatchTool):
        copied.editor = _Editor(guard, tool)
        _pause(copied, tool, guard, lambda operation, call_id: _patch(call_id, tool.name, operation))
    elif isinstance(tool, LocalShellTool):
        _guard_local_shell(copied, tool, guard)
    else:
        return tool
    copied.native_guard = guard
    return made


def bind(tool: Tool, conversation: str) -> None:
    """Tell the guard of such a tool in which conversation the model is called."""
    guard = getattr(tool, "native_guard", None)
    if isinstance(guard, NativeGuard):
        guard.conversation = conversation


def _guard_custom(copied: Any, tool: CustomTool, guard: NativeGuard) -> None:  # noqa: ANN401 - a copy of the tool
    async def invoked(context: ToolContext[Any], text: str) -> object:
        call = guard.left_of(_custom(context.tool_call_id, tool.name, text))
        if why := await guard.why_not(call):
            return why
        result = tool.on_invoke_tool(context, str((call.arguments or {}).get("input", "")))
        return await result if isawaitable(result) else result

    copied.on_invoke_tool = invoked
    _pause(copied, tool, guard, lambda text, call_id: _custom(call_id, tool.name, text))


def _guard_shell(copied: Any, tool: ShellTool, guard: NativeGuard) -> None:  # noqa: ANN401
    async def executed(request: ShellCommandRequest) -> object:
        action = request.data.action
        asked = _shell(request.data.call_id, tool.name, action.commands)
        call = guard.left_of(asked)
        if why := await guard.why_not(call):
            return why
        if call is not asked:
            changed = replace(action, commands=[str((call.arguments or {}).get("command", ""))])
            request = replace(request, data=replace(request.data, action=changed))
        result: Any = tool.executor(request) if tool.executor else ""
        return await result if isawaitable(result) else result

    copied.executor = executed
    _pause(copied, tool, guard, lambda action, call_id: _shell(call_id, tool.name, action.commands))


def _guard_local_shell(copied: Any, tool: LocalShellTool, guard: NativeGuard) -> None:  # noqa: ANN401
    # The SDK has no approvals for it: a call behind a checkpoint is answered that it waits, and is not run.
    async def executed(request: LocalShellCommandRequest) -> str:
        call = _shell(request.data.call_id, tool.name, [shlex.join(request.data.action.command)])
        if why := await guard.why_not(call):
            return why
        result = tool.executor(request)
        return await result if isawaitable(result) else result

    copied.executor = executed


def _pause(copied: Any, tool: Any, guard: NativeGuard, read: Callable[[Any, str], Call]) -> None:  # noqa: ANN401
    """Let the SDK pause before a call that waits at a checkpoint; the host's own rule is asked beside it."""
    waiting: set[str] = set()

    async def waits(context: RunContextWrapper[Any], data: Any, call_id: str) -> bool:  # noqa: ANN401
        judged = await guard.judged(read(data, call_id))
        if judged.waits:
            waiting.add(call_id)
            return True
        hosts: Any = tool.needs_approval
        asked = hosts if isinstance(hosts, bool) else hosts(context, data, call_id)
        # What may not run is not asked about: its answer says why.
        return judged.runs and bool(await asked if isawaitable(asked) else asked)

    async def decided(context: RunContextWrapper[Any], item: ToolApprovalItem) -> Any:  # noqa: ANN401
        if item.call_id in waiting:
            return {}  # only a person's verdict lets it through
        result = tool.on_approval(context, item)
        return await result if isawaitable(result) else result

    copied.needs_approval = waits
    if tool.on_approval is not None:
        copied.on_approval = decided


def _patch(call_id: str, name: str, operation: ApplyPatchOperation) -> Call:
    found = {key: getattr(operation, key) for key in _PATCH}
    return Call(call_id, name, {key: value for key, value in found.items() if value is not None}, None, _PATCH)


@dataclass(frozen=True, slots=True)
class _Editor:
    """The host's editor, whose operations are judged; what may not be done fails, with the reason."""

    _guard: NativeGuard
    _tool: ApplyPatchTool

    async def create_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult | str | None:
        return await self._done(operation, self._tool.editor.create_file)

    async def update_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult | str | None:
        return await self._done(operation, self._tool.editor.update_file)

    async def delete_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult | str | None:
        return await self._done(operation, self._tool.editor.delete_file)

    async def _done(
        self, operation: ApplyPatchOperation, work: Callable[[ApplyPatchOperation], Any]
    ) -> ApplyPatchResult | str | None:
        if why := await self._guard.why_not_any(_patch("", self._tool.name, operation)):
            return ApplyPatchResult(status="failed", output=why)
        result = work(operation)
        found: ApplyPatchResult | str | None = await result if isawaitable(result) else result
        return found
