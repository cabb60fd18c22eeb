"""Tools of the OpenAI Agents SDK that are no function tools, and agents that skillweave does not stand before."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    CodeInterpreterTool,
    ComputerTool,
    CustomTool,
    HostedMCPTool,
    LocalShellTool,
    RunConfig,
    Runner,
    RunState,
    ShellTool,
    Tool,
    WebSearchTool,
    function_tool,
)
from agents.editor import ApplyPatchOperation
from agents.tracing import Span, Trace, TracingProcessor, get_trace_provider, set_trace_processors
from openai.types.responses import (
    ResponseApplyPatchToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
)
from openai.types.responses.response_output_item import LocalShellCall

import skillweave
from examples.scripted.openai_agents import ScriptedModel
from skillweave import CatalogMode, Settings, SqliteStore, Weaver
from skillweave.adapters.openai_agents import Skills
from skillweave.adapters.supported import Unguarded
from skillweave.errors import UnguardedAgent
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Asks, Says, Script

pytestmark = pytest.mark.asyncio

ROOM = "room-1"
UNTRACED = RunConfig(tracing_disabled=True)
APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "Not on a Friday."}
NATIVE = ("convert", "shell", "apply_patch", "local_shell")
PAUSING = ("convert", "shell", "apply_patch")


def skill(name: str, tool: str, **rest: Any) -> dict[str, Any]:
    return {"id": f"{name}-{tool}", "description": "A rule.", "triggers": [f"{name} {tool}"], **rest}


SKILLS = [
    *(skill("forbid", tool, tools={"forbidden": [tool]}) for tool in (*NATIVE, "pay")),
    *(skill("ask", tool, checkpoints=[{"name": "release", "before": tool}]) for tool in NATIVE),
    skill("prefix", "shell", tools={"forbidden": ["shell(rm:*)"]}),
]


class NativeModel(ScriptedModel):
    """Plays a script, whose calls of these tools are in the form of the SDK's own items."""

    def _said(self, *sent: Any) -> list[Any]:
        return [_native(item) if getattr(item, "name", "") in NATIVE else item for item in super()._said(*sent)]


def _native(call: Any) -> Any:
    if call.name == "convert":
        return ResponseCustomToolCall(call_id=call.call_id, input="a.png", name="convert", type="custom_tool_call")
    if call.name == "shell":
        data = {"id": "1", "action": {"commands": ["rm -r /d"]}, "call_id": call.call_id, "status": "completed"}
        return ResponseFunctionShellToolCall.model_validate({**data, "type": "shell_call"})
    if call.name == "apply_patch":
        operation = {"type": "create_file", "path": "a.txt", "diff": "+a"}
        data = {"id": "1", "operation": operation, "call_id": call.call_id, "status": "completed"}
        return ResponseApplyPatchToolCall.model_validate({**data, "type": "apply_patch_call"})
    action = {"type": "exec", "command": ["rm", "-r", "/d"], "env": {}}
    data = {"id": "1", "action": action, "call_id": call.call_id, "status": "completed", "type": "local_shell_call"}
    return LocalShellCall.model_validate(data)


class Desk:
    """Native tools of a host, what they were run with, and an agent that has them."""

    def __init__(self, folder: Path, *says: Says | str) -> None:
        self.ran: list[str] = []
        self.script = Script(*says)
        self.weaver: Weaver = skillweave.open(
            *SKILLS,
            ledger=SqliteStore(folder / "ledger.db"),
            settings=Settings(catalog=CatalogMode.NEVER),
            counter=WordCounter(),
            matchers=("explicit", "triggers"),
        )
        self.skills = Skills(self.weaver)
        self.agent: Agent[Any] = self.skills.agent(self.bare(self.native()))

    def native(self) -> list[Tool]:
        def run(context: Any, text: str) -> str:
            self.ran.append(text)
            return "converted"

        def shell(request: Any) -> str:
            action = request.data.action
            self.ran.append(" ".join(getattr(action, "commands", None) or action.command))
            return "done"

        return [
            CustomTool("convert", "Converts a picture.", run),  # type: ignore[arg-type]
            ShellTool(executor=shell),
            ApplyPatchTool(editor=Editor(self.ran)),
            LocalShellTool(executor=shell),
        ]

    def bare(self, tools: Sequence[Tool], **more: Any) -> "Agent[Any]":
        return Agent(**{"name": "Desk", "model": NativeModel(self.script), "tools": list(tools), **more})

    async def run(self, said: Any, **named: Any) -> Any:
        return await Runner.run(self.agent, said, run_config=self.skills.run_config(ROOM, UNTRACED), **named)

    async def decided(self, state: "RunState[Any]", reply: dict[str, Any]) -> Any:
        asked: list[Any] = await self.skills.waiting(state, ROOM)
        return await self.run(await self.skills.decide(state, ROOM, asked, reply))


