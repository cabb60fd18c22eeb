"""What every adapter has to do, on plain chats: both styles, both placements, over a scripted model."""

import copy
from collections.abc import Callable

import pytest

import skillweave
from skillweave import CatalogMode, Placement, Settings, ToolRules, Weaver
from skillweave_testing import WordCounter
from tests.chatting import ALL_SHAPES, BASE, Host, Says
from tests.skills import make_skill

GREETING = "=== Skill Activated: Greeting ==="
PAYING = "=== Skill Activated: Paying ==="

SKILLS = (
    make_skill("greeting", keywords=["bonjour"], instructions="Greet in the reader's language."),
    make_skill(
        "paying",
        keywords=["invoice"],
        instructions="Check the invoice, then pay.",
        tools=ToolRules(forbidden=("change_vendor",)),
    ),
)

Hosts = Callable[..., Host]


def open_weaver(catalog: CatalogMode = CatalogMode.NEVER) -> Weaver:
    return skillweave.open(*SKILLS, settings=Settings(catalog=catalog), counter=WordCounter())


@pytest.fixture(params=ALL_SHAPES)
def hosts(request: pytest.FixtureRequest) -> Hosts:
    """Makes hosts of one style."""

    def make(
        *script: Says, placement: Placement = Placement.HISTORY, weaver: Weaver | None = None, **more: object
    ) -> Host:
        return Host(weaver or open_weaver(), ALL_SHAPES[request.param](), placement, *script, **more)

    return make


@pytest.fixture(params=Placement)
def placement(request: pytest.FixtureRequest) -> Placement:
    """Each placement in turn."""
    return Placement(request.param)


async def test_a_skill_that_the_message_calls_for_reaches_the_model(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement)
    await host.say("Say bonjour to Alice")
    assert host.last.times(GREETING) == 1


async def test_an_unrelated_message_brings_no_skill(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement)
    await host.say("What is 2+2?")
    assert host.last.times("Skill Activated") == 0


async def test_a_follow_up_still_gives_the_skill_and_doubles_nothing(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement)
    for text in ("Say bonjour to Alice", "And to Bob?", "Once more bonjour, to Carol"):
        await host.say(text)
        assert host.last.times(GREETING) == 1


async def test_in_history_placement_the_text_stays_where_it_was_given(hosts: Hosts) -> None:
    host = hosts()
    await host.say("Say bonjour to Alice")
    first = host.last.messages
    await host.say("And to Bob?")
    assert host.last.messages[: len(first)] == first


async def test_in_call_placement_the_history_stays_the_hosts_own(hosts: Hosts) -> None:
    host = hosts(placement=Placement.CALL)
    await host.say("Say bonjour to Alice")
    await host.say("And to Bob?")
    assert host.last.times_in_history("Skill Activated") == 0
    assert host.last.times(GREETING) == 1


async def test_a_marker_of_the_model_brings_the_skill_in_the_next_call(hosts: Hosts, placement: Placement) -> None:
    host = hosts(Says("One moment. SKILL_SELECT:paying"), placement=placement)
    await host.say("Is there anything for me to do?")
    assert [request.times(PAYING) for request in host.model.sent] == [0, 1]


async def test_a_marker_beside_a_tool_call_brings_the_skill_too(hosts: Hosts, placement: Placement) -> None:
    host = hosts(Says("SKILL_SELECT:paying", calls=(("search", {}),)), placement=placement, tools=["search"])
    await host.say("Is there anything for me to do?")
    assert [request.times(PAYING) for request in host.model.sent] == [0, 1]


async def test_a_marker_in_a_tools_answer_brings_nothing(hosts: Hosts, placement: Placement) -> None:
    host = hosts(Says(calls=(("SKILL_SELECT:paying", {}),)), placement=placement)
    await host.say("Hi")
    assert host.last.times_in_history("SKILL_SELECT:paying is done") == 1
    assert host.last.times(PAYING) == 0


async def test_a_marker_of_the_user_counts_as_words_only(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement)
    await host.say("SKILL_SELECT:paying")
    assert "explicit" not in {decision.matcher for decision in host.injections[-1].decisions}


