"""The adapter for Microsoft's Agent Framework: what the contract of adapters does not ask of it."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    ContextProvider,
    FunctionTool,
    InlineSkill,
    InMemoryHistoryProvider,
    Message,
    SkillFrontmatter,
    SkillsProvider,
    SummarizationStrategy,
    ToolApprovalMiddleware,
)

import skillweave
from examples.scripted.agent_framework import ScriptedChatClient
from skillweave import Role, Settings, SpawnRequest, Weaver
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to
from skillweave.adapters.agent_framework.messages import host_messages, name_of
from skillweave.errors import ApprovalNeeded, InvalidTurn, InvalidVerdict, UnguardedAgent
from skillweave.tools import SpawnPlan
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, FILING, GREETINGS, INVOICES, Workshop, heading, weaver_in
from tests.adapters.hosts.agent_framework_agent import function

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"
ANN = {"verdict": "approved", "by": "Ann Lee"}
SUBMIT = Says(asks=(tool_call("submit", text="W-1"),))


class Stage:
    """An agent over the contract's skills and tools."""

    def __init__(
        self, weaver: Weaver, *, client: type[ScriptedChatClient] = ScriptedChatClient, **settings: Any
    ) -> None:
        self.weaver = weaver
        self.script = Script()
        self.workshop = Workshop()
        self.tools = {tool.name: function(tool) for tool in self.workshop.tools}
        self.provider = SkillContextProvider(weaver, **settings)
        self.agent = self.agent_with(self.provider, client=client)

    def agent_with(
        self,
        *providers: ContextProvider,
        client: type[ScriptedChatClient] = ScriptedChatClient,
        tools: Sequence[FunctionTool] | None = None,
    ) -> Agent[Any]:
        own = list(self.tools.values()) if tools is None else tools
        return Agent(client(self.script), BASE, tools=own, context_providers=providers)

    @property
    def session(self) -> AgentSession:
        return self.agent.create_session(session_id="office-1")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(weaver_in(tmp_path))


def over_examples(**settings: Any) -> Stage:
    return Stage(skillweave.open(EXAMPLES, counter=WordCounter()), **settings)


def careful(unguarded: Any = "refuse", **rules: Any) -> Stage:
    skill = {"id": "careful", "description": "d", "triggers": ["careful"], **rules}
    return Stage(skillweave.open(skill, counter=WordCounter()), unguarded=unguarded)


class TestSelecting:
    async def test_an_unrelated_request_sends_no_skill_text(self) -> None:
        stage = over_examples()
        await stage.agent.run("What is 2+2?", session=stage.session)
        assert stage.script.last.times("=== Skill Activated") == 0

    async def test_a_greeting_sends_exactly_one_skill(self) -> None:
        stage = over_examples()
        await stage.agent.run("Say bonjour to Alice", session=stage.session)
        assert stage.script.last.times("=== Skill Activated") == 1
        assert stage.script.last.system.count(heading("multilingual-greetings")) == 1

    async def test_max_skills_bounds_what_one_call_is_given(self, tmp_path: Path) -> None:
        stage = Stage(weaver_in(tmp_path), max_skills=1)
        await stage.agent.run("Is this invoice right, and say bonjour", session=stage.session)
        assert stage.script.last.times("=== Skill Activated") == 1

    async def test_without_max_skills_the_weavers_own_bound_holds(self, stage: Stage) -> None:
        await stage.agent.run("Is this invoice right, and say bonjour", session=stage.session)
        assert stage.script.last.times("=== Skill Activated") == 2

    async def test_seed_004_s_bound_is_the_weavers_default(self) -> None:
        assert Settings().max_skills == 3

    async def test_a_skill_loaded_in_the_middle_of_a_run_is_in_the_next_call_of_that_run(self, stage: Stage) -> None:
        stage.script.then(Says(asks=(tool_call("read_skill", skill_id="invoice-checking"),)), "Right.")
        await stage.agent.run("Hello", session=stage.session)
        assert [heading("invoice-checking") in sent.system for sent in stage.script.sent] == [False, True]
        assert "write" not in stage.script.last.tools


class TestConversations:
    async def test_two_sessions_of_one_agent_run_at_the_same_time_and_do_not_mix(self, stage: Stage) -> None:
        one, two = (stage.agent.create_session(session_id=name) for name in ("one", "two"))
        texts = ("Is this invoice right?", "Say bonjour"), ("And page two?", "And to Bob?")
        for first, second in texts:
            await asyncio.gather(stage.agent.run(first, session=one), stage.agent.run(second, session=two))
        had = [(INVOICES in sent.system, GREETINGS in sent.system) for sent in stage.script.sent]
        assert sorted(had) == [(False, True), (False, True), (True, False), (True, False)]
        assert [skill.skill_id for skill in (await stage.weaver.ledger.state("two")).engaged] == ["greetings"]

    async def test_the_conversation_is_the_sessions_id(self, stage: Stage) -> None:
        await stage.agent.run("Is this invoice right?", session=stage.session)
        assert [skill.skill_id for skill in (await stage.weaver.ledger.state("office-1")).engaged] == [
            "invoice-checking"
        ]

    async def test_a_conversation_can_be_named_for_an_agent_without_sessions(self, tmp_path: Path) -> None:
        stage = Stage(weaver_in(tmp_path), conversation="ticket-7")
        await stage.agent.run("Is this invoice right?")
        await stage.agent.run("And the second page?")
        assert stage.script.last.times(INVOICES) == 1

    async def test_without_a_session_each_run_is_a_conversation_of_its_own(self, stage: Stage) -> None:
        await stage.agent.run("Is this invoice right?")
        assert stage.script.last.times(INVOICES) == 1
        await stage.agent.run("And the second page?")
        assert stage.script.last.times(INVOICES) == 0

    @pytest.mark.parametrize("listed", ["none", "first", "last"])
    async def test_the_place_of_the_history_provider_does_not_matter(self, stage: Stage, listed: str) -> None:
        history = InMemoryHistoryProvider()
        providers = {"none": (stage.provider,), "first": (history, stage.provider), "last": (stage.provider, history)}
        agent, session = stage.agent_with(*providers[listed]), stage.session
        stage.script.then("That calls for it. SKILL_SELECT:greetings")
        for text in ("Say something nice", "Go on", "Is this invoice right?"):
            await agent.run(text, session=session)
        assert stage.script.last.times(GREETINGS) == 1
        assert stage.script.last.system.startswith(BASE)
        assert [sent.times_in_messages("Skill Activated") for sent in stage.script.sent] == [0, 0, 0]

    async def test_a_client_without_chat_middleware_is_refused_before_the_model_is_called(self, stage: Stage) -> None:
        class Bare(BaseChatClient[Any]):
            def _inner_get_response(self, **_: object) -> Any:
                raise AssertionError("the model was called")

        agent = Agent(Bare(), BASE, context_providers=[stage.provider])
        with pytest.raises(InvalidTurn, match="ChatMiddlewareLayer"):
            await agent.run("Hello", session=stage.session)


