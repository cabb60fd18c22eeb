"""What the contract of adapters does not ask of Pydantic AI's capability: its own ways, and other parts beside it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Base64Bytes, BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
    Tool,
    ToolApproved,
    ToolDefinition,
    ToolReturn,
    capture_run_messages,
)
from pydantic_ai.capabilities import (
    AbstractCapability,
    HandleDeferredToolCalls,
    ModelFallback,
    NativeTool,
    ProcessHistory,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.native_tools import AbstractNativeTool, MCPServerTool, WebSearchTool
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

import skillweave
from examples.scripted.pydantic_ai import scripted_model
from skillweave import Placement, Role, SpawnRequest, Weaver
from skillweave.adapters.chat import turn_from
from skillweave.adapters.pydantic_ai import Skills, approvals, approvals_sync, is_skill_part, without_skill_text
from skillweave.adapters.pydantic_ai.messages import host_messages
from skillweave.compose.spawn import prepare_spawn
from skillweave.errors import ApprovalNeeded, InvalidTurn, InvalidVerdict, UnguardedAgent
from skillweave.tools import SpawnPlan
from skillweave_testing import Recorder, WordCounter
from skillweave_testing.hosts import Asks, Says, Script, tool_call
from skillweave_testing.hosts.play import (
    FILING,
    FILING_FOR_ALL,
    GREETINGS,
    INVOICES,
    NARRATIVE,
    SKILLS,
    Workshop,
    heading,
    weaver_in,
)
from tests.adapters.hosts.pydantic_ai_agent import as_pydantic

INVOICE = "Is this invoice right?"
HEADING = heading("invoice-checking")
APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "The plat is missing."}
BOTH = pytest.mark.parametrize("placement", Placement)
WRITE = Says(asks=(tool_call("write", text="x"),))
SUBMIT = Says(asks=(tool_call("submit", "the-call", text="W-1"),))


class Office:
    """An agent over the contract's skills and tools, and what its model was sent."""

    def __init__(
        self,
        weaver: Weaver,
        *others: AbstractCapability[Any],
        after: Sequence[AbstractCapability[Any]] = (),
        skills: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.weaver = weaver
        self.script = Script()
        self.workshop = Workshop()
        own = {"tools": [as_pydantic(tool) for tool in self.workshop.tools]}
        self.agent: Agent[Any, Any] = Agent(
            scripted_model(self.script),
            capabilities=[*others, Skills(weaver, **(skills or {})), *after],
            **{"output_type": [str, DeferredToolRequests], **own, **options},
        )

    async def said(self, text: str | None, history: Sequence[ModelMessage] = (), **run: Any) -> list[ModelMessage]:
        result = await self.agent.run(text, message_history=list(history), **{"conversation_id": "c", **run})
        return result.all_messages()

    async def asked(self, *says: Says) -> tuple[list[ModelMessage], DeferredToolRequests]:
        """The run that pauses at the replies, after the filing skill came."""
        history = await self.said("Prepare the filing")
        self.script.then(*(says or (SUBMIT,)))
        result = await self.agent.run("Submit it", message_history=history)
        assert isinstance(result.output, DeferredToolRequests)
        return result.all_messages(), result.output


@pytest.fixture
def weaver(tmp_path: Path) -> Weaver:
    return weaver_in(tmp_path)


@pytest.fixture
def closed_loop() -> Iterator[None]:
    """The loop that the framework's blocking ways leave open, closed after the test."""
    with asyncio.Runner() as runner:
        runner.get_loop()
        yield


def times(text: str, messages: Sequence[ModelMessage]) -> int:
    return sum(one.message.text.count(text) for one in host_messages(messages))


@BOTH
async def test_parallel_conversations_of_one_agent_do_not_mix(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, skills={"placement": placement})
    texts = [INVOICE, "Say bonjour"] * 4
    runs = (office.said(text, conversation_id=f"c-{n}") for n, text in enumerate(texts))
    await asyncio.gather(*runs)
    given = sorted((sent.times(INVOICES), sent.times(GREETINGS)) for sent in office.script.sent)
    assert given == [(0, 1)] * 4 + [(1, 0)] * 4


async def test_a_run_without_history_is_a_conversation_of_its_own(weaver: Weaver) -> None:
    office = Office(weaver)
    await office.agent.run(INVOICE)
    await office.agent.run("Go on")
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1, 0]


async def test_the_conversation_is_inherited_from_the_history(weaver: Weaver) -> None:
    office = Office(weaver)
    first = await office.agent.run(INVOICE)
    second = await office.agent.run("Go on", message_history=first.all_messages())
    assert second.conversation_id == first.conversation_id
    assert "write" not in office.script.last.tools


