import json

import pytest

from skillweave import Checkpoint, Ruling, Settings, ToolRules
from skillweave.events import ToolBlocked
from skillweave.tools import OnlySkillTools, Refusal, SkillTools
from skillweave_testing import Recorder
from tests.observing import watched, weaver_of
from tests.skills import make_skill

READER = make_skill("reader", keywords=["read"], tools=ToolRules(allowed=("read", "grep"), forbidden=("write",)))
ASKING = make_skill("asking", keywords=["ask"], checkpoints=[Checkpoint("review", before="send")])
STRICT = Settings(only_skill_tools=OnlySkillTools.ALWAYS)


async def test_a_forbidden_call_is_denied_and_told() -> None:
    weaver, recorder = watched(READER, settings=STRICT)
    injection = await weaver.weave("read", conversation="c", turn_id="t")
    verdict = await weaver.authorize(injection, "write", {"path": "x"})
    assert verdict == injection.tools.authorize("write", {"path": "x"})
    (event,) = recorder.of("tool.blocked")
    assert (event.conversation, event.turn_id) == ("c", "t")
    assert event.payload == ToolBlocked("write", "TOOL_FORBIDDEN", ("read", "grep"), ("write",), None)


async def test_a_call_that_is_not_allowed_is_denied_and_told() -> None:
    weaver, recorder = watched(READER, settings=STRICT)
    injection = await weaver.weave("read", conversation="c")
    assert (await weaver.authorize(injection, "bash")).code is Refusal.NOT_ALLOWED
    assert recorder.of("tool.blocked")[0].payload.code == "TOOL_NOT_ALLOWED"  # type: ignore[attr-defined]


async def test_the_hosts_grant_is_what_is_allowed_where_no_skill_says_more() -> None:
    weaver, recorder = watched()
    injection = await weaver.weave("hello", conversation="c", tools=["read"])
    await weaver.authorize(injection, "write")
    assert recorder.of("tool.blocked")[0].payload.allowed == ("read",)  # type: ignore[attr-defined]


async def test_an_allowed_call_and_one_that_has_to_be_asked_for_are_not_told() -> None:
    weaver, recorder = watched(READER, ASKING)
    injection = await weaver.weave("read and ask", conversation="c")
    rulings = [(await weaver.authorize(injection, tool)).ruling for tool in ("read", "send", "read_skill")]
    assert rulings == [Ruling.ALLOW, Ruling.ASK, Ruling.ALLOW]
    assert recorder.of("tool.blocked") == []


async def test_a_hosts_tool_that_is_called_like_one_of_ours_is_ours_only_where_the_model_has_ours() -> None:
    finder = make_skill("finder", keywords=["find"], tools=ToolRules(forbidden=("search_skills",)))
    weaver, recorder = watched(finder)
    injection = await weaver.weave("find", conversation="c")
    assert (await weaver.authorize(injection, "search_skills")).code is Refusal.FORBIDDEN
    assert injection.tools.offers(["search_skills", "read_file"]) == ("read_file",)
    assert recorder.of("tool.blocked")[0].payload.tool == "search_skills"  # type: ignore[attr-defined]
    offering = weaver.variant(Settings(skill_tools=SkillTools.OFFERED))
    with_ours = await offering.weave("find", conversation="d")
    assert (await offering.authorize(with_ours, "search_skills")).ruling is Ruling.ALLOW


async def test_no_argument_of_a_call_is_told() -> None:
    weaver, recorder = watched(READER, settings=STRICT)
    injection = await weaver.weave("read", conversation="c")
    await weaver.authorize(injection, "bash", {"command": "curl -H 'Authorization: s3cr3t'", "s3cr3t-key": 1})
    assert "s3cr3t" not in json.dumps([event.to_dict() for event in recorder.events])


async def test_two_calls_are_two_events_and_one_that_is_judged_twice_is_one() -> None:
    weaver, recorder = watched(READER)
    injection = await weaver.weave("read", conversation="c")
    for call_id in (None, None, "call-1", "call-1", "call-2"):
        await weaver.authorize(injection, "write", call_id=call_id)
    ids = [event.id for event in recorder.of("tool.blocked")]
    assert ids[2] == ids[3]
    assert len(set(ids)) == 4


async def test_a_name_that_the_model_made_up_is_cut() -> None:
    weaver, recorder = watched(READER, settings=STRICT)
    injection = await weaver.weave("read", conversation="c")
    await weaver.authorize(injection, "x" * 100_000)
    assert len(recorder.of("tool.blocked")[0].payload.tool) == 200  # type: ignore[attr-defined]


@pytest.mark.parametrize("observers", [[], [Recorder(failure=OSError("down"))]])
async def test_a_call_is_denied_whoever_listens(observers: list[Recorder]) -> None:
    weaver = weaver_of(READER, observers=observers)
    injection = await weaver.weave("read", conversation="c")
    assert (await weaver.authorize(injection, "write")).ruling is Ruling.DENY


def test_the_blocking_form_judges_and_tells_too() -> None:
    weaver, recorder = watched(READER)
    injection = weaver.sync.weave("read", conversation="c")
    assert weaver.sync.authorize(injection, "write", {}, call_id="call-1").ruling is Ruling.DENY
    assert recorder.of("tool.blocked")[0].payload.call_id == "call-1"  # type: ignore[attr-defined]
    weaver.sync.close()
