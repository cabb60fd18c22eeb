from skillweave import Skill
from skillweave.select.lexical_index import build_lexical_index
from skillweave.select.query import Query, read_query
from skillweave.select.ranking import Ranking, rank
from skillweave.select.terms import body_texts, brief_texts, terms_of
from skillweave.skills import SkillText
from skillweave.text.search import fold_message
from tests.asking import skill

SKILLS = (
    skill("tables", description="tidy tables", body="vacuum rows"),
    skill("charts", description="draw charts of tables", body="axis legend"),
    skill("maps", description="draw maps", body="legend tiles tables"),
)
INDEX = build_lexical_index(SKILLS)


def asked(text: str) -> Query:
    return read_query(fold_message(text))


def positions(ranking: Ranking) -> list[int]:
    return [each.position for each in ranking.best]


def test_the_best_by_every_channel_is_first() -> None:
    assert positions(rank(INDEX, asked("draw charts"), 3)) == [1, 2]


def test_no_more_than_asked_for_are_ranked() -> None:
    assert positions(rank(INDEX, asked("tables"), 1)) == [0]


def test_equal_skills_stand_in_registry_order() -> None:
    twins = build_lexical_index([skill("x", description="red boat"), skill("y", description="red boat")])
    assert positions(rank(twins, asked("boat"), 2)) == [0, 1]


def test_however_many_are_asked_for_the_order_is_the_same() -> None:
    many = build_lexical_index([skill(f"s{n}", description="boat " * (n % 7) + "pier", body="sea") for n in range(60)])
    every = positions(rank(many, asked("boat pier"), 60))
    assert len(every) == 60
    assert [positions(rank(many, asked("boat pier"), limit)) for limit in (5, 17)] == [every[:5], every[:17]]


def test_words_that_no_skill_has_rank_nothing() -> None:
    assert rank(INDEX, asked("submarine"), 3) == Ranking()


def test_nothing_is_ranked_in_a_library_without_skills() -> None:
    assert rank(build_lexical_index([]), asked("draw charts"), 3) == Ranking()


def test_another_form_of_a_word_ranks_too() -> None:
    assert positions(rank(INDEX, asked("charting"), 3)) == [1]


def test_a_part_of_a_word_in_camel_case_ranks_too() -> None:
    index = build_lexical_index([skill("x", description="Call useQueryState"), skill("y", description="sail boats")])
    assert positions(rank(index, asked("query state"), 3)) == [0]


def test_two_words_that_follow_each_other_rank_higher() -> None:
    apart = skill("apart", description="stock goods to exchange")
    together = skill("together", description="goods of a stock exchange")
    assert positions(rank(build_lexical_index([apart, together]), asked("stock exchange"), 2)) == [1, 0]


def test_a_phrase_that_the_description_quotes_ranks_higher() -> None:
    plain = skill("plain", description="Settle: tidy, stay, bill, up")
    quoted = skill("quoted", description='Settle: "tidy, stay, bill", up')
    assert positions(rank(build_lexical_index([plain, quoted]), asked("bill, stay, then tidy"), 2)) == [1, 0]


def test_what_was_said_before_counts_less_than_what_is_said_now() -> None:
    query = read_query(fold_message("draw maps"), ["draw charts"])
    assert positions(rank(INDEX, query, 2)) == [2, 1]


def test_what_was_said_before_decides_where_the_message_does_not() -> None:
    query = read_query(fold_message("draw it again"), ["no, charts"])
    assert positions(rank(INDEX, query, 2)) == [1, 2]


def test_only_allowed_positions_are_ranked() -> None:
    assert positions(rank(INDEX, asked("tables"), 3, allowed=[2])) == [2]
    assert positions(rank(INDEX, asked("tables"), 3, allowed=[])) == []


def test_of_a_long_message_the_rarest_known_words_are_looked_up() -> None:
    words = [f"w{number}" for number in range(300)]
    index = build_lexical_index([skill("x", description=" ".join(words)), skill("y", description="w0 w1")])
    assert rank(index, asked(" ".join(words)), 1).left_out == 44


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


def test_the_terms_of_a_skill_are_its_words_by_where_they_stand() -> None:
    terms = terms_of(skill("my-skill", description='Says "good day"', body="Bodies"))
    assert (terms.name, terms.brief) == (("skill",), ("skill", "says", "good", "day"))
    assert (terms.body, terms.phrases) == (("bodies",), (("good", "day"),))