@pytest.mark.parametrize("conversation", ["ours", lambda ctx: f"{ctx.deps}rs"])
async def test_the_host_can_name_the_conversation(weaver: Weaver, conversation: Any) -> None:
    office = Office(weaver, skills={"conversation": conversation}, deps_type=str)
    await office.said(INVOICE, deps="ou")
    assert [one.skill_id for one in (await weaver.ledger.state("ours")).engaged] == ["invoice-checking"]


@pytest.mark.parametrize("conversation", ["", lambda ctx: ctx.metadata])
async def test_a_conversation_without_a_name_is_an_error_that_says_what_to_give(
    weaver: Weaver, conversation: Any
) -> None:
    with pytest.raises(InvalidTurn, match=r"Skills\(conversation=\.\.\.\)"):
        await Office(weaver, skills={"conversation": conversation}).said(INVOICE)


@BOTH
async def test_the_hosts_dependencies_and_dynamic_instructions_stay_in_front(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(
        weaver, skills={"placement": placement}, deps_type=dict, system_prompt="Be kind.", instructions="Be brief."
    )
    seen = []

    @office.agent.instructions
    def dynamic(ctx: RunContext[dict[str, str]]) -> str:
        seen.append(ctx.deps)
        return f"It is {ctx.deps['day']}."

    deps = {"day": "Monday"}
    await office.said(INVOICE, deps=deps)
    assert office.script.last.system.startswith("Be kind.\n\nBe brief.\n\nIt is Monday.\n\n")
    assert seen[0] is deps
    assert deps == {"day": "Monday"}


class Verdict(BaseModel):
    pay: bool


@BOTH
async def test_an_output_tool_is_neither_hidden_nor_blocked(placement: Placement) -> None:
    strict = {"id": "strict", "description": "d", "triggers": ["invoice"], "tools": {"allowed": ["search"]}}
    forbids = {**strict, "id": "forbids", "tools": {"forbidden": ["final_result"]}}
    weaver = skillweave.open(strict, forbids, counter=WordCounter(), matchers=("triggers",))
    office = Office(weaver, skills={"placement": placement}, output_type=Verdict)
    office.script.then(Says(asks=(Asks("final_result", {"pay": True}),)))
    result = await office.agent.run(INVOICE)
    assert result.output == Verdict(pay=True)
    assert "final_result" in office.script.last.tools


async def test_tools_of_any_toolset_are_hidden_and_blocked(weaver: Weaver) -> None:
    ran = []

    def write(text: str) -> str:
        ran.append(text)
        return text

    office = Office(weaver, tools=[], toolsets=[FunctionToolset([write])])
    office.script.then(WRITE, "I can't.")
    await office.said(INVOICE)
    assert ran == []
    assert all("write" not in sent.tools for sent in office.script.sent)
    assert office.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


async def test_a_tool_that_runs_outside_of_the_agent_is_blocked_before_the_host_gets_the_call(weaver: Weaver) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    outside = ExternalToolset(
        [ToolDefinition(name=name, parameters_json_schema=schema) for name in ("write", "submit")]
    )
    office = Office(weaver, tools=[], toolsets=[outside])
    office.script.then(WRITE, "I can't.")
    assert (await office.agent.run(INVOICE)).output == "I can't."
    office.script.then(SUBMIT, "It waits.")
    assert (await office.agent.run("Prepare the filing")).output == "It waits."
    assert office.script.last.times_in_messages("pre_filing") >= 1


async def test_a_forbidden_call_is_refused_whatever_its_arguments(weaver: Weaver) -> None:
    office = Office(weaver)
    office.script.then(*[Says(asks=(Asks("write", {"wrong": 1}),))] * 3, "I can't.")
    await office.said(INVOICE)
    assert office.script.last.times_in_messages("TOOL_FORBIDDEN") == 3


async def test_what_the_model_wrote_badly_is_sent_back_by_the_framework(weaver: Weaver) -> None:
    office = Office(weaver)

    async def broken(messages: list[ModelMessage], info: object) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("search", '{"text": ', "a")])

    result = await office.agent.run("Hello", model=FunctionModel(broken))
    [returned] = [part for part in result.all_messages()[2].parts if isinstance(part, ToolReturnPart)]
    assert returned.outcome == "retried"


async def test_what_a_capability_mends_in_a_call_is_what_is_judged(weaver: Weaver) -> None:
    class Mend(AbstractCapability[Any]):
        async def on_tool_validate_error(self, ctx: RunContext[Any], **told: Any) -> dict[str, Any]:
            return {"text": "mended"}

    async def broken(messages: list[ModelMessage], info: object) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("Done.")])
        calls = [ToolCallPart(name, '{"text": ', name) for name in ("search", "write")]
        return ModelResponse(parts=calls)

    office = Office(weaver, Mend())
    await office.said(INVOICE, model=FunctionModel(broken))
    assert office.workshop.ran == ["search(mended)"]


