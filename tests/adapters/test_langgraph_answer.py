"""The ready agent: a model by its name, an answer in a form of the host's, and a state with keys of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from examples.scripted.langchain import ScriptedChatModel
from skillweave.adapters.langgraph import SkillState, build_skill_agent
from skillweave.errors import InvalidTurn
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import GREETINGS, INVOICES, Workshop
from tests.adapters.graphs import MARKED, agent_of, opened, said, thread
from tests.adapters.hosts.langchain_agent import as_langchain
from tests.recording.server import KEY, RecordingServer


class Verdict(BaseModel):
    """Whether the invoice may be paid."""

    pay: bool
    total: int = Field(gt=0)


@dataclass
class Plain:
    """Whether the invoice may be paid."""

    pay: bool
    total: int


class Keys(TypedDict):
    """Whether the invoice may be paid."""

    pay: bool
    total: int


SCHEMA: Any = {"title": "Verdict", "type": "object", "properties": {"pay": {"type": "boolean"}}}
GIVES = Says(asks=(tool_call("Verdict", "v", pay=True, total=5),))


def answered(script: Script, form: Any = Verdict, **options: Any) -> Any:
    return agent_of(script, opened(), response_format=form, **options).invoke(said("May I pay it?"), thread())


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (Verdict, Verdict(pay=True, total=5)),
        (Plain, Plain(pay=True, total=5)),
        (Keys, {"pay": True, "total": 5}),
        (SCHEMA, {"pay": True, "total": 5}),
    ],
)
def test_the_answer_is_in_the_form(form: Any, value: object) -> None:
    name = form["title"] if isinstance(form, dict) else form.__name__
    script = Script(Says(asks=(tool_call(name, "v", pay=True, total=5),)))
    assert answered(script, form)["structured_response"] == value
    assert len(script.sent) == 1


def test_its_call_has_a_result_in_the_history() -> None:
    result = answered(Script(GIVES))
    assert [one.tool_call_id for one in result["messages"] if isinstance(one, ToolMessage)] == ["v"]


def test_an_answer_that_is_not_in_the_form_is_asked_for_again_with_the_reason() -> None:
    script = Script(Says(asks=(tool_call("Verdict", "v", pay=True, total=0),)), GIVES)
    assert answered(script)["structured_response"] == Verdict(pay=True, total=5)
    assert script.last.times_in_messages("total: Input should be greater than 0") == 1


def test_tools_run_before_the_answer() -> None:
    workshop = Workshop()
    script = Script(Says(asks=(tool_call("search", text="Brandt"),)), GIVES)
    result = answered(script, tools=[as_langchain(one) for one in workshop.tools])
    assert workshop.ran == ["search(Brandt)"]
    assert result["structured_response"] == Verdict(pay=True, total=5)


def test_an_answer_beside_other_calls_waits_for_them() -> None:
    workshop = Workshop()
    both = Says(asks=(tool_call("search", "s", text="x"), tool_call("Verdict", "v", pay=False, total=1)))
    result = answered(Script(both, GIVES), tools=[as_langchain(one) for one in workshop.tools])
    assert workshop.ran == ["search(x)"]
    assert result["structured_response"] == Verdict(pay=True, total=5)


def test_a_skill_that_the_model_reads_is_there_before_the_answer() -> None:
    script = Script(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), GIVES)
    assert answered(script)["structured_response"] == Verdict(pay=True, total=5)
    assert script.last.times_in_messages(GREETINGS) == 1


def test_a_skill_that_a_marker_beside_the_answer_names_does_not_hold_it_up() -> None:
    script = Script(Says(MARKED, GIVES.asks))
    assert answered(script)["structured_response"] == Verdict(pay=True, total=5)
    assert len(script.sent) == 1


def test_an_answer_is_of_its_own_run() -> None:
    script = Script(GIVES, "I don't know.")
    agent = agent_of(script, opened(), response_format=Verdict)
    agent.invoke(said("May I pay it?"), thread())
    result = agent.invoke(said("And this one?"), thread())
    assert result["structured_response"] is None
    assert result["messages"][-1].text == "I don't know."


async def test_the_same_holds_in_an_awaited_run() -> None:
    agent = agent_of(Script(GIVES), opened(), response_format=Verdict)
    result = await agent.ainvoke(said("May I pay it?"), thread())
    assert result["structured_response"] == Verdict(pay=True, total=5)


@pytest.mark.parametrize("form", [{"type": "object"}, "Verdict", 7])
def test_what_is_no_form_is_refused_when_the_agent_is_made(form: Any) -> None:
    with pytest.raises(InvalidTurn, match="response_format is a class or a JSON Schema with a title"):
        agent_of(Script(), opened(), response_format=form)


def test_a_form_with_the_name_of_a_tool_is_refused() -> None:
    with pytest.raises(InvalidTurn, match="'search', as one of the tools; rename it"):
        agent_of(Script(), opened(), response_format={**SCHEMA, "title": "search"})


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with RecordingServer(Script(GIVES)) as server:
        yield server


@pytest.mark.parametrize("client", ["completions", "responses", "anthropic"])
def test_every_provider_takes_the_form_and_the_next_message(server: RecordingServer, client: str) -> None:
    model: Any = ChatOpenAI(
        model="gpt-5", base_url=server.openai, api_key=KEY, use_responses_api=client == "responses", max_retries=0
    )
    if client == "anthropic":
        model = ChatAnthropic(model_name="claude-sonnet-5", base_url=server.anthropic, api_key=KEY, max_retries=0)
    agent: Any = build_skill_agent(model, opened(), response_format=Verdict)
    result = agent.invoke(said("May I pay it?", conversation_id="c"))
    assert result["structured_response"] == Verdict(pay=True, total=5)
    agent.invoke({"messages": [*result["messages"], ("user", "And this one?")], "conversation_id": "c"})
    assert server.refusals == []


# A state with keys of the host's own


class Office(SkillState):
    desk: str
    visited: Annotated[list[str], lambda old, new: [*(old or []), *new]]


def test_a_state_may_have_keys_of_the_hosts_own_that_tools_read() -> None:
    @tool
    def look(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Looks at the desk."""
        return f"desk {state['desk']}"

    script = Script(Says(asks=(tool_call("look", "l"),)), "Seen.")
    agent = agent_of(script, opened(), tools=[look], state_schema=Office)
    result = agent.invoke(said("Look", desk="B7", visited=["B7"]), thread())
    assert script.last.times_in_messages("desk B7") == 1
    assert (result["desk"], result["visited"]) == ("B7", ["B7"])
    assert agent.invoke(said("Again", visited=["C1"]), thread())["visited"] == ["B7", "C1"]


