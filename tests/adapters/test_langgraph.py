import asyncio
import re
from typing import Any

import pytest
from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Settings, SpawnRequest, Weaver
from skillweave.adapters.langchain import Speaker
from skillweave.adapters.langgraph import build_skill_agent, skill_nodes
from skillweave.errors import InvalidTurn
from skillweave.ledger import Lifecycle
from skillweave.select.candidates import Candidate, Selection
from skillweave.selection import MatchContext
from skillweave.tools import SpawnPlan
from skillweave_testing import KnownContext
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, GREETINGS, INVOICES, SKILLS, Workshop
from tests.adapters.graphs import (
    BOTH,
    MARKED,
    agent_of,
    holding,
    opened,
    said,
    shown,
    thread,
)
from tests.adapters.hosts.langchain_agent import as_langchain


def test_the_graph_has_the_steps_of_the_seed_in_their_order() -> None:
    drawn = agent_of(Script(), opened()).get_graph().draw_mermaid()
    nodes = re.findall(r"^\t(\w+)\(", drawn, re.MULTILINE)
    order = ["system_prompt", "model", "tools", "skill_select", "skill_inject", "approval", "synthesis", "output"]
    assert [node for node in nodes if not node.startswith("__")] == order


def test_a_marker_brings_the_skill_into_a_second_call_of_the_same_run() -> None:
    script = Script(MARKED, "Bonjour!")
    result = agent_of(script, opened()).invoke(said("Say something nice"), thread())
    assert [sent.times(GREETINGS) for sent in script.sent] == [0, 1]
    assert result["messages"][-1].text == "Bonjour!"


def test_without_a_marker_the_model_is_called_once() -> None:
    script = Script("Four.")
    agent_of(script, opened()).invoke(said("What is 2+2?"), thread())
    assert len(script.sent) == 1


def steps_of(agent: Any, text: str) -> list[str]:
    return [step for update in agent.stream(said(text), thread(), stream_mode="updates") for step in update]


def test_a_reply_that_asks_for_nothing_ends_the_run_at_once() -> None:
    assert steps_of(agent_of(Script("Four."), opened()), "What is 2+2?") == ["system_prompt", "model", "output"]


def test_a_marker_takes_the_steps_that_nobody_has_to_be_asked_in() -> None:
    again = ["skill_select", "skill_inject", "synthesis", "output"]
    assert steps_of(agent_of(Script(MARKED, "Bonjour!"), opened()), "Hello") == ["system_prompt", "model", *again]


def test_a_trigger_in_the_models_own_words_is_none() -> None:
    script = Script("I had better look at the invoice.")
    steps = steps_of(agent_of(script, opened(), matchers=BOTH), "Is it right?")
    assert steps == ["system_prompt", "model", "output"]


class Overheard:
    """A matcher of the host's own, which reads the model's words too."""

    name, strength, deliberate = "overheard", 30, False

    def match(self, context: MatchContext) -> Selection:
        """Greetings, where somebody speaks of them."""
        heard = "greeting" in (context.turn.message.text or "")
        return Selection((Candidate("greetings", 1.0, self.name, ()),) if heard else ())


def test_a_matcher_of_the_hosts_own_selects_by_the_models_words() -> None:
    script = Script("First a greeting.", "Bonjour!")
    weaver = opened(matchers=("explicit", Overheard()))
    result = agent_of(script, weaver, matchers=None).invoke(said("Write to Alice"), thread())
    assert [sent.times(GREETINGS) for sent in script.sent] == [0, 1]
    assert result["messages"][-1].text == "Bonjour!"


def test_a_matcher_of_the_hosts_own_that_says_nothing_to_the_reply_lets_the_run_end() -> None:
    weaver = opened(matchers=("explicit", Overheard()))
    steps = steps_of(agent_of(Script("Four."), weaver, matchers=None), "What is 2+2?")
    assert steps == ["system_prompt", "model", "output"]


def test_what_stays_as_it_is_is_written_once() -> None:
    agent = agent_of(Script("One.", "Two."), opened())
    updates = [next(iter(agent.stream(said("Hello"), thread(), stream_mode="updates"))) for _ in range(2)]
    first, second = (update["system_prompt"].keys() for update in updates)
    assert first - second == {"selected_skill_ids", "injected_skill_ids", "awaiting", "open_checkpoints"}


class CountingModel(ScriptedChatModel):
    """Notes for which tools it was bound."""

    bound: list[list[str]] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.bound.append([tool.name for tool in tools])
        return super().bind_tools(tools, **options)