class TestTools:
    async def test_a_tool_of_one_run_is_hidden_and_blocked_too(self, stage: Stage) -> None:
        agent = stage.agent_with(stage.provider, tools=[stage.tools["search"]])
        stage.script.then(Says(asks=(tool_call("write", text="x"),)), "I can't.")
        await agent.run("Is this invoice right?", session=stage.session, tools=[stage.tools["write"]])
        assert all("write" not in sent.tools and "search" in sent.tools for sent in stage.script.sent)
        assert stage.workshop.ran == []
        assert stage.script.last.times_in_messages("TOOL_FORBIDDEN") == 1

    async def test_a_tool_of_one_run_that_no_skill_forbids_runs(self, stage: Stage) -> None:
        agent = stage.agent_with(stage.provider, tools=[])
        stage.script.then(Says(asks=(tool_call("write", text="x"),)), "Done.")
        await agent.run("Hello", session=stage.session, tools=[stage.tools["write"]])
        assert stage.workshop.ran == ["write(x)"]

    @pytest.mark.parametrize(
        "rules",
        [
            {"tools": {"forbidden": ["web_search"]}},
            {"tools": {"forbidden": ["web_search(secret:*)"]}},
            {"checkpoints": [{"name": "before_search", "before": "web_search"}]},
        ],
    )
    async def test_a_tool_that_the_service_runs_is_left_out_where_its_calls_would_have_to_be_judged(
        self, rules: dict[str, Any]
    ) -> None:
        stage = careful(**rules)
        for text in ("Hello", "Be careful"):
            await stage.agent.run(text, session=stage.session, tools=[{"type": "web_search"}])
        assert ["web_search" in str(sent.declared) for sent in stage.script.sent] == [True, False]

    async def test_of_an_mcp_server_that_the_service_calls_the_forbidden_tools_are_left_out(self) -> None:
        stage = careful(tools={"forbidden": ["delete"]})
        files = {"type": "mcp", "server_label": "files", "allowed_tools": ["read", "delete"]}
        for text in ("Hello", "Be careful"):
            await stage.agent.run(text, session=stage.session, tools=[files])
        assert ['"read", "delete"' in str(sent.declared) for sent in stage.script.sent] == [True, False]
        assert '"allowed_tools": ["read"]' in str(stage.script.last.declared)

    async def test_an_mcp_server_whose_tools_nobody_names_is_refused(self) -> None:
        stage = careful()
        with pytest.raises(UnguardedAgent, match=r"'files' \(an MCP server that the service calls\)"):
            await stage.agent.run("Hello", session=stage.session, tools=[{"type": "mcp", "server_label": "files"}])
        assert stage.script.sent == []

    async def test_it_can_be_allowed(self) -> None:
        stage = careful(unguarded="allow")
        await stage.agent.run("Hello", session=stage.session, tools=[{"type": "mcp", "server_label": "files"}])
        assert "files" in str(stage.script.last.declared)

    async def test_an_argument_that_the_tool_does_not_have_is_denied_by_name(self) -> None:
        """Otherwise a rule could be judged on it, and the tool run on another."""
        stage, ran = careful(tools={"forbidden": ["run(rm:*)"]}), list[str]()
        schema = {"type": "object", "properties": {"cmd": {"type": "string"}}}
        run = FunctionTool(name="run", description="Runs.", func=lambda cmd, **_: ran.append(cmd), input_model=schema)
        agent = stage.agent_with(stage.provider, tools=[run])
        stage.script.then(Says(asks=(tool_call("run", cmd="ls", nonsense="x"),)), "I can't.")
        response = await agent.run("Be careful", session=stage.session)
        (told,) = [one for message in response.messages for one in message.contents if one.type == "function_result"]
        assert "nonsense" in str(told.result)
        assert ran == []

    async def test_the_frameworks_own_skills_stand_beside_ours(self, stage: Stage) -> None:
        theirs = SkillsProvider(
            InlineSkill(frontmatter=SkillFrontmatter(name="tea", description="Makes tea."), instructions="Boil water.")
        )
        agent = stage.agent_with(stage.provider, theirs)
        await agent.run("Is this invoice right?", session=stage.session)
        assert {"load_skill", "read_skill", "search"} <= set(stage.script.last.tools)
        assert "Makes tea." in stage.script.last.system
        assert stage.script.last.times(INVOICES) == 1

    async def test_two_of_our_providers_on_one_agent_are_an_error_of_the_framework(self, stage: Stage) -> None:
        agent = stage.agent_with(stage.provider, SkillContextProvider(stage.weaver))
        with pytest.raises(ValueError, match="read_skill"):
            await agent.run("Hello", session=stage.session)

    async def test_the_host_goes_on_with_its_own_list_of_tools(self, stage: Stage) -> None:
        session = stage.session
        await stage.agent.run("Is this invoice right?", session=session)
        await stage.weaver.ledger.disengage("office-1", "invoice-checking")
        await stage.agent.run("Hello", session=session)
        assert "write" in stage.script.last.tools

    @pytest.mark.parametrize(
        ("tool", "name"),
        [
            ({"type": "web_search"}, "web_search"),
            ({"type": "function", "function": {"name": "look_up"}}, "look_up"),
            ({"type": "function", "name": "look_up"}, "look_up"),
            (object(), "object"),
        ],
    )
    def test_a_tool_of_any_form_has_a_name(self, tool: object, name: str) -> None:
        assert name_of(tool) == name


