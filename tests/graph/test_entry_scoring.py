import asyncio
from collections.abc import Mapping, Sequence
from math import inf, isclose, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import ToolResult
from skillweave.errors import InvalidScores
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    By,
    CompiledGraph,
    Decide,
    Declared,
    EmbeddingScorer,
    Entry,
    EntryPick,
    EntryScoring,
    GraphSkill,
    Intent,
    Keywords,
    KeywordScorer,
    LexicalScorer,
    MoveContext,
    Predicate,
    PredicateContext,
    RankedEntry,
    Route,
    ScoreCandidate,
    ScoredGraph,
    ScorePolicy,
    Scorer,
    SkillGraph,
)
from skillweave.graph.compiled import compile_graph
from skillweave.graph.conditions import EvalContext
from skillweave.graph.entry_scoring import score_entries
from skillweave.graph.moving import move_from
from skillweave_testing import FakeEmbedder
from tests.graph.strategies import entries as entries_to
from tests.graph.strategies import messages, scored_conditions

MONEY = Intent("money back", ("I was charged twice",))
PARCEL = Intent("a parcel", ("where is it",))
HUMAN = Intent("a human", ("talk to a person",))


class Says:
    """A scorer that gives each id the score that it was told, 0 where it was told none, and remembers the questions."""

    name = "says"

    def __init__(self, policy: ScorePolicy | None = None, **scores: float) -> None:
        self.policy = policy or ScorePolicy()
        self.scores = scores
        self.asked: list[tuple[str, ...]] = []
        self.texts: dict[str, tuple[str, ...]] = {}

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        self.asked.append(tuple(candidate.id for candidate in candidates))
        self.texts |= {candidate.id: candidate.texts for candidate in candidates}
        return {candidate.id: self.scores.get(candidate.id.replace(" ", "_"), 0.0) for candidate in candidates}


def graph(scorer: Scorer, *entries: Entry, **more: Any) -> CompiledGraph:
    return compile_graph(Declared(entries=entries, pick=scorer, **more), "d1")


def raising(_: PredicateContext) -> object:
    raise RuntimeError("no look at all")


async def test_score_entries_is_present_only_on_a_graph_built_with_a_scorer() -> None:
    skills = (GraphSkill("a"),)
    plain = SkillGraph.of(Declared(skills, (Entry("a"),)), check="off")
    scored = SkillGraph.of(Declared(skills, (Entry("a"),), pick=Says(a=1.0)), check="off")
    assert not hasattr(plain, "score_entries")
    assert isinstance(scored, ScoredGraph)
    assert (await scored.score_entries({"user": "hello"})).chosen == "a"


async def test_it_keeps_entries_without_a_condition_or_whose_condition_holds() -> None:
    scorer = Says(b=1.0)
    compiled = graph(scorer, Entry("a"), Entry("b", Keywords(("refund",))), Entry("c", Keywords(("parcel",))))
    scoring = await score_entries(compiled, MoveContext(user="a refund"))
    assert scorer.asked == [("a", "b")]
    assert scoring.chosen == "b"


async def test_an_entry_whose_condition_raises_is_excluded() -> None:
    scoring = await score_entries(graph(Says(a=9.0), Entry("a", Predicate(raising)), Entry("b")), MoveContext(user="x"))
    assert [ranked.skill for ranked in scoring.ranked] == ["b"]


async def test_it_returns_the_scorer_what_is_chosen_and_ranked_in_declaration_order_with_score_and_relevance() -> None:
    scoring = await score_entries(graph(Says(a=0.0, c=1.0), Entry("c"), Entry("a")), MoveContext(user="x"))
    assert scoring == EntryScoring(
        "says",
        "c",
        (
            RankedEntry("c", 1.0, pytest.approx(0.7311, abs=1e-4)),
            RankedEntry("a", 0.0, pytest.approx(0.2689, abs=1e-4)),
        ),
    )