async def test_after_a_compaction_the_skill_is_given_again(hosts: Hosts) -> None:
    host = hosts()
    await host.say("Say bonjour to Alice")
    host.chat = [host.shapes.user("Summary: Alice was greeted."), *host.chat[-1:]]
    await host.say("And to Bob?")
    assert host.last.times(GREETING) == 1
    assert host.injections[-1].skills == ("greeting",)


async def test_a_shortened_history_that_kept_the_skill_does_not_get_it_again(hosts: Hosts) -> None:
    host = hosts()
    await host.say("What is 2+2?")
    await host.say("Say bonjour to Alice")
    host.chat = host.chat[2:]
    await host.say("And to Bob?")
    assert host.last.times(GREETING) == 1
    assert host.injections[-1].skills == ()


async def test_an_evicted_skill_is_given_again_although_its_old_text_is_there(hosts: Hosts) -> None:
    host = hosts()
    await host.say("Say bonjour to Alice")
    await host.weaver.evict("c1", "greeting")
    await host.say("And to Bob?")
    assert host.last.times(GREETING) == 2


async def test_a_forbidden_tool_is_hidden_from_the_model(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement, tools=["pay", "change_vendor"])
    await host.say("Hi")
    await host.say("Check this invoice")
    assert [request.tool_names() for request in host.model.sent] == [["pay", "change_vendor"], ["pay"]]


async def test_a_forbidden_tool_is_hidden_in_later_turns_too(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement, tools=["pay", "change_vendor"])
    await host.say("Check this invoice")
    await host.say("And the date?")
    assert host.last.tool_names() == ["pay"]


async def test_a_hidden_tool_that_the_model_names_all_the_same_is_refused(hosts: Hosts, placement: Placement) -> None:
    host = hosts(Says(calls=(("change_vendor", {"iban": "X"}),)), placement=placement, tools=["pay", "change_vendor"])
    await host.say("Check this invoice")
    assert (host.ran, host.refused) == ([], ["change_vendor"])
    assert host.last.times("TOOL_FORBIDDEN") == 1


async def test_of_parallel_calls_each_gets_its_own_answer(hosts: Hosts, placement: Placement) -> None:
    calls = (("pay", {"n": 1}), ("change_vendor", {}), ("pay", {"n": 2}))
    host = hosts(Says("Wait.", calls=calls), placement=placement, tools=["pay", "change_vendor"])
    await host.say("Check this invoice")
    assert (host.ran, host.refused) == (["pay", "pay"], ["change_vendor"])
    assert host.last.times("pay is done") == 2


async def test_a_tool_the_host_does_not_grant_is_refused(hosts: Hosts) -> None:
    host = hosts(Says(calls=(("rm", {}),)), tools=["pay"])
    await host.say("Hi")
    assert host.refused == ["rm"]


async def test_while_tools_run_the_skill_is_in_every_call_once(hosts: Hosts, placement: Placement) -> None:
    host = hosts(Says(calls=(("pay", {}),)), Says(calls=(("pay", {}),)), placement=placement, tools=["pay"])
    await host.say("Check this invoice")
    assert [request.times(PAYING) for request in host.model.sent] == [1, 1, 1]


async def test_tool_results_since_the_last_reply_are_the_turns_results(hosts: Hosts) -> None:
    host = hosts(Says(calls=(("pay", {}), ("change_vendor", {}))), tools=["pay", "change_vendor"])
    await host.say("Check this invoice")
    turn = host.style.turn(host.last.messages, conversation="c1")
    assert [(result.tool, result.call) for result in turn.results] == [("pay", "call-0"), ("change_vendor", "call-1")]
    assert host.style.turn(host.chat, conversation="c1").results == ()


async def test_the_same_chat_again_gets_the_same_answer_and_writes_nothing(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement)
    host.chat = [host.shapes.user("Say bonjour to Alice")]
    first = await host.weave()
    state = await host.weaver.ledger.state("c1")
    again = await host.weave()
    assert (again.turn_id, again.messages, again.instructions) == (first.turn_id, first.messages, first.instructions)
    assert await host.weaver.ledger.state("c1") == state