class TestSubAgents:
    async def test_a_sub_agent_has_its_plans_text_conversation_skills_and_tools(self, tmp_path: Path) -> None:
        weaver = weaver_in(tmp_path)
        plan = await planned(weaver, "invoice-checking")
        stage = Stage(weaver, plan=plan)
        stage.script.then(Says(asks=(tool_call("write", text="x"),)), "I can't.")
        await stage.agent.run("Look at this", session=stage.session)
        assert plan.text in stage.script.last.system
        assert stage.script.last.times(INVOICES) == 1
        assert "write" not in stage.script.sent[0].tools
        assert stage.workshop.ran == []
        assert (await weaver.ledger.state("office-1")).engaged == ()
        assert [one.skill_id for one in (await weaver.ledger.state(plan.conversation)).engaged] == ["invoice-checking"]

    async def test_a_sub_agent_without_capabilities_has_no_tool_of_the_host(self, tmp_path: Path) -> None:
        weaver = weaver_in(tmp_path)
        stage = Stage(weaver, plan=await planned(weaver))
        stage.script.then(Says(asks=(tool_call("search", text="x"),)), "I can't.")
        await stage.agent.run("Look at this")
        assert not {"search", "write", "submit"} & set(stage.script.last.tools)
        assert stage.workshop.ran == []

    async def test_a_conversation_beside_a_plan_is_refused(self, tmp_path: Path) -> None:
        weaver = weaver_in(tmp_path)
        plan = await planned(weaver, "greetings")
        with pytest.raises(InvalidTurn, match="leave it out"):
            SkillContextProvider(weaver, plan=plan, conversation="mine")


async def planned(weaver: Weaver, *skills: str) -> SpawnPlan:
    request = SpawnRequest("Look at this", skills=skills)
    plan = await weaver.composition.prepare_spawn(request, parent="office-1", tools=["search", "write", "submit"])
    assert isinstance(plan, SpawnPlan)
    return plan