async def test_the_temperature_is_a_parameter_and_1_by_default() -> None:
    cold = await score_entries(graph(Says(ScorePolicy(0.1), a=1.0), Entry("a"), Entry("b")), MoveContext(user="x"))
    assert cold.ranked[0].relevance == pytest.approx(0.99995, abs=1e-5)


async def test_first_declared_wins_ties() -> None:
    scoring = await score_entries(graph(Says(a=0.5, b=0.5), Entry("b"), Entry("a")), MoveContext(user="x"))
    assert scoring.chosen == "b"


async def test_cosine_of_a_zero_vector_is_0() -> None:
    scorer = EmbeddingScorer(FakeEmbedder())
    scoring = await score_entries(graph(scorer, Entry("refund"), Entry("desk")), MoveContext(user="what is this?"))
    assert [ranked.score for ranked in scoring.ranked] == [0.0, 0.0]


@pytest.mark.parametrize("broken", [nan, inf, -inf])
async def test_non_finite_scores_rank_last(broken: float) -> None:
    scoring = await score_entries(graph(Says(a=broken, b=-5.0), Entry("a"), Entry("b")), MoveContext(user="x"))
    assert scoring.chosen == "b"
    assert scoring.ranked == (RankedEntry("a", -inf, 0.0), RankedEntry("b", -5.0, 1.0))


async def test_where_all_scores_are_non_finite_nothing_is_chosen() -> None:
    scoring = await score_entries(graph(Says(a=nan, b=nan), Entry("a"), Entry("b")), MoveContext(user="x"))
    assert scoring.chosen is None
    assert [ranked.relevance for ranked in scoring.ranked] == [0.5, 0.5]


async def test_a_scorer_may_abstain_as_min_score_gives_chosen_none() -> None:
    policy = ScorePolicy(min_score=0.5)
    scoring = await score_entries(graph(Says(policy, a=0.4), Entry("a"), Entry("b")), MoveContext(user="x"))
    assert scoring.chosen is None
    assert scoring.ranked[0].score == 0.4


async def test_a_scorer_may_abstain_as_margin_gives_chosen_none() -> None:
    policy = ScorePolicy(margin=0.2)
    scoring = await score_entries(graph(Says(policy, a=0.5, b=0.4), Entry("a"), Entry("b")), MoveContext(user="x"))
    assert scoring.chosen is None


async def test_ids_are_validated_as_a_foreign_one_in_the_answer_is_an_error() -> None:
    class Foreign(Says):
        async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
            return {**await super().score(message, candidates), "zzz": 9.0}

    with pytest.raises(InvalidScores, match="'zzz'"):
        await score_entries(graph(Foreign(), Entry("a")), MoveContext(user="x"))


async def test_a_missing_score_is_an_error() -> None:
    class Short(Says):
        async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
            return await super().score(message, candidates[:1])

    with pytest.raises(InvalidScores, match="none for 'b'"):
        await score_entries(graph(Short(), Entry("a"), Entry("b")), MoveContext(user="x"))


async def test_descriptions_are_embedded_once_per_content_hash() -> None:
    fake = FakeEmbedder()
    skills = (GraphSkill("refund", "Gives money back"), GraphSkill("desk", "Books a desk"))
    compiled = graph(EmbeddingScorer(fake), Entry("refund"), Entry("desk"), skills=skills)
    for message in ("money", "a desk"):
        await score_entries(compiled, MoveContext(user=message))
    assert fake.asked == [("refund\nGives money back", "desk\nBooks a desk"), ("money",), ("a desk",)]


