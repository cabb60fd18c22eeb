"""The contract about the end of a call: where the tail stands, how long it lasts, and what a provider's cache keeps."""

from collections.abc import Iterable
from itertools import pairwise

import pytest

from skillweave import CatalogMode, Settings
from skillweave.turns import SHORTLIST
from skillweave_testing.hosts import Says, Sent, tool_call
from skillweave_testing.hosts.play import CONVERSATION, GREETINGS, INVOICES, HostContract, Play
from tests.adapters.hosts.crowd import OFFERED, begin_in_crowd

OVERVIEW = "## Available Skills"
QUESTION = "What can you do?"
"""What a message is answered to at the end of the call, in a library that is larger than its catalog."""
OFFER = "Is there anything left in the drawer?"
"""A message for which three skills of the crowd are offered and none is given."""
HIT, OTHER_HIT, MISS = "Is this invoice right?", "Say bonjour to Alice", "What is 2+2?"
SEARCH = tool_call("search", text="Brandt")


@pytest.mark.asyncio
class TailContract(HostContract):
    """What holds in every framework and in both placements for text that is for one call only."""

    async def test_what_is_for_one_call_stands_behind_the_users_words(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(QUESTION)
        sent = crowded_play.script.last
        assert QUESTION in sent.texts[: place_of_tail(sent)]
        assert OVERVIEW in sent.messages[-1]

    async def test_it_stands_behind_a_skill_that_is_given_in_the_same_call(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(f"Say bonjour. {QUESTION}")
        sent = crowded_play.script.last
        assert sent.times(GREETINGS) == 1
        assert not [text for text in sent.texts[place_of_tail(sent) :] if GREETINGS in text]

    async def test_it_stands_behind_the_tools_answers_byte_for_byte_the_same(self, crowded_play: Play) -> None:
        play = crowded_play
        play.script.then(Says(asks=(SEARCH,)), Says(asks=(SEARCH, SEARCH)), "Quite a lot.")
        await play.agent.say(QUESTION)
        first, second, third = play.script.sent
        assert tail_in(first) == tail_in(second) == tail_in(third) != ""
        assert [text for text in third.texts[: place_of_tail(third)] if "search did Brandt" in text]
        assert not [text for text in third.texts[place_of_tail(third) :] if "search did Brandt" in text]

    async def test_the_next_message_does_not_have_it(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(QUESTION)
        await crowded_play.agent.say("What is 2+2?")
        assert tail_in(crowded_play.script.last) == ""

    async def test_the_host_does_not_keep_it(self, crowded_play: Play) -> None:
        crowded_play.script.then(Says(asks=(SEARCH,)), "Quite a lot.")
        await crowded_play.agent.say(QUESTION)
        assert not [message for message in await crowded_play.agent.kept() if OVERVIEW in message]

    async def test_the_ledger_does_not_record_it(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(QUESTION)
        assert tail_in(crowded_play.script.last)
        assert (await crowded_play.weaver.ledger.state(CONVERSATION)).records == ()

    async def test_a_replayed_question_is_sent_the_same(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(QUESTION)
        first = list(crowded_play.script.sent)
        await crowded_play.agent.again()
        assert crowded_play.script.sent[len(first) :] == first

    @pytest.mark.parametrize("catalog", [CatalogMode.AUTO, CatalogMode.FALLBACK])
    async def test_twelve_turns_of_hits_and_misses_break_no_providers_cache(
        self, play: Play, catalog: CatalogMode
    ) -> None:
        begin_in_crowd(play, Settings(catalog=catalog))
        await say_all(play, [HIT, MISS, HIT, QUESTION, HIT, OFFER] * 2)
        assert play.script.last.times(INVOICES) == 1
        assert len([sent for sent in play.script.sent if tail_in(sent)]) >= 4
        assert broken(play.script.sent) == []

    async def test_the_shortlist_stays_when_the_model_opens_a_skill_of_it(self, crowded_play: Play) -> None:
        play = crowded_play
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="form-007"),)), "Two of them.")
        await play.agent.say(OFFER)
        first, second = play.script.sent
        assert [first.times(f"- {skill_id}: ") for skill_id in OFFERED] == [1] * 3
        assert SHORTLIST in tail_in(first) or OVERVIEW in first.system
        assert tail_in(first) == tail_in(second)
        assert second.times("Begin with field 7 and leave no field empty.") == 1

    async def test_no_rule_of_a_skill_counts_for_having_been_offered(self, crowded_play: Play) -> None:
        await crowded_play.agent.say(OFFER)
        state = await crowded_play.weaver.ledger.state(CONVERSATION)
        assert (state.engaged, state.records) == ((), ())

    @pytest.fixture
    def crowded_play(self, play: Play) -> Play:
        """A conversation over more skills than a catalog has room for, with default settings."""
        begin_in_crowd(play)
        return play


@pytest.mark.asyncio
class HistoryTailContract(HostContract):
    """In history placement even a skill that is new breaks no cache: it stands behind everything else."""

    async def test_hits_of_several_skills_and_misses_break_no_providers_cache(self, play: Play) -> None:
        begin_in_crowd(play)
        await say_all(play, [MISS, HIT, QUESTION, OTHER_HIT, OFFER, QUESTION, *[MISS] * 4, HIT, OTHER_HIT])
        assert play.script.last.times(INVOICES) == play.script.last.times(GREETINGS) == 1
        assert broken(play.script.sent) == []


@pytest.mark.asyncio
class CallTailContract(HostContract):
    """In call placement the system prompt holds what is in force, so it changes when a skill comes or leaves."""

    async def test_only_a_skill_that_comes_or_leaves_breaks_the_cache(self, play: Play) -> None:
        begin_in_crowd(play)
        await say_all(play, [MISS, HIT, QUESTION, OTHER_HIT, MISS, QUESTION, *[MISS] * 4])
        calls = play.script.sent
        held = [(sent.system.count(INVOICES), sent.system.count(GREETINGS)) for sent in calls]
        changed = [number for number in range(1, len(calls)) if held[number] != held[number - 1]]
        assert len(changed) == 4
        assert broken(calls) == changed


async def say_all(play: Play, texts: Iterable[str]) -> None:
    """Say one after the other; for each the model calls a tool first."""
    for text in texts:
        play.script.then(Says(asks=(SEARCH,)), f"About {text}")
        await play.agent.say(text)


def place_of_tail(sent: Sent) -> int:
    """Where the tail stands among the values of the messages; behind the last one where there is none."""
    heads = (OVERVIEW, SHORTLIST, "skills are available")
    places = [place for place, text in enumerate(sent.texts) if any(head in text for head in heads)]
    return places[-1] if places else len(sent.texts)


def tail_in(sent: Sent) -> str:
    """The tail of the call, the empty text where it has none."""
    return "".join(sent.texts[place_of_tail(sent) :][:1])


def broken(calls: Iterable[Sent]) -> list[int]:
    """The calls, by number, that don't begin with what was sent in the call before, without its tail.

    A provider caches what requests begin with: tools, system prompt, messages. Of what stands behind the first byte
    that differs it finds nothing again.
    """
    return [number for number, (before, after) in enumerate(pairwise(calls), 1) if not _goes_on(before, after)]


def _goes_on(before: Sent, after: Sent) -> bool:
    kept = before.texts[: place_of_tail(before)]
    return (before.declared, before.system, kept) == (after.declared, after.system, after.texts[: len(kept)])
