"""Every list of a turn and of a question has a limit and costs no more than its length (spec 8)."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from skillweave import Message, Role, ToolResult, Turn
from skillweave import open as open_skills
from skillweave.api import AuthorizeRequest, ComposeRequest, ValidateRequest
from skillweave.compose.entries import meet, narrow
from skillweave.compose.policy import ToolPolicy
from skillweave.dialogue import MOST_MESSAGES, MOST_NAMED, MOST_RESULTS
from skillweave.errors import InvalidSkill, InvalidTurn
from skillweave.limits import MOST_ENTRIES, MOST_SKILLS
from skillweave.schemas import schema
from skillweave.tools import ToolLimits
from skillweave.turns import Read

SKILLS = Path(__file__).parents[1] / "examples" / "skills"
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


TURNS: dict[str, Callable[[int], dict[str, Any]]] = {
    "reads": lambda n: {"reads": tuple(Read("invoice-checking", f"s{i}") for i in range(n))},
    "documents": lambda n: {"reads": tuple(Read("invoice-checking", None, f"{i}.md") for i in range(n))},
    "named": lambda n: {"named": tuple(f"skill-{i}" for i in range(n))},
    "results": lambda n: {"results": tuple(ToolResult(f"tool_{i}", "ok") for i in range(n))},
    "memory": lambda n: {"memory": {f"key{i}": i for i in range(n)}},
    "transcript": lambda n: {"transcript": tuple(Message(Role.USER, f"message {i}") for i in range(n))},
    "parts": lambda n: {"transcript": (Message(Role.USER, tuple(map(str, range(n)))),)},
    "markers": lambda n: {"message": Message(Role.ASSISTANT, " ".join(f"SKILL_SELECT:skill-{i}" for i in range(n)))},
    "tools": lambda n: {"tools": LISTS["names"](n)},
    "limits": lambda n: {"limits": ToolLimits(forbidden=LISTS["patterns"](n), closed_skills=LISTS["names"](n))},
}


@pytest.mark.parametrize("field", TURNS)
async def test_a_whole_turn_is_linear_in_each_of_its_lists(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def in_place(call: Callable[..., object], /, *args: object, **named: object) -> object:
        return call(*args, **named)

    monkeypatch.setattr(asyncio, "to_thread", in_place)  # what a thread does is not counted
    weaver = open_skills(SKILLS)
    message = Message(Role.USER, "Is this invoice from Brandt GmbH right?")
    await weaver.weave(Turn("warm", "warm", message, **{k: v for k, v in TURNS[field](2).items() if k != "message"}))
    counts = []
    for size in (250, 500, 1_000):
        turn = Turn(f"t{size}", f"c{size}", **{"message": message, **TURNS[field](size)})
        counts.append(calls_of(lambda turn=turn: stepped(weaver.weave(turn))))
    assert all(later < 2.6 * earlier + 1_000 for earlier, later in pairwise(counts)), counts
    await weaver.close()


def stepped(coroutine: Coroutine[Any, None, object]) -> None:
    """Runs to its end what waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits for something")


async def test_many_markers_are_looked_for_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[object] = []
    to_thread = asyncio.to_thread

    async def watched(call: Callable[..., Any], /, *args: object, **named: object) -> object:
        moved.append(call)
        return await to_thread(call, *args, **named)

    monkeypatch.setattr(asyncio, "to_thread", watched)
    async with open_skills(SKILLS) as weaver:
        marked = Message(Role.ASSISTANT, " ".join(f"SKILL_SELECT:skill-{i}" for i in range(1_000)))
        await weaver.weave(Turn("warm", "warm", Message(Role.USER, "hello")))
        moved.clear()
        await weaver.weave(Turn("t", "c", marked))
    assert moved
