import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.disclose import sections
from skillweave.disclose.sections import (
    LONGEST_TITLE,
    MOST_ENTRIES,
    SECTION_TOKENS,
    Section,
    entries_of,
    find_section,
    sections_of,
)


def words(text: str) -> int:
    return len(text.split())


def tree(*parts: tuple[str, str]) -> Section:
    return sections_of("Whole", parts, words)


def long(words_in_it: int) -> str:
    return " ".join(f"Word{n}." for n in range(words_in_it)) + "\n\n"


CHAPTERS = "# Book\n\nWelcome.\n\n" + "".join(f"## Chapter {n}\n\n{long(250)}" for n in range(1, 6))


def test_a_short_text_is_one_leaf() -> None:
    whole = tree(("", "# A\n\nshort\n\n## B\n\nshort too\n"))
    assert whole.parts == ()
    assert whole.text == "# A\n\nshort\n\n## B\n\nshort too\n"


def test_the_only_title_of_a_text_is_no_section_of_its_own() -> None:
    assert [part.title for part in tree(("", CHAPTERS)).parts] == [
        "Introduction", "Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4", "Chapter 5",
    ]  # fmt: skip


def test_an_introduction_is_number_zero_and_chapters_count_from_one() -> None:
    assert [part.id for part in tree(("", CHAPTERS)).parts] == ["0", "1", "2", "3", "4", "5"]


def test_a_chapter_that_is_short_as_a_whole_is_not_divided() -> None:
    small = "## Small\n\n### One\n\ntext\n\n### Two\n\ntext\n\n"
    whole = tree(("", CHAPTERS + small))
    assert whole.parts[-1].title == "Small"
    assert whole.parts[-1].parts == ()


def test_a_long_chapter_is_divided_at_its_own_headings() -> None:
    text = CHAPTERS + f"## Big\n\n### One\n\n{long(400)}### Two\n\n{long(400)}"
    assert [(part.id, part.title) for part in tree(("", text)).parts[-1].parts] == [("6.1", "One"), ("6.2", "Two")]


def test_a_heading_without_words_stands_before_the_first_section_below_it() -> None:
    text = CHAPTERS + f"## Big\n\n### One\n\n{long(400)}### Two\n\n{long(400)}"
    first = tree(("", text)).parts[-1].parts[0]
    assert first.text.startswith("## Big\n\n### One\n\n")


def test_a_heading_is_never_a_piece_of_its_own() -> None:
    whole = tree(("", f"{CHAPTERS}## Big\n\n{long(590).strip()} {long(100)}"))
    assert [part.tokens for part in whole.parts[-1].parts] == [602, 90]


def test_a_chapter_of_a_heading_alone_counts_what_is_below_it_once() -> None:
    text = f"{CHAPTERS}## Big\n\n### One\n\n#### A\n\n{long(400)}#### B\n\n{long(400)}### Two\n\n{long(400)}"
    assert [(part.id, part.tokens) for part in tree(("", text)).parts[-1].parts] == [("6.1", 808), ("6.2", 402)]


def test_the_number_of_a_step_stays_with_its_words() -> None:
    for steps in (f"1. {long(400)}" * 3, "".join(f"{n}. {'word ' * 70}\n" for n in range(1, 30))):
        pieces = [leaf.text for leaf in tree(("Steps", steps)).leaves()]
        assert len(pieces) > 1
        assert [piece for piece in pieces if piece.split()[-1].rstrip(".").isdigit()] == []


def test_chinese_and_japanese_sentences_are_told_apart_without_blanks_between_them() -> None:
    text = "これは文です。「はい。」" * 300 + "\n"
    pieces = [leaf.text for leaf in sections_of("Whole", [("", text)], len).leaves()]
    assert len(pieces) > 1
    assert all(piece.rstrip().endswith(("。", "。」")) and len(piece) <= SECTION_TOKENS for piece in pieces)
    assert not any(piece.startswith("」") for piece in pieces)


def test_a_paragraph_over_a_line_of_dashes_has_a_short_title() -> None:
    whole = tree(("", f"{CHAPTERS}{long(200).strip()}\n---\n\nWords.\n"))
    title = whole.parts[-1].title
    assert title.startswith("Word0. Word1.") and title.endswith("...")
    assert len(title) <= LONGEST_TITLE
    assert find_section(whole, title) is whole.parts[-1]


def test_a_long_text_under_one_title_begins_with_its_pieces() -> None:
    assert [part.title for part in tree(("", f"# Only\n\n{long(1000)}")).parts] == ["Only (1 of 2)", "Only (2 of 2)"]
    assert [part.title for part in tree(("Steps", long(1000))).parts] == ["Steps (1 of 2)", "Steps (2 of 2)"]


def test_a_long_text_without_headings_is_divided_between_sentences() -> None:
    whole = tree(("", long(2000)))
    assert len(whole.parts) > 1
    assert all(leaf.text.rstrip().endswith(".") and leaf.tokens <= SECTION_TOKENS for leaf in whole.leaves())