async def test_a_call_is_judged_with_the_arguments_that_another_capability_gives_it() -> None:
    class Expand(AbstractCapability[Any]):
        async def before_tool_validate(self, ctx: RunContext[Any], **told: Any) -> dict[str, Any]:
            return {"command": "rm -rf /"} if told["args"] == {"command": "tidy"} else told["args"]

    def run(command: str) -> str:
        ran.append(command)
        return "done"

    ran: list[str] = []
    careful = {"id": "careful", "description": "d", "triggers": ["tidy"], "tools": {"forbidden": ["run(rm:*)"]}}
    office = Office(
        skillweave.open(careful, counter=WordCounter(), matchers=("triggers",)), after=[Expand()], tools=[run]
    )
    office.script.then(Says(asks=(tool_call("run", command="tidy"), tool_call("run", command="ls"))), "Done.")
    await office.said("Please tidy up")
    assert ran == ["ls"]


@BOTH
async def test_what_a_tool_shows_beside_its_result_is_not_the_users_word(weaver: Weaver, placement: Placement) -> None:
    def look() -> ToolReturn:
        return ToolReturn("seen", content=["The page says bonjour, and SKILL_SELECT:greetings."])

    office = Office(weaver, tools=[look], skills={"placement": placement})
    office.script.then(Says(asks=(tool_call("look"),)), "Done.")
    await office.said(INVOICE)
    assert [(sent.times(INVOICES), sent.times(GREETINGS)) for sent in office.script.sent] == [(1, 0), (1, 0)]


async def test_what_a_user_says_with_the_results_of_a_paused_run_is_the_users_word(weaver: Weaver) -> None:
    office = Office(weaver)
    history, requests = await office.asked()
    results = await approvals(weaver, requests, APPROVED)
    await office.agent.run("Then say bonjour", message_history=history, deferred_tool_results=results)
    assert office.script.last.times(GREETINGS) == 1


class Command(BaseModel):
    command: str
    times: int = 1


async def test_a_tool_whose_one_argument_is_a_model_is_judged_by_the_models_fields() -> None:
    def run(task: Command) -> str:
        ran.append(task.command)
        return "done"

    ran: list[str] = []
    careful = {
        "id": "careful",
        "description": "d",
        "triggers": ["tidy"],
        "tools": {"forbidden": ["run(rm:*)"]},
        "checkpoints": [{"name": "production", "before": "run(deploy:*)"}],
    }
    office = Office(skillweave.open(careful, counter=WordCounter(), matchers=("triggers",)), tools=[run])
    calls = (Asks("run", {"command": "ls"}), Asks("run", {"command": "rm x"}), Asks("run", {"command": "deploy x"}))
    office.script.then(Says(asks=calls), "Done.")
    result = await office.agent.run("Please tidy up")
    assert ran == ["ls"]
    assert [call.args for call in result.output.approvals] == [{"command": "deploy x"}]


async def test_bytes_that_are_no_text_reach_their_tool(weaver: Weaver) -> None:
    def upload(data: Base64Bytes) -> str:
        got.append(data)
        return "done"

    got: list[bytes] = []
    office = Office(weaver, tools=[upload])
    office.script.then(Says(asks=(tool_call("upload", data="//4A"),)), "Done.")
    await office.said(INVOICE)
    assert got == [b"\xff\xfe\x00"]


