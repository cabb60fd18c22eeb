"""JSON keeps its numbers, and streams of events are cut where they end."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.exchange.wire import LONGEST_EVENT, Events, Unreadable, read_json, read_object, write_json

NUMBERS = ["0", "-0", "1", "123456789012345678901234567890", "0.1", "0.10", "1E5", "1e400", "0.30000000000000000000001"]


@pytest.mark.parametrize("number", [*NUMBERS, "9" * 5_000])
def test_a_number_is_written_as_it_was_read(number: str) -> None:
    assert write_json(read_json(f'{{"a":[{number},"{number}"]}}')) == f'{{"a":[{number},"{number}"]}}'.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_every_value_comes_back(value: object) -> None:
    assert json.loads(write_json(read_json(json.dumps(value)))) == value


@pytest.mark.parametrize("data", [b"{", b"NaN", b"[" * 100_000, b"\xff", b'{"a": Infinity}'])
def test_what_is_no_json_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_json(data)


def test_another_value_than_an_object_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="a JSON list"):
        read_object(b"[]")


STREAM = b'event: a\ndata: {"x": 1}\n\n: a comment\n\ndata: {"y":\r\ndata: 2}\r\n\r\ndata: [DONE]\n\n'


@given(st.integers(1, len(STREAM)))
def test_events_are_the_same_wherever_the_pieces_end(size: int) -> None:
    events = Events()
    found = [one for at in range(0, len(STREAM), size) for one in events.feed(STREAM[at : at + size])]
    assert [(one.name, one.data) for one in found] == [("a", {"x": 1}), ("", None), ("", {"y": 2}), ("", None)]
    assert b"".join(one.raw for one in found) == STREAM


def test_an_event_without_an_end_is_refused_at_its_limit() -> None:
    events = Events()
    assert list(events.feed(b"x" * LONGEST_EVENT)) == []
    with pytest.raises(Unreadable, match="more than"):
        list(events.feed(b"x"))