class Editor:
    def __init__(self, ran: list[str]) -> None:
        self._ran = ran

    def create_file(self, operation: ApplyPatchOperation) -> None:
        self._ran.append(f"{operation.type} {operation.path}")

    update_file = delete_file = create_file


def call(tool: str, call_id: str = "call-1") -> Says:
    return Says(asks=(Asks(tool, {}, call_id),))


@pytest.mark.parametrize("tool", NATIVE)
async def test_a_tool_that_the_sdk_runs_in_the_host_runs_where_nothing_forbids_it(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path, call(tool), "Done.")
    assert (await desk.run("Hello")).final_output == "Done."
    assert len(desk.ran) == 1


@pytest.mark.parametrize("tool", NATIVE)
async def test_a_forbidden_one_is_hidden_and_not_run_when_the_model_names_it(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path, call(tool), "I can't.")
    result = await desk.run(f"Please forbid {tool}")
    assert (result.final_output, desk.ran) == ("I can't.", [])
    assert tool not in desk.script.sent[0].tools
    assert desk.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


async def test_a_rule_on_the_command_of_a_shell_is_judged(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("shell"), "I can't.")
    await desk.run("Please prefix shell")
    assert desk.ran == []
    assert "shell" in desk.script.sent[0].tools


@pytest.mark.parametrize("tool", PAUSING)
async def test_one_behind_a_checkpoint_waits_and_runs_once_it_is_approved(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path, call(tool), "Done.")
    paused = await desk.run(f"Please ask {tool}")
    assert (len(paused.interruptions), desk.ran) == (1, [])
    assert (await desk.decided(paused.to_state(), APPROVED)).final_output == "Done."
    assert len(desk.ran) == 1


@pytest.mark.parametrize("tool", PAUSING)
async def test_one_that_was_rejected_is_not_run_and_the_note_is_its_answer(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path, call(tool), "Then not.")
    paused = await desk.run(f"Please ask {tool}")
    assert (await desk.decided(paused.to_state(), REJECTED)).final_output == "Then not."
    assert desk.ran == []
    assert desk.script.last.times_in_messages("Not on a Friday.") == 1


@pytest.mark.parametrize("tool", PAUSING)
async def test_a_yes_that_the_sdk_holds_for_good_is_none_to_a_later_call(tmp_path: Path, tool: str) -> None:
    desk = Desk(tmp_path, call(tool), call(tool, "call-2"), "Done.")
    state = (await desk.run(f"Please ask {tool}")).to_state()
    state.approve(state.get_interruptions()[0], always_approve=True)
    await desk.run(state)
    assert desk.ran == []


async def test_a_paused_shell_call_goes_on_in_another_process(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("shell"))
    kept = (await desk.run("Please ask shell")).to_state().to_json()
    again = Desk(tmp_path, "Done.")
    state: RunState[Any] = await RunState.from_json(again.agent, kept)
    assert (await again.decided(state, APPROVED)).final_output == "Done."
    assert again.ran == ["rm -r /d"]


@pytest.mark.parametrize(
    ("tool", "arguments", "ran"), [("convert", {"input": "b.png"}, "b.png"), ("shell", {"command": "ls"}, "ls")]
)
async def test_a_modified_one_runs_with_the_new_arguments(
    tmp_path: Path, tool: str, arguments: dict[str, str], ran: str
) -> None:
    desk = Desk(tmp_path, call(tool), "Done.")
    paused = await desk.run(f"Please ask {tool}")
    await desk.decided(paused.to_state(), {**APPROVED, "verdict": "modified", "arguments": arguments})
    assert desk.ran == [ran]


