"""Which argument a pattern is judged on, for random tools and calls, against a judge of its own (spec 4.3)."""

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Ruling, ToolPolicy
from tests.depth import tried

NAMES = ("command", "cmd", "path", "url", "note")
TEXTS = st.sampled_from(["docs/a", "docs/../x", "/etc/x", "secret", "docs/", "b"])
PARAMETERS = st.none() | st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(tuple)
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES), TEXTS | st.just(5), max_size=3)
NAMED = st.none() | st.sampled_from(NAMES)
Call: TypeAlias = dict[str, object]


def judged_text(call: Call, parameters: tuple[str, ...] | None, named: str | None) -> object:
    """The value that a pattern is about, by the words of the documentation; None where nobody can tell."""
    if named is not None:
        meant = named
    elif parameters is None or "command" in parameters:
        meant = "command"
    elif len(parameters) == 1:
        meant = parameters[0]
    else:
        return None
    if parameters is not None and meant not in parameters:
        return None
    value = call.get(meant)
    return value if isinstance(value, str) else None


def entry(named: str | None) -> str:
    return f"tool({'' if named is None else f'{named}='}docs/*)"


@tried(133)
@given(ARGUMENTS, PARAMETERS, NAMED)
def test_an_allowing_pattern_lets_through_what_its_own_parameter_says_and_no_more(
    call: Call, parameters: tuple[str, ...] | None, named: str | None
) -> None:
    ruling = ToolPolicy(allowed_tools=(entry(named),)).authorize("tool", call, parameters=parameters).ruling
    text = judged_text(call, parameters, named)
    strange = parameters is not None and not set(call) <= set(parameters)
    inside = isinstance(text, str) and text.startswith("docs/") and ".." not in text
    assert (ruling is Ruling.ALLOW) == (inside and not strange)


@tried(133)
@given(ARGUMENTS, PARAMETERS, NAMED)
def test_a_forbidding_pattern_stops_what_its_own_parameter_says_and_what_nobody_can_tell(
    call: Call, parameters: tuple[str, ...] | None, named: str | None
) -> None:
    verdict = ToolPolicy(forbidden_tools=(entry(named),)).authorize("tool", call, parameters=parameters)
    text = judged_text(call, parameters, named)
    if text is None or (isinstance(text, str) and ("docs/" in text or ".." in text)):
        assert verdict.ruling is Ruling.DENY


@tried(66)
@given(ARGUMENTS, PARAMETERS, st.lists(st.sampled_from(["tool", "tool(docs/*)", "tool(path=docs/*)"]), max_size=2))
def test_an_argument_that_the_tool_does_not_have_is_never_let_through(
    call: Call, parameters: tuple[str, ...] | None, forbidden: list[str]
) -> None:
    verdict = ToolPolicy(forbidden_tools=tuple(forbidden)).authorize("tool", call, parameters=parameters)
    if parameters is not None and not set(call) <= set(parameters):
        assert verdict.ruling is Ruling.DENY
