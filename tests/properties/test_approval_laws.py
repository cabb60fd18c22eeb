"""What holds for people's verdicts whatever the skills, the order of events and the calls (spec 4.3, 5.5)."""

import asyncio
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from skillweave import (
    ApprovalVerdict,
    CatalogMode,
    Checkpoint,
    MemoryStore,
    Placement,
    Registry,
    Ruling,
    Settings,
    Skill,
    State,
    ToolRules,
    Weaver,
)
from skillweave.compose.composition import ActiveSkill, HumanVerdicts, policy_of
from skillweave.ledger import Approval, Lifecycle
from skillweave.state.approvals import MOST_APPROVALS, decide, decided, kept_out, undecided
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.related import skill, snapshot
from tests.skills import make_skill

WIDTH = {Ruling.DENY: 0, Ruling.ASK: 1, Ruling.ALLOW: 2}
TOOLS = ["read", "write", "pay", "Bash"]
ENTRIES = st.lists(st.sampled_from([*TOOLS, "Bash(git:*)", "Bash(rm x)", "wr*"]), max_size=3).map(tuple)
RULES = st.none() | st.builds(ToolRules, st.none() | ENTRIES, ENTRIES, ENTRIES)
CHECKPOINTS = st.lists(
    st.builds(
        Checkpoint,
        st.sampled_from(["one", "two", "three"]),
        before=st.none() | st.sampled_from([*TOOLS, "Bash(git:*)"]),
        blocking=st.booleans(),
    ),
    max_size=3,
).map(tuple)
SKILLS = st.builds(
    lambda n, rules, checkpoints: replace(skill(f"s{n}", tools=rules, digest=f"d{n}"), checkpoints=checkpoints),
    st.integers(0, 5),
    RULES,
    CHECKPOINTS,
)
IN_FORCE = st.lists(st.builds(ActiveSkill, SKILLS, st.sampled_from(["explicit", "triggers"])), max_size=3)
CALLS = st.tuples(st.sampled_from(TOOLS), st.sampled_from([None, {"command": "git push"}, {"command": "rm x; pay"}]))
LAWS = tried(33)


@LAWS
@given(IN_FORCE, SKILLS, st.none() | ENTRIES, CALLS, st.data())
def test_a_rejection_takes_no_prohibition_and_no_guard_away(
    others: list[ActiveSkill],
    rejected: Skill,
    grant: tuple[str, ...] | None,
    call: tuple[str, dict[str, str]],
    data: st.DataObject,
) -> None:
    # The rejected skill's own list of allowed tools goes with it: it would lock the agent into what it must not do.
    rules = None if rejected.tools is None else replace(rejected.tools, allowed=None)
    before = policy_of([*others, ActiveSkill(replace(rejected, tools=rules), deliberate=True)], grant=grant)
    guarded = [one.before for one in rejected.checkpoints if one.before is not None]
    denied = dict.fromkeys(data.draw(st.sets(st.sampled_from(guarded))) if guarded else (), "rejected by Zoë")
    after = policy_of(others, HumanVerdicts(rejected=denied), grant=grant, kept_out=[rejected])
    assert WIDTH[after.authorize(*call).ruling] <= WIDTH[before.authorize(*call).ruling]


@LAWS
@given(IN_FORCE, st.none() | ENTRIES, CALLS, st.lists(SKILLS, max_size=2), ENTRIES)
def test_rejections_only_ever_narrow_what_the_skills_in_force_leave(
    in_force: list[ActiveSkill],
    grant: tuple[str, ...] | None,
    call: tuple[str, dict[str, str]],
    out: list[Skill],
    denied: tuple[str, ...],
) -> None:
    plain = policy_of(in_force, grant=grant)
    said_no = HumanVerdicts(rejected=dict.fromkeys(denied, "rejected by Zoë"))
    narrowed = policy_of(in_force, said_no, grant=grant, kept_out=out)
    assert WIDTH[narrowed.authorize(*call).ruling] <= WIDTH[plain.authorize(*call).ruling]
    assert narrowed.authorize(*call).message.isprintable()


VERDICTS = st.builds(
    Approval,
    st.sampled_from(["a", "b"]),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["d1", "d2", "d3"]),
    st.sampled_from(ApprovalVerdict),
    st.sampled_from(["Zoë", "Ann"]),
    st.floats(0, 100),
)


@LAWS
@given(st.lists(VERDICTS, max_size=30))
def test_what_was_let_through_is_never_asked_again_and_a_new_content_always_is(verdicts: list[Approval]) -> None:
    state = State()
    said: dict[tuple[str, str, str], ApprovalVerdict] = {}
    for verdict in verdicts:
        state = decide(state, verdict)
        said[verdict.skill_id, verdict.checkpoint, verdict.digest] = verdict.verdict
    assert len(state.approvals) == len(said) <= MOST_APPROVALS
    for skill_id in ("a", "b"):
        for digest in ("d1", "d2", "d3", "never seen"):
            text = replace(skill(skill_id, digest=digest), checkpoints=(Checkpoint("one"), Checkpoint("two")))
            on = {name: said.get((skill_id, name, digest)) for name in ("one", "two")}
            asked = {one.name for one in undecided(text, decided(state.approvals))}
            assert asked == {name for name, verdict in on.items() if verdict in (None, ApprovalVerdict.REJECTED)}
            is_out = skill_id in kept_out(state.approvals, snapshot(text))
            assert is_out == (ApprovalVerdict.REJECTED in on.values())


@dataclass(frozen=True)
class Step:
    what: str
    named: bool
    placement: Placement


STEPS = st.builds(
    Step,
    st.sampled_from(["turn", "turn", "turn", "reject", "edit", "disengage", "unload", "remove"]),
    st.booleans(),
    st.sampled_from(Placement),
)


@given(st.lists(STEPS, max_size=14), st.sampled_from(Lifecycle))
def test_once_rejected_a_tool_is_never_free_again_by_itself(script: list[Step], lifecycle: Lifecycle) -> None:
    asyncio.run(_never_free(script, lifecycle))


async def _never_free(script: list[Step], lifecycle: Lifecycle) -> None:
    weaver = Weaver(
        Registry(), MemoryStore(), Settings(lifecycle=lifecycle, catalog=CatalogMode.NEVER), counter=WordCounter()
    )
    edition, there, rejected = 0, False, False
    for step in script:
        if step.what == "edit" or (not there and step.what in ("reject", "disengage", "unload")):
            edition, there = edition + 1, True
            weaver.skills.registry.register(bill(edition))
        if step.what == "reject":
            await weaver.approvals.decide("c", "pay-bill", "sign-off", "rejected", by="Zoë")
            rejected = True
        elif step.what == "disengage":
            await weaver.ledger.disengage("c", "pay-bill")
        elif step.what == "unload":
            await weaver.ledger.unload("c", "pay-bill")
        elif step.what == "remove" and there:
            weaver.skills.registry.remove("pay-bill")
            there = False
        named = ["pay-bill"] if step.named and there else []
        injection = await weaver.weave("go on", conversation="c", named=named, placement=step.placement)
        if rejected:
            expected = Ruling.ASK if injection.checkpoints else Ruling.DENY
            assert injection.tools.authorize("pay").ruling is expected


def bill(edition: int) -> Skill:
    return make_skill(
        "pay-bill", instructions=f"How to pay, edition {edition}.", checkpoints=[Checkpoint("sign-off", before="pay")]
    )
