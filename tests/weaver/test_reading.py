import asyncio
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar

import pytest

import skillweave
from skillweave import (
    Budget,
    CatalogMode,
    MemoryStore,
    Message,
    Outcome,
    Placement,
    Registry,
    Role,
    Ruling,
    Settings,
    Skill,
    Store,
    ToolRules,
    Turn,
    Weaver,
)
from skillweave.selection import Tiktoken
from skillweave.skills import ArtifactRef
from skillweave.sources import InCode
from skillweave.tools import SkillTools
from skillweave.turn.reconcile import split_at_blocks
from skillweave.turns import Read, Rung
from skillweave_testing import WordCounter
from tests.skills import make_skill

C = "c"


def chapter(number: int, words: int) -> str:
    return f"## Chapter {number}\n\n" + " ".join(f"c{number}w{n}." for n in range(words)) + "\n\n"


BODY = "".join(chapter(number, 500) for number in range(1, 11))
LONG = make_skill("handbook", keywords=["handbook"], instructions=BODY, tools=ToolRules(forbidden=("write",)))
SHORT = make_skill("greet", keywords=["hello"], instructions="Say hello.")


def weaver_of(
    *skills: Skill, total: int = 2000, tools: SkillTools = SkillTools.OFFERED, store: Store | None = None
) -> Weaver:
    settings = Settings(budget=Budget(total=total, per_skill=total), skill_tools=tools, catalog=CatalogMode.NEVER)
    return Weaver(Registry([InCode(*skills)]), store or MemoryStore(), settings, counter=WordCounter())


async def test_long_instructions_are_given_as_an_outline_where_the_model_can_read_sections() -> None:
    injection = await weaver_of(LONG).weave("the handbook", conversation=C)
    (block,) = injection.blocks
    assert block.rung is Rung.OUTLINE
    assert block.text.startswith("=== Skill Outline: Handbook ===\n## Description\n")
    assert "- 3: Chapter 3 (" in block.text
    assert "## Tools\n- forbidden: write" in block.text
    assert "c3w1" not in block.text


async def test_a_host_without_tools_skips_the_outline() -> None:
    injection = await weaver_of(LONG, tools=SkillTools.ABSENT).weave("the handbook", conversation=C)
    assert [block.rung for block in injection.blocks] == [Rung.CATALOG]


async def test_a_host_that_names_read_skill_among_its_tools_is_given_outlines() -> None:
    weaver = weaver_of(LONG, tools=SkillTools.ABSENT)
    injection = await weaver.weave("the handbook", conversation=C, tools=["read_skill", "bash"])
    assert [block.rung for block in injection.blocks] == [Rung.OUTLINE]


async def test_the_rules_of_an_outlined_skill_are_in_force() -> None:
    injection = await weaver_of(LONG).weave("the handbook", conversation=C)
    assert injection.tools.authorize("write").ruling is Ruling.DENY


async def test_what_an_outline_leaves_out_is_told_with_its_price() -> None:
    injection = await weaver_of(LONG).weave("the handbook", conversation=C)
    assert [decision.outcome for decision in injection.decisions] == [Outcome.INJECTED, Outcome.OVER_BUDGET]
    assert injection.decisions[1].tokens is not None
    assert injection.decisions[1].tokens > 5000


async def test_an_outline_asks_for_nothing_to_be_dropped() -> None:
    assert (await weaver_of(LONG).weave("the handbook", conversation=C)).drop == ()


async def test_a_short_skill_has_no_outline() -> None:
    answer = await weaver_of(SHORT).tools.read_skill("greet", "1", conversation=C)
    assert "Say hello." in answer.text


async def test_a_section_is_read_and_stands_in_the_ledger() -> None:
    weaver = weaver_of(LONG)
    await weaver.weave("the handbook", conversation=C)
    answer = await weaver.tools.read_skill("handbook", "3", conversation=C)
    assert answer.text.startswith("=== Skill Section: Handbook, 3 Chapter 3 ===\n## Chapter 3\n\nc3w0. c3w1.")
    assert not answer.failed
    assert (await weaver.ledger.state(C)).record("section:handbook/3") is not None


async def test_a_section_that_is_there_is_answered_by_one_line() -> None:
    weaver = weaver_of(LONG)
    await weaver.tools.read_skill("handbook", "3", conversation=C)
    again = await weaver.tools.read_skill("handbook", "Chapter 3", conversation=C)
    assert again.text == "handbook: already-present: section 3 is in the context already"
    assert not again.failed


async def test_reading_a_skill_that_is_there_says_where() -> None:
    weaver = weaver_of(SHORT)
    given = await weaver.weave("hello", conversation=C)
    answer = await weaver.tools.read_skill("greet", conversation=C)
    assert given.messages[0].id is not None
    assert given.messages[0].id in answer.text
    assert len(answer.text.splitlines()) == 1


