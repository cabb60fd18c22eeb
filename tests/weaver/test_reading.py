import asyncio
from pathlib import Path

import pytest

import skillweave
from skillweave.compose.verdict import Ruling
from skillweave.conversation import Message, Placement, Role, Turn
from skillweave.decisions import Outcome
from skillweave.disclose.budget import Budget
from skillweave.disclose.rung import Rung
from skillweave.disclose.skill_tools import SkillTools
from skillweave.registry import Registry
from skillweave.settings import CatalogMode, Settings
from skillweave.skill import ArtifactRef, Skill, ToolRules
from skillweave.sources.code import InCode
from skillweave.stores.memory import MemoryStore
from skillweave.testing.fakes import WordCounter
from skillweave.weaver import Weaver
from tests.skills import make_skill

C = "c"


def chapter(number: int, words: int) -> str:
    return f"## Chapter {number}\n\n" + " ".join(f"c{number}w{n}." for n in range(words)) + "\n\n"


BODY = "".join(chapter(number, 500) for number in range(1, 11))
LONG = make_skill("handbook", keywords=["handbook"], instructions=BODY, tools=ToolRules(forbidden=("write",)))
SHORT = make_skill("greet", keywords=["hello"], instructions="Say hello.")


def weaver_of(*skills: Skill, total: int = 2000, tools: SkillTools = SkillTools.OFFERED) -> Weaver:
    settings = Settings(budget=Budget(total=total, per_skill=total), skill_tools=tools, catalog=CatalogMode.NEVER)
    return Weaver(Registry([InCode(*skills)]), MemoryStore(), settings, counter=WordCounter())


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
    answer = await weaver_of(SHORT).read_skill("greet", "1", conversation=C)
    assert "Say hello." in answer.text


async def test_a_section_is_read_and_stands_in_the_ledger() -> None:
    weaver = weaver_of(LONG)
    await weaver.weave("the handbook", conversation=C)
    answer = await weaver.read_skill("handbook", "3", conversation=C)
    assert answer.text.startswith("=== Skill Section: Handbook, 3 Chapter 3 ===\n## Chapter 3\n\nc3w0. c3w1.")
    assert not answer.failed
    assert (await weaver.state(C)).record("section:handbook/3") is not None


async def test_a_section_that_is_there_is_answered_by_one_line() -> None:
    weaver = weaver_of(LONG)
    await weaver.read_skill("handbook", "3", conversation=C)
    again = await weaver.read_skill("handbook", "Chapter 3", conversation=C)
    assert again.text == "handbook: already-present: section 3 is in the context already"
    assert not again.failed


async def test_reading_a_skill_that_is_there_says_where() -> None:
    weaver = weaver_of(SHORT)
    given = await weaver.weave("hello", conversation=C)
    answer = await weaver.read_skill("greet", conversation=C)
    assert given.messages[0].id is not None
    assert given.messages[0].id in answer.text
    assert len(answer.text.splitlines()) == 1


async def test_reading_a_section_first_gives_the_outline_too_so_that_its_rules_are_known() -> None:
    answer = await weaver_of(LONG).read_skill("handbook", "3", conversation=C)
    assert "=== Skill Outline: Handbook ===" in answer.text
    assert "c3w0." in answer.text


async def test_read_skill_engages_the_skill_deliberately() -> None:
    weaver = weaver_of(make_skill("strict", tools=ToolRules(allowed=("ls",))))
    answer = await weaver.read_skill("strict", conversation=C)
    assert answer.injection is not None
    assert answer.injection.tools.authorize("rm").ruling is Ruling.DENY


async def test_the_same_call_again_gets_the_same_answer() -> None:
    weaver = weaver_of(LONG)
    first = await weaver.read_skill("handbook", "3", conversation=C, call_id="call-1")
    again = await weaver.read_skill("handbook", "3", conversation=C, call_id="call-1")
    assert again.text == first.text


