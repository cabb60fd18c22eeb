"""Every sentence of spec 4.4 about what is prepared before a sub-agent starts."""

from types import MappingProxyType

import pytest

from skillweave import Checkpoint, Message, Role, Ruling, SpawnRequest, Status, ToolPolicy
from skillweave.compose.composition import compose_ids
from skillweave.compose.spawn import prepare_spawn
from skillweave.dialogue import LONGEST_ID
from skillweave.errors import InvalidSpawn, InvalidTurn
from skillweave.registry import Snapshot
from skillweave.tools import Composition, Parent, SpawnPlan, SpawnRejected
from tests.related import CODING, allowing, forbids, requires, skill, snapshot
from tests.skills import make_skill

PAIR = ("specification-engine", "opencode-implementer")


def plan(
    *skills: str,
    known: Snapshot = CODING,
    parent: Parent | None = None,
    tools: list[str] | None = None,
    names: tuple[str, ...] | None = None,
) -> SpawnPlan:
    request = SpawnRequest("Do it", skills or names)
    prepared = prepare_spawn(request, known, parent, spawn_id="s1", tools=tools)
    assert isinstance(prepared, SpawnPlan), prepared
    return prepared


def rejected(*skills: str, known: Snapshot = CODING, granted: frozenset[str] | None = None) -> SpawnRejected:
    prepared = prepare_spawn(SpawnRequest("Do it", skills), known, spawn_id="s1", granted=granted)
    assert isinstance(prepared, SpawnRejected), prepared
    return prepared


def test_no_skills_named_is_no_restriction() -> None:
    unrestricted = plan()
    assert (unrestricted.skills, unrestricted.tools, unrestricted.text) == ((), None, "")
    assert unrestricted.composition == Composition(allowed_tools=None)
    assert unrestricted.policy.authorize("anything").ruling is Ruling.ALLOW


def test_no_skills_named_is_still_within_what_the_host_offers() -> None:
    assert plan(tools=["read", "read", "write"]).tools == ("read", "write")


def test_an_empty_list_is_zero_capability() -> None:
    nothing = plan(names=(), tools=["read"])
    assert (nothing.skills, nothing.tools, nothing.composition) == ((), (), Composition())
    assert nothing.policy.authorize("read").ruling is Ruling.DENY
    assert nothing.text.splitlines()[1:] == ["## Tools", "- allowed: none"]


def test_the_plan_carries_the_composition_of_its_skills() -> None:
    assert plan(*PAIR).composition == compose_ids(PAIR, CODING)


def test_the_plan_carries_the_policy_that_allowed_restricts() -> None:
    policy = plan(*PAIR).policy
    assert policy.authorize("specKit").ruling is Ruling.ALLOW
    assert policy.authorize("read").ruling is Ruling.DENY
    assert policy.authorize("write").ruling is Ruling.DENY


def test_the_tools_are_those_of_the_host_that_the_skills_may_use() -> None:
    assert plan(*PAIR, tools=["read", "specKit", "write"]).tools == ("specKit",)
    assert plan(*PAIR).tools == ("specKit", "opencode-executor")


def test_a_tool_that_the_host_lacks_is_a_warning() -> None:
    assert plan(*PAIR, tools=["specKit"]).warnings == (
        "`opencode-implementer` uses the tool `opencode-executor`, which the host does not have",
    )


def test_the_text_has_the_skills_the_tools_and_the_protocol() -> None:
    assert plan(*PAIR).text.splitlines() == [
        "=== Agent Capabilities: sub-agent ===",
        "## Skills",
        "- specification-engine: Does specification-engine",
        "- opencode-implementer: Does opencode-implementer",
        "## Tools",
        "- allowed: specKit, opencode-executor",
        "- forbidden: write, edit",
        "## Protocol",
        "1. analyze-task",
        "2. generate-spec",
        "3. validate-spec",
        "4. read-spec",
        "5. implement",
        "6. verify",
    ]


def test_the_label_names_the_agent_in_its_text() -> None:
    prepared = prepare_spawn(SpawnRequest("Do it", PAIR, label="the\n=== coder"), CODING, spawn_id="s1")
    assert isinstance(prepared, SpawnPlan)
    assert prepared.text.splitlines()[0] == "=== Agent Capabilities: the === coder ==="