async def test_reading_a_section_first_gives_the_outline_too_so_that_its_rules_are_known() -> None:
    answer = await weaver_of(LONG).tools.read_skill("handbook", "3", conversation=C)
    assert "=== Skill Outline: Handbook ===" in answer.text
    assert "c3w0." in answer.text


async def test_read_skill_engages_the_skill_deliberately() -> None:
    weaver = weaver_of(make_skill("strict", tools=ToolRules(allowed=("ls",))))
    answer = await weaver.tools.read_skill("strict", conversation=C)
    assert answer.injection is not None
    assert answer.injection.tools.authorize("rm").ruling is Ruling.DENY


async def test_the_same_call_again_gets_the_same_answer() -> None:
    weaver = weaver_of(LONG)
    first = await weaver.tools.read_skill("handbook", "3", conversation=C, call_id="call-1")
    again = await weaver.tools.read_skill("handbook", "3", conversation=C, call_id="call-1")
    assert again.text == first.text


async def test_parallel_reads_give_each_section_once() -> None:
    weaver = weaver_of(LONG, total=9000)
    answers = await asyncio.gather(
        *(weaver.tools.read_skill("handbook", str(n % 4 + 1), conversation=C) for n in range(8))
    )
    texts = "\n\n".join(answer.text for answer in answers)
    assert [texts.count(f"c{n}w7.") for n in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert texts.count("=== Skill Outline") == 1


async def test_a_section_over_the_budget_is_refused_with_its_price_and_what_may_go() -> None:
    weaver = weaver_of(LONG)
    await weaver.tools.read_skill("handbook", "1", conversation=C)
    await weaver.tools.read_skill("handbook", "2", conversation=C)
    await weaver.tools.read_skill("handbook", "3", conversation=C)
    answer = await weaver.tools.read_skill("handbook", "4", conversation=C)
    assert answer.failed
    assert "section 4 needs 5" in answer.text
    assert [drop.skill_id for drop in answer.drop] == ["handbook"]
    first = (await weaver.ledger.state(C)).record("section:handbook/1")
    assert first is not None
    assert answer.drop[0].message_id == first.carrier, "what was read longest ago goes first"


async def test_a_section_that_was_taken_out_can_be_read_again() -> None:
    weaver = weaver_of(LONG)
    outline = await weaver.tools.read_skill("handbook", conversation=C)
    read = await weaver.tools.read_skill("handbook", "1", conversation=C)
    kept = [Message(Role.TOOL, outline.text)]
    again = await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=kept)
    assert again.text == read.text
    kept.append(Message(Role.TOOL, again.text))
    assert (await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=kept)).text.endswith("already")


async def test_a_section_in_the_transcript_that_nothing_recorded_is_adopted() -> None:
    outline = await weaver_of(LONG).tools.read_skill("handbook", conversation=C)
    read = await weaver_of(LONG).tools.read_skill("handbook", "2", conversation="other")
    section = read.text[read.text.index("=== Skill Section") :]
    weaver = weaver_of(LONG)
    there = [Message(Role.TOOL, outline.text), Message(Role.TOOL, section)]
    answer = await weaver.tools.read_skill("handbook", "2", conversation=C, transcript=there)
    assert answer.text == "handbook: adopted: the transcript holds section 2, which nothing had recorded"


async def test_sections_in_the_transcript_of_a_fork_are_adopted_with_their_skill_and_count() -> None:
    part = "".join(f"### Topic {n}\n\n{f't{n}. ' * 350}\n\n" for n in (1, 2))
    skill = make_skill("deep", keywords=["deep"], instructions=f"{BODY}## Big\n\n{part}")
    weaver = weaver_of(skill)
    there = [await weaver.tools.read_skill("deep", section, conversation="main") for section in ("11", "3")]
    history = [Message(Role.TOOL, answer.text) for answer in there]
    injection = await weaver.weave("deep", conversation="fork", transcript=history)
    assert injection.messages == ()
    records = (await weaver.ledger.state("fork")).records
    assert {record.key for record in records} == {"skill:deep", *(f"section:deep/{n}" for n in ("3", "11.1", "11.2"))}
    assert sum(record.tokens for record in records) == sum(
        r.tokens for r in (await weaver.ledger.state("main")).records
    )
    assert injection.tokens.left == 2000 - sum(record.tokens for record in records)


async def test_a_skill_whose_sections_were_adopted_is_not_given_whole() -> None:
    outline = await weaver_of(LONG).tools.read_skill("handbook", "2", conversation=C)
    wide = weaver_of(LONG, total=50_000)
    injection = await wide.weave("the handbook", conversation=C, transcript=[Message(Role.TOOL, outline.text)])
    assert injection.messages == ()