async def test_a_call_that_cannot_wait_is_answered_that_it_would_have_to(tmp_path: Path) -> None:
    desk = Desk(tmp_path, call("local_shell"), "Then not.")
    assert (await desk.run("Please ask local_shell")).final_output == "Then not."
    assert desk.ran == []
    assert desk.script.last.times_in_messages("waits for a person's approval") == 1


def _computer() -> Tool:
    return ComputerTool(computer=object())  # type: ignore[arg-type]


def _post(**more: Any) -> HostedMCPTool:
    return HostedMCPTool({"type": "mcp", "server_label": "post", "server_url": "https://post.example/mcp", **more})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(("made", "name"), [(_computer, "computer_use_preview"), (_post, "hosted_mcp")])
async def test_what_nothing_can_hold_back_is_refused_where_the_agent_is_made(
    tmp_path: Path, made: Callable[[], Tool], name: str
) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(UnguardedAgent, match=name):
        desk.skills.agent(desk.bare([made()]))
    Skills(desk.weaver, unguarded=Unguarded.ALLOW).agent(desk.bare([made()]))


async def test_a_hosted_server_is_shown_only_while_all_its_tools_are_allowed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.agent = desk.skills.agent(desk.bare([_post(allowed_tools=["pay"]), WebSearchTool()]))
    await desk.run("Hello")
    assert {"hosted_mcp", "web_search"} <= set(desk.script.last.tools)
    await desk.run("Please forbid pay")
    assert "hosted_mcp" not in desk.script.last.tools


async def test_what_the_provider_runs_and_a_rule_can_name_is_taken(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    tools = [WebSearchTool(), CodeInterpreterTool({"type": "code_interpreter", "container": {"type": "auto"}})]
    assert desk.skills.agent(desk.bare(tools)).tools[:2] == tools


@function_tool
def pay(amount: int) -> str:
    """Pays."""
    raise AssertionError("this must not run")


async def test_an_agent_with_tools_that_was_not_made_here_is_refused_in_a_run_of_ours(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Says(asks=(Asks("pay", {"amount": 1}),)))
    desk.agent = desk.bare([pay])
    with pytest.raises(UnguardedAgent, match=r"'Desk' \(run with `skills.run_config\(...\)`\) is not guarded"):
        await desk.run("Please forbid pay")
    assert desk.script.sent == []


async def test_an_agent_without_tools_runs_with_no_skills(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "Hello.")
    desk.agent = desk.bare([])
    assert (await desk.run("Hello")).final_output == "Hello."


async def test_a_handoff_to_an_agent_with_tools_that_was_not_made_here_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(UnguardedAgent, match="a handoff of agent 'Triage'"):
        desk.skills.agent(desk.bare([], name="Triage", handoffs=[desk.bare([pay])]))


async def test_an_agent_behind_a_tool_that_was_not_made_here_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    inner = desk.bare([pay], name="Payer").as_tool("payer", "Pays.")
    with pytest.raises(UnguardedAgent, match=r"'Payer' \(an agent behind the tool 'payer' of 'Desk'"):
        desk.skills.agent(desk.bare([inner]))
    desk.skills.agent(desk.bare([desk.skills.agent(desk.bare([pay], name="Payer")).as_tool("payer", "Pays.")]))


class Spans(TracingProcessor):
    """Keeps the spans that end."""

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def on_trace_start(self, trace: Trace) -> None: ...
    def on_trace_end(self, trace: Trace) -> None: ...
    def on_span_start(self, span: Span[Any]) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...

    def on_span_end(self, span: Span[Any]) -> None:
        self.ended.append(span.span_data)


async def test_the_sdks_trace_says_which_skills_a_call_was_given_and_no_text(tmp_path: Path) -> None:
    provider: Any = get_trace_provider()
    before, spans = list(provider._multi_processor._processors), Spans()
    set_trace_processors([spans])
    try:
        desk = Desk(tmp_path)
        config = desk.skills.run_config(ROOM, RunConfig(tracing_disabled=False))
        await Runner.run(desk.agent, "Please ask shell", run_config=config)
    finally:
        set_trace_processors(before)
    (told,) = [data.data for data in spans.ended if getattr(data, "name", "") == "skillweave"]
    assert (told["skills"], told["waiting"]) == (["ask-shell"], ["release"])
    assert told["tokens"]["injected"] > 0
    assert "Please" not in str(told)