def test_the_model_is_bound_once_for_each_set_of_tools() -> None:
    model = CountingModel(script=Script("One.", "Two.", "Three."))
    tools = [as_langchain(tool) for tool in Workshop().tools]
    agent: Any = build_skill_agent(model, opened(), tools, matchers=BOTH, checkpointer=InMemorySaver())
    for text in ("Hello", "Hello again", "Is this invoice right?"):
        agent.invoke(said(text), thread())
    assert [set(names) & {"search", "write"} for names in model.bound] == [{"search", "write"}, {"search"}]


def test_a_marker_that_is_written_again_and_again_ends_the_run_all_the_same() -> None:
    script = Script(otherwise=MARKED)
    agent_of(script, opened()).invoke(said("Say something nice"), thread())
    assert len(script.sent) == 2


def test_the_host_may_leave_selecting_to_markers_alone() -> None:
    script = Script()
    agent_of(script, opened(matchers=BOTH), matchers=("explicit",)).invoke(said("Is this invoice right?"), thread())
    assert script.last.times(INVOICES) == 0


def test_selecting_is_the_weavers_own_unless_the_host_says_otherwise() -> None:
    script = Script()
    agent_of(script, opened(matchers=BOTH)).invoke(said("Is this invoice right?"), thread())
    assert script.last.times(INVOICES) == 1


def test_the_catalog_is_in_every_call_whatever_the_weaver_says() -> None:
    script = Script(MARKED)
    agent_of(script, opened(settings=Settings())).invoke(said("Hello"), thread())
    assert [sent.system.count("Checks invoices before they are paid.") for sent in script.sent] == [1, 1]


def test_a_skill_stands_in_the_history_as_the_users_words_unless_told_otherwise() -> None:
    result = agent_of(Script(MARKED), opened()).invoke(said("Hello"), thread())
    assert [type(message) for message in holding(result, GREETINGS)] == [HumanMessage]


def test_a_skill_can_stand_there_as_a_system_message() -> None:
    result = agent_of(Script(MARKED), opened(), speaker=Speaker.SYSTEM).invoke(said("Hello"), thread())
    assert [type(message) for message in holding(result, GREETINGS)] == [SystemMessage]


def test_a_provider_tool_is_shown_to_the_model_as_it_is() -> None:
    script = Script()
    search = {"type": "function", "function": {"name": "web_search", "parameters": {}}}
    agent_of(script, opened(), tools=[search]).invoke(said("Hello"), thread())
    assert "web_search" in script.last.tools


def test_a_plain_function_can_be_a_tool() -> None:
    def add(text: str) -> str:
        """Adds up."""
        return f"sum of {text}"

    script = Script(Says(asks=(tool_call("add", text="1 2"),)), "Three.")
    result = agent_of(script, opened(), tools=[add]).invoke(said("Add"), thread())
    assert "sum of 1 2" in shown(result)


def test_a_tool_with_the_name_of_one_of_ours_is_refused() -> None:
    def read_skill(skill_id: str) -> str:
        """Reads something else."""
        return skill_id

    with pytest.raises(InvalidTurn, match="'read_skill', as one of skillweave's own; rename it"):
        skill_nodes(opened(), [read_skill])


def direct(script: Script, *skills: str) -> Any:
    def write(text: str) -> str:
        """Writes it down."""
        return f"wrote {text}"

    tools = [StructuredTool.from_function(write, return_direct=True)]
    return agent_of(script, opened(), tools=tools).invoke(said("Write", selected_skill_ids=list(skills)), thread())


def test_what_a_tool_returns_directly_is_the_answer() -> None:
    script = Script(Says(asks=(tool_call("write", text="x"),)))
    result = direct(script)
    assert result["messages"][-1].text == "wrote x"
    assert len(script.sent) == 1


def test_a_tool_that_would_return_directly_and_is_blocked_is_no_answer() -> None:
    script = Script(Says(asks=(tool_call("write", text="x"),)), "I can't.")
    result = direct(script, "invoice-checking")
    assert result["messages"][-1].text == "I can't."


def test_a_tool_that_nobody_has_is_answered_in_words() -> None:
    script = Script(Says(asks=(tool_call("fly", text="x"),)), "Sorry.")
    result = agent_of(script, opened()).invoke(said("Hello"), thread())
    assert [message.status for message in result["messages"] if isinstance(message, ToolMessage)] == ["error"]


