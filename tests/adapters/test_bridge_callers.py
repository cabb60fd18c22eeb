"""In whose name an agent acts that runs inside another agent's tool."""

import asyncio
from pathlib import Path

import pytest

import skillweave
from skillweave import MemoryStore, Role, Weaver
from skillweave.adapters.bridge import CALLER, Bridge, Caller, calling
from skillweave.adapters.chat import spoken
from skillweave_testing.fakes import FailingStore
from skillweave_testing.hosts.play import SKILLS, weaver_in

pytestmark = pytest.mark.asyncio


@pytest.fixture
def weaver(tmp_path: Path) -> Weaver:
    return weaver_in(tmp_path)


@pytest.fixture
async def caller(weaver: Weaver) -> Caller:
    bridge = Bridge(weaver)
    await bridge.weave([spoken("messages[0]", Role.USER, ("Is this invoice right?",))], "above")
    return Caller(bridge, "above")


async def test_nobody_is_above_an_agent_that_runs_inside_no_tool(weaver: Weaver) -> None:
    assert await Bridge(weaver).limits_in("inner") is None


async def test_a_tool_that_fails_leaves_no_caller_behind(caller: Caller) -> None:
    with pytest.raises(RuntimeError), calling(caller):
        raise RuntimeError("the printer is on fire")
    assert CALLER.get() is None


async def test_a_run_in_the_callers_own_conversation_has_no_limits_beside_its_state(
    caller: Caller, weaver: Weaver
) -> None:
    with calling(caller):
        assert await Bridge(weaver).limits_in("above") is None
        other = await Bridge(weaver).limits_in("inner")
    assert other is not None
    assert other.forbidden == ("write",)


async def test_the_same_name_in_another_ledger_is_another_conversation(caller: Caller, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with calling(caller):
        limits = await Bridge(weaver_in(tmp_path / "other")).limits_in("above")
    assert limits is not None
    assert limits.forbidden == ("write",)


async def test_tools_that_run_at_once_do_not_see_each_others_callers(caller: Caller, weaver: Weaver) -> None:
    async def inside(of: Caller | None) -> bool:
        with calling(of):
            await asyncio.sleep(0)
            return await Bridge(weaver).limits_in("inner") is None

    assert await asyncio.gather(inside(caller), inside(None)) == [False, True]


async def test_under_a_caller_whose_state_cannot_be_read_nothing_may_run() -> None:
    store = FailingStore(MemoryStore())
    weaver = skillweave.open(*SKILLS, ledger=store)
    fresh = Caller(Bridge(weaver), "never-seen")
    store.down.add("load")
    with calling(fresh):
        limits = await Bridge(weaver).limits_in("inner")
    store.down.clear()
    assert limits is not None
    assert limits.allowed == ()
    with calling(fresh):
        again = await Bridge(weaver).limits_in("inner")
    assert again is not None
    assert again.allowed is None


async def test_a_conversation_that_two_agents_share_is_held_by_whoever_is_above_both(
    caller: Caller, weaver: Weaver
) -> None:
    with calling(caller), calling(Caller(Bridge(weaver), "inner")):
        limits = await Bridge(weaver).limits_in("inner")
    assert limits is not None
    assert limits.forbidden == ("write",)