def test_a_sentence_is_never_divided() -> None:
    sentence = "word " * (SECTION_TOKENS * 2) + ".\n"
    assert tree(("", sentence)).parts == ()


def test_structured_parts_are_sections_of_their_own() -> None:
    whole = tree(("Steps", "1. one\n2. two"), ("", CHAPTERS), ("Requirements", "- none"))
    assert [part.title for part in whole.parts][:1] == ["Steps"]
    assert whole.parts[-1].title == "Requirements"


def test_many_sections_are_put_together_in_groups() -> None:
    whole = tree(("", "".join(f"## T{n}\n\n{long(40)}" for n in range(100))))
    assert len(whole.parts) <= MOST_ENTRIES
    assert whole.parts[0].title == "T0 ... T3"
    assert len({section.id for section in whole.walk()}) == len(list(whole.walk()))


def test_however_many_sections_there_are_never_more_than_thirty_stand_side_by_side() -> None:
    whole = tree(("", "".join(f"# T{n}\n\n{long(30)}" for n in range(1500))))
    assert max(len(section.parts) for section in whole.walk()) <= MOST_ENTRIES
    assert whole.parts[0].title.startswith("T0 ... T")


def test_sections_that_are_tiny_together_are_one_section() -> None:
    whole = tree(("", "# a\n" * 10_000))
    assert len(whole.leaves()) < 500, "each has a record of its own when it is read"


def test_a_table_of_contents_shows_deeper_levels_while_it_stays_short() -> None:
    text = CHAPTERS + f"## Big\n\n### One\n\n{long(400)}### Two\n\n{long(400)}"
    assert [entry.id for entry in entries_of(tree(("", text)))] == ["0", "1", "2", "3", "4", "5", "6", "6.1", "6.2"]


def test_a_section_is_found_by_number_by_title_and_by_both() -> None:
    whole = tree(("", CHAPTERS))
    for name in (
        *("2", " 2. ", "chapter 2", "## Chapter 2", "2 Chapter 2", "2: Chapter 2", "2. chapter 2"),
        *("section 2", "Section 2: Chapter 2 (252 tokens)", "2) Chapter 2", "4 Chapter 2"),
    ):
        found = find_section(whole, name)
        assert found is not None, name
        assert found.title == "Chapter 2"


def test_a_title_that_stands_twice_finds_nothing() -> None:
    text = f"## Same\n\n{long(400)}## Same\n\n{long(400)}"
    assert find_section(tree(("", text)), "Same") is None
    assert find_section(tree(("", text)), "2") is not None


def test_no_name_finds_the_whole() -> None:
    whole = tree(("", CHAPTERS))
    assert find_section(whole, " ") is whole


lines = st.one_of(
    st.tuples(st.sampled_from(["# ", "## ", "### "]), st.text("abcé", min_size=0, max_size=5)).map("".join),
    st.integers(0, 900).map(lambda n: "w. " * n),
    st.just(""),
    st.just("```"),
)


@given(st.lists(lines, max_size=25).map("\n".join))
def test_the_leaves_together_are_the_text_and_their_numbers_are_unique(text: str) -> None:
    whole = tree(("", text))
    assert "".join(leaf.text for leaf in whole.leaves()) == (text if text.endswith("\n") else f"{text}\n")
    numbers = [section.id for section in whole.walk()]
    assert len(numbers) == len(set(numbers))
    for section in whole.walk():
        assert find_section(whole, section.id) is section
        assert len(section.parts) <= MOST_ENTRIES
        assert section.tokens == words("".join(leaf.text for leaf in section.leaves()))


@pytest.mark.parametrize("heading", ["# H{n}\n", "## H{n}\ntext\n", "{marks} H{n}\n", "H{n}\n---\n"])
def test_the_text_that_is_counted_grows_with_the_headings_and_not_with_their_square(heading: str) -> None:
    def counted(headings: int) -> float:
        text = "".join(heading.format(n=n, marks="#" * (1 + n % 6)) for n in range(headings))
        seen = 0

        def count(piece: str) -> int:
            nonlocal seen
            seen += len(piece)
            return len(piece) // 4

        sections_of("x", [("", text)], count)
        return seen / len(text)

    assert counted(500) < 10
    assert counted(4000) < 10


@pytest.mark.parametrize(("more", "titles"), [(0, ["H", "H"]), (1, ["x (1 of", "x (2 of"])])
def test_a_text_of_very_many_lines_is_divided_between_lines_and_not_at_its_headings(
    more: int, titles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "MOST_LINES", 1000)
    text = "# H a b c d\n" * (1000 + more)
    section = sections_of("x", [("", text)], words)
    leaves = section.leaves()
    assert "".join(leaf.text for leaf in leaves) == text
    assert all(leaf.title.startswith(title) for leaf, title in zip(leaves, titles, strict=False))
