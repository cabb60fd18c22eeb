"""Ids in what a user writes: which is found, how it is spelled, and that a long text costs no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidContext
from skillweave.knowledge.recognise import LONGEST_REF, Recognised, Recogniser
from skillweave.knowledge.rules import IdPattern

IMO = IdPattern(r"\bIMO[- ]?(\d{7})\b", "IMO-{1}")
NAMED = IdPattern(r"\bmmsi (?P<mid>\d{3})(?P<rest>\d{6})\b", "{mid}-{rest}")


def find(text: str, *patterns: IdPattern) -> Recognised | None:
    return Recogniser(patterns).find(text)


@pytest.mark.parametrize("text", ["Where is IMO 9074729?", "imo-9074729", "the IMO9074729."])
def test_an_id_is_spelled_as_the_graph_does(text: str) -> None:
    found = find(text, IMO)
    assert found is not None and found.ref == "IMO-9074729"


def test_groups_may_have_names() -> None:
    assert find("MMSI 257123456 calls", NAMED) == Recognised("257-123456", "MMSI 257123456")


def test_without_a_spelling_it_is_what_was_written() -> None:
    assert find("berth B-12 please", IdPattern(r"\bB-\d+\b")) == Recognised("B-12", "B-12")


def test_the_first_id_of_the_text_is_meant_whichever_pattern_finds_it() -> None:
    found = find("mmsi 257123456 is IMO 9074729", IMO, NAMED)
    assert found is not None and found.ref == "257-123456"


def test_a_group_that_took_no_part_is_empty() -> None:
    found = find("dock 7", IdPattern(r"dock (\d+)([a-z])?", "d{1}{2}"))
    assert found is not None and found.ref == "d7"


@pytest.mark.parametrize("text", ["", "no id here", "IMO 123", "xIMO 9074729x"])
def test_where_there_is_none_nothing_is_found(text: str) -> None:
    assert find(text, IMO) is None


def test_what_is_too_long_to_be_an_id_is_none() -> None:
    assert find("a" * (LONGEST_REF + 1), IdPattern("a+")) is None


def test_of_a_long_text_the_beginning_and_the_end_are_read() -> None:
    noise = "x " * 500_000
    assert find(f"IMO 9074729 {noise}", IMO) is not None
    assert find(f"{noise} IMO 9074729", IMO) is not None
    assert find(f"{noise} IMO 9074729 {noise}", IMO) is None


def test_half_a_surrogate_pair_does_no_harm() -> None:
    found = find("\ud800 IMO 9074729", IMO)
    assert found is not None and found.ref == "IMO-9074729"


@pytest.mark.parametrize("pattern", [IdPattern("("), IdPattern("a*"), IdPattern("(a)", "{2}"), IdPattern("a", "{x}")])
def test_a_pattern_that_cannot_be_used_is_refused(pattern: IdPattern) -> None:
    with pytest.raises(InvalidContext):
        Recogniser([pattern])


@given(text=st.text())
def test_no_text_breaks_it(text: str) -> None:
    found = find(text, IMO, NAMED)
    assert found is None or found.written