async def test_parallel_reads_give_each_section_once() -> None:
    weaver = weaver_of(LONG, total=9000)
    answers = await asyncio.gather(*(weaver.read_skill("handbook", str(n % 4 + 1), conversation=C) for n in range(8)))
    texts = "\n\n".join(answer.text for answer in answers)
    assert [texts.count(f"c{n}w7.") for n in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert texts.count("=== Skill Outline") == 1


async def test_a_section_over_the_budget_is_refused_with_its_price_and_what_may_go() -> None:
    weaver = weaver_of(LONG)
    await weaver.read_skill("handbook", "1", conversation=C)
    await weaver.read_skill("handbook", "2", conversation=C)
    await weaver.read_skill("handbook", "3", conversation=C)
    answer = await weaver.read_skill("handbook", "4", conversation=C)
    assert answer.failed
    assert "section 4 needs 5" in answer.text
    assert [drop.skill_id for drop in answer.drop] == ["handbook"]
    first = (await weaver.state(C)).record("section:handbook/1")
    assert first is not None
    assert answer.drop[0].message_id == first.carrier, "what was read longest ago goes first"


async def test_a_section_that_was_taken_out_can_be_read_again() -> None:
    weaver = weaver_of(LONG)
    outline = await weaver.read_skill("handbook", conversation=C)
    read = await weaver.read_skill("handbook", "1", conversation=C)
    kept = [Message(Role.TOOL, outline.text)]
    again = await weaver.read_skill("handbook", "1", conversation=C, transcript=kept)
    assert again.text == read.text
    kept.append(Message(Role.TOOL, again.text))
    assert (await weaver.read_skill("handbook", "1", conversation=C, transcript=kept)).text.endswith("already")


async def test_a_section_in_the_transcript_that_nothing_recorded_is_adopted() -> None:
    outline = await weaver_of(LONG).read_skill("handbook", conversation=C)
    read = await weaver_of(LONG).read_skill("handbook", "2", conversation="other")
    section = read.text[read.text.index("=== Skill Section") :]
    weaver = weaver_of(LONG)
    there = [Message(Role.TOOL, outline.text), Message(Role.TOOL, section)]
    answer = await weaver.read_skill("handbook", "2", conversation=C, transcript=there)
    assert answer.text == "handbook: adopted: the transcript holds section 2, which nothing had recorded"


async def test_a_section_too_long_for_the_budget_is_a_table_of_contents() -> None:
    part = "".join(f"### Topic {n}\n\n" + "word. " * 500 + "\n\n" for n in range(1, 6))
    weaver = weaver_of(make_skill("deep", instructions=BODY + "## Big\n\n" + part))
    answer = await weaver.read_skill("deep", "11", conversation=C)
    assert "=== Skill Section: Deep, 11 Big ===\n## Sections\n" in answer.text
    assert "- 11.4: Topic 4 (" in answer.text


async def test_what_was_read_already_is_left_out_of_a_larger_section() -> None:
    weaver = weaver_of(
        make_skill("deep", instructions=BODY + "## Big\n\n### A\n\n" + "a. " * 400 + "\n\n### B\n\n" + "b. " * 400)
    )
    await weaver.read_skill("deep", "11.1", conversation=C)
    answer = await weaver.read_skill("deep", "11", conversation=C)
    assert "Without what you have read before: 11.1" in answer.text
    assert "b. b." in answer.text
    assert "a. a." not in answer.text


async def test_a_skill_that_is_read_in_sections_is_not_given_whole_when_there_is_room_later() -> None:
    small = weaver_of(LONG)
    outline = await small.read_skill("handbook", conversation=C)
    read = await small.read_skill("handbook", "1", conversation=C)
    wide = Weaver(
        small.registry, small.store, Settings(budget=Budget(total=50_000, per_skill=50_000)), counter=WordCounter()
    )
    there = [Message(Role.TOOL, outline.text), Message(Role.TOOL, read.text)]
    assert (await wide.weave("hm", conversation=C, transcript=there)).messages == ()


async def test_an_outline_is_replaced_by_the_instructions_when_there_is_room_and_nothing_was_read() -> None:
    small = weaver_of(LONG)
    await small.weave("the handbook", conversation=C)
    wide = Weaver(
        small.registry, small.store, Settings(budget=Budget(total=50_000, per_skill=50_000)), counter=WordCounter()
    )
    injection = await wide.weave("hm", conversation=C)
    assert [decision.outcome for decision in injection.decisions] == [Outcome.UPGRADED]


@pytest.mark.parametrize(
    ("section", "told"), [("99", "there is no section '99'; it has 1 Chapter 1"), ("x" * 500, "'xxxx")]
)
async def test_an_unknown_section_is_answered_with_the_known_ones(section: str, told: str) -> None:
    answer = await weaver_of(LONG).read_skill("handbook", section, conversation=C)
    assert told in answer.text
    assert len(answer.text.splitlines()[0]) < 600


async def test_an_unknown_skill_is_answered_with_the_nearest() -> None:
    answer = await weaver_of(LONG).read_skill("handbok", conversation=C)
    assert answer.failed
    assert answer.text == "handbok: unknown: no skill has this id; did you mean 'handbook'?"


async def test_in_call_placement_an_outline_is_in_every_call_and_a_section_is_a_tool_result() -> None:
    weaver = weaver_of(LONG)
    turn = Turn("t1", C, Message(Role.USER, "the handbook"), placement=Placement.CALL)
    assert "=== Skill Outline: Handbook ===" in (await weaver.weave(turn)).instructions
    assert "c2w1." in (await weaver.read_skill("handbook", "2", conversation=C)).text


# -- documents ---------------------------------------------------------------------------------------------------------


def with_documents(**contents: str | bytes) -> Weaver:
    refs = tuple(
        ArtifactRef(f"references/{name}.md", f"{name}.md", "text/markdown", len(text))
        for name, text in contents.items()
    )
    skill = make_skill("filing", instructions="File it.", artifacts=refs)
    source = InCode(skill, artifacts={"filing": {f"references/{name}.md": text for name, text in contents.items()}})
    settings = Settings(budget=Budget(total=2000), catalog=CatalogMode.NEVER, skill_tools=SkillTools.OFFERED)
    return Weaver(Registry([source]), MemoryStore(), settings, counter=WordCounter())


async def test_a_document_that_stands_in_the_skills_block_is_not_given_again() -> None:
    weaver = with_documents(a="short words")
    assert "short words" in (await weaver.read_skill("filing", conversation=C)).text
    answer = await weaver.read_artifact("filing", "references/a.md", conversation=C)
    assert answer.text == "filing: already-present: references/a.md is in the context already"


async def test_a_document_that_did_not_fit_is_read_in_sections() -> None:
    weaver = with_documents(a=BODY)
    await weaver.read_skill("filing", conversation=C)
    contents = await weaver.read_artifact("filing", "references/a.md", conversation=C)
    assert contents.text.startswith("=== Skill Reference: Filing, references/a.md ===\n## Sections\n")
    assert 'call read_artifact with skill_id "filing", artifact_id "references/a.md"' in contents.text
    section = await weaver.read_artifact("filing", "references/a.md", "4", conversation=C)
    assert "c4w1." in section.text
    assert section.injection is not None
    assert section.injection.tokens.by_tier["3"] > 400


async def test_reading_a_document_loads_its_skill_too() -> None:
    answer = await with_documents(a="short words").read_artifact("filing", "references/a.md", conversation=C)
    assert "File it." in answer.text
    assert answer.text.count("short words") == 1


async def test_an_unknown_document_is_answered_with_the_known_ones() -> None:
    answer = await with_documents(a="x").read_artifact("filing", "references/b.md", conversation=C)
    assert "the skill has no document 'references/b.md'; it has references/a.md" in answer.text


async def test_a_binary_document_is_answered_with_the_reason() -> None:
    answer = await with_documents(a=b"\0\1").read_artifact("filing", "references/a.md", conversation=C)
    assert "references/a.md is left out: SkillweaveError: it is no UTF-8 text" in answer.text


async def test_a_document_larger_than_the_limit_is_listed_and_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "filing"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: filing\ndescription: files things\n---\nFile it.\n")
    (folder / "references" / "huge.md").write_text("word " * 300_000)
    weaver = skillweave.open(tmp_path, counter=WordCounter())
    injection = await weaver.weave("x", conversation=C, named=["filing"])
    assert [d.outcome for d in injection.decisions] == [Outcome.INJECTED, Outcome.OVER_BUDGET]
    assert "references/huge.md (1,500,000 bytes) is only listed" in injection.decisions[1].reason
    answer = await weaver.read_artifact("filing", "references/huge.md", conversation=C)
    assert "it has 1,500,000 bytes, more than the 1,048,576" in answer.text


# -- the table ---------------------------------------------------------------------------------------------------------


async def test_list_skills_shows_a_page_and_how_to_go_on() -> None:
    weaver = weaver_of(*(make_skill(f"skill-{n:02}", description="word " * 40) for n in range(20)), total=1000)
    first = (await weaver.list_skills()).text
    assert first.splitlines()[-1] == 'Showing 5 of 20; call list_skills with after "skill-04" for more.'
    assert (await weaver.list_skills("skill-04")).text.startswith("- skill-05: ")
    assert (await weaver.list_skills("skill-19")).text == "No skill comes after 'skill-19'."


async def test_search_skills_finds_by_words_also_what_is_not_clear_enough_to_be_selected() -> None:
    answer = await weaver_of(LONG, SHORT, make_skill("bake", description="Bakes bread and rolls")).search_skills(
        "bread"
    )
    assert answer.text == "- bake: Bakes bread and rolls"


async def test_a_skill_that_is_not_granted_cannot_be_found_listed_or_read() -> None:
    settings = Settings(granted=frozenset({"greet"}), skill_tools=SkillTools.OFFERED)
    weaver = Weaver(Registry([InCode(LONG, SHORT)]), MemoryStore(), settings, counter=WordCounter())
    assert "handbook" not in (await weaver.list_skills()).text
    assert "handbook" not in (await weaver.search_skills("handbook")).text
    answer = await weaver.read_skill("handbook", "1", conversation=C)
    assert answer.failed
    assert "c1w1" not in answer.text
    assert "forbidden" in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_skill", {}, "read_skill needs skill_id"),
        ("read_skill", {"skill_id": 7}, "skill_id of read_skill is a text, not int"),
        ("read_skill", {"skill_id": "greet", "page": "1"}, "read_skill takes skill_id, section, not 'page'"),
        ("drop_table", {}, "there is no tool 'drop_table' here; there are read_skill, list_skills"),
    ],
)
async def test_a_broken_call_is_answered_in_words_for_the_model(
    name: str, arguments: dict[str, object], told: str
) -> None:
    answer = await weaver_of(SHORT).call_tool(name, arguments, conversation=C)
    assert answer.failed
    assert told in answer.text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_skill", {"skill_id": "greet", "section": None}, "Say hello."),
        ("list_skills", {}, "- greet: "),
        ("search_skills", {"query": "hello"}, "- greet: "),
        ("read_artifact", {"skill_id": "greet", "artifact_id": "a"}, "the skill has no document 'a'; it has none"),
    ],
)
async def test_every_tool_of_the_table_can_be_called_by_name(
    name: str, arguments: dict[str, object], told: str
) -> None:
    assert told in (await weaver_of(SHORT).call_tool(name, arguments, conversation=C)).text


def test_the_tools_work_without_await_too() -> None:
    weaver = weaver_of(SHORT)
    assert "Say hello." in weaver.sync.read_skill("greet", conversation=C).text
    assert "- greet" in weaver.sync.list_skills().text
    assert "- greet" in weaver.sync.search_skills("hello").text
    assert weaver.sync.call_tool("list_skills", {}, conversation=C).text
    assert weaver.sync.read_artifact("greet", "a", conversation=C).text


async def test_the_catalog_tells_a_model_with_tools_to_call_them() -> None:
    assert "call read_skill" in await weaver_of(SHORT).catalog()
    assert "SKILL_SELECT:" in await weaver_of(SHORT, tools=SkillTools.ABSENT).catalog()
