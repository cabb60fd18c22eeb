"""What counts as found again by a prompt cache, and as a call that begins anew."""

import json

from skillweave_testing.hosts import Sent
from tests.adapters.hosts.tails import OVERVIEW
from tests.adapters.recording.prefix import cached, share


def call(*texts: object, system: str = "Be brief.", declared: str = '{"name": "search"}') -> Sent:
    return Sent(
        system, tuple(json.dumps({"role": "user", "content": text}) for text in texts), ("search",), (declared,)
    )


def test_a_call_that_goes_on_is_found_again_as_far_as_the_one_before() -> None:
    first, second = call("Hi"), call("Hi", "And now?")
    assert share([first, second]).reused == len(cached(first))
    assert share([first, second]).breaks == ()


def test_another_system_prompt_or_tool_begins_anew_where_it_stands() -> None:
    first = call("Hi")
    for other in (call("Hi", system="Be long."), call("Hi", declared='{"name": "find"}')):
        found = share([first, other])
        assert found.breaks == (1,)
        assert found.reused < len(cached(first)) - len("Hi")


def test_what_stood_at_the_end_for_one_call_only_begins_nothing_anew() -> None:
    first, second = call("Hi", f"{OVERVIEW}\n- a: b"), call("Hi", "And now?")
    assert share([first, second]).breaks == ()
    assert share([second, first]).breaks == (1,)


def test_a_text_is_the_same_as_one_part_with_it_and_markers_are_none() -> None:
    part = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
    assert share([call("Hi"), call([part], "And now?")]).breaks == ()


def test_the_first_call_finds_nothing() -> None:
    assert share([call("Hi")]).percent == share([]).percent == 0.0