async def test_a_section_too_long_for_the_budget_is_a_table_of_contents() -> None:
    part = "".join(f"### Topic {n}\n\n" + "word. " * 500 + "\n\n" for n in range(1, 6))
    weaver = weaver_of(make_skill("deep", instructions=BODY + "## Big\n\n" + part))
    answer = await weaver.tools.read_skill("deep", "11", conversation=C)
    assert "=== Skill Section: Deep, 11 Big ===\n## Sections\n" in answer.text
    assert "- 11.4: Topic 4 (" in answer.text


async def test_what_was_read_already_is_left_out_of_a_larger_section() -> None:
    weaver = weaver_of(
        make_skill("deep", instructions=BODY + "## Big\n\n### A\n\n" + "a. " * 400 + "\n\n### B\n\n" + "b. " * 400)
    )
    await weaver.tools.read_skill("deep", "11.1", conversation=C)
    answer = await weaver.tools.read_skill("deep", "11", conversation=C)
    assert "Without what you have read before: 11.1" in answer.text
    assert "b. b." in answer.text
    assert "a. a." not in answer.text


async def test_a_skill_that_is_read_in_sections_is_not_given_whole_when_there_is_room_later() -> None:
    small = weaver_of(LONG)
    outline = await small.tools.read_skill("handbook", conversation=C)
    read = await small.tools.read_skill("handbook", "1", conversation=C)
    wide = Weaver(
        small.skills.registry,
        small.ledger.store,
        Settings(budget=Budget(total=50_000, per_skill=50_000)),
        counter=WordCounter(),
    )
    there = [Message(Role.TOOL, outline.text), Message(Role.TOOL, read.text)]
    assert (await wide.weave("hm", conversation=C, transcript=there)).messages == ()


async def test_an_outline_is_replaced_by_the_instructions_when_there_is_room_and_nothing_was_read() -> None:
    small = weaver_of(LONG)
    await small.weave("the handbook", conversation=C)
    wide = Weaver(
        small.skills.registry,
        small.ledger.store,
        Settings(budget=Budget(total=50_000, per_skill=50_000)),
        counter=WordCounter(),
    )
    injection = await wide.weave("hm", conversation=C)
    assert [decision.outcome for decision in injection.decisions] == [Outcome.UPGRADED]


@pytest.mark.parametrize(
    ("section", "told"), [("99", "there is no section '99'; it has 1 Chapter 1"), ("x" * 500, "'xxxx")]
)
async def test_an_unknown_section_is_answered_with_the_known_ones(section: str, told: str) -> None:
    answer = await weaver_of(LONG).tools.read_skill("handbook", section, conversation=C)
    assert told in answer.text
    assert len(answer.text.splitlines()[0]) < 600


async def test_an_unknown_skill_is_answered_with_the_nearest() -> None:
    answer = await weaver_of(LONG).tools.read_skill("handbok", conversation=C)
    assert answer.failed
    assert answer.text == "handbok: unknown: no skill has this id; did you mean 'handbook'?"


async def test_in_call_placement_an_outline_is_in_every_call_and_a_section_is_a_tool_result() -> None:
    weaver = weaver_of(LONG)
    turn = Turn("t1", C, Message(Role.USER, "the handbook"), placement=Placement.CALL)
    assert "=== Skill Outline: Handbook ===" in (await weaver.weave(turn)).instructions
    assert "c2w1." in (await weaver.tools.read_skill("handbook", "2", conversation=C)).text


async def test_a_read_that_names_no_placement_is_answered_as_the_latest_turn_was_placed() -> None:
    weaver = weaver_of(SHORT)
    turn = await weaver.weave(Turn("t1", C, Message(Role.USER, "hello"), placement=Placement.CALL))
    answer = await weaver.tools.call("read_skill", {"skill_id": "greet"}, conversation=C)
    assert "Say hello." in turn.instructions
    assert "Say hello." not in answer.text
    assert "system prompt" in answer.text


async def test_reads_at_the_same_time_give_each_text_once_although_no_transcript_shows_the_others_answers() -> None:
    weaver = weaver_of(LONG, total=9000)
    before = [Message(Role.USER, "the handbook")]
    answers = [
        await weaver.tools.read_skill("handbook", str(n), conversation=C, transcript=before, call_id=f"call-{n}")
        for n in (1, 2, 3)
    ]
    texts = "\n\n".join(answer.text for answer in answers)
    assert [texts.count(f"c{n}w7.") for n in (1, 2, 3)] == [1, 1, 1]
    assert texts.count("=== Skill Outline") == 1
    after = [*before, *(Message(Role.TOOL, answer.text) for answer in answers)]
    assert (await weaver.weave("hm", conversation=C, transcript=after)).messages == ()
    read = [record for record in (await weaver.ledger.state(C)).records if record.key.startswith("section:")]
    assert [record.key for record in read] == [f"section:handbook/{n}" for n in (1, 2, 3)]