async def test_task_cancellation_is_re_raised_not_treated_as_failure() -> None:
    compiled = graph(EmbeddingScorer(FakeEmbedder(delay=60)), Entry("a"))
    task = asyncio.ensure_future(score_entries(compiled, MoveContext(user="x")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_the_scorer_raises_is_raised() -> None:
    class Broken(Says):
        async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
            raise OSError("no answer")

    with pytest.raises(OSError, match="no answer"):
        await score_entries(graph(Broken(), Entry("a")), MoveContext(user="x"))


async def test_without_candidates_nobody_is_asked_and_nothing_is_chosen() -> None:
    scorer = Says()
    scoring = await score_entries(graph(scorer, Entry("a", Keywords(("refund",)))), MoveContext(user="x"))
    assert scoring == EntryScoring("says", None)
    assert scorer.asked == []


async def test_a_skill_of_several_entries_is_one_candidate_with_the_examples_of_those_that_hold() -> None:
    scorer = Says()
    compiled = graph(
        scorer,
        Entry("a", Keywords(("x",)), ("first",)),
        Entry("b"),
        Entry("a", Keywords(("y",)), ("never",)),
        Entry("a", examples=("second", "first")),
    )
    await score_entries(compiled, MoveContext(user="x"))
    assert scorer.asked == [("a", "b")]
    assert scorer.texts["a"] == ("a", "first", "second")


async def test_a_candidate_is_told_by_its_id_in_words_its_description_its_examples_and_its_intents() -> None:
    scorer = Says()
    skills = (GraphSkill("refund_for-orders", "Gives money back"), GraphSkill("---"))
    compiled = graph(scorer, Entry("refund_for-orders", MONEY, ("twice",)), Entry("---"), skills=skills)
    await score_entries(compiled, MoveContext(user="x"))
    assert scorer.texts["refund_for-orders"] == (
        "refund for orders\nGives money back",
        "twice",
        "money back",
        "I was charged twice",
    )
    assert scorer.texts["---"] == ()


async def test_a_message_that_never_routes_leaves_the_unconditional_entries() -> None:
    scorer = Says()
    compiled = graph(
        scorer, Entry("a", Keywords(("refund",))), Entry("i", MONEY), Entry("b"), never_routes=("No  Refund",)
    )
    await score_entries(compiled, MoveContext(user="no refund"))
    assert scorer.asked == [("b",)]


async def test_an_unknown_current_skill_starts_again() -> None:
    scoring = await score_entries(graph(Says(a=1.0), Entry("a")), MoveContext(user="x", current="gone"))
    assert scoring.chosen == "a"


async def test_once_a_skill_is_begun_no_entry_is_scored() -> None:
    scorer = Says()
    scoring = await score_entries(graph(scorer, Entry("a"), Entry("b")), MoveContext(user="x", current="a"))
    assert scoring == EntryScoring("says", None)
    assert scorer.asked == []


async def test_a_graph_without_a_scorer_scores_nothing() -> None:
    scoring = await score_entries(compile_graph(Declared(entries=(Entry("a"),)), "d1"), MoveContext(user="x"))
    assert scoring == EntryScoring(EntryPick.DECLARATION.value, None)


async def test_at_the_start_the_intents_of_the_entries_are_judged_together() -> None:
    scorer = Says(a_parcel=0.8, money_back=0.7)
    compiled = graph(scorer, Entry("refund", MONEY), Entry("track", AllOf((PARCEL, AtIteration(1)))))
    scoring = await score_entries(compiled, MoveContext(user="x"))
    assert scorer.asked == [("money back", "a parcel"), ("refund", "track")]
    assert scorer.texts["money back"] == ("money back", "I was charged twice")
    assert scoring.intent == "a parcel"


async def test_an_intent_of_an_entry_that_cannot_begin_is_not_judged() -> None:
    scorer = Says(a_parcel=0.8, money_back=0.7)
    compiled = graph(scorer, Entry("refund", MONEY), Entry("track", AllOf((PARCEL, AtIteration(2)))))
    assert (await score_entries(compiled, MoveContext(user="x"))).intent == "money back"


async def test_an_intent_that_is_declared_twice_is_judged_with_all_its_examples() -> None:
    scorer = Says()
    again = Intent("money back", ("give it back", "I was charged twice"))
    await score_entries(graph(scorer, Entry("a", MONEY), Entry("b", again)), MoveContext(user="x"))
    assert scorer.asked[0] == ("money back",)
    assert scorer.texts["money back"] == ("money back", "I was charged twice", "give it back")


async def test_an_entry_whose_intent_is_not_heard_is_ranked_and_never_chosen() -> None:
    scorer = Says(a_parcel=0.8, money_back=0.7, refund=9.0, track=1.0)
    scoring = await score_entries(graph(scorer, Entry("refund", MONEY), Entry("track", PARCEL)), MoveContext(user="x"))
    assert [ranked.skill for ranked in scoring.ranked] == ["refund", "track"]
    assert scoring.chosen == "track"


async def test_where_no_intent_is_heard_an_entry_without_one_is_chosen() -> None:
    scorer = Says(refund=9.0)
    scoring = await score_entries(graph(scorer, Entry("refund", MONEY), Entry("triage")), MoveContext(user="x"))
    assert (scoring.intent, scoring.chosen) == (None, "triage")


async def test_at_a_skill_the_intents_of_the_routes_out_of_it_and_of_any_are_judged() -> None:
    scorer = Says(a_human=0.4, a_parcel=0.3)
    routes = (Route("a", "b", PARCEL), Route(ANY, "c", HUMAN), Route("b", "a", MONEY))
    scoring = await score_entries(graph(scorer, Entry("a", MONEY), routes=routes), MoveContext(user="x", current="a"))
    assert scorer.asked == [("a parcel", "a human")]
    assert scoring == EntryScoring("says", None, (), "a human")


async def test_in_a_tree_all_intents_are_judged() -> None:
    scorer = Says(a_parcel=0.4)
    tree = Decide(MONEY, "refund", Decide(AllOf((PARCEL, Keywords(("now",)))), "track", "other"))
    scoring = await score_entries(graph(scorer, tree=tree), MoveContext(user="x", current="refund"))
    assert scorer.asked == [("money back", "a parcel")]
    assert scoring.intent == "a parcel"


async def test_what_the_scorer_hears_leads_the_conversation_on() -> None:
    compiled = graph(KeywordScorer(), Entry("a"), routes=(Route("a", "b", PARCEL), Route(ANY, "c", HUMAN)))
    context = MoveContext(user="can I talk to a person?", current="a")
    scoring = await score_entries(compiled, context)
    move = move_from(compiled, EvalContext(compiled.lexicon, {}, context, scoring))
    assert (move.to, move.by) == ("c", By.ROUTE)


@pytest.mark.parametrize("scorer", [KeywordScorer(), LexicalScorer(), EmbeddingScorer(FakeEmbedder())])
async def test_every_scorer_tells_entries_apart_by_what_they_are_about(scorer: Scorer) -> None:
    skills = (GraphSkill("refund", "Gives money back"), GraphSkill("track", "Tells where a parcel is"))
    compiled = graph(scorer, Entry("refund", examples=("charged twice",)), Entry("track"), skills=skills)
    for message, skill in (("My parcel?", "track"), ("I was charged twice", "refund"), ("the money", "refund")):
        assert (await score_entries(compiled, MoveContext(user=message))).chosen == skill, message


@given(
    st.lists(entries_to(st.sampled_from("abcd"), scored_conditions), max_size=5),
    messages,
    st.dictionaries(st.sampled_from("abcd"), st.floats(), max_size=4),
    st.builds(ScorePolicy, min_score=st.none() | st.just(0.5), margin=st.none() | st.just(0.1)),
)
def test_what_is_chosen_is_an_entry_that_the_move_accepts(
    entries: list[Entry], message: str, scores: dict[str, float], policy: ScorePolicy
) -> None:
    compiled = graph(Says(policy, **scores), *entries)
    context = MoveContext(user=message, tools=(ToolResult("search", "{}"),))
    scoring = asyncio.run(score_entries(compiled, context))
    assert scoring == asyncio.run(score_entries(compiled, context))
    if scoring.ranked:
        assert isclose(sum(ranked.relevance for ranked in scoring.ranked), 1.0)
    move = move_from(compiled, EvalContext(compiled.lexicon, {}, context, scoring))
    assert move.to == scoring.chosen
    assert move.by is (By.NONE if scoring.chosen is None else By.SCORER)
    if policy.min_score is not None and scoring.chosen is not None:
        assert scores[scoring.chosen] >= policy.min_score