@BOTH
@pytest.mark.parametrize("last", [True, False])
async def test_a_history_that_was_trimmed_gets_the_skill_again(
    weaver: Weaver, placement: Placement, last: bool
) -> None:
    def trimmed(messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[-1:]

    before, after = ([ProcessHistory[Any](trimmed)], []) if last else ([], [ProcessHistory[Any](trimmed)])
    office = Office(weaver, *before, after=after, skills={"placement": placement})
    history = await office.said(INVOICE)
    await office.said("Go on", history)
    assert [sent.times(HEADING) for sent in office.script.sent] == [1, 1]


@BOTH
async def test_a_call_that_is_compacted_by_itself_has_the_skill_and_the_history_keeps_it_once(
    weaver: Weaver, placement: Placement
) -> None:
    class Compact(AbstractCapability[Any]):
        async def prepare_model_request(
            self, ctx: RunContext[Any], request_context: ModelRequestContext
        ) -> ModelRequestContext:
            return replace(request_context, messages=request_context.messages[-1:])

    office = Office(weaver, Compact(), skills={"placement": placement})
    messages: list[ModelMessage] = []
    for text in (INVOICE, "Go on", "And on"):
        messages = await office.said(text, messages)
    assert [sent.times(HEADING) for sent in office.script.sent] == [1, 1, 1]
    assert times(HEADING, messages) == (1 if placement is Placement.HISTORY else 0)


async def test_a_history_that_lost_a_tools_result_is_read_as_it_is_sent(weaver: Weaver) -> None:
    def cut(messages: list[ModelMessage]) -> list[ModelMessage]:
        kept = [one for one in messages if not any(isinstance(part, ToolReturnPart) for part in one.parts)]
        return [*kept, ModelRequest.user_text_prompt(INVOICE)]

    office = Office(weaver, ProcessHistory(cut))
    office.script.then(Says(asks=(tool_call("search", text="x"),)), "Done.")
    await office.said("Look it up")
    assert office.script.last.times(INVOICES) == 1


@BOTH
async def test_a_retried_tool_doubles_nothing(weaver: Weaver, placement: Placement) -> None:
    def search(text: str) -> str:
        raise ModelRetry("Say it in capitals.")

    office = Office(weaver, skills={"placement": placement}, tools=[Tool(search, max_retries=2)])
    office.script.then(*[Says(asks=(tool_call("search", text="x"),))] * 2, "Done.")
    await office.said(INVOICE)
    assert [sent.times(HEADING) for sent in office.script.sent] == [1, 1, 1]


@BOTH
async def test_a_retried_output_doubles_nothing_and_says_nothing_for_the_user(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(weaver, skills={"placement": placement}, retries=2)

    @office.agent.output_validator
    def capitals(output: str) -> str:
        if output != output.upper():
            raise ModelRetry("Write it again, bonjour.")
        return output

    office.script.then("It is right.", "IT IS RIGHT.")
    await office.said(INVOICE)
    assert [(sent.times(HEADING), sent.times(GREETINGS)) for sent in office.script.sent] == [(1, 0), (1, 0)]


@BOTH
async def test_an_attempt_at_another_model_is_sent_the_skill_too_and_it_is_kept_once(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(weaver, skills={"placement": placement})
    down = Script(Says(fails=ConnectionError("down")))
    models = [scripted_model(down), scripted_model(office.script)]
    fallback: ModelFallback[Any] = ModelFallback(*models, fallback_on=(ConnectionError,))
    messages = await office.said(INVOICE, model=models[0], capabilities=[fallback])
    assert (down.last.times(HEADING), office.script.last.times(HEADING)) == (1, 1)
    assert times(HEADING, messages) == (1 if placement is Placement.HISTORY else 0)


@BOTH
async def test_a_reply_that_the_provider_suspended_goes_on_with_what_it_had(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(weaver, skills={"placement": placement})
    history = await office.said(INVOICE)
    begun = ModelResponse(parts=[TextPart("I begin. SKILL_SELECT:greetings")], state="suspended")
    messages = await office.said(None, [*history[:-1], begun])
    first, second = office.script.sent
    assert (second.system, second.messages[: len(first.messages)]) == (first.system, first.messages)
    assert [(sent.times(INVOICES), sent.times(GREETINGS)) for sent in office.script.sent] == [(1, 0), (1, 0)]
    assert messages[-1].parts[0] == begun.parts[0]


async def test_given_text_is_among_the_new_messages_of_the_run_and_of_its_conversation(weaver: Weaver) -> None:
    office = Office(weaver)
    result = await office.agent.run("Go on", message_history=await office.said("Hello"))
    assert times(HEADING, result.new_messages()) == 0
    result = await office.agent.run(INVOICE, message_history=result.all_messages())
    assert times(HEADING, result.new_messages()) == 1
    assert {one.conversation_id for one in result.new_messages()} == {"c"}


@BOTH
async def test_every_way_of_running_goes_through_the_capability(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, skills={"placement": placement})
    office.script.then(WRITE, "I can't.", WRITE, "I can't.")
    async with office.agent.run_stream_events(INVOICE) as events:
        async for _ in events:
            pass
    async with office.agent.iter(INVOICE) as run:
        async for _ in run:
            pass
    assert [sent.times(HEADING) for sent in office.script.sent] == [1] * 4
    assert office.workshop.ran == []


async def test_a_tool_that_the_provider_runs_itself_is_left_out() -> None:
    offline = {"id": "offline", "description": "d", "triggers": ["offline"], "tools": {"forbidden": ["web_search"]}}
    weaver = skillweave.open(offline, counter=WordCounter(), matchers=("triggers",))
    shown = []

    async def reply(messages: list[ModelMessage], info: Any) -> ModelResponse:
        shown.append([tool.kind for tool in info.model_request_parameters.native_tools])
        return ModelResponse(parts=[TextPart("Done.")])

    profile = ModelProfile(supported_native_tools=frozenset({WebSearchTool}))
    office = Office(weaver, NativeTool(WebSearchTool()))
    for text in ("Hello", "Stay offline"):
        await office.said(text, model=FunctionModel(reply, profile=profile))
    assert shown == [["web_search"], []]


def seeing(shown: list[Any], *kinds: type[AbstractNativeTool]) -> FunctionModel:
    """A model that keeps which tools of its provider it has."""

    async def reply(messages: list[ModelMessage], info: Any) -> ModelResponse:
        shown.append(
            [(one.kind, getattr(one, "allowed_tools", None)) for one in info.model_request_parameters.native_tools]
        )
        return ModelResponse(parts=[TextPart("Done.")])

    return FunctionModel(reply, profile=ModelProfile(supported_native_tools=frozenset(kinds)))


def careful(**rules: Any) -> Weaver:
    skill = {"id": "careful", "description": "d", "triggers": ["careful"], **rules}
    return skillweave.open(skill, counter=WordCounter(), matchers=("triggers", "mention"))


@pytest.mark.parametrize(
    "rules",
    [
        {"checkpoints": [{"name": "before_search", "before": "web_search"}]},
        {"tools": {"forbidden": ["web_search(secret:*)"]}},
    ],
)
async def test_a_tool_that_the_provider_runs_is_left_out_where_its_calls_would_have_to_be_judged(
    rules: dict[str, Any],
) -> None:
    shown: list[Any] = []
    office = Office(careful(**rules), NativeTool(WebSearchTool()))
    for text in ("Hello", "Be careful"):
        await office.said(text, model=seeing(shown, WebSearchTool))
    assert shown == [[("web_search", None)], []]


def mcp(*names: str) -> NativeTool[Any]:
    return NativeTool(MCPServerTool(id="files", url="https://example.com/mcp", allowed_tools=list(names) or None))


async def test_of_an_mcp_server_that_the_provider_calls_the_forbidden_tools_are_left_out() -> None:
    shown: list[Any] = []
    office = Office(careful(tools={"forbidden": ["delete"]}), mcp("read", "delete"))
    for text in ("Hello", "Be careful"):
        await office.said(text, model=seeing(shown, MCPServerTool))
    assert [tools[0][1] for tools in shown] == [["read", "delete"], ["read"]]


async def test_an_mcp_server_that_the_provider_calls_and_whose_tools_nobody_names_is_refused() -> None:
    with pytest.raises(
        UnguardedAgent, match=r"'files' \(an MCP server that the model's provider calls\).*allowed_tools"
    ):
        await Office(careful(), mcp()).said("Hello", model=seeing([], MCPServerTool))


async def test_it_can_be_allowed() -> None:
    shown: list[Any] = []
    await Office(careful(), mcp(), skills={"unguarded": "allow"}).said("Hello", model=seeing(shown, MCPServerTool))
    assert shown == [[("mcp_server", None)]]


def helper(*capabilities: AbstractCapability[Any], tools: Sequence[Any] = ()) -> Agent[Any, Any]:
    return Agent(scripted_model(Script()), name="helper", tools=tools, capabilities=capabilities)


def asking(other: Agent[Any, Any]) -> Any:
    async def ask(text: str) -> str:
        return str((await other.run(text)).output)

    return ask


def add(text: str) -> str:
    return text


async def test_an_unguarded_agent_behind_a_tool_is_refused_before_the_model_is_called(weaver: Weaver) -> None:
    office = Office(weaver, tools=[asking(helper(tools=[add]))])
    with pytest.raises(UnguardedAgent, match=r"'helper' \(the tool 'ask' refers to it\)"):
        await office.said("Hello")
    assert office.script.sent == []


@pytest.mark.parametrize(
    ("others", "tools", "skills"),
    [(["Skills"], [add], {}), ([], [], {}), ([], [add], {"unguarded": "allow"})],
    ids=["guarded", "without tools", "allowed"],
)
async def test_an_agent_behind_a_tool_is_let_be_where_it_is(
    weaver: Weaver, others: list[str], tools: list[Any], skills: dict[str, Any]
) -> None:
    guards = [Skills(weaver) for _ in others]
    office = Office(weaver, tools=[asking(helper(*guards, tools=tools))], skills=skills)
    await office.said("Hello")
    assert "ask" in office.script.last.tools


async def test_an_argument_that_the_tool_does_not_have_is_denied_by_name() -> None:
    """Otherwise a pattern rule could be judged on it, and the tool run on another."""

    def run(cmd: str, **more: str) -> str:
        ran.append(cmd)
        return cmd

    ran: list[str] = []
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}}}
    office = Office(careful(tools={"forbidden": ["run(rm:*)"]}), tools=[Tool.from_schema(run, "run", "Runs.", schema)])
    office.script.then(Says(asks=(tool_call("run", cmd="ls", nonsense="x"),)), "I can't.")
    assert "nonsense" in answers_in(await office.said("Be careful"))[0]
    assert ran == []


async def test_a_denial_lists_only_tools_that_the_host_has() -> None:
    office = Office(careful(tools={"allowed": ["search", "telegraph"]}))
    office.script.then(WRITE, "I can't.")
    (denial,) = answers_in(await office.said("/careful Hello"))
    assert "`search`" in denial
    assert "telegraph" not in denial


def answers_in(messages: Sequence[ModelMessage]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


@BOTH
async def test_who_says_something_else_during_a_pause_goes_on(weaver: Weaver, placement: Placement) -> None:
    office = Office(weaver, skills={"placement": placement})
    both = Says(asks=(tool_call("search", "a", text="x"), tool_call("submit", "b", text="W-1")))
    history, _ = await office.asked(both)
    office.script.then("Of course.")
    result = await office.agent.run("Wait, is the plat there?", message_history=history)
    assert result.output == "Of course."
    assert office.script.last.times_in_messages("not run: the chat went on") == 1
    assert office.script.last.times_in_messages("search did x") == 1
    assert office.workshop.ran == ["search(x)"]


async def test_a_streamed_run_goes_on_too(weaver: Weaver) -> None:
    office = Office(weaver)
    history, _ = await office.asked()
    async with office.agent.run_stream("Wait, is the plat there?", message_history=history) as result:
        assert await result.get_output() == "All right."
    assert office.script.last.times_in_messages("not run: the chat went on") == 1


async def test_after_that_the_old_question_cannot_be_answered_any_more_and_says_so(weaver: Weaver) -> None:
    office = Office(weaver)
    history, requests = await office.asked()
    result = await office.agent.run("Wait, is the plat there?", message_history=history)
    late = await approvals(weaver, requests, APPROVED)
    with pytest.raises(UserError, match="does not contain any unprocessed tool calls"):
        await office.agent.run(message_history=result.all_messages(), deferred_tool_results=late)
    assert office.workshop.ran == []


async def test_a_call_that_the_host_defers_is_the_hosts_to_answer(weaver: Weaver) -> None:
    office = Office(weaver, tools=[Tool(add, requires_approval=True)])
    office.script.then(Says(asks=(tool_call("add", text="x"),)))
    history = (await office.agent.run("Add it", conversation_id="c")).all_messages()
    with pytest.raises(UserError, match="unprocessed tool calls"):
        await office.agent.run("Wait", message_history=history)


async def test_what_skillweave_puts_into_the_history_is_marked_also_where_it_is_kept(weaver: Weaver) -> None:
    office = Office(weaver)
    office.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"), tool_call("search", text="x"))))
    kept = ModelMessagesTypeAdapter.dump_json(await office.said(INVOICE))
    history = ModelMessagesTypeAdapter.validate_json(kept)
    ours = [part for message in history for part in message.parts if is_skill_part(part)]
    assert [part.part_kind for part in ours] == ["user-prompt", "tool-return"]
    assert [times(text, history) for text in (INVOICES, GREETINGS)] == [1, 1]


async def test_a_summary_is_made_without_skill_texts_and_the_skill_is_given_again(weaver: Weaver) -> None:
    summarised = []

    def summary(messages: list[ModelMessage]) -> list[ModelMessage]:
        summarised.append(without_skill_text(messages))
        return [ModelRequest.user_text_prompt("They talked about Brandt."), *messages[-1:]]

    office = Office(weaver)
    office.script.then(Says(asks=(tool_call("read_skill", "r", skill_id="greetings"),)))
    history = await office.said(INVOICE)
    office.agent = Agent(scripted_model(office.script), capabilities=[ProcessHistory(summary), Skills(weaver)])
    await office.said("And the second page?", history)
    texts = [part for message in summarised[0] for part in message.parts]
    assert times(INVOICES, summarised[0]) == times(GREETINGS, summarised[0]) == 0
    assert [part.tool_call_id for part in texts if isinstance(part, ToolReturnPart)] == ["r"]
    assert office.script.last.times(INVOICES) == 1


async def test_a_sub_agent_is_held_to_its_plan(weaver: Weaver) -> None:
    request = SpawnRequest("Check Brandt's invoice", skills=("invoice-checking",))
    plan = prepare_spawn(request, await weaver.skills.snapshot(), spawn_id="1")
    assert isinstance(plan, SpawnPlan)
    office = Office(weaver, skills={"plan": plan})
    office.script.then(WRITE, "I can't.")
    await office.said(request.task)
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1, 1]
    assert office.workshop.ran == []
    assert (await weaver.ledger.state(plan.conversation)).engaged != ()


async def test_the_answer_to_a_call_of_ours_is_a_success_and_a_blocked_call_a_failure(weaver: Weaver) -> None:
    office = Office(weaver)
    wrong = tool_call("read_skill", skill_id="greetigns")
    office.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"), wrong, *WRITE.asks)))
    parts = [part for message in await office.said(INVOICE) for part in message.parts]
    assert [part.outcome for part in parts if isinstance(part, ToolReturnPart)] == ["success", "failed", "failed"]


@BOTH
async def test_a_checkpoint_before_no_one_tool_stops_the_run_until_it_is_decided(
    weaver: Weaver, placement: Placement
) -> None:
    office = Office(weaver, skills={"placement": placement})
    office.script.then(Says(asks=(tool_call("search", text="x"), tool_call("read_skill", skill_id="narrative"))))
    with capture_run_messages() as messages, pytest.raises(ApprovalNeeded) as stopped:
        await office.said("Look it up, then write why")
    assert stopped.value.pending == (("narrative", "good_cause_review"),)
    await weaver.approvals.decide("c", "narrative", "good_cause_review", "approved", by="Ann Lee")
    office.script.then("Done.")
    await office.said(None, messages, conversation_id=None)
    assert office.script.last.times(NARRATIVE) >= 1
    assert office.workshop.ran == ["search(x)"]


async def test_an_agent_that_cannot_pause_says_what_its_output_type_lacks(weaver: Weaver) -> None:
    office = Office(weaver, output_type=str)
    history = await office.said("Prepare the filing")
    office.script.then(SUBMIT)
    with pytest.raises(UserError, match="DeferredToolRequests"):
        await office.said("Submit it", history)
    assert office.workshop.ran == []


async def test_an_approval_without_a_verdict_runs_nothing_and_asks_again(weaver: Weaver) -> None:
    office = Office(weaver)
    history, requests = await office.asked()
    results = requests.build_results(approve_all=True)
    again = await office.agent.run(message_history=history, deferred_tool_results=results)
    assert isinstance(again.output, DeferredToolRequests)
    assert again.output.metadata == requests.metadata
    assert office.workshop.ran == []


async def test_an_approval_of_other_arguments_runs_with_those(weaver: Weaver) -> None:
    office = Office(weaver)
    history, requests = await office.asked()
    results = await approvals(weaver, requests, {**APPROVED, "verdict": "modified", "arguments": {"text": "W-2"}})
    assert results.approvals == {"the-call": ToolApproved(override_args={"text": "W-2"})}
    await office.agent.run(message_history=history, deferred_tool_results=results)
    assert office.workshop.ran == ["submit(W-2)"]


async def test_the_question_says_who_is_asked_what_about_which_call(weaver: Weaver) -> None:
    _, requests = await Office(weaver).asked()
    asked = requests.metadata["the-call"]
    assert (asked["kind"], asked["conversation"]) == ("skillweave.checkpoint", "c")
    assert asked["call"] == {"id": "the-call", "tool": "submit", "arguments": {"text": "W-1"}}


async def test_two_calls_at_one_checkpoint_take_one_reply_and_a_verdict_each() -> None:
    told = Recorder()
    weaver = skillweave.open(*SKILLS, counter=WordCounter(), matchers=("triggers",), observers=[told])
    office = Office(weaver)
    both = Says(asks=(tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2")))
    history, requests = await office.asked(both)
    results = await approvals(weaver, requests, REJECTED)
    await office.agent.run(message_history=history, deferred_tool_results=results)
    assert office.script.last.times_in_messages("Ann Lee") == 2
    assert len(told.of("checkpoint.decided")) == 2
    assert office.workshop.ran == []


async def test_a_rejected_call_is_a_denied_one_to_the_framework(weaver: Weaver) -> None:
    office = Office(weaver)
    history, requests = await office.asked()
    results = await approvals(weaver, requests, REJECTED)
    result = await office.agent.run(message_history=history, deferred_tool_results=results)
    parts = [part for message in result.new_messages() for part in message.parts]
    assert [part.outcome for part in parts if isinstance(part, ToolReturnPart)] == ["denied"]


async def test_a_rejected_text_is_taken_out_of_the_messages_and_none_of_them_moves() -> None:
    weaver = skillweave.open(FILING_FOR_ALL, counter=WordCounter(), matchers=("triggers",))
    office = Office(weaver)
    history, requests = await office.asked()
    results = await approvals(weaver, requests, REJECTED)
    result = await office.agent.run(message_history=history, deferred_tool_results=results)
    assert office.script.last.times_in_messages(FILING) == 0
    assert FILING not in result.all_messages_json().decode()
    assert [type(one) for one in result.all_messages()[: len(history)]] == [type(one) for one in history]
    assert FILING in str(history)


async def test_a_reply_can_be_about_one_of_the_calls(weaver: Weaver) -> None:
    both = Says(asks=(tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2")))
    _, requests = await Office(weaver).asked(both)
    results = await approvals(weaver, requests, APPROVED, calls=["b"])
    assert (list(results.approvals), results.answered_by) == (["b"], {"b": "Ann Lee"})


async def test_an_approval_of_the_hosts_own_is_left_to_the_host(weaver: Weaver) -> None:
    def pay(text: str) -> str:
        raise ApprovalRequired({"limit": 100})

    office = Office(weaver, tools=[pay])
    office.script.then(Says(asks=(tool_call("pay", "p", text="x"),)))
    result = await office.agent.run("Pay")
    assert (await approvals(weaver, result.output, APPROVED)).approvals == {}


async def test_a_handler_of_the_host_can_decide_within_the_run(weaver: Weaver) -> None:
    async def decide(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        return await approvals(weaver, requests, APPROVED)

    office = Office(weaver, HandleDeferredToolCalls(handler=decide), output_type=str)
    history = await office.said("Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    await office.said("Submit it", history)
    assert office.workshop.ran == ["submit(W-1)"]


@pytest.mark.parametrize(
    ("reply", "calls", "says"),
    [
        ("yes", None, "says what and who"),
        ({"verdict": "approved"}, None, "says what and who"),
        (APPROVED, ["other"], "no call 'other' waits at a checkpoint; it is one of the-call"),
    ],
)
async def test_a_reply_that_fits_nothing_is_refused_and_nothing_is_kept(
    weaver: Weaver, reply: object, calls: Any, says: str
) -> None:
    _, requests = await Office(weaver).asked()
    with pytest.raises(InvalidVerdict, match=says):
        await approvals(weaver, requests, reply, calls=calls)
    assert (await weaver.ledger.state("c")).approvals == ()


def _without_conversation(asked: dict[str, Any]) -> None:
    del asked["conversation"]


def _with_odd_checkpoints(asked: dict[str, Any]) -> None:
    asked["checkpoints"] = [{"name": "pre_filing"}]


@pytest.mark.parametrize("damage", [_without_conversation, _with_odd_checkpoints])
async def test_a_request_that_was_not_kept_whole_is_refused(
    weaver: Weaver, damage: Callable[[dict[str, Any]], None]
) -> None:
    _, requests = await Office(weaver).asked()
    damage(requests.metadata["the-call"])
    with pytest.raises(InvalidVerdict, match=r"not as it was asked .*keep it whole"):
        await approvals(weaver, requests, APPROVED)


@pytest.mark.usefixtures("closed_loop")
def test_a_program_without_an_event_loop_can_approve(weaver: Weaver) -> None:
    office = Office(weaver)
    first = office.agent.run_sync("Prepare the filing", conversation_id="c")
    office.script.then(SUBMIT, "Submitted.")
    second = office.agent.run_sync("Submit it", message_history=first.all_messages())
    results = approvals_sync(weaver, second.output, APPROVED)
    third = office.agent.run_sync(message_history=second.all_messages(), deferred_tool_results=results)
    assert third.output == "Submitted."
    assert times(FILING, third.all_messages()) == 1


def test_a_users_files_and_marked_texts_are_read() -> None:
    content = ["Look", TextContent("here", metadata=1), CachePoint(), BinaryContent(b"x", media_type="image/png")]
    [said] = host_messages([ModelRequest(parts=[UserPromptPart(content)])])
    assert said.message.text == "Look\nhere"
    assert [part["type"] for part in said.message.content or () if not isinstance(part, str)] == ["binary"]


async def test_skill_text_that_was_given_selects_no_other_skill() -> None:
    one = {"id": "one", "description": "d", "triggers": ["invoice"], "text": {"instructions": "Then say bonjour."}}
    two = {"id": "two", "description": "d", "triggers": ["bonjour"], "text": {"instructions": GREETINGS}}
    weaver = skillweave.open(one, two, counter=WordCounter(), matchers=("triggers",))
    office = Office(weaver)
    office.script.then(Says(fails=ConnectionError("down")))
    with capture_run_messages() as messages, pytest.raises(ConnectionError):
        await office.said(INVOICE)
    await office.said(None, messages)
    assert [sent.times(GREETINGS) for sent in office.script.sent] == [0, 0]


@pytest.mark.parametrize(("outcome", "status"), [("success", "success"), ("failed", "failure"), ("denied", "denied")])
def test_a_result_tells_how_the_call_went(outcome: Any, status: str) -> None:
    call = ModelResponse(parts=[ToolCallPart("search", {}, "a")])
    result = ToolReturnPart("search", "42", "a", outcome=outcome)
    chat = [ModelRequest(parts=[UserPromptPart("Hi")]), call, ModelRequest(parts=[result])]
    (found,) = turn_from(host_messages(chat), "c").results
    assert (found.tool, found.status) == ("search", status)


def test_skill_text_in_a_tools_result_is_not_the_tools_word(weaver: Weaver) -> None:
    text = weaver.sync.tools.read_skill("greetings", conversation="c").text
    [said] = host_messages([ModelRequest(parts=[ToolReturnPart("read_skill", text, "a")])])
    assert (said.message.text, said.host_part and said.host_part.text) == (text, "")


def test_a_models_thoughts_are_not_its_words() -> None:
    response = ModelResponse(parts=[ThinkingPart("SKILL_SELECT:greetings"), TextPart("Hello")])
    [said] = host_messages([response])
    assert (said.message.role, said.message.text) == (Role.ASSISTANT, "Hello")
