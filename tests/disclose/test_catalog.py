from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill, Tiktoken
from skillweave.disclose import MOST_SKILLS_IN_FULL, Catalog, CountedOnce, PricedCatalog, Pricing
from skillweave.testing import WordCounter
from tests.skills import make_skill

WORDS = Pricing(WordCounter())
TOKENS = Pricing(CountedOnce(Tiktoken()))


def build_catalog(skills: list[Skill], limit: int, pricing: Pricing = WORDS, first: Sequence[str] = ()) -> Catalog:
    return PricedCatalog(skills, pricing, limit=limit, first=first).catalog


def test_every_skill_has_its_line_sorted_by_id() -> None:
    catalog = build_catalog([make_skill("b"), make_skill("a")], 1000)
    assert catalog.text.splitlines()[-2:] == ["- a: What a is for.", "- b: What b is for."]
    assert (catalog.shown, catalog.total) == (frozenset({"a", "b"}), 2)


def test_the_bytes_do_not_depend_on_the_order_of_the_skills() -> None:
    skills = [make_skill(name) for name in "abcdef"]
    assert build_catalog(skills, 60) == build_catalog(skills[::-1], 60)


def test_a_catalog_that_does_not_show_everything_says_so() -> None:
    catalog = build_catalog([make_skill(f"s{n:02}") for n in range(50)], 80)
    assert catalog.text.splitlines()[-1] == (
        f"Showing {len(catalog.shown)} of 50 skills; the others are found by what a request is about."
    )
    assert 0 < len(catalog.shown) < 50


def test_the_skills_that_the_configuration_puts_first_stay_when_room_is_short() -> None:
    catalog = build_catalog([make_skill(f"s{n:02}") for n in range(50)], 80, first=["s49"])
    assert {"s49", "s00"} <= catalog.shown


def test_a_description_longer_than_the_catalog_hides_nobody_else() -> None:
    skills = [make_skill("a", description="word " * 500), *(make_skill(f"b{n}") for n in range(5))]
    catalog = build_catalog(skills, 100)
    assert catalog.shown == frozenset(f"b{n}" for n in range(5))
    assert "Showing 5 of 6 skills" in catalog.text


def test_a_page_has_a_line_for_a_description_longer_than_any_page() -> None:
    skills = [make_skill("a", description="word " * 5000), make_skill("b")]
    assert PricedCatalog(skills, WORDS, limit=100).page().splitlines() == [
        "- a: its description has 5,002 tokens; call read_skill to see it",
        "- b: What b is for.",
    ]


def test_the_lines_of_a_search_fit_into_the_limit_too() -> None:
    shelf = PricedCatalog([make_skill(f"s{n}", description="word " * 40) for n in range(9)], WORDS, limit=100)
    assert [line.partition(":")[0] for line in shelf.lines(["s3", "s1", "s9", "s5"]).splitlines()] == ["- s3", "- s1"]


def test_without_skills_there_is_no_catalog() -> None:
    assert build_catalog([], 1000).text == ""


def test_showing_all_gives_full_documents_and_says_how_many_of_how_many() -> None:
    text = PricedCatalog([make_skill(f"s{n:02}") for n in range(20)], WORDS, limit=100).in_full(10_000)
    assert text.startswith(f"Showing {MOST_SKILLS_IN_FULL} of 20 skills in full")
    assert text.count("=== Skill Activated: ") == MOST_SKILLS_IN_FULL


def test_showing_all_leaves_out_what_does_not_fit_and_goes_on_with_the_next() -> None:
    skills = [make_skill("a", instructions="word " * 500), make_skill("b"), make_skill("c")]
    text = PricedCatalog(skills, WORDS, limit=100).in_full(100)
    assert text.startswith("Showing 2 of 3 skills in full")
    assert "=== Skill Activated: C ===" in text


def test_showing_all_of_a_few_says_all() -> None:
    assert PricedCatalog([make_skill("a")], WORDS, limit=100).in_full(10_000).startswith("All 1 skills in full:")


descriptions = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(st.lists(descriptions, min_size=1, max_size=12), st.integers(0, 300))
def test_the_catalog_never_costs_more_than_its_limit(texts: list[str], limit: int) -> None:
    skills = [make_skill(f"s{n}", description=text) for n, text in enumerate(texts)]
    catalog = build_catalog(skills, limit, TOKENS)
    assert TOKENS.count(catalog.text) == catalog.tokens <= limit
    assert len(catalog.shown) == len(skills) or not catalog.text or f"of {len(skills)} skills" in catalog.text
