"""What the contract of adapters does not ask of the plugin for Google's ADK: its own ways, and agents beside it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent, ParallelAgent, SequentialAgent
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.apps import App
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.skills import models
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.skill_toolset import SkillToolset
from google.adk.tools.url_context_tool import url_context
from google.genai import types
from pydantic import BaseModel

from examples.scripted.google_adk import ScriptedLlm
from skillweave import Checkpoint, Placement, Settings, ToolRules, Weaver
from skillweave.adapters.google_adk import MARK, SkillPlugin, history, host_messages, is_skill_event
from skillweave.tools import OnlySkillTools
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import FILING, INVOICES, Workshop, heading, weaver_in
from tests.adapters.hosts.google_adk_agent import answer, as_adk, said, words_in
from tests.observing import weaver_of
from tests.skills import make_skill

INVOICE = "Is this invoice right?"
SUBMIT = Says(asks=(tool_call("submit", "the-call", text="W-1"),))
WRITE = Says(asks=(tool_call("write", "a-write", text="x"),))
SESSION = "office/Ann/s-1"
OF_THE_FRAMEWORK = pytest.mark.filterwarnings("ignore::DeprecationWarning")
"""The framework calls its own older ways, and warns of them."""


class Office:
    """One app around one root agent, its sessions in memory."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.weaver: Weaver = weaver_in(folder)
        self.script = Script()
        self.workshop = Workshop()
        self.sessions = InMemorySessionService()
        self.plugin = SkillPlugin(self.weaver, **options)

    def agent(self, name: str = "Office", tools: Sequence[Any] | None = None, **fields: Any) -> LlmAgent:
        """An agent with the scripted model, and the workshop's tools unless others are given."""
        given = [as_adk(tool) for tool in self.workshop.tools] if tools is None else list(tools)
        return LlmAgent(name=name, model=ScriptedLlm(script=self.script), tools=given, **fields)

    def runner(self, root: Any) -> Runner:
        """A runner of the app."""
        app = App(name="office", root_agent=root, plugins=[self.plugin])
        return Runner(app=app, session_service=self.sessions, auto_create_session=True)

    async def say(self, root: Any, message: str | types.Content, session: str = "s-1") -> str:
        """One run, and its last words."""
        new = said(message) if isinstance(message, str) else message
        run = self.runner(root).run_async(user_id="Ann", session_id=session, new_message=new)
        words = [words_in(event) async for event in run if event.is_final_response()]
        return words[-1] if words else ""

    async def events(self, session: str = "s-1") -> list[Event]:
        """What the session holds."""
        kept = await self.sessions.get_session(app_name="office", user_id="Ann", session_id=session)
        assert kept is not None
        return list(kept.events)

    async def question(self) -> str:
        """The id of the one open question."""
        [asked] = [
            call.id
            for event in await self.events()
            for call in event.get_function_calls()
            if call.name == "adk_request_confirmation"
        ]
        return asked or ""


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def test_app_user_and_session_name_the_conversation(office: Office) -> None:
    await office.say(office.agent(), INVOICE)
    assert [one.skill_id for one in (await office.weaver.ledger.state(SESSION)).engaged] == ["invoice-checking"]


async def test_sessions_of_one_id_of_two_users_are_two_conversations(office: Office) -> None:
    await office.say(office.agent(), INVOICE)
    run = office.runner(office.agent()).run_async(user_id="Ben", session_id="s-1", new_message=said("Go on"))
    _ = [event async for event in run]
    assert (await office.weaver.ledger.state("office/Ben/s-1")).engaged == ()


async def test_a_name_with_a_slash_is_no_other_conversation(office: Office) -> None:
    await office.say(office.agent(), INVOICE, session="a/b")
    assert (await office.weaver.ledger.state("office/Ann/a%2Fb")).engaged != ()


