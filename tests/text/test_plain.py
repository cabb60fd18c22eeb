"""The quick way through plain texts finds what the way through folded ones finds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.select.terms import humps_of
from skillweave.text.plain import plain_text
from skillweave.text.words import STOP_WORDS, _folded_words, words_of

odd = st.text(st.sampled_from("aAbBzZ019 _-#+\n\t—“”…™½é東京かな\ufe0f\u0301\u200d👍ßﬁ＋"), max_size=40)
_CAMEL = re.compile(r"[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@given(odd | st.text(max_size=40))
def test_the_words_are_those_of_the_folded_text(text: str) -> None:
    assert words_of(text) == _folded_words(text)


@pytest.mark.parametrize("text", ["a — b", "“quoted”…", "done ✅ ⚠️", "x → y"])
def test_dashes_quotes_and_emoji_leave_a_text_plain(text: str) -> None:
    assert plain_text(text) is not None


@pytest.mark.parametrize("text", ["café", "東京", "½", "™", "e\u0301"])
def test_other_letters_and_what_folds_to_letters_do_not(text: str) -> None:
    assert plain_text(text) is None


@given(odd | st.text(st.sampled_from("aAbB1_é-Z9z "), max_size=20))
def test_the_humps_are_those_of_every_word_in_camel_case(text: str) -> None:
    parts = (part.lower() for word in _CAMEL.findall(text) for part in _HUMP.split(word))
    assert humps_of(text) == [part for part in parts if len(part) > 1 and part not in STOP_WORDS]
