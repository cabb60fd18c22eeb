from skillweave.text.search import fold
from skillweave.text.words import LIGHT_WORDS, STOP_WORDS, is_foreign, word_spans, words_of


def test_words_are_folded_and_stop_words_left_out() -> None:
    assert words_of("Please CONVERT the Files to PDF") == ["convert", "files", "pdf"]


def test_identifiers_are_cut_at_underscores_and_hyphens() -> None:
    assert words_of("my_snake-case.id") == ["snake", "case", "id"]


def test_single_letters_and_digits_say_nothing() -> None:
    assert words_of("2+2 = x, v8") == ["v8"]


def test_language_names_with_signs_are_words() -> None:
    assert words_of("C++ or C# and F#, not c+") == ["c++", "c#", "f#"]


def test_contractions_leave_no_remains() -> None:
    assert words_of("I don't think you'll need it, we've won't") == ["think"]


def test_a_run_without_spaces_counts_as_pairs_of_characters() -> None:
    assert words_of("今天天气, Python入門 价") == ["今天", "天天", "天气", "python", "入門", "价"]


def test_marks_belong_to_their_words() -> None:
    assert words_of("नमस्ते naïve cafe\u0301") == ["नमस्ते", "naïve", "café"]


def test_distinct_words_have_the_span_of_their_first_occurrence() -> None:
    assert word_spans("cat and dog, cat") == {"cat": (0, 3), "dog": (8, 11)}


def test_words_and_spans_agree() -> None:
    text = "deploy today 今天天气 to the क्लस्टर c++ é"
    assert list(word_spans(text)) == words_of(text)


def test_a_text_without_words_has_none() -> None:
    assert words_of("?! 2 + 2 \0 \ud800") == []


def test_everyday_words_are_not_stop_words_and_both_are_folded() -> None:
    assert STOP_WORDS.isdisjoint(LIGHT_WORDS)
    assert all(fold(word) == word for word in STOP_WORDS | LIGHT_WORDS)


def test_a_text_is_foreign_that_has_function_words_of_another_language_only() -> None:
    assert is_foreign(fold("Danke dir, hat geklappt"))
    assert not is_foreign(fold("find me a hat for dir"))
    assert not is_foreign(fold("hat"))
