from skillweave import Outcome, Status
from skillweave.relations.task import explain_task, select_skills
from skillweave.skills import Task, TaskRule, When
from tests.related import CODING as PAIR
from tests.related import forbids, requires, skill, snapshot

CODING = Task(coding=True)


def rules(*sets: tuple[str, ...]) -> list[TaskRule]:
    return [TaskRule(When(coding=True), skills) for skills in sets]


def test_the_skills_of_a_task_are_a_list_of_ids() -> None:
    assert select_skills(CODING, rules(("opencode-implementer", "specification-engine")), PAIR) == [
        "opencode-implementer",
        "specification-engine",
    ]
    assert select_skills(Task(), rules(("opencode-implementer",)), PAIR) == []


def test_companions_are_completed_and_each_has_its_reason() -> None:
    selection = explain_task(CODING, rules(("specification-engine",)), PAIR)
    assert selection.skills == ("specification-engine", "opencode-implementer")
    assert selection.reasons == (
        ("specification-engine", "task rule coding: true (the host)"),
        (
            "opencode-implementer",
            "`specification-engine` requires `opencode-implementer`: Spec must be followed by implementation",
        ),
    )
    assert selection.left_out == ()


def test_a_set_whose_companion_is_missing_is_left_out_as_a_whole_with_reasons() -> None:
    known = snapshot(skill("a", requires("lost")), skill("b"), skill("c"))
    selection = explain_task(CODING, rules(("a", "b"), ("c",)), known)
    assert selection.skills == ("c",)
    assert {decision.skill_id: decision.outcome for decision in selection.left_out} == {
        "a": Outcome.UNMET,
        "b": Outcome.UNMET,
    }


def test_a_set_with_an_inactive_skill_is_left_out_as_a_whole() -> None:
    known = snapshot(skill("a"), skill("b", status=Status.DRAFT))
    selection = explain_task(CODING, rules(("a", "b")), known)
    assert selection.skills == ()
    assert [(decision.skill_id, decision.outcome) for decision in selection.left_out] == [
        ("a", Outcome.UNMET),
        ("b", Outcome.INACTIVE),
    ]


def test_a_set_that_excludes_itself_is_left_out_as_a_whole() -> None:
    known = snapshot(skill("a"), skill("b", requires("c")), skill("c", forbids("a")))
    selection = explain_task(CODING, rules(("a", "b")), known)
    assert selection.skills == ()
    assert {decision.outcome for decision in selection.left_out} == {Outcome.CONFLICT}


def test_of_two_sets_in_conflict_the_earlier_rules_stays_whole() -> None:
    known = snapshot(skill("a"), skill("b"), skill("c", forbids("b")), skill("d"))
    selection = explain_task(CODING, rules(("a", "b"), ("c", "d")), known)
    assert selection.skills == ("a", "b")
    assert [decision.skill_id for decision in selection.left_out] == ["c", "d"]


def test_a_skill_that_another_rule_gives_alone_does_not_fall_with_a_set() -> None:
    known = snapshot(skill("a"), skill("b", forbids("c")), skill("c"))
    assert select_skills(CODING, rules(("c",), ("a", "b"), ("a",)), known) == ["c", "a"]


def test_a_skill_refused_in_one_set_and_given_in_another_is_given() -> None:
    known = snapshot(skill("x"), skill("a"), skill("c", forbids("x")), skill("d"))
    selection = explain_task(CODING, rules(("x",), ("a", "c"), ("a", "d")), known)
    assert set(selection.skills) == {"x", "a", "d"}
    assert [decision.skill_id for decision in selection.left_out] == ["c"]


def test_skills_that_are_not_granted_take_their_set_with_them() -> None:
    known = snapshot(skill("a"), skill("b"))
    selection = explain_task(CODING, rules(("a", "b")), known, granted=frozenset({"a"}))
    assert selection.skills == ()
    assert {d.skill_id: d.outcome for d in selection.left_out} == {"a": Outcome.UNMET, "b": Outcome.FORBIDDEN}


def test_more_skills_than_a_turn_admits_are_all_in_the_list() -> None:
    names = tuple(f"s{n}" for n in range(50))
    known = snapshot(*map(skill, names))
    assert select_skills(CODING, rules(*((name,) for name in names)), known) == list(names)


def test_the_json_form_has_reasons_and_what_was_left_out() -> None:
    data = explain_task(CODING, rules(("a",), ("lost",)), snapshot(skill("a"))).to_dict()
    assert data["skills"] == ["a"]
    assert data["reasons"] == [{"skill": "a", "because": "task rule coding: true (the host)"}]
    assert [decision["skill_id"] for decision in data["left_out"]] == ["lost"]  # type: ignore[attr-defined]
