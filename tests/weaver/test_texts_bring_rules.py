"""Nothing gives a skill's text without its rules: no question, no tool of ours, no place of a graph."""

import pytest

import skillweave
from skillweave import CatalogMode, Checkpoint, Placement, Ruling, Settings, ToolRules, Weaver
from skillweave.graph import Entry, Route
from skillweave.skills import ArtifactRef
from skillweave.tools import SkillTools
from skillweave_testing import WordCounter
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

SECRET = "Turn the brass key twice."
GUARD = make_skill(
    "guard-it",
    keywords=["invoice"],
    instructions=SECRET,
    tools=ToolRules(forbidden=("shell",)),
    checkpoints=[Checkpoint("release", before="pay"), Checkpoint("look")],
)
QUESTIONS = ["show me all skills", "what can you do?", "which skills do you have for invoices?", "list everything"]
MODES = [mode for mode in CatalogMode if mode is not CatalogMode.NEVER]


def weaver_of(mode: CatalogMode = CatalogMode.AUTO) -> Weaver:
    settings = Settings(catalog=mode, skill_tools=SkillTools.OFFERED)
    return skillweave.open(GUARD, make_skill("greet", keywords=["hello"]), settings=settings, counter=WordCounter())


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_text_that_a_question_brings_brings_its_rules(
    question: str, mode: CatalogMode, placement: Placement
) -> None:
    injection = await weaver_of(mode).weave(question, conversation="c", placement=placement)
    texts = [injection.tail, injection.instructions, injection.catalog, *(one.text for one in injection.messages)]
    given = any(SECRET in text for text in texts)
    assert not given or injection.tools.authorize("shell").ruling is Ruling.DENY


@pytest.mark.parametrize("placement", Placement)
async def test_lists_and_searches_give_lines_only(placement: Placement) -> None:
    weaver = weaver_of()
    for name, arguments in (("list_skills", {}), ("search_skills", {"query": "invoice brass key"})):
        answer = await weaver.tools.call(name, arguments, conversation="c", placement=placement)
        assert "guard-it" in answer.text
        assert SECRET not in answer.text


@pytest.mark.parametrize("placement", Placement)
async def test_a_text_that_the_model_opens_brings_its_rules(placement: Placement) -> None:
    weaver = weaver_of()
    answer = await weaver.tools.read_skill("guard-it", conversation="c", placement=placement)
    assert not answer.failed
    now = await weaver.current_policy("c", placement=placement)
    assert [now.tools.authorize(tool).ruling for tool in ("shell", "pay")] == [Ruling.DENY, Ruling.ASK]


@pytest.mark.parametrize("placement", Placement)
async def test_of_a_rejected_skill_nothing_gives_the_text(placement: Placement) -> None:
    weaver = weaver_of()
    await weaver.weave("the invoice", conversation="c", placement=placement)
    await weaver.approvals.decide("c", "guard-it", "look", "rejected", by="Ann")
    read = await weaver.tools.read_skill("guard-it", conversation="c", placement=placement)
    asked = [await weaver.weave(one, conversation="c", placement=placement) for one in (*QUESTIONS, "the invoice")]
    texts = [read.text, *(one.tail + one.instructions + "".join(m.text for m in one.messages) for one in asked)]
    assert not any(SECRET in text for text in texts)
    assert all(one.tools.authorize("shell").ruling is Ruling.DENY for one in asked)


@pytest.mark.parametrize("placement", Placement)
async def test_of_a_skill_that_the_graph_does_not_lead_to_nothing_gives_the_text(placement: Placement) -> None:
    refs = (ArtifactRef("notes", "notes.md", "text/markdown", 1),)
    far = make_skill("far", keywords=["invoice"], instructions=SECRET, artifacts=refs)
    graph = graph_of(
        "near", "mid", "far", entries=[Entry("near", on("go"))], routes=[Route("near", "mid"), Route("mid", "far")]
    )
    settings = Settings(skill_tools=SkillTools.OFFERED)
    weaver = weaver_over(graph, [make_skill("near"), make_skill("mid"), far], settings=settings)
    await weaver.weave("go", conversation="c", placement=placement)
    answers = [
        await weaver.tools.read_skill("far", conversation="c", placement=placement),
        await weaver.tools.read_artifact("far", "notes", conversation="c", placement=placement),
        await weaver.tools.list_skills(),
        await weaver.tools.search_skills("invoice brass key"),
    ]
    assert [one.failed for one in answers[:2]] == [True, True]
    assert not any(SECRET in one.text for one in answers)
