import pytest

from skillweave import Skill, SkillText
from skillweave.select import Ranking, body_texts, brief_texts, build_lexical_index, rank
from tests.asking import skill

SKILLS = (
    skill("tables", description="tidy tables", body="vacuum rows"),
    skill("charts", description="draw charts of tables", body="axis legend"),
    skill("maps", description="draw maps", body="legend tiles tables"),
)
INDEX = build_lexical_index(SKILLS)


def positions(ranking: Ranking) -> list[int]:
    return [each.position for each in ranking.best]


def test_the_best_is_in_both_indexes_first() -> None:
    ranking = rank(INDEX, ["draw", "charts"], 3)
    assert positions(ranking) == [1, 2]
    assert ranking.best[0].fused == 1.5


def test_no_more_than_asked_for_are_ranked() -> None:
    assert positions(rank(INDEX, ["tables"], 1)) == [0]


def test_equal_skills_stand_in_registry_order() -> None:
    twins = build_lexical_index([skill("x", description="red boat"), skill("y", description="red boat")])
    assert positions(rank(twins, ["boat"], 2)) == [0, 1]


def test_however_many_are_asked_for_the_order_is_the_same() -> None:
    many = build_lexical_index([skill(f"s{n}", description="boat " * (n % 7) + "pier", body="sea") for n in range(60)])
    every = positions(rank(many, ["boat", "pier"], 60))
    assert len(every) == 60
    assert [positions(rank(many, ["boat", "pier"], limit)) for limit in (5, 17)] == [every[:5], every[:17]]


def test_words_that_no_skill_has_rank_nothing() -> None:
    assert rank(INDEX, ["submarine"], 3) == Ranking()


def test_words_that_no_skill_has_count_as_not_covered() -> None:
    alone = rank(INDEX, ["vacuum"], 1).best[0].coverage
    assert rank(INDEX, ["vacuum", "submarine"], 1).best[0].coverage < alone


def test_a_word_outside_the_body_covers_more_than_one_in_it() -> None:
    brief = rank(INDEX, ["maps"], 1).best[0]
    body = rank(INDEX, ["tiles"], 1).best[0]
    assert (brief.coverage, brief.weight) == (pytest.approx(1.0), 1.0)
    assert (body.coverage, body.weight) == (pytest.approx(2 / 3), 0.5)


def test_an_everyday_word_weighs_a_quarter() -> None:
    index = build_lexical_index([skill("x", description="yesterday invoice")])
    assert rank(index, ["yesterday", "invoice"], 1).best[0].weight == 1.25


def test_only_allowed_positions_are_ranked() -> None:
    assert positions(rank(INDEX, ["tables"], 3, allowed=[2])) == [2]
    assert positions(rank(INDEX, ["tables"], 3, allowed=[])) == []


def test_of_a_long_message_the_rarest_known_words_are_looked_up() -> None:
    words = [f"w{number}" for number in range(300)]
    index = build_lexical_index([skill("x", description=" ".join(words)), skill("y", description="w0 w1")])
    ranking = rank(index, words, 1)
    assert ranking.left_out == 44
    assert {"w0", "w1"}.isdisjoint(ranking.best[0].words)


def test_the_brief_has_what_the_skill_says_of_itself() -> None:
    told = skill("my-skill", "keyword", description="description", verbs=["verb"], never=["never"], spelling="Odd.Name")
    assert brief_texts(told) == ("My Skill", "Odd.Name", "description", "keyword", "verb")


def test_a_name_that_repeats_the_id_is_indexed_once() -> None:
    assert brief_texts(skill("my-skill", description="does")) == ("My Skill", "does")


def test_the_body_is_the_whole_second_tier() -> None:
    text = SkillText("details", "instructions", ("step",), ("requirement",), ("postcondition",), "format")
    assert body_texts(Skill("x", "X", "", text=text)) == (
        "details",
        "instructions",
        "step",
        "requirement",
        "postcondition",
        "format",
    )