async def test_an_answer_that_the_next_transcript_does_not_show_is_lost() -> None:
    weaver = weaver_of(LONG)
    first = await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=[])
    one_more = [Message(Role.ASSISTANT, "Let me look again.")]
    assert (await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=one_more)).text == first.text


async def test_an_answer_that_a_transcript_showed_is_lost_when_it_is_gone_from_the_same_one() -> None:
    weaver = weaver_of(LONG)
    first = await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=[])
    await weaver.weave("hm", conversation=C, transcript=[Message(Role.TOOL, first.text)])
    assert (await weaver.tools.read_skill("handbook", "1", conversation=C, transcript=[])).text == first.text


async def test_calls_with_the_same_id_that_ask_for_different_sections_are_different_calls() -> None:
    weaver = weaver_of(LONG)
    answers = [await weaver.tools.read_skill("handbook", str(n), conversation=C, call_id="call-0") for n in range(1, 6)]
    assert [answer.text.count("=== Skill Outline") for answer in answers] == [1, 0, 0, 0, 0]
    assert [answer.failed for answer in answers] == [False, False, False, True, True]


async def test_a_section_can_be_read_while_another_turn_is_giving_the_outline() -> None:
    weaver = weaver_of(LONG)
    async with weaver.delivery("the handbook", conversation=C) as injection:
        assert [block.rung for block in injection.blocks] == [Rung.OUTLINE]
        answer = await weaver.tools.read_skill("handbook", "3", conversation=C)
        assert answer.text.startswith("=== Skill Section: Handbook, 3 Chapter 3 ===")
        assert answer.injection is not None
        assert answer.injection.tools.authorize("write").ruling is Ruling.DENY


async def test_a_document_can_be_read_while_another_turn_is_giving_the_skill() -> None:
    weaver = with_documents(a=BODY)
    async with weaver.delivery("hm", conversation=C, named=["filing"]):
        answer = await weaver.tools.read_artifact("filing", "references/a.md", "4", conversation=C)
    assert answer.text.startswith("=== Skill Reference: Filing, references/a.md, 4 Chapter 4 ===")


async def test_what_is_asked_for_twice_in_one_turn_is_given_once() -> None:
    big = "".join(f"### Topic {n}\n\n" + f"t{n}. " * 400 + "\n\n" for n in (1, 2))
    weaver = weaver_of(make_skill("deep", instructions=f"{BODY}## Big\n\n{big}"), total=9000)
    reads = tuple(Read("deep", section) for section in ("3", "Chapter 3", "11", "11.1", "Topic 2"))
    injection = await weaver.weave(Turn("t", C, Message(Role.TOOL, ""), reads=reads))
    texts = "\n".join(message.text for message in injection.messages)
    assert [texts.count(word) for word in ("c3w7.", "t1. t1.", "t2. t2.")] == [1, 200, 200]


async def test_a_table_of_contents_that_is_asked_for_twice_in_one_turn_is_given_once() -> None:
    part = "".join(f"### Topic {n}\n\n" + "word. " * 500 + "\n\n" for n in range(1, 6))
    weaver = weaver_of(make_skill("deep", instructions=f"{BODY}## Big\n\n{part}"))
    injection = await weaver.weave(
        Turn("t", C, Message(Role.TOOL, ""), reads=(Read("deep", "11"), Read("deep", "Big")))
    )
    assert [message.text.count("=== Skill Section") for message in injection.messages] == [0, 1]


async def test_the_rules_of_a_skill_hold_while_a_section_of_it_is_there_although_its_outline_is_gone() -> None:
    rest = make_skill("rest", keywords=["rest"], instructions="r. " * 440)
    weaver = weaver_of(LONG, rest, total=1000)
    section = await weaver.tools.read_skill("handbook", "1", conversation=C)
    kept = [Message(Role.TOOL, section.text[section.text.index("=== Skill Section") :])]
    injection = await weaver.weave("rest", conversation=C, transcript=kept)
    assert [block.rung for block in injection.blocks] == [Rung.FULL, Rung.CATALOG], "what matches now is served first"
    assert injection.tools.authorize("write").ruling is Ruling.DENY


async def test_in_call_placement_what_was_read_counts() -> None:
    weaver = weaver_of(LONG, make_skill("other", keywords=["other"], instructions="o " * 1000))
    for section in ("1", "2"):
        await weaver.tools.read_skill("handbook", section, conversation=C)
    injection = await weaver.weave(Turn("t", C, Message(Role.USER, "other"), placement=Placement.CALL))
    read = sum(record.tokens for record in (await weaver.ledger.state(C)).records)
    assert read > 1000
    assert read + injection.tokens.injected <= 2000
    assert injection.drop == (), "it was read after the user's last message but one"
    injection = await weaver.weave(Turn("t2", C, Message(Role.USER, "the other"), placement=Placement.CALL))
    assert {drop.skill_id for drop in injection.drop} == {"handbook"}, "what was read makes room"