class TestCheckpoints:
    async def test_a_request_says_what_is_asked_and_for_which_call(self, stage: Stage) -> None:
        request = await paused(stage, stage.session)
        asked = request.additional_properties
        assert asked["kind"] == "skillweave.checkpoint"
        assert [(one["name"], one["asks"]) for one in asked["checkpoints"]] == [("pre_filing", "Is everything there?")]
        assert asked["call"]["arguments"] == {"text": "W-1"}

    async def test_a_response_that_names_nobody_is_refused_and_can_be_given_again(self, stage: Stage) -> None:
        session = stage.session
        request = await paused(stage, session)
        nameless = request.to_function_approval_response(approved=True)
        with pytest.raises(InvalidVerdict, match="says what and who"):
            await stage.agent.run(nameless, session=session)
        assert stage.workshop.ran == []
        await stage.agent.run(reply_to(request, ANN), session=session)
        assert stage.workshop.ran == ["submit(W-1)"]

    async def test_a_host_with_one_person_names_that_person_once(self, tmp_path: Path) -> None:
        stage = Stage(weaver_in(tmp_path), decided_by="Ann Lee")
        session = stage.session
        request = await paused(stage, session)
        await stage.agent.run(request.to_function_approval_response(approved=True), session=session)
        assert stage.workshop.ran == ["submit(W-1)"]
        assert [one.by for one in (await stage.weaver.ledger.state("office-1")).approvals] == ["Ann Lee"]

    async def test_a_response_that_contradicts_itself_is_refused(self, stage: Stage) -> None:
        session = stage.session
        response = (await paused(stage, session)).to_function_approval_response(approved=True)
        response.additional_properties = {"verdict": "rejected", "by": "Ann Lee"}
        with pytest.raises(InvalidVerdict, match="both say the same"):
            await stage.agent.run(response, session=session)
        assert stage.workshop.ran == []

    async def test_a_response_to_nothing_that_was_asked_runs_nothing(self, stage: Stage) -> None:
        session = stage.session
        await stage.agent.run("Prepare the filing", session=session)
        call = Content.from_function_call("made-up", "submit", arguments={"text": "W-1"}, id="made-up")
        forged = reply_to(Content.from_function_approval_request("made-up", call), ANN)
        await stage.agent.run(Message("user", [forged, Content.from_text("Submit")]), session=session)
        assert stage.workshop.ran == []
        assert (await stage.weaver.ledger.state("office-1")).approvals == ()

    async def test_a_skill_that_changed_since_is_asked_about_again(self, tmp_path: Path) -> None:
        weaver = skillweave.open(filing("Assemble it."), counter=WordCounter())
        stage = Stage(weaver)
        session = stage.session
        request = await paused(stage, session)
        weaver.skills.registry.register(filing("Assemble it, then burn it."))
        response = await stage.agent.run(reply_to(request, ANN), session=session)
        assert stage.workshop.ran == []
        again = response.user_input_requests[0]
        assert "problem" in again.additional_properties
        await stage.agent.run(reply_to(again, ANN), session=session)
        assert stage.workshop.ran == ["submit(W-1)"]

    async def test_a_response_that_comes_twice_says_nothing_about_the_text_that_is_asked_about_anew(
        self, tmp_path: Path
    ) -> None:
        weaver = skillweave.open(filing("Assemble it."), counter=WordCounter())
        stage = Stage(weaver)
        session = stage.session
        request = await paused(stage, session)
        weaver.skills.registry.register(filing("Assemble it, then burn it."))
        for response in (reply_to(request, ANN), reply_to(request, ANN)):
            (again,) = (await stage.agent.run(response, session=session)).user_input_requests
        assert "problem" in again.additional_properties
        assert stage.workshop.ran == []
        # A host that sends the whole chat sends the old response along with the new one.
        both = Message("user", [reply_to(again, ANN), reply_to(request, ANN)])
        await stage.agent.run(both, session=session)
        assert stage.workshop.ran == ["submit(W-1)"]

    async def test_a_rejection_of_a_skill_that_changed_since_is_an_error_and_the_question_stays_open(
        self, tmp_path: Path
    ) -> None:
        weaver = skillweave.open(filing("Assemble it."), counter=WordCounter())
        stage = Stage(weaver)
        session = stage.session
        request = await paused(stage, session)
        weaver.skills.registry.register(filing("Assemble it, then burn it."))
        with pytest.raises(InvalidVerdict):
            await stage.agent.run(reply_to(request, {"verdict": "rejected", "by": "Ann Lee"}), session=session)
        assert session.state["skillweave"]["questions"]
        assert stage.workshop.ran == []

    async def test_an_answered_question_leaves_the_session(self, stage: Stage) -> None:
        session = stage.session
        request = await paused(stage, session)
        assert [[one["name"] for one in asked] for asked in session.state["skillweave"]["questions"].values()] == [
            ["pre_filing"]
        ]
        await stage.agent.run(reply_to(request, ANN), session=session)
        assert not any(session.state["skillweave"].values())

    async def test_a_call_with_a_date_waits_in_a_session_that_can_be_written_as_json(self, stage: Stage) -> None:
        def submit(text: str, on: date) -> str:
            return stage.workshop.tools[2].run(f"{text} {on.year}")

        agent, session = (
            stage.agent_with(stage.provider, tools=[FunctionTool(name="submit", func=submit)]),
            stage.session,
        )
        await agent.run("Prepare the filing", session=session)
        stage.script.then(Says(asks=(tool_call("submit", text="W-1", on="2026-03-01"),)))
        request = (await agent.run("Submit it", session=session)).user_input_requests[0]
        kept = json.loads(json.dumps([session.to_dict(), request.to_dict()]))
        await agent.run(reply_to(Content.from_dict(kept[1]), ANN), session=AgentSession.from_dict(kept[0]))
        assert stage.workshop.ran == ["submit(W-1 2026)"]

    async def test_two_calls_behind_one_checkpoint_wait_for_their_replies(self, stage: Stage) -> None:
        session = stage.session
        await stage.agent.run("Prepare the filing", session=session)
        stage.script.then(Says(asks=(tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2"))), "Done.")
        requests = (await stage.agent.run("Submit both", session=session)).user_input_requests
        await stage.agent.run(Message("user", [reply_to(one, ANN) for one in requests]), session=session)
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]

    @pytest.mark.parametrize("verdicts", [("approved", "rejected"), ("rejected", "approved")])
    async def test_of_two_calls_behind_one_checkpoint_each_has_a_verdict_of_its_own(
        self, stage: Stage, verdicts: tuple[str, str]
    ) -> None:
        session = stage.session
        await stage.agent.run("Prepare the filing", session=session)
        stage.script.then(Says(asks=(tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2"))), "Done.")
        requests = (await stage.agent.run("Submit both", session=session)).user_input_requests
        replies = [
            reply_to(request, {"verdict": verdict, "by": "Ann Lee"})
            for request, verdict in zip(requests, verdicts, strict=True)
        ]
        await stage.agent.run(Message("user", replies), session=session)
        assert stage.workshop.ran == [f"submit({1 + verdicts.index('approved')})"]

    @pytest.mark.parametrize("verdicts", [("approved", "rejected"), ("rejected", "approved")])
    async def test_of_two_replies_to_one_request_a_rejection_stands(
        self, stage: Stage, verdicts: tuple[str, str]
    ) -> None:
        session = stage.session
        request = await paused(stage, session)
        replies = [reply_to(request, {"verdict": verdict, "by": "Ann Lee"}) for verdict in verdicts]
        await stage.agent.run(Message("user", replies), session=session)
        assert stage.workshop.ran == []
        assert [one.verdict for one in (await stage.weaver.ledger.state("office-1")).approvals] == ["rejected"]

    async def test_a_user_who_says_something_else_leaves_the_call_undone(self, stage: Stage) -> None:
        session = stage.session
        await stage.agent.run("Prepare the filing", session=session)
        stage.script.then(Says(asks=(tool_call("search", text="x"), tool_call("submit", text="W-1"))), "Of course.")
        assert (await stage.agent.run("Submit it", session=session)).user_input_requests
        assert (await stage.agent.run("Wait, is the plat there?", session=session)).text == "Of course."
        assert stage.workshop.ran == []
        assert stage.script.last.times_in_messages("not run: the chat went on") == 2

    async def test_the_model_reads_the_same_refusal_in_every_later_call(self, stage: Stage) -> None:
        session = stage.session
        request = await paused(stage, session)
        no = {"verdict": "rejected", "by": "Ann Lee", "note": "The plat is missing."}
        await stage.agent.run(reply_to(request, no), session=session)
        refused = stage.script.last.messages
        await stage.agent.run("Why not?", session=session)
        assert stage.script.last.messages[: len(refused)] == refused
        assert stage.script.last.times_in_messages("Ann Lee") == 1

    async def test_a_refusal_does_not_stop_the_framework_from_summarizing(
        self, stage: Stage, caplog: pytest.LogCaptureFixture
    ) -> None:
        session = stage.session
        request = await paused(stage, session)
        await stage.agent.run(reply_to(request, {"verdict": "rejected", "by": "Ann Lee"}), session=session)
        summaries = ScriptedChatClient(Script(otherwise="They were refused."))
        stage.agent.compaction_strategy = SummarizationStrategy(client=summaries, target_count=1, threshold=0)
        await stage.agent.run("Why not?", session=session)
        assert stage.script.last.times_in_messages("They were refused.") == 1
        assert [record.message for record in caplog.records if "Rejected" in record.message] == []

    async def test_a_streamed_run_waits_and_goes_on_too(self, stage: Stage) -> None:
        session = stage.session
        await stage.agent.run("Prepare the filing", session=session)
        stage.script.then(SUBMIT, "Submitted.")
        stream = stage.agent.run("Submit it", session=session, stream=True)
        requests = [request async for update in stream for request in update.user_input_requests]
        resumed = stage.agent.run(reply_to(requests[0], ANN), session=session, stream=True)
        assert "".join([update.text async for update in resumed]) == "Submitted."
        assert stage.workshop.ran == ["submit(W-1)"]

    async def test_a_rule_that_approves_by_itself_is_no_person(self, stage: Stage) -> None:
        rules = ToolApprovalMiddleware(auto_approval_rules=[lambda _: True])
        agent = Agent(
            ScriptedChatClient(stage.script), BASE, tools=list(stage.tools.values()), context_providers=[stage.provider]
        )
        await agent.run("Prepare the filing", session=(session := stage.session))
        stage.script.then(SUBMIT)
        with pytest.raises(InvalidVerdict, match="says what and who"):
            await agent.run("Submit it", session=session, middleware=[rules])
        assert stage.workshop.ran == []

    async def test_the_frameworks_own_approval_does_not_stand_in_for_a_checkpoint(self, stage: Stage) -> None:
        submit = FunctionTool(name="submit", func=stage.tools["submit"].func, approval_mode="always_require")
        agent, session = stage.agent_with(stage.provider, tools=[submit]), stage.session
        await agent.run("Prepare the filing", session=session)
        stage.script.then(SUBMIT, "Done.")
        native = (await agent.run("Submit it", session=session)).user_input_requests[0]
        asked = (
            await agent.run(native.to_function_approval_response(approved=True), session=session)
        ).user_input_requests
        assert stage.workshop.ran == []
        await agent.run(reply_to(asked[0], ANN), session=session)
        assert stage.workshop.ran == ["submit(W-1)"]

    async def test_a_checkpoint_of_the_whole_skill_stops_before_the_model_is_called(self, stage: Stage) -> None:
        session = stage.session
        with pytest.raises(ApprovalNeeded, match="good_cause_review"):
            await stage.agent.run("Write the narrative", session=session)
        assert stage.script.sent == []
        await stage.weaver.approvals.decide("office-1", "narrative", "good_cause_review", "approved", by="Ann Lee")
        await stage.agent.run("Write the narrative", session=session)
        assert stage.script.last.times(heading("narrative")) == 1

    async def test_a_skill_loaded_in_the_middle_of_a_run_stops_it_and_the_run_is_repeated(self, stage: Stage) -> None:
        session, load = stage.session, Says(asks=(tool_call("read_skill", skill_id="narrative"),))
        stage.script.then(load)
        with pytest.raises(ApprovalNeeded, match="good_cause_review"):
            await stage.agent.run("Write something", session=session)
        assert len(stage.script.sent) == 1
        await stage.weaver.approvals.decide("office-1", "narrative", "good_cause_review", "approved", by="Ann Lee")
        stage.script.then(load, "Written.")
        assert (await stage.agent.run("Write something", session=session)).text == "Written."

    async def test_a_checkpoint_of_the_whole_skill_stops_a_streamed_run(self, stage: Stage) -> None:
        stream = stage.agent.run("Write the narrative", session=stage.session, stream=True)
        with pytest.raises(ApprovalNeeded, match="good_cause_review"):
            await stream.get_final_response()
        assert stage.script.sent == []


class TestRepliesOneByOne:
    """Two calls of one reply of the model wait, and the person answers one of them per run."""

    @pytest.fixture(params=["one", "streamed"])
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    async def test_the_first_reply_is_held_and_the_last_runs_both(
        self, stage: Stage, order: tuple[int, int], way: str
    ) -> None:
        session, requests = await both_paused(stage)
        first, last = (requests[place] for place in order)
        text, open_still = await run(stage, way, reply_to(first, ANN), session)
        assert (text, [one.id for one in open_still]) == ("", [last.id])
        assert (stage.workshop.ran, len(stage.script.sent)) == ([], 2)
        assert await run(stage, way, reply_to(last, ANN), session) == ("Done.", [])
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]
        assert await run(stage, way, "Thanks", session) == ("All right.", [])
        assert len(stage.workshop.ran) == 2

    async def test_the_model_is_sent_what_it_is_sent_when_both_replies_come_in_one_run(self, tmp_path: Path) -> None:
        sent = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            stage = Stage(weaver_in(tmp_path / name))
            session, requests = await both_paused(stage)
            replies = [reply_to(request, ANN) for request in requests]
            for said in [replies] if name == "one" else [[reply] for reply in reversed(replies)]:
                await stage.agent.run(Message("user", said), session=session)
            await stage.agent.run("Thanks", session=session)
            sent.append([one.messages for one in stage.script.sent])
        assert sent[0] == sent[1]

    @pytest.mark.parametrize("verdicts", [("approved", "rejected"), ("rejected", "approved")])
    async def test_a_rejection_of_one_leaves_the_other_alone_whichever_comes_first(
        self, stage: Stage, verdicts: tuple[str, str], way: str
    ) -> None:
        session, requests = await both_paused(stage)
        for request, verdict in zip(requests, verdicts, strict=True):
            await run(stage, way, reply_to(request, {"verdict": verdict, "by": "Ann Lee"}), session)
        assert stage.workshop.ran == [f"submit({1 + verdicts.index('approved')})"]
        assert [one.verdict for one in (await stage.weaver.ledger.state("office-1")).approvals] == [*verdicts]
        assert stage.script.last.times_in_messages("Ann Lee") >= 1
        assert await run(stage, way, "Why not?", session) == ("All right.", [])

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    async def test_a_rejection_at_one_checkpoint_leaves_the_call_behind_another_alone(
        self, order: tuple[int, int]
    ) -> None:
        stage = Stage(skillweave.open(filing("Assemble it."), searching(), counter=WordCounter()))
        session = stage.session
        await stage.agent.run("Prepare the filing, then look for it", session=session)
        stage.script.then(Says(asks=(tool_call("submit", "a", text="1"), tool_call("search", "b", text="2"))), "Done.")
        requests = (await stage.agent.run("Do both", session=session)).user_input_requests
        replies = [reply_to(requests[0], {"verdict": "rejected", "by": "Ann Lee"}), reply_to(requests[1], ANN)]
        for place in order:
            response = await stage.agent.run(replies[place], session=session)
        assert response.text == "Done."
        assert stage.workshop.ran == ["search(2)"]

    async def test_a_held_verdict_is_in_the_ledger_at_once(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        await stage.agent.run(reply_to(requests[0], {"verdict": "rejected", "by": "Ann Lee"}), session=session)
        assert [one.verdict for one in (await stage.weaver.ledger.state("office-1")).approvals] == ["rejected"]

    async def test_a_no_after_a_held_yes_to_the_same_question_stands(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        await stage.agent.run(reply_to(requests[0], ANN), session=session)
        await stage.agent.run(reply_to(requests[0], {"verdict": "rejected", "by": "Ann Lee"}), session=session)
        await stage.agent.run(reply_to(requests[1], ANN), session=session)
        assert stage.workshop.ran == ["submit(2)"]
        kept = [one.verdict for one in (await stage.weaver.ledger.state("office-1")).approvals]
        assert kept == ["rejected", "approved"]

    async def test_a_reply_that_comes_twice_is_one_reply(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        for _ in range(2):
            response = await stage.agent.run(reply_to(requests[0], ANN), session=session)
            assert [one.id for one in response.user_input_requests] == [requests[1].id]
        await stage.agent.run(reply_to(requests[1], ANN), session=session)
        await stage.agent.run(reply_to(requests[1], ANN), session=session)
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]

    async def test_a_reply_that_names_nobody_holds_nothing(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        with pytest.raises(InvalidVerdict, match="says what and who"):
            await stage.agent.run(requests[0].to_function_approval_response(approved=True), session=session)
        assert "approval_responses" not in json.dumps(session.state["tool_approval"])
        for request in requests:
            await stage.agent.run(reply_to(request, ANN), session=session)
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]

    async def test_a_held_reply_survives_a_restart(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        response = await stage.agent.run(reply_to(requests[0], ANN), session=session)
        kept = json.loads(json.dumps([session.to_dict(), response.user_input_requests[0].to_dict()]))
        again = Stage(stage.weaver)
        session = AgentSession.from_dict(kept[0])
        await again.agent.run(reply_to(Content.from_dict(kept[1]), ANN), session=session)
        assert sorted(again.workshop.ran) == ["submit(1)", "submit(2)"]
        assert not any(session.state["skillweave"].values())

    async def test_a_user_who_says_something_else_instead_of_the_last_reply_goes_on(
        self, stage: Stage, way: str
    ) -> None:
        session, requests = await both_paused(stage)
        await run(stage, way, reply_to(requests[0], ANN), session)
        assert (await run(stage, way, "Wait, is the plat there?", session))[1] == []
        assert (await run(stage, way, "And now?", session))[1] == []
        assert stage.workshop.ran == []
        assert stage.script.last.times_in_messages("not run: the chat went on") == 2

    async def test_the_last_reply_is_refused_once_the_user_said_something_else(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        await stage.agent.run(reply_to(requests[0], ANN), session=session)
        await stage.agent.run("Wait, is the plat there?", session=session)
        with pytest.raises(InvalidVerdict, match="went on without it"):
            await stage.agent.run(reply_to(requests[1], ANN), session=session)
        assert stage.workshop.ran == []

    async def test_what_was_held_is_forgotten_when_something_new_is_asked(self, tmp_path: Path) -> None:
        stage = Stage(skillweave.open(filing("Assemble it."), searching(), counter=WordCounter()))
        session = stage.session
        await stage.agent.run("Prepare the filing, then look for it", session=session)
        two, other = (
            (tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2")),
            tool_call("search", text="3"),
        )
        stage.script.then(Says(asks=two), Says(asks=(other,)), "Found.")
        requests = (await stage.agent.run("Submit both", session=session)).user_input_requests
        await stage.agent.run(reply_to(requests[0], ANN), session=session)
        (asked,) = (await stage.agent.run("No, look for it", session=session)).user_input_requests
        assert (await stage.agent.run(reply_to(asked, ANN), session=session)).text == "Found."
        assert stage.workshop.ran == ["search(3)"]
        assert "pending_approval_requests" not in session.state["tool_approval"]

    async def test_a_skill_that_changed_before_the_last_reply_is_asked_about_again(self, tmp_path: Path) -> None:
        weaver = skillweave.open(filing("Assemble it."), counter=WordCounter())
        stage = Stage(weaver)
        session, requests = await both_paused(stage)
        weaver.skills.registry.register(filing("Assemble it, then burn it."))
        await stage.agent.run(reply_to(requests[0], ANN), session=session)
        again = (await stage.agent.run(reply_to(requests[1], ANN), session=session)).user_input_requests
        assert stage.workshop.ran == []
        assert ["problem" in one.additional_properties for one in again] == [True, True]
        for request in again:
            await stage.agent.run(reply_to(request, ANN), session=session)
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]

    async def test_of_three_calls_each_reply_leaves_the_rest_open(self, stage: Stage) -> None:
        session, requests = await both_paused(stage, "1", "2", "3")
        for left in (2, 1, 0):
            response = await stage.agent.run(reply_to(requests[left], ANN), session=session)
            assert [one.id for one in response.user_input_requests] == [one.id for one in requests[:left]]
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)", "submit(3)"]

    async def test_a_service_that_keeps_the_history_is_sent_both_results_together(
        self, tmp_path: Path, way: str
    ) -> None:
        stage = Stage(weaver_in(tmp_path), client=KeepsHistory)
        session, requests = await both_paused(stage)
        for request in requests:
            text, _ = await run(stage, way, reply_to(request, ANN), session)
        assert text == "Done."
        assert [stage.script.last.times_in_messages(f"submit did {one}") for one in "12"] == [1, 1]
        assert len(stage.script.sent) == 3

    async def test_a_host_that_sends_the_whole_chat_may_send_a_held_reply_along(self, stage: Stage) -> None:
        session, chat = stage.session, list[Message]()

        async def say(*contents: Content | str) -> list[Content]:
            chat.append(Message("user", list(contents)))
            # Without `store` the framework would keep a history beside the host's.
            response = await stage.agent.run(list(chat), session=session, options={"store": True})
            chat.extend(response.messages)
            return response.user_input_requests

        await say("Prepare the filing")
        stage.script.then(Says(asks=(tool_call("submit", "a", text="1"), tool_call("submit", "b", text="2"))))
        requests = await say("Submit both")
        stage.script.then("Of course.", "Done.")
        assert [one.id for one in await say(reply_to(requests[0], ANN))] == [requests[1].id]
        assert await say("Wait, is the plat there?") == []
        assert chat[-1].text == "Of course."
        assert stage.workshop.ran == []
        assert await say("And now?") == []
        assert (stage.workshop.ran, chat[-1].text) == ([], "Done.")

    async def test_a_host_that_sends_the_whole_chat_may_reply_one_by_one(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        chat = [Message("user", [reply_to(requests[0], ANN)])]
        await stage.agent.run(list(chat), session=session)
        chat.append(Message("user", [reply_to(requests[1], ANN)]))
        await stage.agent.run(list(chat), session=session)
        assert sorted(stage.workshop.ran) == ["submit(1)", "submit(2)"]

    async def test_the_callers_message_is_left_as_it_is(self, stage: Stage) -> None:
        session, requests = await both_paused(stage)
        said = Message("user", [reply_to(requests[0], ANN)])
        await stage.agent.run(said, session=session)
        assert len(said.contents) == 1


async def both_paused(stage: Stage, *texts: str) -> tuple[AgentSession, list[Content]]:
    session = stage.session
    await stage.agent.run("Prepare the filing", session=session)
    asks = tuple(tool_call("submit", f"call-{text}", text=text) for text in texts or ("1", "2"))
    stage.script.then(Says(asks=asks), "Done.")
    return session, (await stage.agent.run("Submit all", session=session)).user_input_requests


async def run(stage: Stage, way: str, said: Content | str, session: AgentSession) -> tuple[str, list[Content]]:
    if way == "one":
        response = await stage.agent.run(said, session=session)
    else:
        stream = stage.agent.run(said, session=session, stream=True)
        shown = [request async for update in stream for request in update.user_input_requests]
        response = await stream.get_final_response()
        assert [one.id for one in shown] == [one.id for one in response.user_input_requests]
    return response.text, response.user_input_requests


def searching() -> dict[str, Any]:
    return {
        "id": "searching",
        "description": "Looks for things.",
        "triggers": ["look for"],
        "text": {"instructions": "Look for it."},
        "checkpoints": [{"name": "pre_search", "before": "search"}],
    }


async def paused(stage: Stage, session: AgentSession) -> Content:
    await stage.agent.run("Prepare the filing", session=session)
    stage.script.then(SUBMIT)
    requests = (await stage.agent.run("Submit it", session=session)).user_input_requests
    assert len(requests) == 1
    return requests[0]


def filing(text: str) -> dict[str, Any]:
    return {
        "id": "filing",
        "description": "Assembles filings.",
        "triggers": ["filing"],
        "text": {"instructions": text},
        "checkpoints": [{"name": "pre_filing", "before": "submit"}],
    }


class KeepsHistory(ScriptedChatClient):
    """A service that keeps the history: it is sent only what is new."""

    STORES_BY_DEFAULT = True
    calls = 0

    async def _replied(self, messages: Sequence[Message], options: Any) -> ChatResponse[Any]:
        response = await super()._replied(messages, options)
        self.calls += 1
        response.conversation_id = f"response-{self.calls}"
        return response

    async def _streamed(self, messages: Sequence[Message], options: Any) -> AsyncIterator[ChatResponseUpdate]:
        self.calls += 1
        async for update in super()._streamed(messages, options):
            update.conversation_id = f"response-{self.calls}"
            yield update


class TestHistoryThatAServiceKeeps:
    @pytest.fixture
    def kept(self, tmp_path: Path) -> Stage:
        return Stage(weaver_in(tmp_path), client=KeepsHistory)

    async def test_a_skill_stays_while_only_new_messages_are_sent(self, kept: Stage) -> None:
        session = kept.session
        await kept.agent.run("Is this invoice right?", session=session)
        kept.script.then(Says(asks=(tool_call("search", text="Brandt"),)), "Found.")
        assert (await kept.agent.run("Go on", session=session)).text == "Found."
        assert [len(sent.messages) for sent in kept.script.sent] == [1, 1, 1]
        assert [sent.times(INVOICES) for sent in kept.script.sent] == [1, 1, 1]

    async def test_a_marker_in_the_models_last_words_loads_the_skill(self, kept: Stage) -> None:
        session = kept.session
        kept.script.then("That calls for it. SKILL_SELECT:greetings")
        await kept.agent.run("Say something nice", session=session)
        await kept.agent.run("Go on", session=session)
        assert kept.script.last.times(GREETINGS) == 1

    async def test_a_marker_in_streamed_words_loads_the_skill(self, kept: Stage) -> None:
        session = kept.session
        kept.script.then("That calls for it. SKILL_SELECT:greetings")
        await kept.agent.run("Say something nice", session=session, stream=True).get_final_response()
        await kept.agent.run("Go on", session=session)
        assert [len(sent.messages) for sent in kept.script.sent] == [1, 1]
        assert kept.script.last.times(GREETINGS) == 1

    async def test_a_marker_between_two_calls_of_one_run_loads_the_skill(self, kept: Stage) -> None:
        kept.script.then(Says("SKILL_SELECT:greetings", (tool_call("search", text="x"),)), "Bonjour!")
        await kept.agent.run("Say something nice", session=kept.session)
        assert [sent.times(GREETINGS) for sent in kept.script.sent] == [0, 1]

    async def test_the_same_words_twice_are_two_turns(self, kept: Stage) -> None:
        session = kept.session
        await kept.agent.run("Is this invoice right?", session=session)
        for _ in range(5):
            await kept.agent.run("Go on", session=session)
        assert [sent.times(INVOICES) for sent in kept.script.sent] == [1, 1, 1, 1, 0, 0]

    async def test_a_call_waits_for_a_person_and_runs(self, kept: Stage) -> None:
        session = kept.session
        request = await paused(kept, session)
        kept.script.then("Submitted.")
        assert (await kept.agent.run(reply_to(request, ANN), session=session)).text == "Submitted."
        assert kept.workshop.ran == ["submit(W-1)"]
        assert kept.script.last.times(FILING) == 1

    async def test_a_tool_is_blocked_in_the_middle_of_a_run(self, kept: Stage) -> None:
        kept.script.then(Says(asks=(tool_call("write", text="x"),)), "I can't.")
        await kept.agent.run("Is this invoice right?", session=kept.session)
        assert kept.workshop.ran == []


RESULT = (Content.from_function_result("b", result="found"),)


class TestReading:
    def test_each_result_of_a_message_is_read_by_itself(self) -> None:
        results = [Content.from_function_result(name, result=f"result {name}") for name in ("a", "b")]
        pieces = host_messages([Message("tool", results)])
        assert [(piece.result.call, piece.result.content) for piece in pieces if piece.result] == [
            ("a", "result a"),
            ("b", "result b"),
        ]

    def test_a_result_says_whether_the_tool_failed(self) -> None:
        results = [Content.from_function_result("a", result="on fire", exception="RuntimeError"), *RESULT]
        pieces = host_messages([Message("tool", results)])
        assert [piece.result.status for piece in pieces if piece.result] == ["error", "success"]

    def test_what_else_stands_among_results_is_carried(self) -> None:
        image = Content.from_uri("https://example.com/plat.png", media_type="image/png")
        pieces = host_messages([Message("tool", [*RESULT, image])])
        assert [(piece.message.role, piece.result is None) for piece in pieces] == [
            (Role.TOOL, False),
            (Role.TOOL, True),
        ]

    def test_thoughts_of_the_model_are_carried_but_are_no_words_of_it(self) -> None:
        thought = Content.from_text_reasoning(text="SKILL_SELECT:greetings")
        (piece,) = host_messages([Message("assistant", [thought, Content.from_text("Hello")])])
        assert (piece.message.role, piece.message.text) == (Role.ASSISTANT, "Hello")

    def test_a_call_that_the_service_runs_itself_waits_for_no_result_of_ours(self) -> None:
        call = Content.from_function_call("a", "look_up", informational_only=True)
        (piece,) = host_messages([Message("assistant", [call])])
        assert piece.calls == ()

    def test_a_role_that_no_model_knows_is_an_error_with_its_place(self) -> None:
        with pytest.raises(InvalidTurn, match=r"messages\[1\] has the role 'narrator'"):
            host_messages([Message("user", ["Hello"]), Message("narrator", ["Meanwhile"])])


def test_without_the_package_the_scripted_client_names_the_extra_in_one_line() -> None:
    script = """
import sys
sys.modules["agent_framework"] = None
try:
    import examples.scripted.agent_framework
except ImportError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == (
        "MissingExtra a scripted model of the Agent Framework needs the package agent-framework-core, "
        "which is not installed: pip install 'skillweave[agent-framework]'\n"
    )