def test_the_sub_agent_has_a_conversation_of_its_own() -> None:
    assert plan(parent=Parent("c1", ToolPolicy())).conversation == "c1/s1"
    assert plan().conversation == "/s1"


def test_spawns_of_one_parent_do_not_share_a_conversation() -> None:
    made = {prepare_spawn(SpawnRequest("x"), CODING, spawn_id=name).conversation for name in ("a", "b")}  # type: ignore[union-attr]
    assert made == {"/a", "/b"}


@pytest.mark.parametrize("spawn_id", ["", "a/b", "/", "a\nb", "a\0", "x" * (LONGEST_ID + 1)])
def test_a_spawn_id_that_is_none_is_refused(spawn_id: str) -> None:
    with pytest.raises(InvalidSpawn):
        prepare_spawn(SpawnRequest("x"), CODING, spawn_id=spawn_id)


def test_a_conversation_that_would_be_too_long_is_refused_with_both_ways_out() -> None:
    with pytest.raises(InvalidSpawn, match="shorter spawn id, or spawn from an agent that is not so deep"):
        prepare_spawn(SpawnRequest("x"), CODING, Parent("c" * (LONGEST_ID - 1), ToolPolicy()), spawn_id="s1")


def test_tools_in_one_text_are_refused() -> None:
    with pytest.raises(InvalidSpawn, match=r"write \['read'\]"):
        prepare_spawn(SpawnRequest("x"), CODING, spawn_id="s", tools="read")


@pytest.mark.parametrize("conversation", ["", "a\nb", "c" * (LONGEST_ID + 1)])
def test_a_parent_that_is_no_conversation_is_refused(conversation: str) -> None:
    with pytest.raises(InvalidTurn):
        prepare_spawn(SpawnRequest("x"), CODING, Parent(conversation, ToolPolicy()), spawn_id="s1")


def test_nothing_starts_when_validation_fails_and_the_structured_errors_stay() -> None:
    rejection = rejected("specification-engine", "nobody")
    assert [(error.code, error.skill, error.rule) for error in rejection.errors] == [
        ("MISSING_REQUIRED", "specification-engine", "V002"),
        ("UNKNOWN_SKILL", "nobody", "V001"),
    ]
    assert rejection.result.valid is False
    assert rejection.to_dict()["errors"] == [error.to_dict() for error in rejection.errors]


def test_a_rejection_says_what_to_ask_for_instead() -> None:
    rejection = rejected("specification-engine")
    assert rejection.fix == "ask for `specification-engine`, `opencode-implementer` together"
    assert rejection.completion is not None
    assert rejection.completion.skills == PAIR
    assert rejection.message.endswith(f"To have it started, {rejection.fix}")


def test_a_completion_that_is_not_valid_either_is_not_proposed() -> None:
    known = snapshot(skill("a", requires("b")), skill("b", forbids("c")), skill("c"))
    rejection = rejected("a", "c", known=known)
    assert rejection.completion is None
    assert rejection.fix == "correct each of these errors, or ask for other skills"


def test_skills_that_exclude_each_other_are_rejected() -> None:
    known = snapshot(skill("a", forbids("b")), skill("b", forbids("a")))
    assert [error.code for error in rejected("a", "b", known=known).errors] == ["INCOMPATIBLE_SKILLS"] * 2


@pytest.mark.parametrize("status", [Status.DRAFT, Status.DISABLED])
def test_an_inactive_skill_is_rejected_as_it_would_never_be_given(status: Status) -> None:
    (error,) = rejected("a", known=snapshot(skill("a", status=status))).errors
    assert (error.code, error.skill, error.rule) == ("INACTIVE_SKILL", "a", "V001")
    assert "would never be given it; set it to active" in error.message


def test_a_deprecated_skill_is_a_warning() -> None:
    known = snapshot(skill("a", status=Status.DEPRECATED))
    assert plan("a", known=known).warnings == ("`a` is deprecated; look for the skill that replaces it",)


def test_a_skill_that_is_not_granted_is_rejected() -> None:
    (error,) = rejected("a", known=snapshot(skill("a")), granted=frozenset()).errors
    assert error.code == "SKILL_NOT_GRANTED"


