import pytest

from skillweave.text import (
    SET_SIZE,
    BrokenPattern,
    ascii_only_escapes,
    compile_exact,
    compile_pattern,
    compile_patterns,
)


def test_patterns_ignore_case_and_match_anywhere() -> None:
    assert compile_patterns([r"rule\s+\d+"]).find("under RULE 37, see") == {0: (6, 13)}


def test_spans_count_characters_not_bytes() -> None:
    assert compile_patterns([r"b\d"]).find("ééa b1") == {0: (4, 6)}


def test_all_patterns_of_a_full_shelf_are_found() -> None:
    patterns = compile_patterns([rf"word{number}x" for number in range(SET_SIZE + 5)])
    assert patterns.find(f"word0x word17x word{SET_SIZE + 4}x") == {0: (0, 6), 17: (7, 14), SET_SIZE + 4: (15, 24)}


def test_no_pattern_finds_nothing() -> None:
    assert compile_patterns([]).find("text") == {}


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
    assert compile_patterns([r"a*\b"]).find(" b") == {}


def test_a_pattern_that_would_hang_a_backtracking_engine_ends() -> None:
    assert compile_patterns(["(a+)+$"]).find("a" * 100_000 + "b") == {}


@pytest.mark.parametrize(
    ("source", "escapes"),
    [(r"\bword\b", (r"\b",)), (r"\w+\W", (r"\w", r"\W")), (r"a\\b", ()), (r"\d+", ()), (r"\\\b", (r"\b",))],
)
def test_escapes_that_know_ascii_only_are_named(source: str, escapes: tuple[str, ...]) -> None:
    assert ascii_only_escapes(source) == escapes


def test_an_exact_pattern_keeps_to_letter_case_and_may_match_nothing() -> None:
    assert compile_exact("A").search(b"a") is None
    assert compile_exact("A").search(b"xA") is not None
    assert compile_exact("").search(b"") is not None


@pytest.mark.parametrize("source", ["(?=a)", "(a)\\1", "(", "a{1000}{1000}", "\ud800"])
def test_an_exact_pattern_that_cannot_run_is_refused_with_a_fix(source: str) -> None:
    with pytest.raises(BrokenPattern) as broken:
        compile_exact(source)
    assert broken.value.fix


def test_a_pattern_that_matches_single_bytes_is_placed_on_whole_characters() -> None:
    assert compile_patterns([r"\C", r"\C$", "é"]).find("aé") == {0: (0, 1), 1: (1, 2), 2: (1, 2)}
