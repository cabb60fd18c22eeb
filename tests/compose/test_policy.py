from typing import Any

import pytest

from skillweave import Ruling, ToolPolicy
from skillweave.compose.policy import OWN_TOOLS
from skillweave.errors import InvalidData, InvalidValue
from skillweave.tools import Refusal, ToolOwners, ToolScope


def _ruling(policy: ToolPolicy, name: str, **arguments: object) -> Ruling:
    return policy.authorize(name, arguments).ruling


def test_no_rules_and_no_grant_allow_everything() -> None:
    policy = ToolPolicy()
    assert _ruling(policy, "anything") is Ruling.ALLOW
    assert policy.offers(["a", "b"]) == ("a", "b")


def test_no_tool_at_all_is_not_the_same_as_no_rules() -> None:
    assert _ruling(ToolPolicy(allowed_tools=()), "anything") is Ruling.DENY


def test_a_tool_outside_the_allowed_ones_is_denied_with_its_code_and_what_is_allowed() -> None:
    verdict = ToolPolicy(allowed_tools=("specKit", "opencode-executor")).authorize("bash")
    assert (verdict.ruling, verdict.code) == (Ruling.DENY, Refusal.NOT_ALLOWED)
    assert verdict.message == (
        "TOOL_NOT_ALLOWED: this call of `bash` is not allowed; allowed: `specKit`, `opencode-executor`"
    )


def test_a_tool_outside_the_grant_is_denied_though_a_skill_allows_it() -> None:
    verdict = ToolPolicy(allowed_tools=("a", "b"), grant=("b",)).authorize("a")
    assert verdict.code is Refusal.NOT_ALLOWED


def test_forbidden_is_reported_before_not_allowed() -> None:
    verdict = ToolPolicy(allowed_tools=("read",), forbidden_tools=("write",), grant=("read", "write")).authorize(
        "write"
    )
    assert verdict.code is Refusal.FORBIDDEN
    assert verdict.message == (
        "TOOL_FORBIDDEN: this call of `write` is forbidden by a skill in force; allowed: `read`; forbidden: `write`"
    )


def test_forbidden_wins_over_allowed() -> None:
    assert _ruling(ToolPolicy(("write",), ("write",)), "write") is Ruling.DENY


def test_a_denial_says_when_there_is_no_tool_or_every_other_tool() -> None:
    assert ToolPolicy(allowed_tools=()).authorize("x").message.endswith("allowed: no tool")
    assert (
        ToolPolicy(forbidden_tools=("x",)).authorize("x").message.endswith("allowed: every other tool; forbidden: `x`")
    )


def test_a_long_list_of_tools_is_shortened_and_says_so() -> None:
    message = ToolPolicy(allowed_tools=tuple(f"t{number}" for number in range(30))).authorize("x").message
    assert message.endswith("`t19` and 10 more")


@pytest.mark.parametrize("name", sorted(OWN_TOOLS))
def test_own_tools_are_exempt(name: str) -> None:
    policy = ToolPolicy(allowed_tools=(), forbidden_tools=(name,), grant=())
    assert _ruling(policy, name) is Ruling.ALLOW
    assert policy.offers([name]) == (name,)


@pytest.mark.parametrize("name", sorted(OWN_TOOLS))
def test_a_hosts_tool_with_the_name_of_an_own_tool_is_judged_like_any_other(name: str) -> None:
    forbidding = ToolPolicy(forbidden_tools=(name,), own_tools=())
    assert forbidding.authorize(name).code is Refusal.FORBIDDEN
    assert forbidding.offers([name, "other"]) == ("other",)
    assert ToolPolicy(allowed_tools=("other",), own_tools=()).authorize(name).code is Refusal.NOT_ALLOWED
    assert _ruling(ToolPolicy(own_tools=()), name) is Ruling.ALLOW


def test_patterns_judge_the_argument_that_the_tool_declares() -> None:
    policy = ToolPolicy(allowed_tools=("Read(docs/:*)", "Bash(git:*)"), argument_names={"Read": "file_path"})
    assert _ruling(policy, "Read", file_path="docs/a.md") is Ruling.ALLOW
    assert _ruling(policy, "Read", command="docs/a.md") is Ruling.DENY
    assert _ruling(policy, "Bash", command="git status") is Ruling.ALLOW


