"""What a model's provider does by itself: the tools that it runs, the history that it keeps and takes things out of."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Placement, Weaver
from skillweave.adapters.langchain import SkillMiddleware
from skillweave.adapters.langchain_models import require_text_kept
from skillweave.adapters.langgraph import build_skill_agent
from skillweave.adapters.supported import Unguarded
from skillweave.errors import InvalidTurn, UnguardedAgent
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import INVOICES
from tests.adapters.graphs import BOTH, opened, said, thread
from tests.recording.server import KEY, RecordingServer

SEARCHES: Any = {
    "id": "searching",
    "description": "Searches.",
    "triggers": ["search"],
    "text": {"instructions": "Search twice."},
}
WEB: Any = {"type": "web_search"}


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with RecordingServer(Script()) as server:
        yield server


def gpt(server: RecordingServer, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-5", base_url=server.openai, api_key=KEY, max_retries=0, **options)


def claude(server: RecordingServer, **options: Any) -> ChatAnthropic:
    return ChatAnthropic(model_name="claude-sonnet-5", base_url=server.anthropic, api_key=KEY, max_retries=0, **options)


def with_rule(**rule: Any) -> Weaver:
    return opened(skills=[{**SEARCHES, **rule}], matchers=BOTH)


def declared(server: RecordingServer) -> list[str]:
    """The tools in the last request, those of skillweave left out."""
    names = [str(one.get("name") or one["type"]) for one in server.requests[-1].data["tools"]]
    return [name for name in names if name not in ("read_skill", "list_skills", "read_artifact", "search_skills")]


RULES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "none": ({}, ["web_search"]),
    "another": ({"tools": {"forbidden": ["write"]}}, ["web_search"]),
    "forbidden": ({"tools": {"forbidden": ["web_search"]}}, []),
    "a pattern": ({"tools": {"forbidden": ["web_search(evil:*)"]}}, []),
    "a checkpoint": ({"checkpoints": [{"name": "look", "before": "web_search"}]}, []),
}


@pytest.mark.parametrize(("rule", "left"), RULES.values(), ids=RULES)
@pytest.mark.parametrize("ready", [True, False])
def test_a_tool_that_the_provider_runs_is_shown_only_while_no_rule_is_about_it(
    server: RecordingServer, rule: Any, left: list[str], ready: bool
) -> None:
    weaver = with_rule(**rule)
    model = gpt(server, use_responses_api=True)
    agent: Any = create_agent(model, [WEB], middleware=[SkillMiddleware(weaver)])
    if ready:
        agent = build_skill_agent(model, weaver, [WEB], matchers=None)
    agent.invoke(said("Hello"), thread("a"))
    assert declared(server) == ["web_search"]
    agent.invoke(said("Please search"), thread("b"))
    assert declared(server) == left
    assert server.refusals == []


def test_anthropics_search_is_known_by_its_name(server: RecordingServer) -> None:
    web: Any = {"type": "web_search_20250305", "name": "web_search"}
    middleware = [SkillMiddleware(with_rule(**RULES["a checkpoint"][0]))]
    agent: Any = create_agent(claude(server), [web], middleware=middleware)
    agent.invoke(said("Please search"), thread())
    assert declared(server) == []


def test_a_tool_that_the_host_runs_in_the_providers_form_is_shown_and_can_wait(server: RecordingServer) -> None:
    bash: Any = {"type": "bash_20250124", "name": "bash"}
    middleware = [SkillMiddleware(with_rule(checkpoints=[{"name": "look", "before": "bash"}]))]
    agent: Any = create_agent(claude(server), [bash], middleware=middleware, checkpointer=InMemorySaver())
    server.script.then(Says(asks=(tool_call("bash", command="ls"),)))
    assert "__interrupt__" in agent.invoke(said("Please search"), thread())
    assert declared(server) == ["bash"]


MCP: Any = {"type": "mcp", "server_label": "wiki", "server_url": "https://example.org/mcp", "require_approval": "never"}


UNLISTED = r"'wiki' .* say in allowed_tools which of its tools there are"


def test_an_mcp_server_that_the_provider_calls_is_refused_while_its_tools_are_unknown(server: RecordingServer) -> None:
    agent: Any = create_agent(gpt(server), [MCP], middleware=[SkillMiddleware(opened())])
    with pytest.raises(UnguardedAgent, match=UNLISTED):
        agent.invoke(said("Hello"), thread())
    assert server.requests == []


def test_the_ready_agent_refuses_it_when_it_is_made(server: RecordingServer) -> None:
    with pytest.raises(UnguardedAgent, match=UNLISTED):
        build_skill_agent(gpt(server), opened(), [MCP])


@pytest.mark.parametrize("allowed", [["ask", "edit"], {"tool_names": ["ask", "edit"]}])
def test_one_whose_tools_are_listed_is_shown_while_no_rule_is_about_one_of_them(
    server: RecordingServer, allowed: Any
) -> None:
    listed = {**MCP, "allowed_tools": allowed}
    middleware = [SkillMiddleware(with_rule(tools={"forbidden": ["edit"]}))]
    agent: Any = create_agent(gpt(server, use_responses_api=True), [listed], middleware=middleware)
    agent.invoke(said("Hello"), thread("a"))
    assert declared(server) == ["mcp"]
    agent.invoke(said("Please search"), thread("b"))
    assert declared(server) == []


def test_a_host_may_allow_a_server_whose_tools_are_unknown(server: RecordingServer) -> None:
    middleware = [SkillMiddleware(opened(), unguarded=Unguarded.ALLOW)]
    agent: Any = create_agent(gpt(server, use_responses_api=True), [MCP], middleware=middleware)
    agent.invoke(said("Hello"), thread())
    assert declared(server) == ["mcp"]


def test_servers_that_are_set_on_the_model_itself_are_refused(server: RecordingServer) -> None:
    model = claude(server, mcp_servers=[{"type": "url", "url": "https://example.org/mcp", "name": "wiki"}])
    agent: Any = create_agent(model, [], middleware=[SkillMiddleware(opened())])
    with pytest.raises(UnguardedAgent, match=r"'mcp_servers' \(a setting of ChatAnthropic"):
        agent.invoke(said("Hello"), thread())
    with pytest.raises(UnguardedAgent, match="mcp_servers"):
        build_skill_agent(model, opened())


def test_a_search_that_is_set_on_the_model_itself_is_refused(server: RecordingServer) -> None:
    model = gpt(server, model_kwargs={"web_search_options": {"search_context_size": "low"}})
    agent: Any = create_agent(model, [], middleware=[SkillMiddleware(opened())])
    with pytest.raises(UnguardedAgent, match="web_search_options"):
        agent.invoke(said("Hello"), thread())


# History that the provider keeps


def office(model: Any, weaver: Weaver, placement: Placement) -> Any:
    middleware = [SkillMiddleware(weaver, placement=placement)]
    return create_agent(model, [], middleware=middleware, checkpointer=InMemorySaver())


def test_call_placement_is_refused_where_the_provider_keeps_the_history(server: RecordingServer) -> None:
    agent = office(gpt(server, use_previous_response_id=True), opened(matchers=BOTH), Placement.CALL)
    with pytest.raises(InvalidTurn, match="use placement='history', or leave that option out"):
        agent.invoke(said("Hello"), thread())
    assert server.requests == []


MODES: list[dict[str, Any]] = [
    {"use_previous_response_id": True},
    {"use_responses_api": True},
    {"use_responses_api": True, "store": False},
    {"use_responses_api": True, "output_version": "responses/v1"},
    {"output_version": "v1"},
    {},
]


LEFT = [(mode, place) for mode in MODES for place in Placement if mode != MODES[0] or place is Placement.HISTORY]


@pytest.mark.parametrize(("mode", "placement"), LEFT, ids=str)
def test_in_every_other_mode_a_skill_of_a_later_message_reaches_the_model(
    server: RecordingServer, mode: dict[str, Any], placement: Placement
) -> None:
    agent = office(gpt(server, **mode), opened(matchers=BOTH), placement)
    for text in ("Hello", "Is this invoice right?"):
        agent.invoke(said(text), thread())
    assert server.refusals == []
    assert [sent.times(INVOICES) for sent in server.script.sent] == [0, 1]


CLEARS: Any = {"edits": [{"type": "clear_tool_uses_20250919"}]}
SPARES: Any = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "exclude_tools": ["read_skill", "list_skills", "read_artifact", "search_skills"],
        }
    ]
}


def test_clearing_of_tool_results_at_the_provider_is_refused_where_they_hold_skill_text(
    server: RecordingServer,
) -> None:
    agent = office(claude(server, context_management=CLEARS), opened(), Placement.HISTORY)
    with pytest.raises(InvalidTurn, match=r"add 'exclude_tools': \['list_skills'"):
        agent.invoke(said("Hello"), thread())
    assert server.requests == []


@pytest.mark.parametrize(("management", "placement"), [(CLEARS, Placement.CALL), (SPARES, Placement.HISTORY)])
def test_it_is_not_where_it_spares_them_or_they_hold_none(
    server: RecordingServer, management: Any, placement: Placement
) -> None:
    require_text_kept(claude(server, context_management=management), None, placement)


def test_what_the_provider_compacted_counts_as_gone_and_is_given_again() -> None:
    script = Script()
    agent = office(ScriptedChatModel(script=script), opened(matchers=BOTH), Placement.HISTORY)
    agent.invoke(said("Is this invoice right?"), thread())
    compacted = AIMessage([{"type": "compaction", "encrypted_content": "x"}, {"type": "text", "text": "Yes."}])
    agent.update_state(thread(), {"messages": [compacted]}, as_node="model")
    agent.invoke({"messages": [HumanMessage("And the second page?")]}, thread())
    assert script.last.times_in_messages(INVOICES) == 2
    agent.invoke({"messages": [HumanMessage("And the third?")]}, thread())
    assert script.last.times_in_messages(INVOICES) == 2
