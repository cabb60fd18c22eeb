import pytest

from skillweave.text import search
from skillweave.text.search import WINDOW, MatchMode, compile_automaton, fold


def finds(phrase: str, text: str, mode: MatchMode = MatchMode.WORD) -> bool:
    return bool(compile_automaton([(fold(phrase), mode)]).search(fold(text)).spans)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("greet", "Please GREET her"),
        ("greet", "greet"),
        ("web", "a web-based tool"),
        ("c++", "I write C++ daily"),
        (".net", "the .NET runtime"),
        ("467'", "at 467' from the line"),
        ("lease line", "the lease\nline"),
        ("café", "ein Cafe\u0301."),
        ("STRASSE", "die Straße"),
        ("天气", "今天天气怎么样"),
        ("สวัสดี", "พูดสวัสดีครับ"),
        ("python", "用Python写"),
        ("नमस्ते", "नमस्ते दुनिया"),
        ("❤", "I ❤\ufe0f it"),
        ("don", "don't"),
    ],
)
def test_a_phrase_is_found_between_boundaries(phrase: str, text: str) -> None:
    assert finds(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("greet", "he regreeted them"),
        ("web", "our website"),
        ("467'", "at 1467' from the line"),
        ("c++", "objc++"),
        ("skill", "my_skill"),
        ("e", "e\u0331lan"),
        ("नमस्ते", "नमस्तेजी"),
        ("दुनिय", "दुनिया"),
        ("รถ", "รถ\u0e48"),
        ("привет", "приветствие"),
    ],
)
def test_a_phrase_inside_a_word_is_not_found(phrase: str, text: str) -> None:
    assert not finds(phrase, text)


def test_substring_mode_finds_a_phrase_inside_a_word() -> None:
    assert finds("greet", "he regreeted them", MatchMode.SUBSTRING)


def test_overlapping_phrases_are_all_found() -> None:
    phrases = [("lease line", MatchMode.WORD), ("lease", MatchMode.WORD), ("line", MatchMode.WORD)]
    assert compile_automaton(phrases).search("the lease line").spans == {1: (4, 9), 0: (4, 14), 2: (10, 14)}


def test_the_first_occurrence_between_boundaries_is_reported() -> None:
    assert compile_automaton([("web", MatchMode.WORD)]).search("website web web").spans == {0: (8, 11)}


def test_no_phrases_find_nothing() -> None:
    assert compile_automaton([]).search("anything").spans == {}


def test_a_phrase_across_two_windows_of_a_long_text_is_found_once_in_place() -> None:
    text = "x" * (WINDOW - 3) + " needle " + "y" * (3 * WINDOW)
    assert compile_automaton([("needle", MatchMode.WORD)]).search(text).spans == {0: (WINDOW - 2, WINDOW + 4)}


def test_a_phrase_longer_than_a_window_is_found_in_a_long_text() -> None:
    phrase = " ".join(f"word{number}" for number in range(WINDOW // 4))
    text = "z " * (5 * WINDOW) + phrase + " z" * (8 * WINDOW)
    assert list(compile_automaton([(phrase, MatchMode.WORD)]).search(text).spans) == [0]


def test_a_text_in_which_phrases_stand_everywhere_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_RAW_HITS", 1000)
    automaton = compile_automaton([("a" * length, MatchMode.SUBSTRING) for length in range(1, 4)])
    found = automaton.search("a" * (10 * WINDOW))
    assert found.spans == {0: (0, 1), 1: (0, 2), 2: (0, 3)}
    assert found.read == WINDOW
    assert automaton.search("ba" * 300).read == 600
