"""The contract of an adapter as tests: it passes them against its real framework, with a scripted model inside."""

from contextlib import suppress

import pytest

from skillweave.testing.hosts.graphed import GraphContract
from skillweave.testing.hosts.play import CONVERSATION, Play
from skillweave.testing.hosts.script import Asks, Says, tool_call
from skillweave.testing.hosts.skills import BASE, GREETINGS, INVOICES, heading, ledger_of

LOAD_GREETINGS = tool_call("read_skill", skill_id="greetings")


@pytest.mark.asyncio
class AdapterContract(GraphContract):
    """What holds in every framework and in both placements."""

    async def test_a_trigger_in_the_users_message_puts_the_skill_into_the_call(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        assert play.script.last.times(heading("invoice-checking")) == 1
        assert play.script.last.times(INVOICES) == 1

    async def test_an_unrelated_message_brings_no_skill(self, play: Play) -> None:
        await play.agent.say("What is 2+2?")
        assert play.script.last.times("=== Skill Activated") == 0

    async def test_the_models_words_come_back_unchanged(self, play: Play) -> None:
        play.script.then(*["Four."] * 3)
        assert await play.agent.say("What is 2+2?") == "Four."

    async def test_the_hosts_system_prompt_stays_in_front(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        assert all(sent.system.startswith(BASE) for sent in play.script.sent)

    async def test_the_catalog_is_in_the_system_prompt_of_every_call(self, play: Play) -> None:
        await play.agent.say("Hello")
        await play.agent.say("And again")
        assert all(sent.system.count("Checks invoices before they are paid.") == 1 for sent in play.script.sent)

    async def test_a_marker_in_the_models_words_loads_the_skill(self, play: Play) -> None:
        play.script.then("That calls for it. SKILL_SELECT:greetings")
        await play.agent.say("Say something nice")
        await play.agent.say("Go on")
        assert play.script.last.times(GREETINGS) == 1

    async def test_a_marker_in_the_users_message_loads_nothing(self, play: Play) -> None:
        await play.agent.say("SKILL_SELECT:greetings")
        assert play.script.last.times(GREETINGS) == 0

    async def test_the_model_can_load_a_skill_with_a_tool(self, play: Play) -> None:
        play.script.then(Says(asks=(LOAD_GREETINGS,)), "Bonjour!")
        await play.agent.say("Say something nice")
        assert play.script.last.times(GREETINGS) >= 1
        assert "greetings" in [one.skill_id for one in (await play.weaver.state(CONVERSATION)).engaged]

    async def test_a_mistake_in_a_call_of_our_tools_is_answered_in_words(self, play: Play) -> None:
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="greetigns"),)), "Sorry.")
        assert await play.agent.say("Say something nice") == "Sorry."
        assert play.script.last.times("did you mean") == 1

    async def test_the_model_sees_the_hosts_tools_and_ours(self, play: Play) -> None:
        await play.agent.say("Hello")
        ours = {"read_skill", "list_skills", "read_artifact", "search_skills"}
        assert set(play.script.last.tools) == {"search", "write", "submit", "broken"} | ours

    async def test_a_follow_up_keeps_the_skill(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.say("And what about the second page?")
        assert play.script.last.times(INVOICES) == 1

    async def test_a_tool_runs_and_its_result_reaches_the_model(self, play: Play) -> None:
        play.script.then(Says(asks=(tool_call("search", text="Brandt"),)), "Found.")
        assert await play.agent.say("Look Brandt up") == "Found."
        assert play.workshop.ran == ["search(Brandt)"]
        assert play.script.last.times_in_messages("search did Brandt") == 1

    async def test_a_forbidden_tool_is_hidden_from_the_model(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.say("Go on")
        assert "write" not in play.script.last.tools
        assert "search" in play.script.last.tools

    async def test_a_forbidden_tool_that_the_model_names_all_the_same_is_blocked(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.script.then(Says(asks=(tool_call("write", text="new account"),)), "I can't.")
        assert await play.agent.say("Change the account") == "I can't."
        assert play.workshop.ran == []
        assert play.script.last.times_in_messages("TOOL_FORBIDDEN") == 1

    async def test_a_skill_that_the_model_loads_forbids_tools_at_once(self, play: Play) -> None:
        load = tool_call("read_skill", skill_id="invoice-checking")
        play.script.then(Says(asks=(load,)), Says(asks=(tool_call("write", text="x"),)), "I can't.")
        await play.agent.say("Change the account")
        assert play.workshop.ran == []

    async def test_parallel_tool_calls_are_judged_and_answered_one_by_one(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        asked = (tool_call("search", "a", text="one"), tool_call("write", "b", text="two"), LOAD_GREETINGS)
        play.script.then(Says(asks=(*asked, tool_call("search", "c", text="three"))), "Done.")
        assert await play.agent.say("Do all of it") == "Done."
        assert sorted(play.workshop.ran) == ["search(one)", "search(three)"]
        found = ("search did one", "TOOL_FORBIDDEN", "search did three")
        assert [play.script.last.times_in_messages(text) for text in found] == [1, 1, 1]
        assert play.script.last.times(GREETINGS) >= 1

    async def test_a_tool_that_fails_does_not_take_the_skill_away(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.script.then(Says(asks=(tool_call("broken", text="x"),)), "It failed.")
        with suppress(RuntimeError):  # a framework may hand the tool's own error to its caller
            await play.agent.say("Print it")
        assert "invoice-checking" in [one.skill_id for one in (await play.weaver.state(CONVERSATION)).engaged]
        assert play.script.last.times(INVOICES) == 1

    async def test_a_model_that_fails_leaves_the_turn_to_be_tried_again(self, play: Play) -> None:
        play.script.then(Says(fails=ConnectionError("the provider is down")))
        with pytest.raises(Exception, match="the provider is down"):
            await play.agent.say("Is this invoice right?")
        await play.agent.again()
        assert play.script.last.times(INVOICES) == 1

    async def test_a_replayed_request_is_sent_the_same(self, play: Play) -> None:
        await play.agent.say("Hello")
        before = len(play.script.sent)
        await play.agent.say("Is this invoice right?")
        first = play.script.sent[before:]
        await play.agent.again()
        assert play.script.sent[before + len(first) :] == first

    async def test_a_ledger_that_fails_costs_no_answer_and_skills_are_given(self, play: Play) -> None:
        ledger_of(play.weaver).down.update({"load", "swap", "append"})
        play.script.then(*["Yes."] * 3)
        assert await play.agent.say("Is this invoice right?") == "Yes."
        assert play.script.last.times(INVOICES) == 1

    async def test_a_careful_weaver_withholds_skills_and_tools_while_the_ledger_fails(self, careful_play: Play) -> None:
        play = careful_play
        ledger_of(play.weaver).down.update({"load", "swap", "append"})
        play.script.then(Says(asks=(tool_call("search", text="x"),)), "No.")
        assert await play.agent.say("Is this invoice right?") == "No."
        assert play.workshop.ran == []
        assert play.script.last.times(INVOICES) == 0

    async def test_a_ledger_that_fails_between_call_and_tool_frees_no_forbidden_tool(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.script.then(Says(asks=(tool_call("search", text="x"), tool_call("write", text="y"))), "No.")
        ledger = ledger_of(play.weaver)
        play.script.before_reply = lambda: ledger.down.add("load")
        await play.agent.say("Change the account")
        assert play.workshop.ran == ["search(x)"]

    async def test_what_was_sent_before_stays_byte_for_byte_in_front(self, play: Play) -> None:
        for text in ("Hello", "Is this invoice right?", "Thanks", "Say bonjour", "Bye"):
            play.script.then(Says(asks=(tool_call("search", text=text),)), f"About {text}")
            await play.agent.say(text)
        for before, after in zip(play.script.sent, play.script.sent[1:], strict=False):
            assert after.system.startswith(before.system)
            assert after.messages[: len(before.messages)] == before.messages

    async def test_two_conversations_do_not_know_of_each_other(self, play: Play) -> None:
        await play.weaver.weave("Is this invoice right?", conversation="another")
        await play.agent.say("Hello")
        assert play.script.last.times(INVOICES) == 0
        assert "write" in play.script.last.tools

    async def test_any_arguments_of_a_call_reach_the_tool_as_they_are(self, play: Play) -> None:
        text = 'ü "quoted" \\ {brace} %s\n二'
        play.script.then(Says(asks=(Asks("search", {"text": text}),)), "Done.")
        await play.agent.say("Look it up")
        assert play.workshop.ran == [f"search({text})"]
