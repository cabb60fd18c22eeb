"""No call runs that no person said yes to: random calls and verdicts, against a model that knows nothing of digests."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillweave import Checkpoint, MemoryStore, Registry, Ruling, Store, ToolCall, Weaver
from skillweave.closing import close_all
from skillweave.stores.named import store_of
from skillweave_testing import WordCounter
from tests.depth import examples, tried
from tests.skills import make_skill

TOOLS = ("pay", "send")
"""Two tools behind checkpoints: `pay` behind those of two skills, which have one name; `send` behind that of one."""
ASKING = {"pay": ("bills", "salaries"), "send": ("bills",)}
AMOUNTS = (1, 1.0, "1", True, None, [1], {"sum": 1})
"""Arguments that look alike and are not."""

CALLS = st.builds(
    ToolCall,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(TOOLS),
    st.sampled_from([{"amount": amount} for amount in AMOUNTS] + [{}, {"amount": 1, "to": "x"}]),
)


@dataclass(frozen=True)
class Step:
    what: str
    call: ToolCall
    skill_id: str
    other: ToolCall


STEPS = st.builds(
    Step,
    st.sampled_from(["yes", "yes", "no", "change", "take back", "run", "run", "edit", "turn"]),
    CALLS,
    st.sampled_from(["bills", "salaries"]),
    CALLS,
)


def written(call: ToolCall) -> str:
    """The call as a person reads it, its id left out: 1 and 1.0 are one number, "1" and true are none."""
    return f"{call.tool} {sorted((name, _by_value(value)) for name, value in call.arguments.items())}"


def _by_value(value: object) -> str:
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


@dataclass
class Model:
    """What was said, by skill: the calls that have a yes, with their id, and what was refused."""

    yes: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: {"bills": set(), "salaries": set()})
    no: dict[str, set[str]] = field(default_factory=lambda: {"bills": set(), "salaries": set()})
    asked: set[tuple[str, str]] = field(default_factory=set)
    late: set[tuple[str, str]] = field(default_factory=set)

    def say_yes(self, skill_id: str, call: ToolCall, instead: ToolCall) -> None:
        self.yes[skill_id] -= {(call.id, written(call))}
        self.yes[skill_id] |= {(call.id, written(instead))}
        self.no[skill_id] -= {written(instead)}
        if (call.id, written(call)) in self.late:
            self.late |= {(call.id, written(instead))}

    def user_speaks(self) -> None:
        """A yes of before, or one that is still to come to a question of before, counts no more."""
        self.late |= self.asked.union(*self.yes.values())
        self.asked.clear()

    def run(self, call: ToolCall) -> Ruling:
        """What a call gets that is about to run: one yes lets it through once, else it is asked about, anew if late."""
        ruling, this = self.ruling(call), (call.id, written(call))
        if ruling is Ruling.ALLOW or (ruling is Ruling.ASK and this in self.late):
            for said in self.yes.values():
                said -= {this}
        if ruling is Ruling.ASK:
            self.late -= {this}
            self.asked |= {this}
        if ruling is Ruling.ALLOW:
            self.asked -= {this}
        return ruling

    def say_no(self, skill_id: str, call: ToolCall) -> None:
        self.yes[skill_id] -= {(call.id, written(call))}
        self.no[skill_id] |= {written(call)}

    def ruling(self, call: ToolCall) -> Ruling:
        if any(written(call) in refused for refused in self.no.values()):
            return Ruling.DENY
        this = (call.id, written(call))
        let_through = this not in self.late and all(this in self.yes[one] for one in ASKING[call.tool])
        return Ruling.ALLOW if let_through else Ruling.ASK


@tried(50)
@given(st.lists(STEPS, max_size=14), st.lists(CALLS, min_size=1, max_size=8))
def test_a_call_runs_only_when_every_skill_that_asks_about_it_has_a_yes_to_this_very_call(
    steps: list[Step], calls: list[ToolCall]
) -> None:
    asyncio.run(_holds(steps, [*calls, *(step.call for step in steps), *(step.other for step in steps)]))


@pytest.mark.parametrize("backend", ["sqlite", "postgresql", "redis"])
def test_it_holds_on_every_backend_with_another_replica_for_each_step(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    urls = {"sqlite": "", "postgresql": "postgres_tables_url", "redis": "redis_url"}
    url = str(tmp_path / "ledger.db") if backend == "sqlite" else request.getfixturevalue(urls[backend])
    conversations = map("conversation {}".format, itertools.count())

    @settings(max_examples=examples(10), deadline=None)
    @given(st.lists(STEPS, max_size=10), st.lists(CALLS, min_size=1, max_size=3))
    def holds(steps: list[Step], calls: list[ToolCall]) -> None:
        asyncio.run(_holds_on(url, steps, calls, next(conversations)))

    holds()


async def _holds_on(url: str, steps: list[Step], calls: list[ToolCall], conversation: str) -> None:
    """Two replicas take turns, and a third, which begins at the end, finds all as it was."""
    stores = [store_of(url) for _ in range(3)]
    try:
        await _holds(steps, [*calls, *(step.call for step in steps)], stores, conversation)
    finally:
        await close_all(stores)


async def _holds(
    steps: list[Step], calls: list[ToolCall], stores: Sequence[Store] = (), conversation: str = "c"
) -> None:
    registry, counter = Registry(), WordCounter()
    replicas = [Weaver(registry, store, counter=counter) for store in stores or (MemoryStore(),)]
    weaver = replicas[0]
    edition = {"bills": 0, "salaries": 0}
    for skill_id in edition:
        _register(weaver, skill_id, 0)
    await weaver.weave("bills and salaries", conversation=conversation)
    model = Model()
    for number, step in enumerate(steps):
        weaver = replicas[-1 if number == len(steps) - 1 else number % 2 % len(replicas)]
        await _do(weaver, model, step, edition, conversation)
        now = await weaver.current_policy(conversation)
        for call in calls:
            verdict = now.tools.authorize(call.tool, call.arguments, call_id=call.id)
            assert verdict.ruling is not Ruling.ALLOW  # a policy alone lets nothing through at a checkpoint
            ruled = Ruling.ALLOW if verdict.approved else verdict.ruling
            assert ruled is model.ruling(call), (step, call)
            assert now.tools.authorize(call.tool, call.arguments).ruling is not Ruling.ALLOW


async def _do(weaver: Weaver, model: Model, step: Step, edition: dict[str, int], conversation: str) -> None:
    skill_id = step.skill_id if step.skill_id in ASKING[step.call.tool] else "bills"
    if step.what == "yes":
        await weaver.approvals.decide(conversation, skill_id, "release", "approved", by="Ann", call=step.call)
        model.say_yes(skill_id, step.call, step.call)
    elif step.what == "no":
        await weaver.approvals.decide(conversation, skill_id, "release", "rejected", by="Ann", call=step.call)
        model.say_no(skill_id, step.call)
    elif step.what == "change":
        changed = ToolCall(step.call.id, step.call.tool, step.other.arguments)
        await weaver.approvals.decide(
            conversation, skill_id, "release", "modified", by="Ann", call=step.call, arguments=step.other.arguments
        )
        model.say_yes(skill_id, step.call, changed)
    elif step.what == "take back":
        await weaver.approvals.reconsider(conversation, skill_id, "release")
        model.yes[skill_id].clear()
        model.no[skill_id].clear()
    elif step.what == "edit":
        edition[skill_id] += 1
        _register(weaver, skill_id, edition[skill_id])
        await weaver.weave("bills and salaries", conversation=conversation)
        model.user_speaks()
        model.yes[skill_id].clear()
    elif step.what == "run":
        now = await weaver.current_policy(conversation)
        verdict = await weaver.authorize(now, step.call.tool, step.call.arguments, call_id=step.call.id)
        assert verdict.ruling is model.run(step.call)
    else:
        await weaver.weave("Go on with bills and salaries", conversation=conversation)
        model.user_speaks()


def _register(weaver: Weaver, skill_id: str, edition: int) -> None:
    points = [Checkpoint("release", before=tool) for tool in TOOLS if skill_id in ASKING[tool]]
    weaver.skills.registry.register(
        make_skill(skill_id, keywords=[skill_id], instructions=f"Edition {edition}.", checkpoints=points)
    )