def test_skills_come_as_ever_in_such_a_state() -> None:
    script = Script()
    agent = agent_of(script, opened(matchers=("triggers",)), matchers=None, state_schema=Office)
    agent.invoke(said("Is this invoice right?"), thread())
    assert script.last.times_in_messages(INVOICES) == 1


def test_a_state_that_is_not_made_from_ours_is_refused_with_what_it_lacks() -> None:
    class Alone(TypedDict):
        messages: list[str]

    with pytest.raises(TypeError, match=r"Alone lacks awaiting, .*; write it as `class Alone\(SkillState\)`"):
        agent_of(Script(), opened(), state_schema=Alone)


# A model by its name


def test_a_model_may_be_named_as_for_langchain(monkeypatch: pytest.MonkeyPatch, server: RecordingServer) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script.then("Four.")
    agent = build_skill_agent("openai:gpt-5", opened(), response_format=Verdict)
    result = agent.invoke(said("May I pay it?", conversation_id="c"))
    assert result["structured_response"] == Verdict(pay=True, total=5)
    assert server.requests[0].data["model"] == "gpt-5"


def test_a_model_of_ones_own_is_taken_as_it_is() -> None:
    agent = build_skill_agent(ScriptedChatModel(script=Script("Four.")), opened())
    assert agent.invoke(said("2+2?", conversation_id="c"))["messages"][-1].text == "Four."
