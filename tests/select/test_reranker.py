from collections.abc import Mapping

import pytest

import skillweave
from skillweave import Injection, Message, Outcome, Role, Settings, Turn, Weaver
from skillweave.select.matchers import prepare_matchers
from skillweave.select.selection import MATCHERS, find_matchers, select
from skillweave.selection import RerankedMatcher
from skillweave_testing import RerankerContract, ScriptedReranker
from tests.asking import index_of
from tests.skills import make_skill

ASKED = "my pipeline is red, mend the build"
SKILLS = (
    make_skill("mend-pipelines", description="Mends a pipeline whose build is red."),
    make_skill("build-houses", description="Plans how to build a house, red or not."),
    make_skill("paint-walls", description="Paints walls red."),
)


def reranker(**verdict: float) -> ScriptedReranker:
    return ScriptedReranker({ASKED: {name.replace("_", "-"): value for name, value in verdict.items()}})


def weaver_of(judge: ScriptedReranker, settings: Settings | None = None) -> Weaver:
    return skillweave.open(*SKILLS, reranker=judge, settings=settings)


async def asked(judge: ScriptedReranker, settings: Settings | None = None) -> Mapping[str, Outcome]:
    injection = await weaver_of(judge, settings).weave(ASKED, conversation="c")
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


async def test_what_the_reranker_finds_likely_is_given_and_what_may_be_is_offered() -> None:
    outcomes = await asked(reranker(mend_pipelines=0.9, build_houses=0.3, paint_walls=0.01))
    assert outcomes == {
        "mend-pipelines": Outcome.INJECTED,
        "build-houses": Outcome.OFFERED,
        "paint-walls": Outcome.BELOW_THRESHOLD,
    }


async def test_its_verdict_is_the_first_evidence() -> None:
    injection = await weaver_of(reranker(mend_pipelines=0.9)).weave(ASKED, conversation="c")
    (given,) = (one for one in injection.decisions if one.outcome is Outcome.INJECTED)
    assert (given.matcher, given.evidence[0].kind, given.evidence[0].text) == (
        "reranked",
        "reranker",
        "scripted: 90%",
    )


async def test_the_settings_say_from_which_probability_on() -> None:
    settings = Settings(give_at=0.25, offer_at=0.005)
    outcomes = await asked(reranker(mend_pipelines=0.2, build_houses=0.3, paint_walls=0.01), settings)
    assert [one for one in outcomes if outcomes[one] is Outcome.INJECTED] == ["build-houses"]
    assert [one for one in outcomes if outcomes[one] is Outcome.OFFERED] == ["mend-pipelines", "paint-walls"]


async def test_a_skill_without_a_verdict_stays_what_the_ranking_made_of_it() -> None:
    plain = await skillweave.open(*SKILLS).weave(ASKED, conversation="c")
    judged = await asked(reranker(paint_walls=0.0))
    assert judged["mend-pipelines"] is outcomes_of(plain)["mend-pipelines"]


async def test_the_same_message_and_shortlist_are_judged_once() -> None:
    judge = reranker(mend_pipelines=0.9)
    weaver = weaver_of(judge)
    for conversation in ("a", "b", "a"):
        await weaver.weave(ASKED, conversation=conversation)
    assert len(judge.asked) == 1
    await weaver.weave("paint the walls red", conversation="a")
    assert len(judge.asked) == 2


@pytest.mark.parametrize(
    "judge",
    [
        ScriptedReranker(failure=ConnectionError("the model is down")),
        ScriptedReranker({ASKED: {"mend-pipelines": 7.0}}),
    ],
    ids=["down", "no probability"],
)
async def test_a_reranker_that_fails_leaves_the_ranking_as_it_is_and_says_so(judge: ScriptedReranker) -> None:
    injection = await weaver_of(judge).weave(ASKED, conversation="c")
    plain = await skillweave.open(*SKILLS).weave(ASKED, conversation="c")
    assert outcomes_of(injection) == outcomes_of(plain)
    (finding,) = injection.diagnostics
    assert finding.code == "reranker-failed"
    assert "is not used in this turn" in finding.message


async def test_a_reranker_that_is_late_leaves_the_ranking_as_it_is() -> None:
    index = index_of(*SKILLS)
    matchers = find_matchers([RerankedMatcher(MATCHERS["lexical"], ScriptedReranker(delay=60))])
    turn = Turn("t", "c", Message(Role.USER, ASKED))
    prepared = await prepare_matchers(matchers, index, turn, 0.01)
    assert "took longer than" in prepared.diagnostics[0].message
    late = select(index, turn, matchers=matchers, prepared=prepared)
    assert late == select(index, turn, matchers=("lexical",))


async def test_a_declared_trigger_needs_no_reranker() -> None:
    judge = ScriptedReranker()
    skill = make_skill("brew-tea", keywords=["tea"])
    await skillweave.open(skill, *SKILLS, reranker=judge).weave("tea for the red pipeline", conversation="c")
    assert judge.asked == []


async def test_a_tool_result_is_not_judged() -> None:
    judge = ScriptedReranker()
    await weaver_of(judge).weave(ASKED, conversation="c", role=Role.TOOL)
    assert judge.asked == []


def outcomes_of(injection: Injection) -> Mapping[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


class TestScripted(RerankerContract):
    def reranker(self) -> ScriptedReranker:
        return ScriptedReranker({"I would like a cup of tea": {"make-tea": 0.9}})