def test_a_denied_pattern_says_what_text_it_needs() -> None:
    verdict = ToolPolicy(allowed_tools=("Bash(git:*)",)).authorize("Bash", {"command": "git status; rm x"})
    assert "its `command` must be one plain command" in verdict.message


def test_a_call_without_arguments_is_judged_too() -> None:
    assert ToolPolicy(allowed_tools=("Read", "Bash(git:*)")).authorize("Read").ruling is Ruling.ALLOW
    assert ToolPolicy(allowed_tools=("Read", "Bash(git:*)")).authorize("Bash").ruling is Ruling.DENY


def test_offers_hides_what_no_call_could_pass_in_the_order_given() -> None:
    policy = ToolPolicy(("Bash(git:*)", "read", "mcp__x__*", "Broken("), ("write", "mcp__x__drop"), grant=None)
    names = ["write", "mcp__x__find", "Broken", "Bash", "mcp__x__drop", "other", "read"]
    assert policy.offers(names) == ("mcp__x__find", "Bash", "read")


def test_a_tool_forbidden_for_some_arguments_is_still_offered() -> None:
    policy = ToolPolicy(forbidden_tools=("Bash(rm:*)",))
    assert policy.offers(["Bash"]) == ("Bash",)
    assert _ruling(policy, "Bash", command="ls") is Ruling.ALLOW
    assert _ruling(policy, "Bash", command="rm x") is Ruling.DENY


def test_offers_respects_the_grant() -> None:
    assert ToolPolicy(grant=("a",)).offers(["a", "b"]) == ("a",)


def test_a_checkpoint_before_a_tool_asks_and_names_it() -> None:
    verdict = ToolPolicy(asks={"deploy": ("sign-off",)}).authorize("deploy")
    assert (verdict.ruling, verdict.checkpoints) == (Ruling.ASK, ("sign-off",))
    assert verdict.message == "`deploy` waits for a person's approval: `sign-off`"


def test_a_checkpoint_allows_nothing_that_is_denied() -> None:
    assert _ruling(ToolPolicy(forbidden_tools=("deploy",), asks={"deploy": ("sign-off",)}), "deploy") is Ruling.DENY


def test_a_checkpoint_on_arguments_asks_for_those_calls() -> None:
    policy = ToolPolicy(asks={"Bash(git push:*)": ("review",)})
    assert _ruling(policy, "Bash", command="git push origin") is Ruling.ASK
    assert _ruling(policy, "Bash", command="git status") is Ruling.ALLOW


def test_preapproval_without_consent_changes_nothing() -> None:
    assert not ToolPolicy(preapproved_tools=("read",)).authorize("read").preapproved


def test_consent_marks_the_call_as_preapproved() -> None:
    assert ToolPolicy(preapproved_tools=("read",), consented_tools=("read",)).authorize("read").preapproved


def test_consent_skips_no_checkpoint() -> None:
    assert _ruling(ToolPolicy(consented_tools=("deploy",), asks={"deploy": ("sign-off",)}), "deploy") is Ruling.ASK


def test_the_json_form_has_three_keys_and_null_for_unrestricted() -> None:
    assert ToolPolicy(None, ("write",), ("read",)).to_dict() == {
        "allowed_tools": None,
        "forbidden_tools": ["write"],
        "preapproved_tools": ["read"],
    }


def test_the_json_form_has_whatever_else_bounds_the_agent() -> None:
    elsewhere = ToolScope(ToolOwners({"pay": ("till",)}, shared=frozenset({"b", "a"})), where="lost")
    assert ToolPolicy((), ("write",), ("read",), grant=("x",), elsewhere=elsewhere).to_dict() == {
        "allowed_tools": [],
        "forbidden_tools": ["write", "pay"],
        "preapproved_tools": ["read"],
        "forbidden_entries": ["write"],
        "grant": ["x"],
        "elsewhere": {
            "owners": {"by_name": {"pay": ["till"]}, "shared": ["a", "b"]},
            "engaged": [],
            "where": "lost",
        },
    }


@pytest.mark.parametrize("change", [{"grants": ["read"]}, {"grant": "read"}, {"asks": {"pay": "x"}}])
def test_a_policy_with_an_unknown_or_broken_bound_is_refused_as_a_lost_bound_is_a_permission(change: Any) -> None:
    with pytest.raises(InvalidData, match="a ToolPolicy cannot be read"):
        ToolPolicy.from_dict({**ToolPolicy().to_dict(), **change})