def test_a_companion_that_is_not_granted_is_not_proposed() -> None:
    granted = frozenset({"specification-engine"})
    assert rejected("specification-engine", granted=granted).completion is None


def test_errors_stand_in_the_order_of_the_skills() -> None:
    known = snapshot(skill("off", status=Status.DRAFT), skill("a", requires("lost")))
    assert [error.skill for error in rejected("x", "off", "a", "y", known=known).errors] == ["x", "off", "a", "y"]


def test_a_spawned_agent_gets_no_more_than_its_parent() -> None:
    parent = Parent("c", ToolPolicy(("specKit", "read"), ("deploy",)))
    child = plan(*PAIR, parent=parent)
    assert child.tools == ("specKit",)
    assert child.policy.authorize("opencode-executor").ruling is Ruling.DENY
    assert child.policy.authorize("deploy").ruling is Ruling.DENY
    assert child.warnings == (
        "the tool `opencode-executor` is left out or narrowed: the agent that spawns may not use all of it",
    )


def test_without_skills_it_gets_what_its_parent_has() -> None:
    parent = Parent("c", ToolPolicy(("read", "write"), ("deploy",), grant=("read", "deploy")))
    child = plan(parent=parent)
    assert child.tools == ("read",)
    assert child.text.splitlines()[1:] == ["## Tools", "- allowed: read", "- forbidden: deploy"]


def test_what_the_parent_has_to_ask_about_the_child_has_to_ask_about() -> None:
    parent = Parent("c", ToolPolicy(asks=MappingProxyType({"pay": ("release",)})))
    assert plan(parent=parent).policy.authorize("pay").ruling is Ruling.ASK


def test_over_three_generations_nothing_comes_back() -> None:
    known = snapshot(skill("wide", tools=allowing("read", "write", "Bash")), skill("free"))
    first = plan("wide", known=known, parent=Parent("c", ToolPolicy(("read", "Bash(git:*)"))))
    second = plan("free", known=known, parent=first.as_parent())
    third = plan(known=known, parent=second.as_parent(), tools=["read", "write", "Bash"])
    assert third.conversation == "c/s1/s1/s1"
    assert third.tools == ("read", "Bash(git:*)")


def test_a_child_of_a_zero_capability_agent_has_none_either() -> None:
    assert plan(parent=plan(names=()).as_parent(), tools=["read"]).tools == ()


def test_checkpoints_of_its_skills_ask() -> None:
    known = snapshot(make_skill("payer", checkpoints=[Checkpoint("release", before="pay")]))
    assert plan("payer", known=known).policy.authorize("pay").ruling is Ruling.ASK


def test_a_turn_of_the_plan_has_its_conversation_skills_tools_and_limits() -> None:
    prepared = plan(*PAIR, parent=Parent("c", ToolPolicy(forbidden_tools=("deploy",))))
    turn = prepared.turn("Begin", "t1")
    assert (turn.id, turn.conversation, turn.named) == ("t1", "c/s1", PAIR)
    assert (turn.tools, turn.limits) == (prepared.tools, prepared.limits)
    assert prepared.limits.forbidden == ("write", "edit", "deploy")
    assert prepared.turn(Message(Role.TOOL, "done"), "t2").message.role is Role.TOOL


def test_the_json_form_of_a_plan_is_complete() -> None:
    prepared = plan(*PAIR)
    assert prepared.to_dict() == {
        "state": "validated",
        "conversation": "/s1",
        "request": {"task": "Do it", "skills": list(PAIR)},
        "skills": list(PAIR),
        "composition": prepared.composition.to_dict(),
        "policy": prepared.policy.to_dict(),
        "tools": ["specKit", "opencode-executor"],
        "limits": prepared.limits.to_dict(),
        "text": prepared.text,
        "warnings": [],
    }


def test_the_same_input_gives_the_same_plan() -> None:
    assert plan(*PAIR) == plan(*PAIR)


def test_a_thousand_skills_are_judged() -> None:
    names = tuple(f"s{number}" for number in range(1_000))
    known = snapshot(*(skill(name, requires(names[0])) for name in names[1:]), skill(names[0]))
    assert plan(*names, known=known).skills == names
    assert len(rejected(*names[1:], known=known).errors) == 999
