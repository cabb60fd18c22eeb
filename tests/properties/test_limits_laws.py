"""No agent gets more than the one that spawned it, over any number of generations (spec 4.4)."""

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Ruling, SpawnRequest, ToolPolicy, ToolRules
from skillweave.compose.composition import limited, limits_of
from skillweave.compose.entries import covers, narrow
from skillweave.compose.matching import permits
from skillweave.compose.spawn import prepare_spawn
from skillweave.relations.rules import read_entry
from skillweave.tools import Parent, SpawnPlan, ToolLimits
from tests.depth import tried
from tests.related import skill, snapshot

Entries: TypeAlias = tuple[str, ...]
Arguments: TypeAlias = dict[str, str] | None

NAMES = st.sampled_from(["read", "write", "Bash", "mcp__x__a", "mcp__x__b", "mcp__y__a", "read_skill"])
PATTERNS = st.sampled_from(
    [
        "Bash(git:*)",
        "Bash(git push:*)",
        "Bash(git push origin)",
        "Bash(docs/:*)",
        "Bash(docs/a:*)",
        "Bash(docs/a/:*)",
        "Bash(docs/../a/:*)",
        "Bash(git-:*)",
        "Bash(git-lfs:*)",
        "Bash(rm x)",
        "Bash(*)",
        "Bash(a;b)",
        "Bash(",
        "mcp__x__*",
        "mcp__*",
        "*",
        "read(docs/:*)",
    ]
)
LISTS = st.lists(NAMES | PATTERNS, max_size=5).map(tuple)
TEXTS = st.sampled_from(
    [
        "git",
        "git status",
        "git push",
        "git push origin",
        "git pushy",
        "git-lfs pull",
        "gitleaks",
        "docs/a",
        "docs/a/b",
        "docs/a/../../b",
        "docs/../a/b",
        " git push",
        "rm x",
        "git x; rm x",
        "a;b",
        "git\nrm x",
        "",
    ]
) | st.text(alphabet="git push-/.a;", max_size=12)
ARGUMENTS: st.SearchStrategy[Arguments] = st.none() | st.fixed_dictionaries(
    {}, optional={"command": TEXTS, "script": TEXTS}
)
ASKS = st.dictionaries(NAMES | PATTERNS, st.just(("review",)), max_size=2)
ARGUMENT_NAMES = st.sampled_from([{}, {"Bash": "script"}])
POLICIES = st.builds(
    ToolPolicy,
    allowed_tools=st.none() | LISTS,
    forbidden_tools=LISTS,
    grant=st.none() | LISTS,
    asks=ASKS,
    argument_names=ARGUMENT_NAMES,
)
LAWS = tried(33)
WIDTH = {Ruling.DENY: 0, Ruling.ASK: 1, Ruling.ALLOW: 2}


@LAWS
@given(NAMES | PATTERNS, NAMES | PATTERNS, NAMES, TEXTS | st.none())
def test_what_an_entry_covers_it_permits(wide: str, entry: str, tool: str, text: str | None) -> None:
    if covers(read_entry(wide), read_entry(entry)) and permits(read_entry(entry), tool, text):
        assert permits(read_entry(wide), tool, text)


@LAWS
@given(LISTS, LISTS, NAMES, TEXTS | st.none())
def test_a_narrowed_list_permits_nothing_that_either_list_does_not(
    entries: Entries, limit: Entries, tool: str, text: str | None
) -> None:
    def permitted(those: Entries) -> bool:
        return any(permits(read_entry(entry), tool, text) for entry in those)

    if permitted(narrow(entries, limit)):
        assert permitted(entries)
        assert permitted(limit)


@LAWS
@given(LISTS, LISTS)
def test_names_without_arguments_are_narrowed_to_exactly_what_both_lists_have(one: Entries, other: Entries) -> None:
    one, other = (tuple(e for e in entries if "(" not in e and "*" not in e) for entries in (one, other))
    assert set(narrow(one, other)) == set(one) & set(other)


@LAWS
@given(POLICIES, NAMES, ARGUMENTS)
def test_the_limits_of_a_policy_deny_all_that_it_denies(policy: ToolPolicy, tool: str, arguments: Arguments) -> None:
    bounded = limited(ToolPolicy(), limits_of(policy))
    assert _width(bounded, tool, arguments) <= _width(policy, tool, arguments)


@LAWS
@given(POLICIES, POLICIES, NAMES, ARGUMENTS)
def test_a_limited_policy_gives_no_more_than_the_policy_itself(
    policy: ToolPolicy, other: ToolPolicy, tool: str, arguments: Arguments
) -> None:
    limits = limits_of(other)
    if limits.argument_names == policy.argument_names:
        assert _width(limited(policy, limits), tool, arguments) <= _width(policy, tool, arguments)


@LAWS
@given(POLICIES)
def test_limits_come_back_from_their_json_form(policy: ToolPolicy) -> None:
    limits = limits_of(policy)
    assert ToolLimits.from_dict(limits.to_dict()) == limits


RULES = st.none() | st.builds(ToolRules, st.none() | LISTS, LISTS, LISTS)


@st.composite
def requests(draw: st.DrawFn) -> tuple[SpawnRequest, tuple[ToolRules | None, ...], Entries | None]:
    rules = draw(st.lists(RULES, max_size=2).map(tuple))
    asked = draw(st.booleans())
    names = tuple(f"s{number}" for number in range(len(rules))) if asked else None
    return SpawnRequest("Do it", names), rules, draw(st.none() | LISTS)


@LAWS
@given(POLICIES, st.lists(requests(), min_size=3, max_size=3), st.lists(st.tuples(NAMES, ARGUMENTS), max_size=6))
def test_a_spawned_agent_never_gets_what_one_above_it_does_not(
    root: ToolPolicy,
    generations: list[tuple[SpawnRequest, tuple[ToolRules | None, ...], Entries | None]],
    calls: list[tuple[str, Arguments]],
) -> None:
    parent = Parent("c", root)
    above = [root]
    for request, rules, tools in generations:
        known = snapshot(*(skill(f"s{number}", tools=rule) for number, rule in enumerate(rules)))
        plan = prepare_spawn(request, known, parent, spawn_id="s", tools=tools)
        assert isinstance(plan, SpawnPlan)
        for tool, arguments in calls:
            assert all(_width(plan.policy, tool, arguments) <= _width(other, tool, arguments) for other in above)
        above.append(plan.policy)
        parent = plan.as_parent()


def _width(policy: ToolPolicy, tool: str, arguments: Arguments) -> int:
    return WIDTH[policy.authorize(tool, arguments).ruling]