async def test_a_conversation_without_an_id_is_refused(tmp_path: Path) -> None:
    nameless = Office(tmp_path, conversation=lambda context: "")
    with pytest.raises(RuntimeError, match=r"SkillPlugin\(conversation=\.\.\.\) told no id"):
        await nameless.say(nameless.agent(), INVOICE)


async def test_skill_texts_in_a_session_can_be_told_from_what_people_said(office: Office) -> None:
    await office.say(office.agent(), INVOICE)
    marked = [words_in(event).splitlines()[0] for event in await office.events() if is_skill_event(event)]
    assert marked == [heading("invoice-checking")]


async def test_an_agent_that_is_transferred_to_is_guarded_too(office: Office) -> None:
    clerk = office.agent("Clerk", description="Changes the ledger.")
    root = office.agent(sub_agents=[clerk], description="Talks to people.")
    office.script.then(Says(asks=(tool_call("transfer_to_agent", agent_name="Clerk"),)), WRITE, "I can't.")
    assert await office.say(root, INVOICE) == "I can't."
    assert office.workshop.ran == []
    assert office.script.last.times(INVOICES) == 1


async def test_a_transfer_that_a_skill_forbids_does_not_happen(office: Office) -> None:
    staying = make_skill("staying", keywords=["stay"], tools=ToolRules(forbidden=("transfer_to_agent",)))
    office.plugin = SkillPlugin(weaver_of(staying))
    root = office.agent(sub_agents=[office.agent("Clerk", description="Changes the ledger.")])
    office.script.then(Says(asks=(tool_call("transfer_to_agent", agent_name="Clerk"),)), "I stay.")
    await office.say(root, "Please stay")
    assert (await office.events())[-1].author == "Office"
    assert office.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


async def test_the_tool_for_structured_output_is_there_where_a_skill_leaves_only_its_own(office: Office) -> None:
    class Answer(BaseModel):
        """What the agent answers with."""

        words: str

    only = make_skill("looking-up", keywords=["look"], tools=ToolRules(allowed=("search",)))
    office.plugin = SkillPlugin(weaver_of(only, settings=Settings(only_skill_tools=OnlySkillTools.ALWAYS)))
    office.script.then(Says(asks=(tool_call("set_model_response", words="Found."),)))
    assert await office.say(office.agent(output_schema=Answer), "Look it up") == '{"words": "Found."}'
    assert {"search", "set_model_response"} <= set(office.script.last.tools)
    assert "write" not in office.script.last.tools


@OF_THE_FRAMEWORK
async def test_an_agent_as_a_tool_is_guarded_too(office: Office) -> None:
    clerk = office.agent("Clerk", description="Changes the ledger.")
    root = office.agent(tools=[AgentTool(clerk)])
    office.script.then(Says(asks=(tool_call("Clerk", request=INVOICE),)), WRITE, "I can't.", "The clerk can't.")
    assert await office.say(root, "Let the clerk do it") == "The clerk can't."
    assert office.workshop.ran == []


async def test_an_agent_as_a_tool_that_leaves_plugins_out_is_refused(office: Office) -> None:
    clerk = office.agent("Clerk", description="Changes the ledger.")
    with pytest.raises(RuntimeError, match=r"'Clerk' \(an AgentTool without plugins\) is not guarded"):
        await office.say(office.agent(tools=[AgentTool(clerk, include_plugins=False)]), INVOICE)


async def test_an_unguarded_agent_is_let_in_where_the_host_says_so(tmp_path: Path) -> None:
    office = Office(tmp_path, unguarded="allow")
    clerk = office.agent("Clerk", description="Changes the ledger.")
    assert await office.say(office.agent(tools=[AgentTool(clerk, include_plugins=False)]), INVOICE) == "All right."


@OF_THE_FRAMEWORK
async def test_the_rules_of_a_session_hold_in_its_branches(office: Office) -> None:
    root = office.agent()
    await office.say(root, INVOICE)
    office.script.then(WRITE, "I can't.")
    await office.say(ParallelAgent(name="Both", sub_agents=[office.agent("Left")]), "Change the ledger")
    assert office.workshop.ran == []


