"""The chain of digests: what counts as the same history, and what does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.exchange.chain import chain_of, tagged, without_tags
from skillweave.exchange.chat import Chat
from skillweave.exchange.messages import Messages
from skillweave.exchange.responses import Responses

CHAT, MESSAGES, RESPONSES = Chat(), Messages(), Responses()


def digests(form: Any, *items: dict[str, Any]) -> list[str]:
    return [link.digest for link in chain_of([form.normal(item) for item in items])]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


@pytest.mark.parametrize("form", [CHAT, MESSAGES])
def test_a_text_is_the_same_as_a_list_of_one_and_markers_are_none(form: Any) -> None:
    marked = text("Hi", cache_control={"type": "ephemeral"})
    assert digests(form, user("Hi")) == digests(form, user([text("Hi")])) == digests(form, user([marked]))
    assert digests(form, user("Hi")) != digests(form, user("Ho"))


@pytest.mark.parametrize("form", [CHAT, MESSAGES, RESPONSES])
def test_system_messages_and_what_agents_write_in_tags_are_left_out(form: Any) -> None:
    system = {"role": "system", "content": "It is noon."}
    tagged_alone = user("<environment_context>\n<cwd>/</cwd>\n</environment_context>")
    assert digests(form, system, tagged_alone, user("Hi")) == digests(form, user("Hi"))


def test_thinking_is_left_out_and_calls_are_compared_by_their_values() -> None:
    call = {"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1, "y": 2}}
    thought = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    one = {"role": "assistant", "content": [thought, call]}
    other = {"role": "assistant", "content": [{**call, "input": {"y": 2, "x": 1}}]}
    assert digests(MESSAGES, one) == digests(MESSAGES, other)
    assert digests(MESSAGES, one) != digests(MESSAGES, {"role": "assistant", "content": [{**call, "input": {"x": 2}}]})
    written = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": said}}],
        }
        for said in ('{"x":1,"y":2}', '{ "y": 2, "x": 1 }', '{"x":1}')
    ]
    assert digests(CHAT, written[0]) == digests(CHAT, written[1]) != digests(CHAT, written[2])


def test_an_item_of_a_response_is_the_same_however_the_client_sends_it_back() -> None:
    part = {"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x"}
    assert digests(RESPONSES, reasoning, whole) == digests(RESPONSES, {"role": "assistant", "content": "Hi"})


PIECES = ["<system-reminder>", "</system-reminder>", "a", " ", "<permissions>", "<"]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_what_stands_in_no_closed_pair_of_tags_stays(pieces: list[str]) -> None:
    written = "".join(pieces)
    left = without_tags(written)
    assert without_tags(left) == left or "</" in written
    if "</" not in written:
        assert left == written


def test_many_open_tags_are_read_in_linear_time() -> None:
    assert without_tags("<system-reminder>" * 200_000) == "<system-reminder>" * 200_000


def test_what_stands_inside_a_tag_is_found() -> None:
    assert list(tagged("a<x>b</x>c<x>d</x><x>e", "x")) == ["b", "d"]


@given(st.lists(st.text(max_size=5), min_size=1, max_size=8), st.text(max_size=5))
def test_a_history_that_goes_on_has_the_chain_of_the_one_before(said: list[str], more: str) -> None:
    items = [user(f"a{one}") for one in said]
    assert digests(CHAT, *items, user(f"b{more}"))[:-1] == digests(CHAT, *items)
