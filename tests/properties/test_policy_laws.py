"""What `authorize` holds for every set of skills, every grant and every call (spec 4.3)."""

from random import Random
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Ruling, ToolRules
from skillweave.compose.composition import ActiveSkill, policy_of
from skillweave.compose.matching import permits, prohibits
from skillweave.compose.policy import OWN_TOOLS
from skillweave.relations.rules import read_entry
from skillweave.tools import Mode, OnlySkillTools, Refusal
from tests.depth import tried
from tests.related import skill

Entries: TypeAlias = tuple[str, ...]

NAMES = st.sampled_from(["read", "write", "Bash", "mcp__x__a", "mcp__x__b", "mcp__y__a"])
PATTERNS = st.sampled_from(
    ["Bash(git:*)", "Bash(git push:*)", "Bash(rm x)", "Bash(*)", "mcp__x__*", "mcp__*", "*", "Bash(", "read(docs/:*)"]
)
LISTS = st.lists(NAMES | PATTERNS, max_size=4).map(tuple)
RULES = st.none() | st.builds(ToolRules, st.none() | LISTS, LISTS, LISTS)
IN_FORCE = st.lists(
    st.builds(
        lambda number, rules, deliberate: ActiveSkill(skill(f"s{number}", tools=rules), deliberate),
        st.integers(),
        RULES,
        st.booleans(),
    ),
    max_size=4,
)
GRANTS = st.none() | LISTS
TEXTS = st.sampled_from(
    ["git status", "git push", "gitleaks", "rm x", "rm  x", "docs/a", "git x; rm x", "git $(rm x)", "git\nrm x", ""]
) | st.text(alphabet="git rmx;|&`$(\n\t./", max_size=12)
ARGUMENTS = st.none() | st.fixed_dictionaries({}, optional={"command": TEXTS, "other": TEXTS})
LAWS = tried(33)


def _covered(entries: Entries, name: str, text: str | None) -> bool:
    return any(permits(read_entry(entry), name, text) for entry in entries)


@LAWS
@given(IN_FORCE, GRANTS, st.sampled_from(OnlySkillTools), st.sampled_from(Mode), NAMES, ARGUMENTS)
def test_a_call_that_may_run_is_inside_the_grant_and_not_forbidden(
    in_force: list[ActiveSkill],
    grant: Entries | None,
    only_skill_tools: OnlySkillTools,
    mode: Mode,
    name: str,
    arguments: dict[str, str] | None,
) -> None:
    verdict = policy_of(in_force, grant=grant, only_skill_tools=only_skill_tools, mode=mode).authorize(name, arguments)
    text = (arguments or {}).get("command")
    if verdict.ruling is not Ruling.DENY:
        assert grant is None or _covered(grant, name, text)
        forbidden = [entry for member in in_force if member.skill.tools for entry in member.skill.tools.forbidden]
        assert not any(prohibits(read_entry(entry), name, text) for entry in forbidden)


@LAWS
@given(IN_FORCE, GRANTS, st.sampled_from(OnlySkillTools), NAMES, ARGUMENTS)
def test_a_call_runs_exactly_when_grant_and_rules_let_it(
    in_force: list[ActiveSkill],
    grant: Entries | None,
    only_skill_tools: OnlySkillTools,
    name: str,
    arguments: dict[str, str] | None,
) -> None:
    verdict = policy_of(in_force, grant=grant, only_skill_tools=only_skill_tools).authorize(name, arguments)
    text = (arguments or {}).get("command")
    rules = [(member.skill.tools, member.deliberate) for member in in_force if member.skill.tools]
    forbidden = any(prohibits(read_entry(entry), name, text) for rule, _ in rules for entry in rule.forbidden)
    allowing = [
        rule.allowed
        for rule, deliberate in rules
        if rule.allowed is not None and (deliberate or only_skill_tools is OnlySkillTools.ALWAYS)
    ]
    allowed = not allowing or any(_covered(entries, name, text) for entries in allowing)
    granted = grant is None or _covered(grant, name, text)
    expected = Refusal.FORBIDDEN if forbidden else None if allowed and granted else Refusal.NOT_ALLOWED
    assert verdict.code == expected


@LAWS
@given(IN_FORCE, GRANTS, st.sampled_from(Mode))
def test_what_is_listed_as_allowed_is_never_forbidden_and_never_outside_the_grant(
    in_force: list[ActiveSkill], grant: Entries | None, mode: Mode
) -> None:
    policy = policy_of(in_force, grant=grant, mode=mode)
    assert not set(policy.allowed_tools or ()) & set(policy.forbidden_tools)
    if grant is not None:
        tools = [read_entry(entry).tool for entry in grant]
        assert policy.allowed_tools is not None
        for entry in map(read_entry, policy.allowed_tools):
            assert any(
                entry.tool == tool or (tool.endswith("*") and entry.tool.startswith(tool[:-1])) for tool in tools
            )


@LAWS
@given(IN_FORCE, GRANTS, NAMES, ARGUMENTS)
def test_what_may_run_is_offered(
    in_force: list[ActiveSkill], grant: Entries | None, name: str, arguments: dict[str, str] | None
) -> None:
    policy = policy_of(in_force, grant=grant)
    if policy.authorize(name, arguments).ruling is not Ruling.DENY:
        assert policy.offers([name]) == (name,)


@LAWS
@given(IN_FORCE, GRANTS, NAMES, ARGUMENTS, st.randoms(use_true_random=False))
def test_the_order_of_the_skills_changes_no_ruling(
    in_force: list[ActiveSkill], grant: Entries | None, name: str, arguments: dict[str, str] | None, random: Random
) -> None:
    shuffled = list(in_force)
    random.shuffle(shuffled)
    one, other = (policy_of(order, grant=grant).authorize(name, arguments) for order in (in_force, shuffled))
    assert (one.ruling, one.code) == (other.ruling, other.code)


@LAWS
@given(IN_FORCE, GRANTS, st.text(max_size=20), st.text(max_size=20))
def test_any_name_and_any_text_get_a_verdict_of_one_line(
    in_force: list[ActiveSkill], grant: Entries | None, name: str, text: str
) -> None:
    verdict = policy_of(in_force, grant=grant).authorize(name, {"command": text})
    assert verdict.message.isprintable()


@LAWS
@given(IN_FORCE, st.sampled_from(sorted(OWN_TOOLS)))
def test_own_tools_always_run(in_force: list[ActiveSkill], name: str) -> None:
    assert policy_of(in_force, grant=()).authorize(name).ruling is Ruling.ALLOW


@LAWS
@given(st.text(max_size=30))
def test_any_text_reads_as_an_entry(text: str) -> None:
    assert isinstance(read_entry(text).names(text), bool)