def test_a_call_that_cannot_be_read_is_answered_in_words() -> None:
    class Broken(ScriptedChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(*args, **kwargs)
            if len(self.script.sent) == 1:
                call = {"type": "invalid_tool_call", "id": "c", "name": "search", "args": "{", "error": None}
                result.generations[0].message = AIMessage("", invalid_tool_calls=[call])
            return result

    script = Script("-", "Sorry.")
    agent = build_skill_agent(Broken(script=script), opened(), checkpointer=InMemorySaver())
    result = agent.invoke(said("Hello"), thread())
    assert result["messages"][-1].text == "Sorry."
    assert script.last.times_in_messages("not JSON") == 1


def test_a_run_without_a_thread_and_a_conversation_says_what_to_give() -> None:
    agent = agent_of(Script(), opened(), checkpointer=None)
    with pytest.raises(InvalidTurn, match="thread_id"):
        agent.invoke(said("Hello"))


def test_without_a_checkpointer_the_state_names_the_conversation() -> None:
    script, weaver = Script(MARKED), opened()
    agent = agent_of(script, weaver, checkpointer=None)
    agent.invoke(said("Hello", conversation_id="c9"))
    assert [entry.skill_id for entry in weaver.sync.ledger.state("c9").engaged] == ["greetings"]


def test_the_same_chat_without_a_thread_is_the_same_turn() -> None:
    weaver = opened(matchers=BOTH)
    agent = agent_of(Script(), weaver, checkpointer=None, matchers=BOTH)
    first, second = (
        agent.invoke(said("Is this invoice right?", conversation_id="c9"))["messages"][1].id for _ in range(2)
    )
    assert first == second


def test_a_message_of_the_user_counts_once_however_often_it_is_woven() -> None:
    weaver = opened(settings=Settings(lifecycle=Lifecycle.RECENT))
    agent = agent_of(Script(MARKED), weaver)
    agent.invoke(said("Hello"), thread())
    agent.invoke(said("Go on"), thread())
    assert [one.idle for one in weaver.sync.ledger.state("t1").engaged] == [1]


def test_the_turn_is_named_after_thread_and_checkpoint() -> None:
    weaver, saver = opened(matchers=BOTH), InMemorySaver()
    agent = agent_of(Script(), weaver, checkpointer=saver, matchers=BOTH)
    agent.invoke(said("Is this invoice right?"), thread())
    (entry, *_) = weaver.sync.why("t1", "invoice-checking")
    checkpoints = {f"t1/{one.config['configurable']['checkpoint_id']}" for one in saver.list(thread())}
    assert entry.turn_id in checkpoints


def test_a_thread_may_be_named_by_a_number() -> None:
    weaver = opened()
    agent_of(Script(MARKED), weaver).invoke(said("Hello"), {"configurable": {"thread_id": 7}})
    assert [entry.skill_id for entry in weaver.sync.ledger.state("7").engaged] == ["greetings"]


async def test_runs_of_many_threads_at_once_do_not_mix() -> None:
    script, weaver = Script(), opened()
    agent = agent_of(script, weaver, matchers=BOTH)
    texts = {"a": "Is this invoice right?", "b": "Say bonjour", "c": "Hello"}
    results = await asyncio.gather(*(agent.ainvoke(said(text), thread(name)) for name, text in texts.items()))
    found = [[text for text in (INVOICES, GREETINGS) if holding(result, text)] for result in results]
    assert found == [[INVOICES], [GREETINGS], []]
    assert [result["injected_skill_ids"] for result in results] == [["invoice-checking"], ["greetings"], []]


def test_blocking_streaming_gives_the_words() -> None:
    agent = agent_of(Script("It is right."), opened())
    pieces = agent.stream(said("Hello"), thread(), stream_mode="messages")
    assert "".join(piece.text for piece, _ in pieces) == "It is right."


# The state


def test_the_agent_tells_the_schema_of_its_state_and_can_be_a_tool() -> None:
    agent = agent_of(Script(), opened())
    assert {"messages", "working_memory"} <= agent.get_input_jsonschema()["properties"].keys()
    assert "injected_skill_ids" in agent.get_output_jsonschema()["properties"]
    with pytest.warns(LangChainBetaWarning):
        assert "messages" in agent.as_tool(name="office", description="Asks the office.").args


def test_what_was_injected_is_told_in_the_state() -> None:
    result = agent_of(Script(MARKED), opened()).invoke(said("Hello"), thread())
    assert (result["selected_skill_ids"], result["injected_skill_ids"]) == ([], ["greetings"])


def test_a_skill_that_the_model_read_with_a_tool_is_told_too() -> None:
    script = Script(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), "Bonjour!")
    result = agent_of(script, opened()).invoke(said("Hello"), thread())
    assert result["injected_skill_ids"] == ["greetings"]


def test_an_evicted_skill_is_injected_again_although_the_state_remembers_it() -> None:
    script, weaver = Script(MARKED), opened()
    agent = agent_of(script, weaver)
    agent.invoke(said("Hello"), thread())
    weaver.sync.evict("t1", "greetings")
    result = agent.invoke(said("Go on", injected_skill_ids=["greetings"]), thread())
    assert len(holding(result, GREETINGS)) == 2