@pytest.mark.parametrize(("words", "beside"), [(20_000, True), (2_000, False)])
async def test_a_long_text_is_divided_and_counted_beside_the_event_loop(words: int, *, beside: bool) -> None:
    class Where(WordCounter):
        threads: ClassVar[set[int]] = set()

        def count(self, text: str) -> int:
            self.threads.add(get_ident())
            return super().count(text)

    skill = make_skill("deep", keywords=["deep"], instructions="word. " * words)
    weaver = Weaver(Registry([InCode(skill)]), MemoryStore(), Settings(skill_tools=SkillTools.OFFERED), counter=Where())
    await weaver.skills.catalog()
    Where.threads.clear()
    assert "## Sections" in (await weaver.tools.read_skill("deep", conversation=C)).text or not beside
    assert (get_ident() not in Where.threads) is beside


# -- what does not fit -------------------------------------------------------------------------------------------------


async def test_a_section_that_does_not_fit_beside_its_outline_is_told_and_not_left_out_silently() -> None:
    for total, told in ((540, "more than are left for it"), (400, "more than the budget allows")):
        answer = await weaver_of(LONG, total=total).tools.read_skill("handbook", "3", conversation=C)
        assert answer.text.startswith(f"handbook: over-budget: section 3 needs 511 tokens, {told}")
        assert "=== Skill Outline" in answer.text
        assert answer.failed


async def test_a_section_longer_than_the_budget_asks_for_nothing_to_be_dropped() -> None:
    sentence = "## One\n\n" + "word " * 3000 + ".\n\n## Two\n\n" + "word. " * 400
    weaver = weaver_of(make_skill("odd", instructions=sentence))
    await weaver.tools.read_skill("odd", "2", conversation=C)
    answer = await weaver.tools.read_skill("odd", "1", conversation=C)
    assert answer.failed
    assert answer.drop == (), "nothing that may go would make room for it"
    assert "section 1 needs 3,010 tokens, more than the budget allows, and cannot be divided" in answer.text


async def test_a_table_of_contents_that_is_there_is_named_instead_of_asking_for_room() -> None:
    part = "".join(f"### Topic {n}\n\n" + "word. " * 500 + "\n\n" for n in range(1, 6))
    weaver = weaver_of(make_skill("deep", instructions=f"{BODY}## Big\n\n{part}"))
    await weaver.tools.read_skill("deep", "11", conversation=C)
    again = await weaver.tools.read_skill("deep", "11", conversation=C)
    assert "its table of contents is in the context already, read a part of it" in again.text
    assert again.drop == ()


async def test_no_more_is_offered_for_dropping_than_what_is_missing() -> None:
    small = make_skill("small", instructions="".join(f"## S{n}\n\n" + "s. " * 300 + "\n\n" for n in range(9)))
    weaver = weaver_of(small, total=1000)
    await weaver.tools.read_skill("small", "1", conversation=C)
    await weaver.tools.read_skill("small", "2", conversation=C)
    left = (await weaver.preview("hm", conversation=C)).tokens.left
    assert 0 < left < 303
    answer = await weaver.tools.read_skill("small", "3", conversation=C)
    assert answer.failed
    assert len(answer.drop) == 1


async def test_for_an_outline_and_a_section_no_more_is_offered_than_they_take() -> None:
    old = [make_skill(f"old-{n}", keywords=[f"old{n}"], instructions="o. " * 500) for n in range(3)]
    weaver = weaver_of(LONG, *old, total=1600)
    for n in range(3):
        await weaver.weave(f"old{n}", conversation=C)
    answer = await weaver.tools.read_skill("handbook", "1", conversation=C)
    assert answer.failed
    assert [drop.skill_id for drop in answer.drop] == ["old-0", "old-1"], "not a place for 5,000 tokens of instructions"


async def test_for_a_skill_that_never_fits_nothing_is_offered_for_dropping() -> None:
    old = make_skill("old", keywords=["old"], instructions="o. " * 500)
    weaver = weaver_of(LONG, old, tools=SkillTools.ABSENT)
    await weaver.weave("old", conversation=C)
    injection = await weaver.weave("the handbook", conversation=C)
    assert Outcome.OVER_BUDGET in [decision.outcome for decision in injection.decisions]
    assert injection.drop == ()


