from dataclasses import replace

import pytest

from skillweave import Checkpoint, Ruling, ToolPolicy, ToolRules
from skillweave.compose.composition import ActiveSkill, HumanVerdicts, policy_of
from skillweave.select.selection import find_matchers
from skillweave.skills import CheckpointScope
from skillweave.tools import Mode, OnlySkillTools, Refusal
from tests.related import OPENCODE_IMPLEMENTER, SPECIFICATION_ENGINE, allowing, skill

GRANT = ("specKit", "opencode-executor", "write", "edit", "read")

deliberate = find_matchers(()).deliberate


def test_no_skill_in_force_leaves_the_grant_unchanged() -> None:
    assert policy_of([], grant=GRANT) == ToolPolicy(allowed_tools=GRANT, grant=GRANT)


def test_no_skill_and_no_grant_restrict_nothing() -> None:
    assert policy_of([]).allowed_tools is None


def test_skills_without_rules_leave_the_grant_unchanged() -> None:
    assert policy_of([ActiveSkill(skill("a"), True)], grant=GRANT).allowed_tools == GRANT


def test_the_pair_of_seed_002_leaves_its_two_tools() -> None:
    policy = policy_of(
        [ActiveSkill(SPECIFICATION_ENGINE, True), ActiveSkill(OPENCODE_IMPLEMENTER, True)],
        grant=GRANT,
    )
    assert policy.to_dict() == {
        "allowed_tools": ["specKit", "opencode-executor"],
        "forbidden_tools": ["write", "edit"],
        "preapproved_tools": [],
        "grant": list(GRANT),
    }
    assert policy.offers(GRANT) == ("specKit", "opencode-executor")


def test_v004_a_forbidden_tool_is_forbidden_and_another_is_not_allowed() -> None:
    policy = policy_of([ActiveSkill(OPENCODE_IMPLEMENTER, True)], grant=GRANT)
    assert [policy.authorize(name).code for name in ("write", "read", "opencode-executor")] == [
        Refusal.FORBIDDEN,
        Refusal.NOT_ALLOWED,
        None,
    ]


@pytest.mark.parametrize("engaged_by", ["explicit", "host", "mention", "task", "graph"])
def test_a_skill_engaged_deliberately_restricts(engaged_by: str) -> None:
    assert policy_of([ActiveSkill(SPECIFICATION_ENGINE, deliberate(engaged_by))], grant=GRANT).allowed_tools == (
        "specKit",
    )


@pytest.mark.parametrize("engaged_by", ["triggers", "lexical", "semantic", "a-guest"])
def test_a_skill_engaged_by_a_mere_match_restricts_only_when_enforced_always(engaged_by: str) -> None:
    in_force = [ActiveSkill(SPECIFICATION_ENGINE, deliberate(engaged_by))]
    assert policy_of(in_force, grant=GRANT).allowed_tools == GRANT
    assert policy_of(in_force, grant=GRANT, only_skill_tools=OnlySkillTools.ALWAYS).allowed_tools == ("specKit",)


def test_a_tool_is_forbidden_however_its_skill_was_engaged() -> None:
    policy = policy_of([ActiveSkill(OPENCODE_IMPLEMENTER, False)], grant=GRANT)
    assert policy.allowed_tools == ("specKit", "opencode-executor", "read")
    assert policy.authorize("write").code is Refusal.FORBIDDEN


def test_a_mere_match_does_not_widen_what_a_deliberate_skill_left() -> None:
    policy = policy_of([ActiveSkill(SPECIFICATION_ENGINE, True), ActiveSkill(OPENCODE_IMPLEMENTER, False)])
    assert policy.allowed_tools == ("specKit",)


def test_an_allowed_tool_outside_the_grant_is_not_listed() -> None:
    assert policy_of([ActiveSkill(SPECIFICATION_ENGINE, True)], grant=("read",)).allowed_tools == ()


def test_the_intersection_is_one_argument_away() -> None:
    in_force = [ActiveSkill(SPECIFICATION_ENGINE, True), ActiveSkill(OPENCODE_IMPLEMENTER, True)]
    assert policy_of(in_force, mode=Mode.INTERSECTION).allowed_tools == ()


def test_a_blocking_checkpoint_before_a_tool_asks() -> None:
    deployer = replace(
        skill("deployer"),
        checkpoints=(Checkpoint("sign-off", before="deploy", scope=CheckpointScope.CONVERSATION), Checkpoint("look")),
    )
    second = replace(
        skill("second"), checkpoints=(Checkpoint("budget", before="deploy", scope=CheckpointScope.CONVERSATION),)
    )
    verdict = policy_of([ActiveSkill(deployer, False), ActiveSkill(second, False)]).authorize("deploy")
    assert (verdict.ruling, verdict.checkpoints) == (Ruling.ASK, ("sign-off", "budget"))


