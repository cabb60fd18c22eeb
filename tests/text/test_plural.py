import pytest

from skillweave.text.words import singular


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("refund", "refunds"),
        ("query", "queries"),
        ("movie", "movies"),
        ("charge", "charges"),
        ("house", "houses"),
        ("box", "boxes"),
        ("match", "matches"),
        ("cache", "caches"),
        ("crash", "crashes"),
        ("class", "classes"),
        ("address", "addresses"),
        ("café", "cafés"),
    ],
)
def test_a_word_and_its_plural_have_one_form(one: str, many: str) -> None:
    assert singular(one) == singular(many)


@pytest.mark.parametrize("word", ["", "s", "us", "css", "gas", "status", "class", "退款", "c++", "naïve"])
def test_a_word_that_only_ends_like_a_plural_stays(word: str) -> None:
    assert singular(word) == word


@pytest.mark.parametrize(("one", "other"), [("car", "care"), ("tie", "ty"), ("plan", "plane"), ("new", "now")])
def test_different_words_keep_different_forms(one: str, other: str) -> None:
    assert singular(one) != singular(other)