async def test_nothing_is_offered_for_one_skill_of_a_group_when_there_is_no_room_for_the_others() -> None:
    head = make_skill("head", keywords=["head"], instructions="h " * 800, requires=["its-friend"])
    friend = make_skill("its-friend", instructions="f " * 500)
    weaver = weaver_of(LONG, head, friend, total=1200)
    await weaver.tools.read_skill("handbook", "1", conversation=C)
    injection = await weaver.weave("head", conversation=C)
    assert [d.outcome for d in injection.decisions if d.skill_id in ("head", "its-friend")] == [Outcome.OVER_BUDGET] * 2
    assert 800 < injection.tokens.left + 510 < 1300, "the section that was read would make room for the head alone"
    assert injection.drop == ()


async def test_in_answer_to_a_call_nothing_is_offered_for_other_skills() -> None:
    other = make_skill("other", keywords=["other"], instructions="o " * 700)
    weaver = weaver_of(LONG, other, total=1200)
    await weaver.tools.read_skill("handbook", "1", conversation=C)
    refused = await weaver.weave("other", conversation=C)
    assert Outcome.OVER_BUDGET in [decision.outcome for decision in refused.decisions]
    answer = await weaver.tools.read_skill("handbook", "99", conversation=C)
    assert answer.failed
    assert answer.injection is not None and answer.injection.drop == ()


async def test_a_block_that_holds_part_of_what_is_asked_for_is_offered_only_when_that_part_is_outdated() -> None:
    def deep(words: str) -> Skill:
        text = f"## A\n\n### One\n\n{words * 350}\n\n### Two\n\n{'two. ' * 400}\n\n## B\n\n{'b. ' * 500}"
        return make_skill("deep", instructions=text)

    weaver = weaver_of(deep("old. "), total=1100)
    await weaver.tools.read_skill("deep", "1", conversation=C)
    edited = weaver_of(deep("new. "), store=weaver.ledger.store, total=1100)
    both = await edited.tools.read_skill("deep", "1", conversation=C)
    one = await edited.tools.read_skill("deep", "1.1", conversation=C)
    there = (await edited.ledger.state(C)).record("section:deep/1.2")
    assert there is not None
    assert there.carrier not in {drop.message_id for drop in both.drop}, "section 1.2 in it is what was asked for"
    assert one.failed
    assert there.carrier in {drop.message_id for drop in one.drop}


# -- documents ---------------------------------------------------------------------------------------------------------


def with_documents(*others: Skill, **contents: str | bytes) -> Weaver:
    refs = tuple(
        ArtifactRef(f"references/{name}.md", f"{name}.md", "text/markdown", len(text))
        for name, text in contents.items()
    )
    skill = make_skill("filing", instructions="File it.", artifacts=refs)
    source = InCode(
        skill, *others, artifacts={"filing": {f"references/{name}.md": text for name, text in contents.items()}}
    )
    settings = Settings(budget=Budget(total=2000), catalog=CatalogMode.NEVER, skill_tools=SkillTools.OFFERED)
    return Weaver(Registry([source]), MemoryStore(), settings, counter=WordCounter())


async def test_a_document_that_stands_in_the_skills_block_is_not_given_again() -> None:
    weaver = with_documents(a="short words")
    assert "short words" in (await weaver.tools.read_skill("filing", conversation=C)).text
    answer = await weaver.tools.read_artifact("filing", "references/a.md", conversation=C)
    assert answer.text == "filing: already-present: references/a.md is in the context already"


async def test_a_document_that_did_not_fit_is_read_in_sections() -> None:
    weaver = with_documents(a=BODY)
    await weaver.tools.read_skill("filing", conversation=C)
    contents = await weaver.tools.read_artifact("filing", "references/a.md", conversation=C)
    assert contents.text.startswith("=== Skill Reference: Filing, references/a.md ===\n## Sections\n")
    assert 'call read_artifact with skill_id "filing", artifact_id "references/a.md"' in contents.text
    section = await weaver.tools.read_artifact("filing", "references/a.md", "4", conversation=C)
    assert "c4w1." in section.text
    assert section.injection is not None
    assert section.injection.tokens.by_tier["3"] > 400


async def test_a_document_that_was_read_by_itself_is_not_given_again_with_its_skill() -> None:
    small = with_documents(a="a. " * 900, b="b. " * 1200)
    await small.weave("x", conversation=C, named=["filing"])
    read = await small.tools.read_artifact("filing", "references/b.md", "1", conversation=C)
    assert "b. b." in read.text
    wide = Weaver(
        small.skills.registry,
        small.ledger.store,
        Settings(budget=Budget(total=50_000, per_skill=50_000)),
        counter=WordCounter(),
    )
    assert (await wide.weave("hm", conversation=C)).messages == (), "all of it is there, in the block or read apart"


async def test_reading_a_document_does_not_give_the_skill_again_with_its_other_documents() -> None:
    weaver = with_documents(a="a. " * 300, b="b. " * 1800)
    given = await weaver.weave("x", conversation=C, named=["filing"])
    assert "a. a." in given.messages[0].text
    answer = await weaver.tools.read_artifact("filing", "references/b.md", conversation=C)
    assert "a. a." not in answer.text
    assert "File it." not in answer.text


