import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.text import markdown
from skillweave.text.markdown import blocks_of


def titles(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in blocks_of(text) if block.level]


def test_headings_of_both_spellings_are_found_with_their_levels() -> None:
    assert titles("# One\n\ntext\n\n### Three ###\nTwo\n---\n") == [(1, "One"), (3, "Three"), (2, "Two")]


@pytest.mark.parametrize("text", ["```\n# no\n```\n", "- # no\n", "> # no\n", "    # no\n", "#no\n", "a\n#hash\n"])
def test_a_hash_that_is_no_heading_starts_no_section(text: str) -> None:
    assert titles(text) == []


def test_a_table_is_one_block() -> None:
    assert [block.text for block in blocks_of("| a |\n|---|\n| 1 |\n\nafter")] == ["| a |\n|---|\n| 1 |\n\n", "after"]


def test_a_wide_table_is_not_parsed_cell_by_cell() -> None:
    text = "|a" * 3000 + "|\n" + "|-" * 3000 + "|\n" + "|x\n" * 3000
    assert len(markdown._parser().parse(text)) < 10_000


def test_an_empty_text_has_no_blocks() -> None:
    assert blocks_of("") == ()


def test_text_that_markdown_shows_nothing_of_is_kept() -> None:
    assert "".join(block.text for block in blocks_of("[link]: target\n")) == "[link]: target\n"


@given(st.text(alphabet=st.sampled_from("#=-`>|*[]() \n\r\t\v\f\x85\u2028ab1.é"), max_size=200))
def test_the_blocks_joined_are_the_text_again(text: str) -> None:
    assert "".join(block.text for block in blocks_of(text)) == text.replace("\r\n", "\n").replace("\r", "\n")
