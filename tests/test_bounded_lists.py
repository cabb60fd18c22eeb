"""Every list of a turn and of a question has a limit and costs no more than its length (spec 8)."""

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from skillweave import Message, Role, ToolResult, Turn
from skillweave.api import AuthorizeRequest, ComposeRequest, ValidateRequest
from skillweave.compose.entries import meet, narrow
from skillweave.compose.policy import ToolPolicy
from skillweave.conversation import MOST_MESSAGES, MOST_NAMED, MOST_RESULTS
from skillweave.errors import InvalidSkill, InvalidTurn
from skillweave.limits import MOST_ENTRIES, MOST_SKILLS
from skillweave.schemas import schema
from skillweave.tools import ToolLimits
from skillweave.turns import Read

MANY = (500, 1_000, 2_000)
LISTS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "names": lambda n: tuple(f"tool_{i}" for i in range(n)),
    "patterns": lambda n: tuple(f"Bash(cmd{i}:*)" for i in range(n)),
    "other patterns": lambda n: tuple(f"Bash(run{i}:*)" for i in range(n)),
    "paths": lambda n: tuple(f"Edit(path=/srv/{i}/:*)" for i in range(n)),
    "stars": lambda n: tuple(f"mcp__s{i}__*" for i in range(n)),
    "nested stars": lambda n: tuple(f"{'t' * (1 + i % 50)}{i}*" for i in range(n)),
}


def calls_of(work: Callable[[], object]) -> int:
    """How many functions, Python's own too, the work calls."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def assert_linear(work: Callable[[int], object]) -> None:
    counts = [calls_of(lambda n=n: work(n)) for n in MANY]
    assert all(later < 2.6 * earlier + 1_000 for earlier, later in pairwise(counts)), counts


@pytest.mark.parametrize(
    ("entries", "limit"),
    [
        ("names", "names"),
        ("names", "stars"),
        ("stars", "names"),
        ("stars", "stars"),
        ("nested stars", "nested stars"),
        ("patterns", "other patterns"),
        ("paths", "paths"),
    ],
)
@pytest.mark.parametrize("combine", [narrow, meet])
def test_two_lists_of_tools_are_combined_in_linear_work(combine: Any, entries: str, limit: str) -> None:
    assert_linear(lambda n: combine(LISTS[entries](n), LISTS[limit](n)))


@pytest.mark.parametrize("entries", LISTS)
def test_a_call_is_judged_in_linear_work_also_where_the_denial_names_what_the_host_has(entries: str) -> None:
    def judged(n: int) -> object:
        policy = ToolPolicy(allowed_tools=LISTS[entries](n), forbidden_tools=LISTS["patterns"](n))
        return policy.authorize("Bash", {"command": "other x"}, host_tools=LISTS["names"](n))

    assert_linear(judged)


FIELDS: list[tuple[str, int, Callable[[int], dict[str, Any]]]] = [
    ("transcript", MOST_MESSAGES, lambda n: {"transcript": (Message(Role.USER, "x"),) * n}),
    ("results", MOST_RESULTS, lambda n: {"results": (ToolResult("t", "x"),) * n}),
    ("named", MOST_NAMED, lambda n: {"named": ("a",) * n}),
    ("reads", MOST_NAMED, lambda n: {"reads": (Read("a"),) * n}),
    ("memory", MOST_RESULTS, lambda n: {"memory": {str(i): i for i in range(n)}}),
    ("tools", MOST_ENTRIES, lambda n: {"tools": ("t",) * n}),
    *(
        (name, MOST_ENTRIES, lambda n, name=name: {"limits": ToolLimits(**{name: ("t",) * n})})
        for name in ("allowed", "forbidden")
    ),
    *(
        (name, MOST_ENTRIES, lambda n, name=name: {"limits": ToolLimits(**{name: {str(i): "x" for i in range(n)}})})
        for name in ("asks", "own_asks", "argument_names", "rejected_calls")
    ),
    ("closed_skills", MOST_SKILLS, lambda n: {"limits": ToolLimits(closed_skills=("a",) * n)}),
]


@pytest.mark.parametrize(("name", "most", "made"), FIELDS, ids=[name for name, _, _ in FIELDS])
def test_a_list_of_a_turn_that_is_too_long_is_refused_by_name(name: str, most: int, made: Any) -> None:
    Turn("t", "c", Message(Role.USER, "x"), **made(most))
    with pytest.raises(InvalidTurn, match=rf"\({name}=\.\.\.\) has {most + 1:,} members; give at most {most:,}"):
        Turn("t", "c", Message(Role.USER, "x"), **made(most + 1))


def test_a_message_of_too_many_parts_is_refused() -> None:
    with pytest.raises(InvalidTurn, match=f"give at most {MOST_MESSAGES:,}"):
        Message(Role.USER, ("x",) * (MOST_MESSAGES + 1))


def test_a_question_with_too_long_a_list_is_refused() -> None:
    tools = ("t",) * (MOST_ENTRIES + 1)
    with pytest.raises(InvalidTurn, match=r"AuthorizeRequest\(host_tools=...\)"):
        AuthorizeRequest("c", "Bash", host_tools=tools)
    with pytest.raises(InvalidTurn, match=r"ToolLimits\(allowed=...\)"):
        AuthorizeRequest("c", "Bash", limits=ToolLimits(allowed=tools))
    with pytest.raises(InvalidSkill, match=r"ValidateRequest\(host_tools=...\)"):
        ValidateRequest((), tools)
    with pytest.raises(InvalidSkill, match=r"ComposeRequest\(skills=...\)"):
        ComposeRequest(("a",) * (MOST_NAMED + 1))


def test_schemas_say_the_limits() -> None:
    found = schema("turn-request")
    assert found["properties"]["reads"]["maxItems"] == MOST_NAMED
    assert {"type": "array", "items": {"type": "string"}, "maxItems": MOST_ENTRIES} in found["properties"]["tools"][
        "anyOf"
    ]
    assert found["properties"]["memory"]["maxProperties"] == MOST_RESULTS
    assert found["$defs"]["ToolLimits"]["properties"]["forbidden"]["maxItems"] == MOST_ENTRIES


def test_patterns_past_the_pairs_that_are_compared_are_kept_where_both_lists_have_them() -> None:
    wide, narrower = LISTS["patterns"](100), tuple(f"Bash(cmd{i} x:*)" for i in range(100))
    both = narrow((*wide, *narrower, "Bash(last:*)"), (*narrower, "Bash(last:*)"))
    assert both[-1] == "Bash(last:*)"
    assert set(both) <= {*narrower, "Bash(last:*)"}
