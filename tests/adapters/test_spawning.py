"""The tool that starts sub-agents, without a framework: what it checks, what it bounds, what it tells."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

import skillweave
from skillweave import MemoryStore, Message, Placement, Role, Settings, Weaver, WhenUnknown
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call, HostMessage, read_call
from skillweave.adapters.spawning import SPAWN_TOOL, SpawnBounds, Spawning, spawn_id_of
from skillweave.errors import ApprovalNeeded
from skillweave.ledger import Lifecycle
from skillweave.tools import SpawnPlan
from skillweave_testing import FailingStore, Recorder

PAIR = ["specification-engine", "opencode-implementer"]
TOOLS = ["specKit", "opencode-executor", "write", "edit", "spawn_subagent"]
READER: dict[str, Any] = {
    "id": "reader",
    "description": "Reads.",
    "tools": {"allowed": ["read"]},
    "text": {"instructions": "Read."},
}


class Starts:
    """What a host does with a plan: here it keeps it, and says what it was told to say."""

    def __init__(self, words: str = "done", fails: Exception | None = None) -> None:
        self.plans: list[SpawnPlan] = []
        self.words = words
        self.fails = fails

    async def __call__(self, plan: SpawnPlan) -> str:
        return self.now(plan)

    def now(self, plan: SpawnPlan) -> str:
        self.plans.append(plan)
        if self.fails is not None:
            raise self.fails
        return self.words


def opened(**options: Any) -> tuple[Weaver, Recorder]:
    recorder = Recorder()
    return skillweave.open(READER, packs=["coding"], observers=[recorder], **options), recorder


def asked(call_id: str = "call-1", **arguments: object) -> Call:
    return read_call(call_id, SPAWN_TOOL.name, {"task": "Add a login page", **arguments})


async def run(spawning: Spawning, starts: Starts, call: Call, conversation: str = "c") -> str:
    return await spawning.run(call, conversation, TOOLS, starts)


async def test_the_pair_is_started_with_its_skills_and_tools_and_its_last_words_come_back() -> None:
    weaver, _ = opened()
    starts = Starts("the page is there")
    assert await run(Spawning(weaver), starts, asked(skills=PAIR, label="coder")) == "the page is there"
    (plan,) = starts.plans
    assert (plan.skills, plan.tools) == (tuple(PAIR), ("specKit", "opencode-executor"))
    assert plan.policy.forbidden_tools == ("write", "edit")
    assert plan.request.task == "Add a login page"
    assert plan.conversation.startswith("c/")


def test_the_same_without_awaiting() -> None:
    weaver, recorder = opened()
    starts = Starts("the page is there")
    assert Spawning(weaver).run_blocking(asked(skills=PAIR), "c", TOOLS, starts.now) == "the page is there"
    assert recorder.types[-1] == "spawn.started"
    rejected = Spawning(weaver).run_blocking(asked(skills=["nobody"]), "c", TOOLS, starts.now)
    assert "the sub-agent is not started" in rejected
    assert len(starts.plans) == 1


async def test_one_skill_of_the_pair_alone_starts_nothing_and_the_model_is_told_what_to_ask_for() -> None:
    weaver, recorder = opened()
    starts = Starts()
    words, _, data = (await run(Spawning(weaver), starts, asked(skills=PAIR[:1]))).partition("\n")
    assert words.startswith("the sub-agent is not started: `specification-engine` requires `opencode-implementer`")
    told = json.loads(data)
    assert [(error["code"], error["skill"]) for error in told["errors"]] == [("MISSING_REQUIRED", PAIR[0])]
    assert told["completion"]["skills"] == PAIR
    assert starts.plans == []
    assert recorder.types == ["spawn.requested", "spawn.rejected"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"skills": ["nobody"]}, "`nobody` is not in the registry"),
        ({"skills": [*PAIR, 3]}, "`skills` of a spawn request"),
        ({"skills": "specification-engine"}, "`skills` of a spawn request"),
        ({"skills": {"a": 1}}, "`skills` of a spawn request is dict"),
        ({"task": " "}, "says nothing in `task`"),
        ({"task": 3}, "`task` of a spawn request is int"),
        ({"label": ["x"]}, "`label` of a spawn request is list"),
        ({"timeout": 60}, "spawn_subagent has no parameter 'timeout'; it takes task, skills, label, model, thinking"),
    ],
)
async def test_a_mistake_in_the_arguments_is_answered_in_words_and_starts_nothing(
    arguments: dict[str, object], why: str
) -> None:
    weaver, recorder = opened()
    starts = Starts()
    said = await run(Spawning(weaver), starts, asked(**arguments))
    assert said.startswith("the sub-agent is not started: ")
    assert why.lower() in said.lower()
    assert starts.plans == []
    assert "spawn.started" not in recorder.types


async def test_arguments_that_are_no_json_are_answered_in_words() -> None:
    weaver, _ = opened()
    starts = Starts()
    said = await run(Spawning(weaver), starts, read_call("call-1", SPAWN_TOOL.name, "{task:"))
    assert "are not JSON" in said
    assert starts.plans == []


async def test_an_empty_list_of_skills_leaves_no_tool() -> None:
    weaver, _ = opened()
    starts = Starts()
    await run(Spawning(weaver), starts, asked(skills=[]))
    assert starts.plans[0].policy.offers(TOOLS) == ()


@pytest.mark.parametrize("left_out", [{}, {"skills": None}])
async def test_skills_left_out_restrict_nothing(left_out: dict[str, object]) -> None:
    weaver, _ = opened()
    starts = Starts()
    await run(Spawning(weaver), starts, asked(**left_out))
    assert starts.plans[0].policy.offers(TOOLS) == tuple(TOOLS)


async def test_skills_left_out_give_no_more_than_the_parent_has() -> None:
    weaver, _ = opened()
    await weaver.weave("go", conversation="c", named=PAIR)
    starts = Starts()
    await run(Spawning(weaver), starts, asked())
    assert starts.plans[0].policy.offers(TOOLS) == ("specKit", "opencode-executor")


async def test_an_agent_with_more_places_for_skills_than_the_weaver_hands_on_what_all_of_them_forbid() -> None:
    careful = [{"id": f"no-{tool}", "text": {"instructions": "Look."}, "tools": {"forbidden": [tool]}} for tool in "ab"]
    settings = Settings(max_skills=1, lifecycle=Lifecycle.RECENT)
    weaver = skillweave.open(*({**one, "description": "Careful."} for one in careful), settings=settings)
    lead = Bridge(weaver.variant(replace(settings, max_skills=2)), Placement.CALL)
    said = Message(Role.USER, "go")
    await lead.weave([HostMessage("messages[0]", said, said)], "c", named=["no-a", "no-b"])
    starts = Starts()
    await Spawning(weaver).run(asked(), "c", ["a", "b", "c"], starts)
    assert starts.plans[0].policy.offers(["a", "b", "c"]) == ("c",)


async def test_what_a_nested_agent_spawns_is_never_wider_than_its_own_plan() -> None:
    weaver, _ = opened()
    starts = Starts()
    top = Spawning(weaver)
    await run(top, starts, asked(skills=PAIR))
    plan = starts.plans[0]
    await run(top.within(plan), starts, asked(), plan.conversation)
    await run(top.within(plan), starts, asked("call-2", skills=["reader"]), plan.conversation)
    free, reader = starts.plans[1:]
    assert free.policy.offers(TOOLS) == ("specKit", "opencode-executor")
    assert reader.policy.offers([*TOOLS, "read"]) == ()
    assert free.conversation.startswith(f"{plan.conversation}/")
    assert set(free.policy.forbidden_tools) >= {"write", "edit"}


async def test_generations_come_to_an_end() -> None:
    weaver, _ = opened()
    starts = Starts()
    spawning, conversation = Spawning(weaver, bounds=SpawnBounds(depth=2)), "c"
    for _ in range(2):
        assert await run(spawning, starts, asked(), conversation) == "done"
        conversation, spawning = starts.plans[-1].conversation, spawning.within(starts.plans[-1])
    assert spawning.left == 0
    assert "may start no other" in await run(spawning, starts, asked(), conversation)
    assert len(starts.plans) == 2


async def test_more_sub_agents_at_a_time_than_the_bound_are_refused_and_may_start_later() -> None:
    weaver, _ = opened()
    spawning, gate, running = Spawning(weaver, bounds=SpawnBounds(parallel=2)), asyncio.Event(), asyncio.Semaphore(0)

    async def waits(plan: SpawnPlan) -> str:
        running.release()
        await gate.wait()
        return "done"

    calls = [asyncio.create_task(spawning.run(asked(f"call-{n}"), "c", TOOLS, waits)) for n in range(2)]
    for _ in calls:
        await running.acquire()
    third = await run(spawning, Starts(), asked("call-3"))
    assert third.startswith("the sub-agent is not started: 2 sub-agents of yours run")
    assert await run(spawning, Starts(), asked("call-3"), "another") == "done"
    gate.set()
    assert await asyncio.gather(*calls) == ["done", "done"]
    assert await run(spawning, Starts(), asked("call-3")) == "done"


async def test_a_call_that_runs_is_not_started_once_more() -> None:
    weaver, _ = opened()
    spawning, again = Spawning(weaver), []

    async def doubles(plan: SpawnPlan) -> str:
        again.append(await run(spawning, Starts(), asked()))
        return "done"

    assert await spawning.run(asked(), "c", TOOLS, doubles) == "done"
    assert again == ["the sub-agent is not started: this very call runs already; wait for its answer"]


async def test_a_call_that_is_made_again_is_the_same_sub_agent_and_another_call_is_another() -> None:
    weaver, recorder = opened()
    starts = Starts()
    await run(Spawning(weaver), starts, asked())
    await run(Spawning(weaver), starts, asked())
    await run(Spawning(weaver), starts, asked("call-2"))
    await run(Spawning(weaver), starts, asked(task="Something else"))
    first, again, other, numbered_anew = (plan.conversation for plan in starts.plans)
    assert first == again
    assert len({first, other, numbered_anew}) == 3
    assert len({event.id for event in recorder.events[:6]}) == 3


async def test_calls_without_an_id_are_different_sub_agents() -> None:
    weaver, _ = opened()
    starts = Starts()
    await run(Spawning(weaver), starts, asked(""))
    await run(Spawning(weaver), starts, asked(""))
    assert starts.plans[0].conversation != starts.plans[1].conversation


@pytest.mark.parametrize("call_id", ["a/b", "x" * 5000, "line\nbreak", "\ud800"])
def test_any_id_of_a_call_gives_an_id_of_a_spawn(call_id: str) -> None:
    spawn_id = spawn_id_of(asked(call_id))
    assert spawn_id is not None
    assert spawn_id.isalnum()
    assert len(spawn_id) == 16


async def test_observers_are_told_of_every_state_in_the_parents_conversation() -> None:
    weaver, recorder = opened()
    await run(Spawning(weaver), Starts(), asked(skills=PAIR))
    assert recorder.types == ["spawn.requested", "spawn.validated", "spawn.started"]
    assert {event.conversation for event in recorder.events} == {"c"}


async def test_a_sub_agent_that_fails_is_told_in_words_without_the_strangers_text() -> None:
    weaver, _ = opened()
    said = await run(Spawning(weaver), Starts(fails=RuntimeError("key sk-123 was refused")), asked())
    assert said == "the sub-agent failed with RuntimeError, and its work may be unfinished"


async def test_our_own_errors_are_told_in_full() -> None:
    weaver, _ = opened()
    said = await run(Spawning(weaver), Starts(fails=ApprovalNeeded("c/s", [("filing", "pre_filing")])), asked())
    assert said.startswith("the sub-agent failed: ")
    assert "pre_filing" in said


async def test_what_the_framework_steers_its_runs_with_passes_and_frees_the_place() -> None:
    weaver, _ = opened()
    spawning = Spawning(weaver, bounds=SpawnBounds(parallel=1), passing=(KeyError,))
    with pytest.raises(KeyError):
        await run(spawning, Starts(fails=KeyError("pause")), asked())
    assert await run(spawning, Starts(), asked()) == "done"


async def test_a_cancelled_call_frees_its_place() -> None:
    weaver, _ = opened()
    spawning, started = Spawning(weaver, bounds=SpawnBounds(parallel=1)), asyncio.Event()

    async def forever(plan: SpawnPlan) -> str:
        started.set()
        await asyncio.Event().wait()
        return ""

    task = asyncio.create_task(spawning.run(asked(), "c", TOOLS, forever))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await run(spawning, Starts(), asked()) == "done"


async def test_long_last_words_are_cut_and_none_are_told() -> None:
    weaver, _ = opened()
    spawning = Spawning(weaver, bounds=SpawnBounds(answer=10))
    assert await run(spawning, Starts("x" * 25), asked()) == f"{'x' * 10}\n(cut: the first 10 of 25 characters)"
    assert await run(spawning, Starts(" "), asked("call-2")) == "(it ended without a word)"


async def test_a_warning_of_the_plan_is_told_with_the_answer() -> None:
    weaver, _ = opened()
    said = await Spawning(weaver).run(asked(skills=PAIR), "c", ["specKit"], Starts())
    assert said.startswith("done\n(warning: ")
    assert "opencode-executor" in said


@pytest.mark.parametrize("unknown", list(WhenUnknown))
async def test_nothing_is_started_while_it_cannot_be_read_what_the_parent_may_do(unknown: WhenUnknown) -> None:
    store = FailingStore(MemoryStore())
    weaver, _ = opened(ledger=store, when_unknown=unknown)
    await weaver.weave("go", conversation="c", named=PAIR)
    store.down = {"load"}
    starts = Starts()
    assert "try again later" in await run(Spawning(weaver), starts, asked())
    assert starts.plans == []


async def test_nothing_is_started_whose_limits_cannot_be_kept() -> None:
    store = FailingStore(MemoryStore())
    weaver, _ = opened(ledger=store)
    store.down = {"swap"}
    starts = Starts()
    assert "try again later" in await run(Spawning(weaver), starts, asked())
    assert starts.plans == []


async def test_a_parent_whose_plan_asks_a_person_hands_the_question_on() -> None:
    weaver, _ = opened()
    starts = Starts()
    top = Spawning(weaver)
    await run(top, starts, asked())
    plan = replace(starts.plans[0], policy=replace(starts.plans[0].policy, asks={"write": ("look",)}))
    await run(top.within(plan), starts, asked(), plan.conversation)
    assert starts.plans[1].policy.authorize("write").checkpoints == ("look",)
