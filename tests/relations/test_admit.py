from itertools import pairwise

from skillweave import Decision, Evidence, Outcome, Severity, Status
from skillweave.registry import Snapshot
from skillweave.relations.admit import Admission, Group, admit
from skillweave.relations.rules import MOST_COMPANIONS, check_companions
from skillweave.selection import Candidate, Rejected, Selection
from tests.related import CODING, chosen, forbids, incompatible, requires, skill, snapshot


def _admit(
    registry: Snapshot,
    *matched: str,
    engaged: tuple[str, ...] = (),
    max_skills: int = 3,
    granted: frozenset[str] | None = None,
) -> Admission:
    return admit(chosen(*matched), registry, engaged=engaged, max_skills=max_skills, granted=granted)


def _members(admission: Admission) -> list[tuple[str, ...]]:
    return [group.members for group in admission.groups]


def _outcomes(admission: Admission) -> dict[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in admission.decisions}


def _only_decision(admission: Admission) -> Decision:
    (decision,) = admission.decisions
    return decision


PLAIN = snapshot(*(skill(skill_id) for skill_id in "abcdef"))


def test_nothing_matched_and_nothing_engaged_admits_nothing() -> None:
    assert _admit(PLAIN) == Admission()


def test_matches_enter_in_rank_each_with_its_candidate() -> None:
    admission = _admit(PLAIN, "b", "a")
    assert [(group.head, group.candidate) for group in admission.groups] == [
        ("b", Candidate("b", 0.8, "triggers")),
        ("a", Candidate("a", 0.8, "triggers")),
    ]


def test_what_selection_rejected_gets_no_second_decision() -> None:
    rejected = Rejected(Candidate("b", 0.1, "lexical"), Outcome.BELOW_THRESHOLD, "too weak")
    assert admit(Selection((), (rejected,)), PLAIN, engaged=(), max_skills=3) == Admission()


def test_a_match_brings_its_companions_as_one_group() -> None:
    assert _members(_admit(CODING, "opencode-implementer")) == [("opencode-implementer", "specification-engine")]


def test_a_group_counts_once_against_the_limit() -> None:
    registry = snapshot(skill("a", requires("x"), requires("y")), skill("x"), skill("y"), skill("b"))
    assert _members(_admit(registry, "a", "b", max_skills=2)) == [("a", "x", "y"), ("b",)]


def test_a_matched_companion_of_a_better_match_counts_no_further() -> None:
    registry = snapshot(skill("a", requires("x")), skill("x"), skill("b"))
    assert _members(_admit(registry, "a", "x", "b", max_skills=2)) == [("a", "x"), ("b",)]


def test_the_rest_over_the_limit_is_decided_with_score_and_evidence() -> None:
    evidence = (Evidence("keyword", "paint"),)
    selection = Selection((Candidate("a", 1.0, "explicit"), Candidate("b", 0.8, "triggers", evidence)))
    decision = _only_decision(admit(selection, PLAIN, engaged=(), max_skills=1))
    assert (decision.skill_id, decision.outcome, decision.stage) == ("b", Outcome.OVER_LIMIT, "admit")
    assert (decision.score, decision.matcher, decision.evidence) == (0.8, "triggers", evidence)
    assert decision.reason == "max_skills is 1, and no place is left"


def test_a_companion_shared_by_many_does_not_lift_the_limit() -> None:
    registry = snapshot(skill("base"), *(skill(skill_id, requires("base")) for skill_id in "abcd"))
    admission = _admit(registry, "a", "b", "c", "d", max_skills=2)
    assert _members(admission) == [("a", "base", "b")]
    assert _outcomes(admission) == {"c": Outcome.OVER_LIMIT, "d": Outcome.OVER_LIMIT}


def test_an_engaged_companion_does_not_lift_the_limit_either() -> None:
    registry = snapshot(skill("base"), *(skill(skill_id, requires("base")) for skill_id in "abc"))
    admission = _admit(registry, "a", "b", "c", engaged=("base",), max_skills=1)
    assert set(_outcomes(admission)) == {"b", "c"}


def test_engaged_skills_dont_count_against_the_limit() -> None:
    admission = _admit(PLAIN, "a", "b", engaged=("c", "d", "b"), max_skills=1)
    assert _members(admission) == [("a",), ("b",), ("c",), ("d",)]


def test_engaged_skills_without_a_match_follow_in_the_order_given() -> None:
    admission = _admit(PLAIN, "a", engaged=("f", "c"))
    assert [(group.head, group.candidate is None) for group in admission.groups] == [
        ("a", False),
        ("f", True),
        ("c", True),
    ]


def test_an_engaged_companion_stays_the_companion_of_its_engaged_head() -> None:
    registry = snapshot(skill("task", requires("tool")), skill("tool"))
    assert _members(_admit(registry, engaged=("tool", "task"))) == [("task", "tool")]


