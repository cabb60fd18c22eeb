"""What holds for every set of rules between skills (spec 4.1)."""

from dataclasses import dataclass
from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Status
from skillweave.registry import Snapshot
from skillweave.relations.admit import Admission, admit
from skillweave.skills import Relation, RelationKind, complete_skills, validate_skills
from tests.depth import tried
from tests.related import chosen, skill, snapshot

IDS = [f"s{number}" for number in range(8)]
NAMES = st.lists(st.sampled_from([*IDS, "lost"]), max_size=8)
LAWS = tried(33)


@st.composite
def registries(draw: st.DrawFn) -> Snapshot:
    kinds = st.sampled_from([RelationKind.REQUIRES, RelationKind.REQUIRES, *RelationKind])
    targets = st.sampled_from([*IDS, *IDS, "lost"])
    rules = st.lists(st.builds(Relation, kinds, targets), max_size=3)
    statuses = st.sampled_from([Status.ACTIVE] * 6 + [Status.DEPRECATED, Status.DISABLED])
    return snapshot(*(skill(skill_id, *draw(rules), status=draw(statuses)) for skill_id in IDS))


@dataclass(frozen=True)
class Case:
    registry: Snapshot
    matched: list[str]
    engaged: list[str]
    limit: int
    granted: frozenset[str] | None
    admission: Admission

    @property
    def members(self) -> list[str]:
        return [member for group in self.admission.groups for member in group.members]


@st.composite
def admissions(draw: st.DrawFn) -> Case:
    registry = draw(registries())
    matched = draw(st.lists(st.sampled_from([*IDS, "lost"]), max_size=8, unique=True))
    engaged = draw(NAMES)
    limit = draw(st.integers(0, 4))
    granted = draw(st.none() | st.frozensets(st.sampled_from(IDS), min_size=5))
    admission = admit(chosen(*matched), registry, engaged=engaged, max_skills=limit, granted=granted)
    return Case(registry, matched, engaged, limit, granted, admission)


@LAWS
@given(registries(), NAMES, st.randoms(use_true_random=False))
def test_the_order_of_the_names_decides_the_order_of_errors_and_nothing_else(
    registry: Snapshot, names: list[str], random: Random
) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)
    one, other = validate_skills(names, registry), validate_skills(shuffled, registry)
    assert one.valid == other.valid
    assert sorted(one.errors, key=repr) == sorted(other.errors, key=repr)
    order = list(dict.fromkeys(names))
    assert [order.index(error.skill) for error in one.errors] == sorted(
        order.index(error.skill) for error in one.errors
    )


@LAWS
@given(registries(), NAMES)
def test_rules_come_in_order_for_each_skill(registry: Snapshot, names: list[str]) -> None:
    errors = validate_skills(names, registry).errors
    for name in set(names):
        rules = [error.rule for error in errors if error.skill == name]
        assert rules == sorted(rules)


@LAWS
@given(registries(), NAMES)
def test_a_completed_list_lacks_no_companion_that_exists(registry: Snapshot, names: list[str]) -> None:
    completion = complete_skills(names, registry)
    assert completion.skills[: len(set(names))] == tuple(dict.fromkeys(names))
    for error in validate_skills(completion.skills, registry).errors:
        assert error.code != "MISSING_REQUIRED" or "`lost`" in error.message


@LAWS
@given(registries(), NAMES)
def test_completing_twice_adds_nothing(registry: Snapshot, names: list[str]) -> None:
    once = complete_skills(names, registry).skills
    assert complete_skills(once, registry).skills == once


@LAWS
@given(admissions())
def test_every_matched_or_engaged_skill_stands_in_exactly_one_group_or_decision(case: Case) -> None:
    places = [*case.members, *(decision.skill_id for decision in case.admission.decisions)]
    assert len(places) == len(set(places))
    assert {*case.matched, *case.engaged} <= set(places)


@LAWS
@given(admissions())
def test_no_two_admitted_skills_exclude_each_other(case: Case) -> None:
    for one, other in combinations(case.members, 2):
        assert other not in case.registry[one].excludes()
        assert one not in case.registry[other].excludes()


@LAWS
@given(admissions())
def test_a_group_holds_all_that_its_members_require_and_only_usable_skills(case: Case) -> None:
    for group in case.admission.groups:
        assert group.head == group.members[0]
        for member in group.members:
            assert set(case.registry[member].requires()) <= set(group.members)
            assert case.registry[member].status.selectable
            assert case.granted is None or member in case.granted


@LAWS
@given(admissions())
def test_new_groups_stay_within_the_limit(case: Case) -> None:
    assert sum(not set(group.members) & set(case.engaged) for group in case.admission.groups) <= case.limit


@LAWS
@given(admissions())
def test_groups_come_in_rank_and_then_in_the_order_of_the_engaged(case: Case) -> None:
    order = list(dict.fromkeys([*case.matched, *case.engaged]))
    places = [
        min(order.index(member) for member in group.members if member in order) for group in case.admission.groups
    ]
    assert places == sorted(places)


@LAWS
@given(admissions())
def test_a_group_names_its_best_match_or_none(case: Case) -> None:
    for group in case.admission.groups:
        best = next((skill_id for skill_id in case.matched if skill_id in group.members), None)
        assert (group.candidate.skill_id if group.candidate else None) == best


@LAWS
@given(admissions())
def test_a_conflict_names_a_winner_that_is_admitted_or_a_tear_inside(case: Case) -> None:
    admitted = case.members
    for decision in case.admission.decisions:
        if decision.outcome.value == "conflict":
            inside = decision.reason.startswith("what goes with it")
            assert inside or any(f"`{member}`" in decision.reason for member in admitted)