@pytest.mark.parametrize("name", list(ToolPolicy().to_dict()))
def test_a_policy_without_one_of_its_bounds_is_refused(name: str) -> None:
    data = {key: value for key, value in ToolPolicy().to_dict().items() if key != name}
    with pytest.raises(InvalidData, match=f"exactly .*{name}"):
        ToolPolicy.from_dict(data)


@pytest.mark.parametrize("extra", ["command", "cwd"])
def test_an_argument_that_the_tool_does_not_have_is_denied_and_named(extra: str) -> None:
    policy = ToolPolicy(forbidden_tools=("shell(rm:*)",), allowed_tools=("shell(ls:*)",))
    verdict = policy.authorize("shell", {"cmd": "ls", extra: "ls"}, parameters=("cmd",))
    assert (verdict.ruling, verdict.code) == (Ruling.DENY, Refusal.NOT_ALLOWED)
    assert verdict.message == (
        f"TOOL_NOT_ALLOWED: `shell` has no argument `{extra}`; it takes `cmd`; call again without it"
    )


def test_a_pattern_is_judged_on_the_parameter_that_the_tool_has_and_not_on_one_that_the_model_adds() -> None:
    policy = ToolPolicy(forbidden_tools=("shell(rm:*)",))
    verdict = policy.authorize("shell", {"command": "ls", "cmd": "rm -rf /"}, parameters=("cmd",))
    assert verdict.code is Refusal.FORBIDDEN


def test_an_entry_that_names_its_parameter_is_judged_on_that() -> None:
    policy = ToolPolicy(allowed_tools=("write_file(path=docs/*)",))
    parameters = ("path", "content")
    inside = policy.authorize("write_file", {"path": "docs/a", "content": "x; y"}, parameters=parameters)
    outside = policy.authorize("write_file", {"path": "/etc/a", "content": "docs/a"}, parameters=parameters)
    assert (inside.ruling, outside.ruling) == (Ruling.ALLOW, Ruling.DENY)


def test_where_nobody_says_which_of_several_parameters_is_meant_forbidding_wins_and_allowing_does_not_apply() -> None:
    arguments, parameters = {"path": "docs/a", "content": "docs/a"}, ("path", "content")
    forbidding = ToolPolicy(forbidden_tools=("write_file(/etc/*)",))
    allowing = ToolPolicy(allowed_tools=("write_file(docs/*)",))
    verdicts = [one.authorize("write_file", arguments, parameters=parameters) for one in (forbidding, allowing)]
    assert [verdict.ruling for verdict in verdicts] == [Ruling.DENY, Ruling.DENY]
    assert all("not known which of its arguments" in verdict.message for verdict in verdicts)


def test_a_checkpoint_before_a_pattern_asks_also_where_the_parameter_cannot_be_told() -> None:
    policy = ToolPolicy(asks={"pay(over 1000)": ("release",)})
    assert policy.authorize("pay", {"sum": "1", "to": "x"}, parameters=("sum", "to")).ruling is Ruling.ASK


def test_a_denial_names_only_tools_that_the_host_has() -> None:
    policy = ToolPolicy(
        allowed_tools=("read", "mcp__x__a", "git"), forbidden_tools=("write", "Bash(rm:*)", "mcp__y__*")
    )
    message = policy.authorize("write", host_tools=["read", "write", "mcp__x__a"]).message
    assert message.endswith("allowed: `read`, `mcp__x__a`; forbidden: `write`")


def test_a_denial_names_only_tools_in_the_grant() -> None:
    policy = ToolPolicy(forbidden_tools=("write", "deploy"), grant=("read", "write"))
    assert policy.authorize("write").message.endswith("allowed: `read`; forbidden: `write`")


@pytest.mark.parametrize("field", ["parameters", "host_tools"])
def test_names_that_are_one_text_are_refused_as_they_would_be_taken_letter_by_letter(field: str) -> None:
    named: Any = {field: "command"}
    with pytest.raises(InvalidValue, match=rf"authorize\({field}=...\) is the text 'command'; give a list of texts"):
        ToolPolicy().authorize("bash", {"comm": "ls"}, **named)


def test_a_call_of_a_tool_without_a_name_is_refused_in_words() -> None:
    nameless: Any = None
    with pytest.raises(InvalidValue, match=r"authorize\(name=...\) is None; give a text"):
        ToolPolicy(forbidden_tools=("write",)).authorize(nameless)