def test_a_matched_companion_lifts_the_rank_of_its_engaged_group() -> None:
    registry = snapshot(skill("task", requires("tool")), skill("tool"), skill("b"))
    groups = _admit(registry, "tool", "b", engaged=("task", "tool")).groups
    assert groups[0] == Group("task", ("task", "tool"), Candidate("tool", 0.8, "triggers"))


def test_of_two_conflicting_matches_the_lower_ranked_loses() -> None:
    registry = snapshot(skill("a", forbids("b", "they clash")), skill("b"))
    admission = _admit(registry, "b", "a")
    assert _members(admission) == [("b",)]
    assert _only_decision(admission).outcome is Outcome.CONFLICT
    assert _only_decision(admission).reason == "`a` forbids `b`: they clash; `b` comes first"


def test_a_conflict_declared_by_the_winner_counts_as_well() -> None:
    registry = snapshot(skill("a", incompatible("b")), skill("b"))
    decision = _only_decision(_admit(registry, "a", "b"))
    assert (decision.skill_id, decision.reason) == ("b", "`a` is incompatible with `b`; `a` comes first")


def test_an_engaged_skill_beats_a_new_one_of_any_rank() -> None:
    registry = snapshot(skill("new", forbids("old")), skill("old"))
    admission = _admit(registry, "new", engaged=("old",))
    assert _members(admission) == [("old",)]
    assert _only_decision(admission).reason == "`new` forbids `old`; `old` is engaged already"


def test_a_conflict_of_a_companion_keeps_the_whole_group_out_and_names_both() -> None:
    registry = snapshot(skill("a", requires("x")), skill("x", forbids("b")), skill("b"))
    admission = _admit(registry, "b", "a")
    assert _members(admission) == [("b",)]
    assert _only_decision(admission).reason == "`a` brings `x`, and `x` forbids `b`; `b` comes first"


def test_a_companion_wanted_by_the_loser_stays_when_it_was_matched_itself() -> None:
    registry = snapshot(skill("a", requires("x"), forbids("b")), skill("x"), skill("b"))
    assert _members(_admit(registry, "b", "x", "a")) == [("b",), ("x",)]


def test_two_engaged_skills_that_came_to_conflict_are_settled_by_this_turns_match() -> None:
    registry = snapshot(skill("a", forbids("b")), skill("b"))
    admission = _admit(registry, "b", engaged=("a", "b"))
    assert (_members(admission), _outcomes(admission)) == ([("b",)], {"a": Outcome.CONFLICT})


def test_a_loser_leaves_its_place_under_the_limit_to_the_next() -> None:
    registry = snapshot(skill("a"), skill("b", forbids("a")), skill("c"))
    assert _members(_admit(registry, "a", "b", "c", max_skills=2)) == [("a",), ("c",)]


def test_what_was_over_the_limit_excludes_nobody() -> None:
    registry = snapshot(skill("a"), skill("b", forbids("c")), skill("c"))
    assert _members(_admit(registry, "a", "b", "c", engaged=("c",), max_skills=1)) == [("a",), ("c",)]


def test_a_skill_whose_companions_exclude_each_other_stays_out() -> None:
    registry = snapshot(skill("a", requires("x"), requires("y")), skill("x", forbids("y")), skill("y"))
    decision = _only_decision(_admit(registry, "a"))
    assert decision.outcome is Outcome.CONFLICT
    assert decision.reason == "what goes with it cannot go together: `x` forbids `y`"


def test_a_skill_excluded_by_what_it_requires_stays_out() -> None:
    registry = snapshot(skill("a", requires("x")), skill("x", forbids("a")))
    assert _outcomes(_admit(registry, "a")) == {"a": Outcome.CONFLICT}


def test_a_group_stays_out_when_the_registry_lacks_a_member() -> None:
    registry = snapshot(skill("a", requires("b")), skill("b", requires("lost", "it knows")))
    decision = _only_decision(_admit(registry, "a"))
    assert decision.outcome is Outcome.UNMET
    assert decision.reason == "`b` requires `lost`: it knows; `lost` is not in the registry"


def test_a_group_stays_out_when_a_member_is_inactive() -> None:
    registry = snapshot(skill("a", requires("b")), skill("b", status=Status.DRAFT))
    decision = _only_decision(_admit(registry, "a"))
    assert (decision.outcome, decision.reason) == (Outcome.UNMET, "`a` requires `b`; `b` is a draft")


def test_a_group_stays_out_when_a_member_is_not_granted() -> None:
    decision = _only_decision(_admit(CODING, "specification-engine", granted=frozenset({"specification-engine"})))
    assert decision.outcome is Outcome.UNMET
    assert decision.reason.endswith("`opencode-implementer` is not granted to this agent")


