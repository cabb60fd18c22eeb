"""What holds for every composition (spec 4.2)."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill, ToolRules
from skillweave.compose.composition import compose_skills
from skillweave.tools import Composition, Mode
from tests.depth import tried
from tests.related import skill

ENTRIES = st.sampled_from(
    [
        "read",
        "write",
        "Bash",
        "Bash(git:*)",
        "Bash(rm x)",
        "mcp__x__*",
        "mcp__x__a",
        "mcp__*",
        "*",
        "Bash(",
        "Bash(ls *)",
    ]
)
LISTS = st.lists(ENTRIES, max_size=4).map(tuple)
RULES = st.none() | st.builds(ToolRules, st.none() | LISTS, LISTS, LISTS)
STEPS = st.lists(st.sampled_from(["plan", "do", "check"]), max_size=3).map(tuple)
MODES = st.sampled_from(Mode)
LAWS = tried(33)


@st.composite
def members(draw: st.DrawFn) -> list[Skill]:
    count = draw(st.integers(0, 5))
    return [skill(f"s{number}", tools=draw(RULES), steps=draw(STEPS)) for number in range(count)]


def _as_sets(composition: Composition) -> list[frozenset[str] | None]:
    lists = (
        composition.skills,
        composition.allowed_tools,
        composition.forbidden_tools,
        composition.execution_protocol,
        composition.preapproved_tools,
    )
    return [None if entries is None else frozenset(entries) for entries in lists]


@LAWS
@given(members(), MODES, st.randoms(use_true_random=False))
def test_every_order_gives_the_same_sets(skills: list[Skill], mode: Mode, random: Random) -> None:
    shuffled = list(skills)
    random.shuffle(shuffled)
    assert _as_sets(compose_skills(skills, mode)) == _as_sets(compose_skills(shuffled, mode))


@LAWS
@given(members(), MODES)
def test_allowed_and_forbidden_share_nothing(skills: list[Skill], mode: Mode) -> None:
    composition = compose_skills(skills, mode)
    assert not set(composition.allowed_tools or ()) & set(composition.forbidden_tools)
    assert not set(composition.preapproved_tools) & set(composition.forbidden_tools)


@LAWS
@given(members())
def test_the_intersection_is_never_wider_than_the_union(skills: list[Skill]) -> None:
    wide, narrow = compose_skills(skills), compose_skills(skills, Mode.INTERSECTION)
    assert (wide.allowed_tools is None) == (narrow.allowed_tools is None)
    assert set(narrow.allowed_tools or ()) <= set(wide.allowed_tools or ())


@LAWS
@given(members(), MODES)
def test_nothing_is_allowed_that_no_member_allows_and_no_prohibition_is_lost(skills: list[Skill], mode: Mode) -> None:
    composition = compose_skills(skills, mode)
    rules = [member.tools for member in skills if member.tools is not None]
    assert set(composition.allowed_tools or ()) <= {tool for rule in rules for tool in rule.allowed or ()}
    assert set(composition.forbidden_tools) == {tool for rule in rules for tool in rule.forbidden}


@LAWS
@given(members(), MODES)
def test_repeating_the_members_changes_nothing(skills: list[Skill], mode: Mode) -> None:
    assert compose_skills([*skills, *skills], mode) == compose_skills(skills, mode)