def test_a_skill_that_only_the_state_claims_is_not_believed() -> None:
    result = agent_of(Script(), opened()).invoke(said("Hello", injected_skill_ids=["greetings"]), thread())
    assert result["injected_skill_ids"] == []


def test_a_skill_that_the_host_selects_in_the_state_is_in_the_first_call() -> None:
    script, weaver = Script(), opened()
    agent_of(script, weaver).invoke(said("Hello", selected_skill_ids=["greetings"]), thread())
    assert script.sent[0].times(GREETINGS) == 1
    assert [(one.skill_id, one.by) for one in weaver.sync.ledger.state("t1").engaged] == [("greetings", "explicit")]


def test_the_working_memory_names_the_entity_whose_context_is_given() -> None:
    skill = {**SKILLS[1], "domain_tags": ["well"]}
    context = KnownContext({"42-329": {"well": "Well: Mitchell Ranch 1H"}})
    script = Script(MARKED)
    agent = agent_of(script, opened(skills=[skill], context=context))
    agent.invoke(said("Hello", working_memory={"entity_id": "42-329"}), thread())
    assert script.last.times_in_messages("Well: Mitchell Ranch 1H") == 1


def replayed(agent: Any, node: str, messages: int) -> Any:
    """The run once more, from the checkpoint at which that node came next."""
    found = (one for one in agent.get_state_history(thread()) if one.next == (node,))
    before = next(one for one in found if len(one.values["messages"]) == messages)
    return agent.invoke(None, before.config)


def test_a_replay_from_a_checkpoint_sends_the_model_the_same() -> None:
    script = Script(MARKED, "Bonjour!", "Bonjour!")
    agent = agent_of(script, opened())
    agent.invoke(said("Say something nice"), thread())
    result = replayed(agent, "synthesis", 3)
    assert script.sent[2] == script.sent[1]
    assert len(holding(result, GREETINGS)) == 1


def test_a_replay_from_before_the_skill_gives_it_once_and_at_once_as_it_is_engaged() -> None:
    script = Script(MARKED, "Bonjour!", MARKED, "Bonjour!")
    agent = agent_of(script, opened())
    agent.invoke(said("Say something nice"), thread())
    result = replayed(agent, "model", 1)
    assert [sent.times(GREETINGS) for sent in script.sent[2:]] == [1]
    assert len(holding(result, GREETINGS)) == 1


def planned(weaver: Weaver, *skills: str) -> SpawnPlan:
    plan = weaver.sync.composition.prepare_spawn(SpawnRequest("Look at it", skills=skills))
    assert isinstance(plan, SpawnPlan)
    return plan


def test_a_sub_agent_has_its_plans_text_and_skills_from_its_first_call_on() -> None:
    script, weaver = Script(), opened()
    plan = planned(weaver, "invoice-checking")
    agent_of(script, weaver, plan=plan).invoke(said("Is it right?"), thread())
    assert script.sent[0].system.startswith(f"{BASE}\n\n{plan.text}")
    assert script.sent[0].times_in_messages(INVOICES) == 1
    assert "write" not in script.sent[0].tools


def test_a_sub_agent_has_the_conversation_of_its_plan() -> None:
    weaver = opened()
    plan = planned(weaver, "invoice-checking")
    agent_of(Script(), weaver, plan=plan).invoke(said("Is it right?"), thread())
    assert [entry.skill_id for entry in weaver.sync.ledger.state(plan.conversation).engaged] == ["invoice-checking"]
    assert weaver.sync.ledger.state("t1").revision == 0


def test_a_tool_outside_of_the_plan_is_blocked() -> None:
    workshop, weaver = Workshop(), opened()
    script = Script(Says(asks=(tool_call("search", text="x"),)), "Sorry.")
    tools = [as_langchain(tool) for tool in workshop.tools]
    agent_of(script, weaver, plan=planned(weaver), tools=tools).invoke(said("Search"), thread())
    assert workshop.ran == []
    assert script.last.times_in_messages("TOOL_NOT_ALLOWED") == 1


def test_a_run_calls_its_model_also_where_the_history_ends_with_a_reply() -> None:
    second = Script("Checked.")
    agent = build_skill_agent(ScriptedChatModel(script=second), opened(), [], matchers=BOTH)
    chat = [HumanMessage("Is this invoice right?"), AIMessage("It is, says the first agent.")]
    result = agent.invoke({"messages": chat}, thread())
    assert result["messages"][-1].text == "Checked."
    assert len(second.sent) == 1