@OF_THE_FRAMEWORK
async def test_the_rules_of_a_branch_hold_in_the_branches_within_it(office: Office) -> None:
    within = ParallelAgent(name="Within", sub_agents=[office.agent("Second")])
    branch = SequentialAgent(name="Branch", sub_agents=[office.agent("First"), within])
    office.script.then("It is.", WRITE, "I can't.")
    await office.say(ParallelAgent(name="Both", sub_agents=[branch]), INVOICE)
    assert office.workshop.ran == []


async def test_the_rules_of_a_delegated_run_hold_in_what_it_delegates(office: Office) -> None:
    inner = office.agent("Inner", description="Changes the ledger.", mode="single_turn")
    clerk = office.agent("Clerk", description="Checks invoices.", mode="single_turn", sub_agents=[inner])
    delegated = [Says(asks=(tool_call(name, request=text),)) for name, text in (("Clerk", INVOICE), ("Inner", "Do it"))]
    office.script.then(*delegated, WRITE, "I can't.", "It can't.", "We can't.")
    await office.say(office.agent(sub_agents=[clerk]), "Hello")
    assert office.workshop.ran == []


@OF_THE_FRAMEWORK
async def test_the_rules_of_a_session_hold_in_agents_that_it_uses_as_tools(office: Office) -> None:
    inner = office.agent("Inner", description="Changes the ledger.")
    clerk = office.agent("Clerk", tools=[AgentTool(inner)], description="Passes work on.")
    delegated = [Says(asks=(tool_call(name, request="Change the ledger"),)) for name in ("Clerk", "Inner")]
    office.script.then(*delegated, WRITE, "I can't.", "It can't.", "We can't.")
    await office.say(office.agent(tools=[AgentTool(clerk)]), INVOICE)
    assert office.workshop.ran == []


async def test_names_that_are_too_long_for_an_id_name_conversations_all_the_same(office: Office) -> None:
    for last in "ab":
        await office.say(office.agent(), INVOICE, session="é" * 200 + last)
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1, 1]


