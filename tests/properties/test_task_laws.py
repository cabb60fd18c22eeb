"""Skills for a task are a set that can be used as it is, whatever the rules and the relations say (spec 2.1, 4.1)."""

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill, Status
from skillweave.relations.task import explain_task, select_skills
from skillweave.skills import Relation, RelationKind, RiskLevel, Task, TaskRule, When, validate_skills
from tests.depth import tried
from tests.related import skill, snapshot

NAMES = ("a", "b", "c", "d", "e", "f")
RELATIONS = st.lists(
    st.builds(Relation, st.sampled_from(RelationKind), st.sampled_from((*NAMES, "lost"))), max_size=2
).map(tuple)
STATUSES = st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.ACTIVE, Status.DEPRECATED, Status.DRAFT])


@st.composite
def libraries(draw: st.DrawFn) -> list[Skill]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return [skill(name, *draw(RELATIONS), status=draw(STATUSES)) for name in names]


WHENS = st.sampled_from([When(coding=True), When(coding=False), When(risk_levels=(RiskLevel.HIGH,))])
RULES = st.lists(
    st.builds(
        TaskRule,
        WHENS,
        st.lists(st.sampled_from((*NAMES, "lost")), min_size=1, max_size=3).map(tuple),
    ),
    max_size=4,
)
TASKS = st.builds(Task, risk_level=st.none() | st.sampled_from(RiskLevel), coding=st.booleans())
GRANTS = st.none() | st.frozensets(st.sampled_from(NAMES))
LAWS = tried(33)


@LAWS
@given(TASKS, RULES, libraries(), GRANTS)
def test_the_list_is_valid_active_and_granted(
    task: Task, rules: list[TaskRule], skills: list[Skill], granted: frozenset[str] | None
) -> None:
    known = snapshot(*skills)
    names = select_skills(task, rules, known, granted=granted)
    assert validate_skills(names, known).valid
    assert all(known[name].status.selectable for name in names)
    assert granted is None or granted.issuperset(names)
    assert len(names) == len(set(names))


@LAWS
@given(TASKS, RULES, libraries(), GRANTS)
def test_every_named_skill_is_in_the_list_or_left_out_with_a_reason(
    task: Task, rules: list[TaskRule], skills: list[Skill], granted: frozenset[str] | None
) -> None:
    selection = explain_task(task, rules, snapshot(*skills), granted=granted)
    named = {name for rule in rules if rule.when.holds(task) for name in rule.skills}
    left_out = [decision.skill_id for decision in selection.left_out]
    assert set(selection.skills).isdisjoint(left_out)
    assert named <= {*selection.skills, *left_out}
    assert len(left_out) == len(set(left_out))
    assert tuple(skill for skill, _ in selection.reasons) == selection.skills
    assert all(decision.reason for decision in selection.left_out)


@LAWS
@given(TASKS, RULES, libraries())
def test_a_skill_that_is_given_comes_with_a_whole_rule_or_with_what_needs_it(
    task: Task, rules: list[TaskRule], skills: list[Skill]
) -> None:
    known = snapshot(*skills)
    names = set(select_skills(task, rules, known))
    whole = [set(rule.skills) for rule in rules if rule.when.holds(task) and names.issuperset(rule.skills)]
    for name in names:
        needed = any(name in known[other].requires() for other in names)
        assert needed or any(name in given_together for given_together in whole)