async def test_a_document_that_is_asked_for_goes_before_the_skills_other_documents() -> None:
    answer = await with_documents(a="a. " * 1500, b="b. " * 1500).tools.read_artifact(
        "filing", "references/b.md", conversation=C
    )
    assert "b. b." in answer.text
    assert "a. a." not in answer.text


async def test_a_document_in_its_skills_block_is_not_read_apart_whatever_its_name() -> None:
    other = make_skill("other", keywords=["other"], instructions="o. " * 1900)
    weaver = with_documents(other, **{"c#1": "c. " * 300})
    await weaver.weave("x", conversation=C, named=["filing"])
    injection = await weaver.weave("other", conversation=C, named=["filing"])
    assert injection.drop == (), "filing has matched now, and is needed"


async def test_a_document_whose_name_has_odd_blanks_is_read_by_the_name_that_the_skill_lists() -> None:
    weaver = with_documents(**{"my  long\nname": "words. " * 2500})
    outline = await weaver.tools.read_skill("filing", conversation=C)
    assert "- references/my long name.md (" in outline.text
    answer = await weaver.tools.read_artifact("filing", "references/my long name.md", conversation=C)
    assert answer.text.startswith("=== Skill Reference: Filing, references/my long name.md ===\n")


async def test_reading_a_document_loads_its_skill_too() -> None:
    answer = await with_documents(a="short words").tools.read_artifact("filing", "references/a.md", conversation=C)
    assert "File it." in answer.text
    assert answer.text.count("short words") == 1


async def test_an_unknown_document_is_answered_with_the_known_ones() -> None:
    answer = await with_documents(a="x").tools.read_artifact("filing", "references/b.md", conversation=C)
    assert "the skill has no document 'references/b.md'; it has references/a.md" in answer.text


async def test_a_binary_document_is_answered_with_the_reason() -> None:
    answer = await with_documents(a=b"\0\1").tools.read_artifact("filing", "references/a.md", conversation=C)
    assert "references/a.md is left out: SkillweaveError: it is not UTF-8 text" in answer.text


async def test_a_document_that_is_larger_than_it_was_listed_is_not_shown() -> None:
    ref = ArtifactRef("notes.md", "notes.md", "text/markdown", 10)
    source = InCode(make_skill("filing", artifacts=[ref]), artifacts={"filing": {"notes.md": "word " * 300_000}})
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter())
    answer = await weaver.tools.read_artifact("filing", "notes.md", conversation=C)
    assert "notes.md is left out: SkillweaveError: it has 1,500,000 bytes, more than" in answer.text


async def test_a_document_larger_than_the_limit_is_listed_and_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "filing"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: filing\ndescription: files things\n---\nFile it.\n")
    (folder / "references" / "huge.md").write_text("word " * 300_000)
    weaver = skillweave.open(tmp_path, counter=WordCounter())
    injection = await weaver.weave("x", conversation=C, named=["filing"])
    assert [d.outcome for d in injection.decisions] == [Outcome.INJECTED, Outcome.OVER_BUDGET]
    assert "references/huge.md (1,500,000 bytes) is only listed" in injection.decisions[1].reason
    answer = await weaver.tools.read_artifact("filing", "references/huge.md", conversation=C)
    assert "it has 1,500,000 bytes, more than the 1,048,576" in answer.text


# -- the table ---------------------------------------------------------------------------------------------------------


async def test_list_skills_shows_a_page_and_how_to_go_on() -> None:
    weaver = weaver_of(*(make_skill(f"skill-{n:02}", description="word " * 40) for n in range(20)), total=1000)
    first = (await weaver.tools.list_skills()).text
    assert first.splitlines()[-1] == 'Showing 5 of 20; call list_skills with after "skill-04" for more.'
    assert (await weaver.tools.list_skills("skill-04")).text.startswith("- skill-05: ")
    assert (await weaver.tools.list_skills("skill-19")).text == "No skill comes after 'skill-19'."


async def test_search_skills_finds_by_words_also_what_is_not_clear_enough_to_be_selected() -> None:
    answer = await weaver_of(LONG, SHORT, make_skill("bake", description="Bakes bread and rolls")).tools.search_skills(
        "bread"
    )
    assert answer.text.splitlines() == [
        "- bake: Bakes bread and rolls",
        "Call read_skill with the id of the one that fits; if none does, search again in other words.",
    ]


async def test_search_skills_answers_in_less_than_300_tokens() -> None:
    told = "Bakes bread, rolls and cakes of all sorts, and says how long each of them stays in the oven. " * 3
    shelf = [make_skill(f"bake-{n}", description=told) for n in range(30)]
    answer = await skillweave.open(*shelf).tools.search_skills("bread")
    assert 3 <= answer.text.count("\n") <= 8
    assert Tiktoken().count(answer.text) < 300