async def test_a_yes_still_counts_when_the_host_noted_something_in_the_session(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    await office.say(office.agent(), "Submit it")
    session = await office.sessions.get_session(app_name="office", user_id="Ann", session_id="s-1")
    assert session is not None
    noted = Event(author="user", actions=EventActions(state_delta={"read": True}))
    await office.sessions.append_event(session, noted)
    yes = types.Content(role="user", parts=[answer(await office.question(), {"confirmed": True})])
    assert await office.say(office.agent(), yes) == "Submitted."
    assert office.workshop.ran == ["submit(W-1)"]


async def test_a_live_run_is_refused_as_no_skill_would_reach_its_model(office: Office) -> None:
    run = office.runner(office.agent()).run_live(user_id="Ann", session_id="s-1", live_request_queue=LiveRequestQueue())
    with pytest.raises(RuntimeError, match="a live run calls its model without plugins"):
        await anext(run)


async def test_a_conversation_that_the_provider_keeps_is_refused(office: Office) -> None:
    class KeptElsewhere(BasePlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
            llm_request.previous_interaction_id = "i-1"

    app = App(name="office", root_agent=office.agent(), plugins=[KeptElsewhere("elsewhere"), office.plugin])
    runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
    with pytest.raises(RuntimeError, match="use a model without use_interactions_api"):
        _ = [event async for event in runner.run_async(user_id="Ann", session_id="s-1", new_message=said(INVOICE))]


async def test_a_tool_with_the_name_of_one_of_ours_is_refused(office: Office) -> None:
    def read_skill(skill_id: str) -> str:
        """A tool of the host."""
        return skill_id

    with pytest.raises(RuntimeError, match="a tool is named 'read_skill', as one of skillweave's own"):
        await office.say(office.agent(tools=[FunctionTool(read_skill)]), INVOICE)


@pytest.mark.parametrize(("message", "shown"), [("Hello", True), ("Look at the web page", False)])
async def test_a_tool_that_the_provider_runs_is_shown_only_while_it_may_be_called(
    tmp_path: Path, message: str, shown: bool
) -> None:
    offline = make_skill("offline-work", keywords=["web page"], tools=ToolRules(forbidden=("url_context",)))
    office = Office(tmp_path)
    office.plugin = SkillPlugin(weaver_of(offline))
    requests: list[LlmRequest] = []
    root = office.agent(
        tools=[url_context], before_model_callback=lambda callback_context, llm_request: _seen(llm_request, requests)
    )
    root.model = ScriptedLlm(script=office.script, model="gemini-2.5-flash")
    await office.say(root, message)
    tools: list[Any] = list(requests[0].config.tools or ())
    assert any(tool.url_context is not None for tool in tools) is shown


def _seen(request: LlmRequest, requests: list[LlmRequest]) -> None:
    requests.append(request)


async def test_a_denied_call_is_known_by_a_note_and_not_by_its_text(office: Office) -> None:
    await office.say(office.agent(), INVOICE)
    office.script.then(WRITE, "I can't.")
    await office.say(office.agent(), "Change the account")
    notes = [(event.custom_metadata or {}).get(MARK, {}).get("denied") for event in await office.events()]
    assert [note for note in notes if note] == [["a-write"]]


def test_a_tools_text_that_looks_like_a_denial_is_none() -> None:
    response = types.FunctionResponse(id="c", name="fetch", response={"result": "TOOL_FORBIDDEN: no"})
    [read] = host_messages([types.Content(role="user", parts=[types.Part(function_response=response)])])
    assert read.result is not None
    assert read.result.status != "denied"


async def test_a_plain_yes_of_a_ui_is_that_of_the_sessions_user(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    await office.say(office.agent(), "Submit it")
    yes = types.Content(role="user", parts=[answer(await office.question(), {"confirmed": True})])
    assert await office.say(office.agent(), yes) == "Submitted."
    assert office.workshop.ran == ["submit(W-1)"]
    assert [one.by for one in (await office.weaver.ledger.state(SESSION)).approvals] == ["Ann"]


@pytest.mark.parametrize(("confirmed", "verdict"), [(True, "rejected"), (False, "approved"), (False, "modified")])
async def test_a_reply_that_says_two_things_is_none(office: Office, confirmed: bool, verdict: str) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT)
    await office.say(office.agent(), "Submit it")
    both = {"confirmed": confirmed, "payload": {"verdict": verdict, "by": "Ann Lee"}}
    told = types.Content(role="user", parts=[answer(await office.question(), both)])
    with pytest.raises(RuntimeError, match="answer again with both the same"):
        await office.say(office.agent(), told)
    assert office.workshop.ran == []


async def test_a_question_is_closed_when_the_conversation_goes_on(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Of course.")
    await office.say(office.agent(), "Submit it")
    asked = await office.question()
    assert await office.say(office.agent(), "Wait, what does it cost?") == "Of course."
    assert office.script.last.times_in_messages("not run") == 1
    office.script.then("It was too late.")
    late = types.Content(role="user", parts=[answer(asked, {"confirmed": True})])
    assert await office.say(office.agent(), late) == "It was too late."
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("the chat went on before a person had decided") == 1


async def test_an_argument_that_the_tool_does_not_have_is_refused(office: Office) -> None:
    asked = tool_call("search", text="Brandt", command="rm")
    office.script.then(Says(asks=(asked,)), "I see.")
    assert await office.say(office.agent(), "Look it up") == "I see."
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("command") >= 1


async def test_a_call_that_a_person_changed_runs_with_the_new_arguments(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    await office.say(office.agent(), "Submit it")
    changed = {"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "W-2"}}
    told = answer(await office.question(), {"confirmed": True, "payload": changed})
    assert await office.say(office.agent(), types.Content(role="user", parts=[told])) == "Submitted."
    assert office.workshop.ran == ["submit(W-2)"]


@OF_THE_FRAMEWORK
async def test_one_yes_is_for_the_session_and_the_branch_that_ask_about_the_same_call(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Submitted.")
    both = ParallelAgent(name="Both", sub_agents=[office.agent("Left")])
    await office.say(both, "Prepare the filing and submit it")
    yes = types.Content(role="user", parts=[answer(await office.question(), {"confirmed": True})])
    assert await office.say(both, yes) == "Submitted."
    assert office.workshop.ran == ["submit(W-1)"]


async def test_a_changed_call_that_waits_at_another_checkpoint_is_to_be_made_again(office: Office) -> None:
    asking = [Checkpoint("any", before="submit"), Checkpoint("large", before="submit(text=L:*)")]
    office.plugin = SkillPlugin(weaver_of(make_skill("filing", keywords=["filing"], checkpoints=asking)))
    office.script.then(SUBMIT, "I call again.")
    await office.say(office.agent(), "Submit the filing")
    changed = {"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "L 1"}}
    told = answer(await office.question(), {"confirmed": True, "payload": changed})
    assert await office.say(office.agent(), types.Content(role="user", parts=[told])) == "I call again."
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("call again with") == 1


async def test_after_such_a_pause_the_call_can_be_made_and_approved_anew(office: Office) -> None:
    await office.say(office.agent(), "Prepare the filing")
    office.script.then(SUBMIT, "Of course.", Says(asks=(tool_call("submit", "again", text="W-1"),)), "Submitted.")
    for text in ("Submit it", "Wait, what does it cost?", "Now submit it"):
        await office.say(office.agent(), text)
    asked = [call.id or "" for event in await office.events() for call in event.get_function_calls()][-1]
    yes = types.Content(role="user", parts=[answer(asked, {"confirmed": True})])
    assert await office.say(office.agent(), yes) == "Submitted."
    assert office.workshop.ran == ["submit(W-1)"]


@OF_THE_FRAMEWORK
async def test_parallel_branches_are_conversations_of_their_own(office: Office) -> None:
    both = ParallelAgent(name="Both", sub_agents=[office.agent("Left"), office.agent("Right")])
    await office.say(both, INVOICE)
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1, 1]


def test_history_leaves_events_alone_that_nothing_left() -> None:
    events = [Event(author="user", content=said("Hello")), Event(author="Office", content=said("Hello too"))]
    assert history(events) == events


@pytest.mark.parametrize("placement", Placement)
async def test_two_conversations_at_once_do_not_mix(tmp_path: Path, placement: Placement) -> None:
    office = Office(tmp_path, placement=placement)
    await asyncio.gather(
        office.say(office.agent(), INVOICE, "one"), office.say(office.agent(), "Prepare the filing", "two")
    )
    texts = sorted((sent.times(INVOICES), sent.times(FILING)) for sent in office.script.sent)
    assert texts == [(0, 1), (1, 0)]


def poems(**options: Any) -> SkillToolset:
    front = models.Frontmatter(name="poems", description="Writes poems.")
    return SkillToolset(skills=[models.Skill(frontmatter=front, instructions="Rhyme.")], **options)


async def test_adks_own_skills_are_refused_beside_ours_with_the_way_out(office: Office) -> None:
    with pytest.raises(RuntimeError, match=r"'list_skills', as one of skillweave's own.*tool_name_prefix"):
        await office.say(office.agent(tools=[poems()]), INVOICE)


async def test_adks_own_skills_with_a_prefix_stand_beside_ours(office: Office) -> None:
    tools = [poems(tool_name_prefix="adk"), *map(as_adk, office.workshop.tools)]
    assert await office.say(office.agent(tools=tools), INVOICE) == "All right."
    assert {"adk_list_skills", "list_skills", "search"} <= {*office.script.last.tools}
    assert "write" not in office.script.last.tools
