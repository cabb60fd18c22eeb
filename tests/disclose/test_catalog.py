from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill
from skillweave.disclose.catalog import Catalog, PricedCatalog
from skillweave.disclose.fit import CountedOnce, Pricing
from skillweave.selection import Tiktoken
from skillweave_testing import WordCounter
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


def test_without_skills_there_is_no_catalog() -> None:
    assert build_catalog([], 1000).text == ""


def short(*skills: Skill, limit: int = 2000) -> PricedCatalog:
    return PricedCatalog(skills, TOKENS, limit=limit)


def test_the_brief_catalog_has_every_skill_in_one_short_line() -> None:
    long = make_skill("b", description=f"Mends bicycles. {'And so on and on. ' * 30}")
    assert short(long, make_skill("a", description="Makes tea.")).brief.text.splitlines()[2:] == [
        "- a: Makes tea.",
        f"- b: Mends bicycles. {'And so on and on. ' * 8}".rstrip(),
    ]


def test_a_long_first_sentence_ends_at_a_word() -> None:
    line = short(make_skill("a", description="word " * 100)).brief.text.splitlines()[-1]
    assert line.endswith("word…")
    assert len(line) <= len("- a: ") + 160


def test_there_is_no_brief_catalog_where_one_skill_would_be_missing() -> None:
    skills = [make_skill(f"s{n}", description="Makes tea.") for n in range(50)]
    limit = short(*skills).brief.tokens
    assert short(*skills, limit=limit).brief.shown == {skill.id for skill in skills}
    assert short(*skills, limit=limit - 1).brief == Catalog()


def test_a_shortlist_keeps_the_order_and_ends_where_the_room_does() -> None:
    shelf = short(*(make_skill(f"s{n}", description="Makes tea and serves it.") for n in range(9)))
    whole = shelf.shortlist(["s3", "s1", "s9", "s5"], 400, 13)
    assert [line.partition(":")[0] for line in whole.text.splitlines()[2:]] == ["- s3", "- s1", "- s5"]
    less = shelf.shortlist(["s3", "s1", "s5"], whole.tokens - 1, 13)
    assert less.shown == {"s3", "s1"}


def test_an_overview_has_the_relevant_skills_first_and_others_from_everywhere() -> None:
    shelf = short(*(make_skill(f"s{n:02}", description="Makes tea and serves it.") for n in range(64)))
    shown = shelf.overview(["s40"], 150)
    ids = [line[2:5] for line in shown.text.splitlines() if line.startswith("- s")]
    assert ids[:4] == ["s40", "s00", "s32", "s16"]
    assert shown.text.splitlines()[-1] == (
        f"Showing {len(ids)} of 64 skills; the others are found by what a request is about."
    )


descriptions = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(st.lists(descriptions, min_size=1, max_size=12), st.integers(0, 300))
def test_the_catalog_never_costs_more_than_its_limit(texts: list[str], limit: int) -> None:
    skills = [make_skill(f"s{n}", description=text) for n, text in enumerate(texts)]
    catalog = build_catalog(skills, limit, TOKENS)
    assert TOKENS.count(catalog.text) == catalog.tokens <= limit
    assert len(catalog.shown) == len(skills) or not catalog.text or f"of {len(skills)} skills" in catalog.text


@given(st.lists(descriptions, min_size=1, max_size=12), st.integers(0, 300))
def test_no_list_of_short_lines_costs_more_than_its_limit(texts: list[str], limit: int) -> None:
    skills = [make_skill(f"s{n}", description=text) for n, text in enumerate(texts)]
    shelf = PricedCatalog(skills, TOKENS, limit=limit)
    for shown in (
        shelf.brief,
        shelf.shortlist([skill.id for skill in skills], limit, 13),
        shelf.overview(["s0"], limit),
    ):
        assert shown.tokens == TOKENS.count(shown.text) if shown.text else shown.tokens == 0
        assert shown.tokens <= limit


def test_a_line_of_a_shortlist_says_what_the_description_adds_to_the_id() -> None:
    told = "Use this skill when the user wants to brew green tea at the right heat, for as long as each leaf needs."
    skills = (make_skill("green-tea", description=told), make_skill("black-tea", description="Black Tea: Steeps it."))
    lines = short(*skills).shortlist(["green-tea", "black-tea"], 400, 13).text.splitlines()[2:]
    assert lines == [
        "- green-tea: brew green tea at the right heat, for as long as…",
        "- black-tea: Steeps it",
    ]


def test_a_line_has_more_words_where_the_settings_say_so() -> None:
    shelf = short(make_skill("s1", description=" ".join(f"word{n}" for n in range(60))))
    words = [len(shelf.shortlist(["s1"], 400, count).text.splitlines()[-1].split()) for count in (13, 30)]
    assert words == [14, 31]