def test_a_deprecated_companion_still_serves() -> None:
    registry = snapshot(skill("a", requires("b")), skill("b", status=Status.DEPRECATED))
    assert _members(_admit(registry, "a")) == [("a", "b")]


def test_a_match_that_is_not_granted_is_forbidden() -> None:
    assert _outcomes(_admit(PLAIN, "a", granted=frozenset())) == {"a": Outcome.FORBIDDEN}


def test_engaged_skills_that_vanished_or_were_switched_off_leave_with_a_decision() -> None:
    registry = snapshot(skill("off", status=Status.DISABLED), skill("here"))
    admission = _admit(registry, engaged=("gone", "off", "here"))
    assert _members(admission) == [("here",)]
    assert [(decision.skill_id, decision.outcome, decision.reason) for decision in admission.decisions] == [
        ("gone", Outcome.UNKNOWN, "`gone` is not in the registry"),
        ("off", Outcome.INACTIVE, "`off` is disabled"),
    ]


def test_a_limit_of_nothing_leaves_what_is_engaged() -> None:
    admission = _admit(PLAIN, "a", engaged=("b",), max_skills=0)
    assert (_members(admission), _outcomes(admission)) == ([("b",)], {"a": Outcome.OVER_LIMIT})


def given_together(*ids: str) -> Selection:
    return Selection(tuple(Candidate(skill_id, 1.0, "task", together=ids) for skill_id in ids))


def test_what_a_task_rule_gives_together_is_one_group_and_takes_one_place() -> None:
    registry = snapshot(*(skill(name) for name in "abcd"))
    admission = admit(given_together("a", "b", "c", "d"), registry, engaged=[], max_skills=1)
    assert [group.members for group in admission.groups] == [("a", "b", "c", "d")]
    assert admission.decisions == ()


def test_what_a_task_rule_gives_together_stays_out_together() -> None:
    registry = snapshot(skill("x"), skill("a"), skill("b", forbids("x")))
    admission = admit(given_together("a", "b"), registry, engaged=["x"], max_skills=3)
    assert [group.members for group in admission.groups] == [("x",)]
    assert {decision.skill_id: decision.outcome for decision in admission.decisions} == {
        "a": Outcome.CONFLICT,
        "b": Outcome.CONFLICT,
    }


def test_a_set_of_a_task_rule_of_which_one_is_not_granted_is_unmet() -> None:
    registry = snapshot(skill("a"), skill("b"))
    admission = admit(given_together("a", "b"), registry, engaged=[], max_skills=3, granted=frozenset({"a"}))
    assert admission.groups == ()
    reasons = {decision.skill_id: decision.reason for decision in admission.decisions}
    assert reasons["a"] == "a task rule gives it with `b` or not at all; `b` is not granted to this agent"


def test_a_skill_in_force_does_not_leave_because_a_task_rule_cannot_give_the_others() -> None:
    registry = snapshot(skill("a"), skill("b"))
    admission = admit(given_together("a", "b"), registry, engaged=["a"], max_skills=3, granted=frozenset({"a"}))
    assert [group.members for group in admission.groups] == [("a",)]
    assert [decision.skill_id for decision in admission.decisions] == ["b"]


def _with_companions(number: int) -> Snapshot:
    names = [f"c{place}" for place in range(number)]
    return snapshot(skill("head", *map(requires, names)), *map(skill, names))


def test_a_skill_goes_with_as_many_others_as_go_together() -> None:
    admission = _admit(_with_companions(MOST_COMPANIONS), "head")
    assert len(admission.groups[0].members) == MOST_COMPANIONS + 1
    assert check_companions(_with_companions(MOST_COMPANIONS)) == ()


def test_a_skill_that_needs_more_others_than_go_together_does_not_enter() -> None:
    decision = _only_decision(_admit(_with_companions(MOST_COMPANIONS + 1), "head"))
    assert (decision.outcome, decision.reason) == (
        Outcome.OVER_LIMIT,
        "it needs more than 100 other skills, and no more go together",
    )


def test_a_chain_counts_as_all_that_stands_in_it() -> None:
    names = [f"s{place}" for place in range(MOST_COMPANIONS + 2)]
    chain = snapshot(*(skill(one, requires(other)) for one, other in pairwise(names)), skill(names[-1]))
    assert _outcomes(_admit(chain, "s0")) == {"s0": Outcome.OVER_LIMIT}
    assert len(_admit(chain, "s1").groups[0].members) == MOST_COMPANIONS + 1


def test_a_skill_that_needs_too_many_others_is_said_when_it_is_read() -> None:
    (finding,) = check_companions(_with_companions(MOST_COMPANIONS + 1))
    assert (finding.code, finding.skill, finding.severity) == ("too-many-companions", "head", Severity.ERROR)
