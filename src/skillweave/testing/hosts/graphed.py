"""What an adapter does with a skill graph: part of the contract of every adapter."""

import pytest

from skillweave.graph import Declared, Entry, GraphSkill, Route, SkillGraph
from skillweave.graph.conditions import Keywords
from skillweave.testing.hosts.play import CONVERSATION, HostContract, Play
from skillweave.testing.hosts.script import Says, tool_call
from skillweave.testing.hosts.skills import GREETINGS, INVOICES

GRAPH = SkillGraph.of(
    Declared(
        skills=tuple(map(GraphSkill, ("invoice-checking", "greetings", "filing"))),
        entries=(Entry("invoice-checking", Keywords(("invoice",))),),
        routes=(
            Route("invoice-checking", "greetings", on_tool="search", on_status=("success",)),
            Route("invoice-checking", "greetings", on_tool="write", on_status=("denied",)),
            Route("greetings", "filing"),
        ),
    )
)
SEARCH = tool_call("search", text="Brandt")


@pytest.mark.asyncio
class GraphContract(HostContract):
    """What holds in every framework where a graph says which skill a conversation is in."""

    async def test_a_tools_result_moves_the_conversation_before_the_next_call(self, graphed_play: Play) -> None:
        play = graphed_play
        play.script.then(Says(asks=(SEARCH,)), "Bonjour!")
        assert await play.agent.say("Is this invoice right?") == "Bonjour!"
        assert play.script.sent[0].times(INVOICES) == 1
        assert play.script.last.times(GREETINGS) == 1
        assert await _engaged(play) == ["greetings"]

    async def test_a_call_that_was_not_allowed_moves_as_denied(self, graphed_play: Play) -> None:
        play = graphed_play
        play.script.then(Says(asks=(tool_call("write", text="new account"),)), "Bonjour!")
        assert await play.agent.say("Is this invoice right?") == "Bonjour!"
        assert play.workshop.ran == []
        assert await _engaged(play) == ["greetings"]

    async def test_a_skill_that_cannot_be_reached_is_refused_in_words(self, graphed_play: Play) -> None:
        play = graphed_play
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="filing"),)), "Not now.")
        assert await play.agent.say("Is this invoice right?") == "Not now."
        assert play.script.last.times_in_messages("what can be is: greetings") == 1
        assert await _engaged(play) == ["invoice-checking"]

    async def test_the_model_goes_where_it_may(self, graphed_play: Play) -> None:
        play = graphed_play
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), "Bonjour!")
        await play.agent.say("Is this invoice right?")
        assert await _engaged(play) == ["greetings"]

    async def test_a_conversation_that_goes_on_in_another_process_keeps_its_cursor(self, graphed_play: Play) -> None:
        play = graphed_play
        play.script.then(Says(asks=(SEARCH,)), "Bonjour!")
        await play.agent.say("Is this invoice right?")
        play.restart()
        await play.agent.say("Go on")
        assert await _engaged(play) == ["greetings"]
        assert play.script.last.times(GREETINGS) == 1

    async def test_a_replayed_request_moves_once(self, graphed_play: Play) -> None:
        play = graphed_play
        await play.agent.say("Is this invoice right?")
        await play.agent.again()
        cursor = (await play.weaver.state(CONVERSATION)).cursor
        assert cursor is not None
        assert cursor.visits == {"invoice-checking": 1}

    @pytest.fixture
    def graphed_play(self, play: Play) -> Play:
        """A conversation in the graph."""
        play.begin_in(GRAPH)
        return play


async def _engaged(play: Play) -> list[str]:
    return [entry.skill_id for entry in (await play.weaver.state(CONVERSATION)).engaged]
