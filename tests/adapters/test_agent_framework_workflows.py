"""Workflows of the Agent Framework: each member has its skills and its checkpoints, and none is left unguarded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentExecutor,
    BackgroundAgentsProvider,
    Content,
    FileCheckpointStorage,
    InMemoryHistoryProvider,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowExecutor,
)
from agent_framework_orchestrations import (
    ConcurrentBuilder,
    GroupChatBuilder,
    HandoffBuilder,
    MagenticBuilder,
    MagenticManagerBase,
    MagenticProgressLedger,
    MagenticProgressLedgerItem,
    SequentialBuilder,
)

from examples.scripted.agent_framework import ScriptedChatClient
from skillweave import Weaver
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to, require_guarded
from skillweave.errors import UnguardedAgent
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, FILING, INVOICES, Workshop, weaver_in
from tests.adapters.hosts.agent_framework_agent import function

ANN = {"verdict": "approved", "by": "Ann Lee"}
ASKED = "Prepare the filing and submit it"
SUBMIT = Says(asks=(tool_call("submit", text="W-1"),))


class Company:
    """Two agents with one workshop: the reader speaks, the clerk submits."""

    def __init__(self, weaver: Weaver) -> None:
        self.weaver, self.workshop = weaver, Workshop()
        self.reading, self.filing = Script(otherwise="I looked at it."), Script(SUBMIT, otherwise="Submitted.")
        self.reader, self.clerk = self.member("reader", self.reading), self.member("clerk", self.filing)

    def member(self, name: str | None, script: Script, *, guarded: bool = True, **more: Any) -> Agent[Any]:
        providers = [SkillContextProvider(self.weaver)] if guarded else []
        tools = [function(tool) for tool in self.workshop.tools]
        return Agent(ScriptedChatClient(script), BASE, name=name, tools=tools, context_providers=providers, **more)


@pytest.fixture
def company(tmp_path: Path) -> Company:
    return Company(weaver_in(tmp_path))


class Foreman(MagenticManagerBase):
    """Has the clerk do it, then is content."""

    async def plan(self, magentic_context: Any) -> Message:
        return Message("assistant", [f"The task: {magentic_context.task}"], author_name="foreman")

    async def replan(self, magentic_context: Any) -> Message:
        return await self.plan(magentic_context)

    async def create_progress_ledger(self, magentic_context: Any) -> MagenticProgressLedger:
        done = any(message.author_name == "clerk" for message in magentic_context.chat_history)
        no, yes = (MagenticProgressLedgerItem(reason="", answer=answer) for answer in (False, True))
        named = [MagenticProgressLedgerItem(reason="", answer=text) for text in ("clerk", "Submit the filing, please.")]
        return MagenticProgressLedger(yes if done else no, no, yes, *named)

    async def prepare_final_answer(self, magentic_context: Any) -> Message:
        return Message("assistant", ["Done."])


def sequential(company: Company) -> Workflow:
    return SequentialBuilder(participants=[company.reader, company.clerk]).build()


def chained(company: Company) -> Workflow:
    first, second = AgentExecutor(company.reader), AgentExecutor(company.clerk)
    return WorkflowBuilder(start_executor=first).add_edge(first, second).build()


def concurrent(company: Company) -> Workflow:
    return ConcurrentBuilder(participants=[company.reader, company.clerk]).build()


def handed_over(company: Company) -> Workflow:
    company.reading.then(Says(asks=(tool_call("handoff_to_clerk"),)))
    members = [company.member("reader", company.reading, require_per_service_call_history_persistence=True)]
    members.append(company.member("clerk", company.filing, require_per_service_call_history_persistence=True))
    return HandoffBuilder(participants=members).with_start_agent(members[0]).build()


def group_chat(company: Company) -> Workflow:
    turns = iter(("reader", "clerk"))
    members = [company.reader, company.clerk]
    return GroupChatBuilder(participants=members, selection_func=lambda _: next(turns), max_rounds=2).build()


def magentic(company: Company) -> Workflow:
    return MagenticBuilder(participants=[company.reader, company.clerk], manager=Foreman()).build()


def inside_another(company: Company) -> Workflow:
    inner = WorkflowExecutor(chained(company), id="inner", propagate_request=True)
    return WorkflowBuilder(start_executor=inner).build()


EACH_KIND = pytest.mark.parametrize(
    "kind", [sequential, chained, concurrent, handed_over, group_chat, magentic, inside_another]
)


@EACH_KIND
async def test_the_member_that_acts_has_the_skill_and_its_call_waits(
    company: Company, kind: Callable[[Company], Workflow]
) -> None:
    paused = await kind(company).run(ASKED)
    assert company.filing.sent[0].times(FILING) == 1
    assert company.workshop.ran == []
    (event,) = paused.get_request_info_events()
    assert [one["name"] for one in event.data.additional_properties["checkpoints"]] == ["pre_filing"]


@EACH_KIND
async def test_a_persons_yes_goes_through_the_workflow_and_the_call_runs_once(
    company: Company, kind: Callable[[Company], Workflow]
) -> None:
    workflow = kind(company)
    (event,) = (await workflow.run(ASKED)).get_request_info_events()
    await workflow.run(responses={event.request_id: reply_to(event.data, ANN)})
    assert company.workshop.ran == ["submit(W-1)"]


async def test_a_workflow_that_is_streamed_and_kept_in_a_checkpoint_goes_on_in_another_process(
    company: Company, tmp_path: Path
) -> None:
    storage = FileCheckpointStorage(tmp_path / "points")
    members = [company.reader, company.clerk]
    workflow = SequentialBuilder(participants=members, checkpoint_storage=storage).build()
    asked = [event async for event in workflow.run(ASKED, stream=True) if event.type == "request_info"]
    kept = json.loads(json.dumps(asked[0].data.to_dict()))
    later = Company(company.weaver)
    later.filing = company.filing
    members = [later.member("reader", later.reading), later.member("clerk", later.filing)]
    workflow = SequentialBuilder(participants=members, checkpoint_storage=storage).build()
    point = await storage.get_latest(workflow_name=workflow.name)
    assert point is not None
    replies = {asked[0].request_id: reply_to(Content.from_dict(kept), ANN)}
    await workflow.run(responses=replies, checkpoint_id=point.checkpoint_id)
    assert later.workshop.ran == ["submit(W-1)"]


async def test_members_without_names_hear_the_user_too(company: Company) -> None:
    members = [company.member(None, company.reading), company.member(None, company.filing)]
    await SequentialBuilder(participants=members).build().run(ASKED)
    assert company.filing.sent[0].times(FILING) == 1
    assert company.workshop.ran == []


async def test_members_of_one_conversation_share_what_applies_to_it(company: Company) -> None:
    """Where a member hears the others only, and never the user."""
    shared = [SkillContextProvider(company.weaver, conversation="job-7") for _ in "ab"]
    for member, provider in zip((company.reader, company.clerk), shared, strict=True):
        member.context_providers = [provider]
    members = [company.reader, company.clerk]
    await SequentialBuilder(participants=members, chain_only_agent_responses=True).build().run(ASKED)
    assert company.filing.sent[0].times_in_messages(ASKED) == 0
    assert company.filing.sent[0].times(FILING) == 1
    assert company.workshop.ran == []


async def test_what_another_member_said_brings_skills_as_a_users_words_do(company: Company) -> None:
    company.reading.then("The invoice is missing.")
    company.filing.then("I see.")
    await sequential(company).run("Look at the desk")
    assert company.filing.sent[0].times(INVOICES) == 1


async def test_a_marker_of_another_member_loads_nothing_here(company: Company) -> None:
    company.reading.then("SKILL_SELECT:greetings")
    await sequential(company).run("Look at the desk")
    assert company.filing.sent[0].times("Greet in the language") == 0


async def test_a_member_with_tools_and_without_skills_is_refused_by_name(company: Company) -> None:
    bare = company.member("bare", Script(), guarded=False)
    workflow = SequentialBuilder(participants=[company.reader, bare]).build()
    with pytest.raises(UnguardedAgent, match=r"'bare' \(the member 'bare' of the workflow") as refused:
        require_guarded(workflow)
    assert "SkillContextProvider" in refused.value.way_out


def nested(company: Company, bare: Agent[Any]) -> Workflow:
    inner = SequentialBuilder(participants=[company.reader, bare]).build()
    return WorkflowBuilder(start_executor=WorkflowExecutor(inner, id="inner")).build()


def with_approval(company: Company, bare: Agent[Any]) -> Workflow:
    return SequentialBuilder(participants=[company.reader, bare]).with_request_info().build()


def managed(company: Company, bare: Agent[Any]) -> Workflow:
    return MagenticBuilder(participants=[company.reader], manager_agent=bare).build()


def moderated(company: Company, bare: Agent[Any]) -> Workflow:
    return GroupChatBuilder(participants=[company.reader], orchestrator_agent=bare).build()


def as_agent(company: Company, bare: Agent[Any]) -> Any:
    return SequentialBuilder(participants=[company.reader, bare]).build().as_agent()


@pytest.mark.parametrize("kind", [nested, with_approval, managed, moderated, as_agent])
def test_it_is_found_wherever_a_workflow_keeps_it(company: Company, kind: Callable[..., Any]) -> None:
    with pytest.raises(UnguardedAgent, match="'bare'"):
        require_guarded(kind(company, company.member("bare", Script(), guarded=False)))


@EACH_KIND
def test_a_workflow_of_guarded_members_is_let_be(company: Company, kind: Callable[[Company], Workflow]) -> None:
    require_guarded(kind(company))


def test_a_member_that_can_only_speak_is_let_be(company: Company) -> None:
    poet = Agent(ScriptedChatClient(Script()), "Rhyme.", name="poet", context_providers=[InMemoryHistoryProvider()])
    require_guarded(SequentialBuilder(participants=[company.reader, poet]).build())


def test_an_unguarded_member_can_be_allowed(company: Company) -> None:
    bare = company.member("bare", Script(), guarded=False)
    require_guarded(SequentialBuilder(participants=[company.reader, bare]).build(), unguarded="allow")


async def test_a_tool_that_is_an_unguarded_agent_is_refused_before_the_model_is_called(company: Company) -> None:
    bare = company.member("bare", Script(), guarded=False)
    with pytest.raises(UnguardedAgent, match=r"'bare' \(the tool 'bare'\)"):
        await company.reader.run("Hello", tools=[bare.as_tool()])
    assert company.reading.sent == []


async def test_a_tool_that_is_a_guarded_agent_is_let_be(company: Company) -> None:
    await company.reader.run("Hello", tools=[company.clerk.as_tool()])
    assert "clerk" in company.reading.last.tools


@pytest.mark.filterwarnings(r"ignore:\[HARNESS\]")
async def test_an_unguarded_agent_in_the_background_is_refused(company: Company) -> None:
    bare = company.member("bare", Script(), guarded=False)
    bare.description = "Helps."
    company.reader.context_providers.append(BackgroundAgentsProvider([bare]))
    with pytest.raises(UnguardedAgent, match="'bare'"):
        await company.reader.run("Hello")


async def test_an_unguarded_tool_can_be_allowed(company: Company) -> None:
    bare = company.member("bare", Script(), guarded=False)
    lead = Agent(
        ScriptedChatClient(company.reading),
        tools=[bare.as_tool()],
        context_providers=[SkillContextProvider(company.weaver, unguarded="allow")],
    )
    await lead.run("Hello")
    assert "bare" in company.reading.last.tools
