from types import MappingProxyType

from skillweave import Ruling, ToolPolicy
from skillweave.compose.composition import closed, limited, limits_of
from skillweave.tools import ToolLimits


def test_without_limits_the_policy_stays_the_same_value() -> None:
    policy = ToolPolicy(("read",))
    assert limited(policy, None) is policy


def test_a_policy_without_bounds_has_no_limits() -> None:
    assert limits_of(ToolPolicy()) == ToolLimits()


def test_allowed_and_grant_both_bound() -> None:
    limits = limits_of(ToolPolicy(("read", "Bash(git:*)"), ("write",), grant=("Bash", "write")))
    assert limits == ToolLimits(("Bash(git:*)",), ("write",))


def test_what_is_forbidden_stays_forbidden_where_nothing_else_is_bounded() -> None:
    policy = limited(ToolPolicy(), limits_of(ToolPolicy(forbidden_tools=("write", "Bash(rm:*)"))))
    assert policy.allowed_tools is None
    assert policy.authorize("write").ruling is Ruling.DENY
    assert policy.authorize("Bash", {"command": "rm x"}).ruling is Ruling.DENY
    assert policy.authorize("Bash", {"command": "ls"}).ruling is Ruling.ALLOW


def test_what_must_be_asked_about_is_still_asked_about() -> None:
    asking = ToolPolicy(asks=MappingProxyType({"pay": ("release",)}))
    policy = limited(ToolPolicy(asks=MappingProxyType({"pay": ("second",), "send": ("x",)})), limits_of(asking))
    assert policy.authorize("pay").checkpoints == ("second", "release")
    assert policy.authorize("send").ruling is Ruling.ASK


def test_what_runs_unasked_is_within_the_limits_too() -> None:
    policy = ToolPolicy(None, (), ("read", "Bash(git:*)", "write"), ("read", "write"))
    within = limited(policy, ToolLimits(("Bash", "write"), ("write",)))
    assert (within.preapproved_tools, within.consented_tools) == (("Bash(git:*)",), ())
    assert not within.authorize("Bash", {"command": "git x"}).preapproved


def test_the_limits_say_which_argument_patterns_are_about() -> None:
    limits = ToolLimits(("Bash(git:*)",), argument_names=MappingProxyType({"Bash": "script"}))
    policy = limited(ToolPolicy(), limits)
    assert policy.authorize("Bash", {"command": "git x"}).ruling is Ruling.DENY
    assert policy.authorize("Bash", {"script": "git x"}).ruling is Ruling.ALLOW


def test_a_limit_of_no_tool_leaves_no_tool() -> None:
    policy = limited(ToolPolicy(("read",)), ToolLimits(allowed=()))
    assert policy.offers(["read", "write"]) == ()


def test_a_closed_policy_leaves_the_own_tools_says_why_and_hands_on_nothing() -> None:
    policy = closed(ToolPolicy(None, (), ("read",), ("read",), grant=("read",)), "the ledger does not answer")
    verdict = policy.authorize("read")
    assert (verdict.ruling, "the ledger does not answer" in verdict.message) == (Ruling.DENY, True)
    assert policy.authorize("read_skill").ruling is Ruling.ALLOW
    assert policy.offers(["read", "read_skill"]) == ("read", "read_skill")
    assert limits_of(policy).allowed == ()
