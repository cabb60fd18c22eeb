"""Whether a call was denied is told by the rules, for random tools and answers."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from skillweave import ToolResult
from tests.depth import tried
from tests.weaver.test_denials import place_after


@tried(20)
@given(
    st.sampled_from(["fetch", "shell", "other"]),
    st.sampled_from(["", "TOOL_FORBIDDEN: ", "TOOL_NOT_ALLOWED: ", "tool_forbidden: "]),
    st.text(max_size=20),
)
def test_only_a_call_that_the_rules_deny_was_ever_denied(tool: str, beginning: str, rest: str) -> None:
    place = asyncio.run(place_after(ToolResult(tool, beginning + rest)))
    assert (place == "help") == (tool == "shell" and beginning.startswith("TOOL_"))