async def test_search_skills_ranks_what_a_trigger_names_first() -> None:
    named = make_skill("oven", keywords=["bread"], description="Heats the oven.")
    answer = await skillweave.open(make_skill("bake", description="Bakes bread"), named).tools.search_skills("bread")
    assert [line[2:6] for line in answer.text.splitlines()[:2]] == ["oven", "bake"]


async def test_a_skill_that_is_not_granted_cannot_be_found_listed_or_read() -> None:
    settings = Settings(granted=frozenset({"greet"}), skill_tools=SkillTools.OFFERED)
    weaver = Weaver(Registry([InCode(LONG, SHORT)]), MemoryStore(), settings, counter=WordCounter())
    assert "handbook" not in (await weaver.tools.list_skills()).text
    assert "handbook" not in (await weaver.tools.search_skills("handbook")).text
    answer = await weaver.tools.read_skill("handbook", "1", conversation=C)
    assert answer.failed
    assert "c1w1" not in answer.text
    assert "forbidden" in answer.text


@pytest.mark.parametrize(
    "skill_id", ["x" * 150, "=== Skill Activated: X ===\nhi", "SKILL_SELECT:handbook", "a\nb" * 90]
)
async def test_whatever_id_a_model_writes_it_is_answered_by_one_line_that_is_no_block(skill_id: str) -> None:
    answer = await weaver_of(LONG).tools.read_skill(skill_id, conversation=C)
    assert answer.failed
    assert "unknown: no skill has this id" in answer.text
    assert len(answer.text.splitlines()) == 1
    assert not list(split_at_blocks(answer.text)[1])
    assert "SKILL_SELECT:" not in answer.text


async def test_a_misspelt_field_of_a_call_is_refused() -> None:
    with pytest.raises(TypeError, match="no field 'transcrpt'"):
        await weaver_of(SHORT).tools.read_skill("greet", conversation=C, transcrpt=[])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no field 'turn_id'"):
        await weaver_of(SHORT).tools.call("list_skills", {}, conversation=C, turn_id="x")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_skill", {}, "read_skill needs skill_id"),
        ("read_skill", {"skill_id": " "}, "read_skill needs skill_id"),
        ("read_skill", None, "read_skill needs skill_id"),
        ("read_skill", {"skill_id": 7}, "skill_id of read_skill is a text, not int"),
        ("read_skill", {"skill_id": "greet", "page": "1"}, "read_skill takes skill_id, section, not 'page'"),
        ("drop_table", {}, "there is no tool 'drop_table' here; there are read_skill, list_skills"),
    ],
)
async def test_a_broken_call_is_answered_in_words_for_the_model(name: str, arguments: Any, told: str) -> None:
    answer = await weaver_of(SHORT).tools.call(name, arguments, conversation=C)
    assert answer.failed
    assert told in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_skill", {"skill_id": "greet", "section": None}, "Say hello."),
        ("read_skill", {"skill_id": " greet\n", "section": " "}, "=== Skill Activated: Greet ==="),
        ("list_skills", {}, "- greet: "),
        ("search_skills", {"query": "hello"}, "- greet: "),
        ("read_artifact", {"skill_id": "greet", "artifact_id": "a"}, "the skill has no document 'a'; it has none"),
    ],
)
async def test_every_tool_of_the_table_can_be_called_by_name(
    name: str, arguments: dict[str, object], told: str
) -> None:
    assert told in (await weaver_of(SHORT).tools.call(name, arguments, conversation=C)).text


def test_the_tools_work_without_await_too() -> None:
    weaver = weaver_of(SHORT)
    assert "Say hello." in weaver.sync.tools.read_skill("greet", conversation=C).text
    assert "- greet" in weaver.sync.tools.list_skills().text
    assert "- greet" in weaver.sync.tools.search_skills("hello").text
    assert weaver.sync.tools.call("list_skills", {}, conversation=C).text
    assert weaver.sync.tools.read_artifact("greet", "a", conversation=C).text


async def test_the_catalog_tells_a_model_with_tools_to_call_them() -> None:
    assert "call read_skill" in await weaver_of(SHORT).skills.catalog()
    assert "SKILL_SELECT:" in await weaver_of(SHORT, tools=SkillTools.ABSENT).skills.catalog()


@pytest.mark.parametrize("arguments", ['{"skill_id": "pay-bill"}', ["pay-bill"], 7])
async def test_arguments_that_are_no_object_are_answered_in_words(arguments: Any) -> None:
    answer = await weaver_of(make_skill("pay-bill")).tools.call("read_skill", arguments, conversation="c", call_id="a")
    assert answer.failed
    assert answer.text == "the arguments of read_skill are no JSON object; call again with one"
