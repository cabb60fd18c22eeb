import pytest

from skillweave.errors import InvalidSkill
from skillweave.skills import complete_skills
from tests.related import CODING, requires, skill, snapshot


def test_the_pair_of_seed_002_is_completed_with_the_rule_that_asks_for_it() -> None:
    completion = complete_skills(["specification-engine"], CODING)
    assert completion.skills == ("specification-engine", "opencode-implementer")
    assert completion.added == (
        (
            "opencode-implementer",
            "`specification-engine` requires `opencode-implementer`: Spec must be followed by implementation",
        ),
    )


def test_companions_of_companions_are_added_with_their_own_reason() -> None:
    registry = snapshot(skill("a", requires("b")), skill("b", requires("c")), skill("c"))
    assert complete_skills(["a"], registry).added == (("b", "`a` requires `b`"), ("c", "`b` requires `c`"))


def test_a_complete_list_stays_as_it_is() -> None:
    completion = complete_skills(["opencode-implementer", "specification-engine"], CODING)
    assert (completion.skills, completion.added) == (("opencode-implementer", "specification-engine"), ())


def test_a_companion_that_the_registry_lacks_is_not_added_but_named() -> None:
    completion = complete_skills(["a"], snapshot(skill("a", requires("lost"))))
    assert (completion.skills, completion.missing) == (("a",), (("lost", "`a` requires `lost`"),))


def test_an_unknown_name_stays_for_validation_to_report() -> None:
    assert complete_skills(["nobody"], CODING).skills == ("nobody",)


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidSkill):
        complete_skills([None], CODING)  # type: ignore[list-item]


def test_the_json_form_has_a_reason_beside_each_skill() -> None:
    data = complete_skills(["a"], snapshot(skill("a", requires("b"), requires("lost")), skill("b"))).to_dict()
    assert data == {
        "skills": ["a", "b"],
        "added": [{"skill": "b", "because": "`a` requires `b`"}],
        "missing": [{"skill": "lost", "because": "`a` requires `lost`"}],
    }
