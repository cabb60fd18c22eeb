import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.text import search
from skillweave.text.search import (
    SET_SIZE,
    BrokenPattern,
    ascii_only_escapes,
    compile_flagged,
    compile_pattern,
    compile_patterns,
    without_middle,
)


def test_patterns_ignore_case_and_match_anywhere() -> None:
    assert compile_patterns([r"rule\s+\d+"]).search("under RULE 37, see").spans == {0: (6, 13)}


def test_spans_count_characters_not_bytes() -> None:
    assert compile_patterns([r"b\d"]).search("ééa b1").spans == {0: (4, 6)}


def test_all_patterns_of_a_full_shelf_are_found() -> None:
    patterns = compile_patterns([rf"word{number}x" for number in range(SET_SIZE + 5)])
    found = patterns.search(f"word0x word17x word{SET_SIZE + 4}x").spans
    assert found == {
        0: (0, 6),
        17: (7, 14),
        SET_SIZE + 4: (15, 24),
    }


def test_no_pattern_finds_nothing() -> None:
    assert compile_patterns([]).search("text").spans == {}


@pytest.mark.parametrize("source", ["(a", "(?<=a)b", r"(a)\1", "a(?!b)", r"end\Z", "(a{1000}){1000}", "\ud800"])
def test_a_broken_or_inexpressible_pattern_is_refused_with_a_fix(source: str) -> None:
    with pytest.raises(BrokenPattern) as refused:
        compile_pattern(source)
    assert str(refused.value)
    assert refused.value.fix


@pytest.mark.parametrize("source", ["", "a*", "a|", "^", "$", r"\b", "(x?)"])
def test_a_pattern_that_matches_no_text_is_refused(source: str) -> None:
    with pytest.raises(BrokenPattern, match="empty text"):
        compile_pattern(source)


def test_a_pattern_with_too_large_a_program_is_refused() -> None:
    with pytest.raises(BrokenPattern, match="instructions"):
        compile_pattern("".join(f"[{letter}x]{{1000}}" for letter in "abcdefgh"))


def test_an_empty_match_in_front_of_a_word_is_no_hit() -> None:
    assert compile_patterns([r"a*\b"]).search(" b").spans == {}


def test_a_pattern_that_would_hang_a_backtracking_engine_ends() -> None:
    assert compile_patterns(["(a+)+$"]).search("a" * 100_000 + "b").spans == {}


@pytest.mark.parametrize(
    ("source", "escapes"),
    [(r"\bword\b", (r"\b",)), (r"\w+\W", (r"\w", r"\W")), (r"a\\b", ()), (r"\d+", ()), (r"\\\b", (r"\b",))],
)
def test_escapes_that_know_ascii_only_are_named(source: str, escapes: tuple[str, ...]) -> None:
    assert ascii_only_escapes(source) == escapes


def test_an_exact_pattern_keeps_to_letter_case_and_may_match_nothing() -> None:
    assert compile_flagged("A").search(b"a") is None
    assert compile_flagged("A").search(b"xA") is not None
    assert compile_flagged("").search(b"") is not None


@pytest.mark.parametrize("source", ["(?=a)", "(a)\\1", "(", "a{1000}{1000}", "\ud800"])
def test_an_exact_pattern_that_cannot_run_is_refused_with_a_fix(source: str) -> None:
    with pytest.raises(BrokenPattern) as broken:
        compile_flagged(source)
    assert broken.value.fix


def test_a_pattern_that_matches_single_bytes_is_placed_on_whole_characters() -> None:
    assert compile_patterns([r"\C", r"\C$", "é"]).search("aé").spans == {0: (0, 1), 1: (1, 2), 2: (1, 2)}


def test_a_text_that_is_too_long_for_large_patterns_is_read_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_STEPS", 10_000)
    monkeypatch.setattr(search, "LEAST_READ", 40)
    patterns = compile_patterns([r"begin \w{300}|begin", "end", "middle"])
    text = f"é begin{' ' * 500}middle{' ' * 500}end"
    found = patterns.search(text)
    assert (found.spans, found.read) == ({0: (2, 7), 1: (1013, 1016)}, 40)


@given(text=st.text(alphabet="ab\n", max_size=120), most=st.integers(10, 140))
def test_what_is_found_in_the_ends_of_a_text_is_there_at_those_places(text: str, most: int) -> None:
    patterns = compile_patterns(["ab", "b+a", "a{3}"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "MOST_STEPS", 0)
        patched.setattr(search, "LEAST_READ", most)
        found = patterns.search(text)
    for number, (start, end) in found.spans.items():
        assert re.fullmatch(["ab", "b+a", "a{3}"][number], text[start:end])
    assert found.read == len(text) or found.read == 2 * (most // 2) < len(text)


@given(text=st.text(max_size=60), most=st.integers(0, 70))
def test_without_its_middle_a_text_has_every_other_character_at_its_place(text: str, most: int) -> None:
    short, half = without_middle(text, most), most // 2
    assert len(short) == len(text)
    assert short[:half] == text[:half]
    assert short[max(half, len(text) - half) :] == text[max(half, len(text) - half) :]
    assert set(short[half : len(text) - half]) <= {"\n"} if len(text) > 2 * half else short == text
