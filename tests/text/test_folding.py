import unicodedata

import pytest

from skillweave.text.search import CHUNK, fold, fold_message


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("Straße", "STRASSE"),
        ("caf\u00e9", "CAFE\u0301"),
        ("ﬁle", "FILE"),
        ("ｗｅｂ", "Web"),
        ("ſecret", "SECRET"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("İ", "i\u0307"),
        ("lease\nline", "lease line"),
        ("a\u00a0b", "a b"),
    ],
)
def test_spellings_of_one_word_fold_to_the_same_text(written: str, other: str) -> None:
    assert fold(written) == fold(other)


def test_a_lone_surrogate_becomes_a_replacement_character_of_the_same_width() -> None:
    folded = fold_message("a\ud800B")
    assert (folded.text, folded.original) == ("a\ufffdb", "a\ufffdB")


def test_a_nul_byte_is_kept() -> None:
    assert fold("A\0B") == "a\0b"


def test_positions_of_ascii_text_are_its_own() -> None:
    folded = fold_message("Say BONJOUR")
    assert folded.span(4, 11) == (4, 11)


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("die STRAẞE hier", "strasse", "STRAẞE"),
        ("ein CAFE\u0301 bitte", "caf\u00e9", "CAFE\u0301"),
        ("der ﬁlm läuft", "film", "ﬁlm"),
        ("오늘 \u1112\u1161\u11ab 글", "한", "\u1112\u1161\u11ab"),
        ("ﬀﬀ x", "x", "x"),
    ],
)
def test_a_span_leads_back_to_the_original_characters(text: str, word: str, expected: str) -> None:
    folded = fold_message(text)
    at = folded.text.index(word)
    start, end = folded.span(at, at + len(word))
    assert text[start:end] == expected


def test_spans_are_right_in_every_piece_of_a_long_text() -> None:
    text = "ﬁx é " * CHUNK + "ﬁnale"
    folded = fold_message(text)
    at = folded.text.index("finale")
    assert folded.span(at, at + 6) == (len(text) - 5, len(text))


def test_a_mark_is_not_torn_from_its_letter_between_two_pieces() -> None:
    text = "x" * (CHUNK - 1) + "e\u0301" * 3
    assert fold(text) == "x" * (CHUNK - 1) + "é" * 3


def test_folding_in_pieces_equals_the_rule_applied_to_the_whole() -> None:
    text = "Été ÀÇ ſtraße ﬁ ½ Ⅷ ㌀ ǅ ᾳ " * 60
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    assert fold(text) == unicodedata.normalize("NFKC", whole.casefold())


def test_a_megabyte_of_combining_marks_is_folded() -> None:
    folded = fold_message("\u0301\u0316" * 500_000)
    assert len(folded.text) == 1_000_000