async def test_a_retry_of_the_placed_chat_is_the_same_turn_and_doubles_nothing(hosts: Hosts) -> None:
    host = hosts()
    host.chat = [host.shapes.user("Say bonjour to Alice")]
    first = await host.weave()
    host.chat = host.style.place(host.chat, first)
    again = await host.weave()
    assert again.turn_id == first.turn_id
    assert again.messages == ()


async def test_a_retry_of_a_placed_marker_turn_is_the_same_turn(hosts: Hosts) -> None:
    host = hosts()
    host.chat = host.shapes.heard(
        [host.shapes.user("Anything to do?")], host.shapes.reply(Says("SKILL_SELECT:paying"), ())
    )
    first = await host.weave()
    host.chat = host.style.place(host.chat, first)
    again = await host.weave()
    assert (first.skills, again.skills, again.turn_id) == (("paying",), (), first.turn_id)


async def test_the_same_words_said_twice_are_two_turns(hosts: Hosts) -> None:
    host = hosts()
    await host.say("Say bonjour to Alice")
    await host.say("Say bonjour to Alice")
    assert host.injections[0].turn_id != host.injections[1].turn_id


async def test_two_skills_in_one_turn_are_recognised_one_by_one(hosts: Hosts) -> None:
    host = hosts()
    await host.say("Say bonjour, then check this invoice")
    assert set(host.injections[0].skills) == {"greeting", "paying"}
    await host.say("Go on")
    assert (host.last.times(GREETING), host.last.times(PAYING)) == (1, 1)


async def test_the_system_prompt_keeps_its_bytes_from_turn_to_turn(hosts: Hosts) -> None:
    host = hosts(weaver=open_weaver(CatalogMode.ALWAYS))
    for text in ("Hi", "Say bonjour to Alice", "And to Bob?"):
        await host.say(text)
    assert host.model.sent[0].system == host.model.sent[1].system == host.model.sent[2].system
    assert host.last.times("- greeting: ") == 1


async def test_in_call_placement_a_skill_more_leaves_what_stood_before_it(hosts: Hosts) -> None:
    host = hosts(placement=Placement.CALL, weaver=open_weaver(CatalogMode.ALWAYS))
    for text in ("Hi", "Say bonjour to Alice", "Check this invoice"):
        await host.say(text)
    plain, one, two = (bare(request.system) for request in host.model.sent)
    assert one[: len(plain)] == plain
    assert two[: len(one)] == one


async def test_every_request_begins_with_the_request_before_it(hosts: Hosts) -> None:
    host = hosts(Says(calls=(("pay", {}),)), weaver=open_weaver(CatalogMode.ALWAYS), tools=["pay"])
    for text in ("Hi", "Say bonjour to Alice", "And to Bob?"):
        await host.say(text)
    assert len(host.model.sent) == 4
    for before, after in zip(host.model.sent, host.model.sent[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages


async def test_the_fallback_lasts_one_call_and_never_enters_the_history(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement, weaver=open_weaver(CatalogMode.FALLBACK))
    await host.say("What is 2+2?")
    assert host.last.times("2 skills are available") == 1
    await host.say("Say bonjour to Alice")
    assert host.last.times("2 skills are available") == 0


async def test_nothing_that_the_host_gave_is_changed(hosts: Hosts, placement: Placement) -> None:
    host = hosts(placement=placement, tools=["pay", "change_vendor"])
    host.chat = [host.shapes.user("Say bonjour, then check this invoice")]
    before = copy.deepcopy((host.chat, host.tools))
    chat, tools = host.chat, host.tools
    injection = await host.weave()
    host.style.place(chat, injection)
    host.style.system(BASE, injection)
    host.style.offer(tools, injection)
    assert (chat, tools) == before


async def test_a_lost_reply_leaves_the_skill_to_be_given_again(hosts: Hosts) -> None:
    host = hosts()
    host.chat = [host.shapes.user("Say bonjour to Alice")]
    turn = host.style.turn(host.chat, conversation="c1")
    with pytest.raises(ConnectionError):
        async with host.weaver.delivery(turn):
            raise ConnectionError("no reply")
    assert (await host.weave()).skills == ("greeting",)


def bare(system: object) -> str:
    """A system prompt's text without cache markers."""
    return system if isinstance(system, str) else "\n".join(block["text"] for block in system)
