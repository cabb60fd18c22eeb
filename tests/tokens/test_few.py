import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from skillweave.selection import Tiktoken
from skillweave.tokens.few import FEW_CHARACTERS, LONGEST_PIECE, FewTexts, few_texts, merged
from skillweave.tokens.ranks import VOCABULARIES, ranks_of

ODD = st.sampled_from(" \n\r\t'sStTvVeErRlLdDmM1a.-/ſ\u00a0\u2028\u3000東é👩\u0301")


def fresh(encoding: str = "o200k_base") -> FewTexts:
    return FewTexts(regex.compile(VOCABULARIES[encoding].split).findall, ranks_of(encoding))


@pytest.mark.parametrize("encoding", VOCABULARIES)
@given(text=st.text(max_size=80) | st.text(ODD, max_size=80))
def test_few_texts_cost_what_the_encoder_says(encoding: str, text: str) -> None:
    counted = fresh(encoding).count(text)
    warm = Tiktoken(encoding)
    warm.warm_up()
    assert counted in (None, warm.count(text))


@pytest.mark.parametrize("encoding", VOCABULARIES)
def test_every_assigned_letter_beyond_latin_is_counted_without_the_encoder(encoding: str) -> None:
    assert fresh(encoding).count("東京とパリ, привет 👩‍👩‍👧, हिन्दी") is not None


@pytest.mark.parametrize("text", ["a\ud800", "\U000e0fff", "x" * (LONGEST_PIECE + 1)])
def test_half_a_pair_an_unassigned_character_and_a_long_run_are_left_to_the_encoder(text: str) -> None:
    assert fresh().count(text) is None


def test_when_much_was_counted_the_rest_is_left_to_the_encoder() -> None:
    few = fresh()
    half = "word " * (FEW_CHARACTERS // 10)
    assert [few.count(half), few.count(half), few.count("a")] == [len(half) // 5 + 1, len(half) // 5 + 1, None]


def test_counters_of_one_process_share_what_is_counted_here() -> None:
    assert few_texts("o200k_base") is few_texts("o200k_base")


@given(st.binary(min_size=1, max_size=40))
def test_merging_leaves_one_token_at_least_and_a_token_for_each_byte_at_most(piece: bytes) -> None:
    assert 1 <= merged(piece, ranks_of("cl100k_base")) <= len(piece)