def test_a_checkpoint_that_does_not_block_asks_nobody() -> None:
    watched = replace(skill("watched"), checkpoints=(Checkpoint("note", before="deploy", blocking=False),))
    assert policy_of([ActiveSkill(watched, True)]).authorize("deploy").ruling is Ruling.ALLOW


def test_consent_is_bound_to_the_digest_of_the_skill() -> None:
    agreed = skill("agreed", tools=ToolRules(None, preapproved=("read",)), digest="d1")
    other = skill("other", tools=ToolRules(None, preapproved=("write",)), digest="d2")
    policy = policy_of([ActiveSkill(agreed, True), ActiveSkill(other, True)], HumanVerdicts(frozenset({"d1"})))
    assert policy.preapproved_tools == ("read", "write")
    assert [policy.authorize(name).preapproved for name in ("read", "write")] == [True, False]


def test_a_skill_without_a_digest_can_have_no_consent() -> None:
    nameless = skill("nameless", tools=ToolRules(None, preapproved=("read",)))
    policy = policy_of([ActiveSkill(nameless, True)], HumanVerdicts(frozenset({""})))
    assert policy.consented_tools == ()


def test_preapproved_tools_stay_within_the_grant() -> None:
    eager = skill("eager", tools=ToolRules(None, preapproved=("read", "write")))
    assert policy_of([ActiveSkill(eager, True)], grant=("read",)).preapproved_tools == ("read",)


def test_the_argument_that_a_tool_declares_is_handed_on() -> None:
    reader = skill("reader", tools=allowing("Read(docs/:*)"))
    policy = policy_of([ActiveSkill(reader, True)], argument_names={"Read": "path"})
    assert policy.authorize("Read", {"path": "docs/a"}).ruling is Ruling.ALLOW


def test_a_checkpoint_that_was_let_through_does_not_ask_again() -> None:
    deployer = replace(
        skill("deployer", digest="d1"),
        checkpoints=(
            Checkpoint("sign-off", before="deploy", scope=CheckpointScope.CONVERSATION),
            Checkpoint("budget", before="deploy", scope=CheckpointScope.CONVERSATION),
        ),
    )
    in_force = [ActiveSkill(deployer, False)]
    passed = policy_of(in_force, HumanVerdicts(let_through=frozenset({("deployer", "sign-off", "d1")})))
    assert passed.authorize("deploy").checkpoints == ("budget",)
    other_text = policy_of(in_force, HumanVerdicts(let_through=frozenset({("deployer", "sign-off", "d0")})))
    assert other_text.authorize("deploy").checkpoints == ("sign-off", "budget")


def test_a_rejected_tool_is_forbidden_and_hidden_with_the_persons_name_as_the_reason() -> None:
    said_no = HumanVerdicts(rejected={"pay": "rejected by `Zoë` at the checkpoint `sign-off`"})
    policy = policy_of([], said_no, grant=("pay", "read"))
    verdict = policy.authorize("pay")
    assert (verdict.code, policy.offers(("pay", "read"))) == (Refusal.FORBIDDEN, ("read",))
    assert verdict.message == (
        "TOOL_FORBIDDEN: this call of `pay` is rejected by `Zoë` at the checkpoint `sign-off`; "
        "allowed: `read`; forbidden: `pay`"
    )


def test_a_rejected_argument_pattern_denies_those_calls_only() -> None:
    policy = policy_of([], HumanVerdicts(rejected={"Bash(rm:*)": "rejected by `Zoë`"}))
    assert policy.authorize("Bash", {"command": "rm -r x"}).ruling is Ruling.DENY
    assert policy.authorize("Bash", {"command": "ls"}).ruling is Ruling.ALLOW


def test_a_skill_that_was_kept_out_still_forbids_and_asks_but_allows_nothing() -> None:
    out = replace(
        skill("out", tools=allowing("read", forbidden=("write",), preapproved=("read",))),
        checkpoints=(Checkpoint("look", before="send", scope=CheckpointScope.CONVERSATION),),
    )
    policy = policy_of([], kept_out=[out])
    assert (policy.allowed_tools, policy.forbidden_tools, policy.preapproved_tools) == (None, ("write",), ())
    assert policy.authorize("send").ruling is Ruling.ASK
