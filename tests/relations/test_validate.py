import pytest

from skillweave import Status, ToolRules
from skillweave.errors import InvalidSkill
from skillweave.skills import Relation, SkillText, ValidationError, validate_skills
from tests.related import (
    CODING,
    OPENCODE_IMPLEMENTER,
    SPECIFICATION_ENGINE,
    allowing,
    forbids,
    incompatible,
    requires,
    skill,
    snapshot,
)
from tests.skills import make_skill


def test_the_pair_of_seed_002_is_valid_in_either_order() -> None:
    names = ["specification-engine", "opencode-implementer"]
    assert validate_skills(names, CODING).valid
    assert validate_skills(names[::-1], CODING).valid


def test_v001_a_name_outside_the_registry_is_an_error_with_the_nearest_name() -> None:
    (error,) = validate_skills(["opencode-implementor"], snapshot(OPENCODE_IMPLEMENTER)).errors
    assert (error.code, error.rule, error.skill) == ("UNKNOWN_SKILL", "V001", "opencode-implementor")
    assert "did you mean `opencode-implementer`?" in error.message


def test_v002_a_required_skill_that_is_absent_is_an_error_of_the_skill_that_requires_it() -> None:
    (error,) = validate_skills(["opencode-implementer"], CODING).errors
    assert error == ValidationError(
        "MISSING_REQUIRED",
        "`opencode-implementer` requires `specification-engine`: Implementation requires a spec; "
        "add `specification-engine` or remove `opencode-implementer`",
        "opencode-implementer",
        "V002",
    )


def test_v002_a_required_skill_outside_the_registry_must_be_loaded_first() -> None:
    (error,) = validate_skills(["specification-engine"], snapshot(SPECIFICATION_ENGINE)).errors
    assert error.code == "MISSING_REQUIRED"
    assert "`opencode-implementer` is not in the registry" in error.message


@pytest.mark.parametrize("rule", [incompatible("b", "they clash"), forbids("b", "they clash")])
def test_v003_an_excluded_skill_that_is_present_is_an_error(rule: Relation) -> None:
    (error,) = validate_skills(["a", "b"], snapshot(skill("a", rule), skill("b"))).errors
    assert (error.code, error.rule, error.skill) == ("INCOMPATIBLE_SKILLS", "V003", "a")
    assert error.message.endswith("they clash; remove one of the two")


def test_v003_a_mutual_exclusion_gives_two_errors() -> None:
    registry = snapshot(skill("a", incompatible("b")), skill("b", forbids("a")))
    assert [error.skill for error in validate_skills(["b", "a"], registry).errors] == ["b", "a"]


def test_v003_an_excluded_skill_that_is_absent_is_no_error() -> None:
    assert validate_skills(["a"], snapshot(skill("a", forbids("b")), skill("b"))).valid


def test_v005_a_skill_without_any_tool_is_valid() -> None:
    result = validate_skills(["mute"], snapshot(skill("mute", tools=allowing())), host_tools=[])
    assert (result.valid, result.warnings) == (True, ())


def test_v006_duplicates_are_dropped_silently() -> None:
    result = validate_skills(["a", "nobody", "a", "nobody"], snapshot(skill("a")))
    assert (len(result.errors), result.warnings) == (1, ())


def test_an_empty_list_is_valid() -> None:
    assert validate_skills([], CODING).valid


def test_all_errors_come_in_input_order_then_rule_order() -> None:
    registry = snapshot(
        skill("a", forbids("b"), requires("c"), requires("d")), skill("b"), skill("c", forbids("d")), skill("d")
    )
    result = validate_skills(["nobody", "a", "b"], registry)
    assert [(error.skill, error.rule) for error in result.errors] == [
        ("nobody", "V001"),
        ("a", "V002"),
        ("a", "V002"),
        ("a", "V003"),
    ]


def test_two_rules_of_one_skill_about_one_other_are_one_error() -> None:
    registry = snapshot(skill("a", forbids("b"), incompatible("b")), skill("b"))
    assert len(validate_skills(["a", "b"], registry).errors) == 1


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidSkill, match="names are texts"):
        validate_skills([3], CODING)  # type: ignore[list-item]


def test_nothing_like_the_name_means_a_hint_to_the_catalog() -> None:
    (error,) = validate_skills(["zzz"], CODING).errors
    assert error.message == "`zzz` is not in the registry; list the known ones with `skillweave show`"


def test_every_unknown_name_is_reported_though_only_some_get_suggestions() -> None:
    registry = snapshot(*(skill(f"skill-{number}") for number in range(4000)))
    result = validate_skills([f"skill-{number}x" for number in range(50)], registry)
    suggested = [error for error in result.errors if "did you mean" in error.message]
    assert (len(result.errors), len(suggested)) == (50, 2)


def test_a_request_of_many_unknown_names_is_not_compared_name_by_name_with_a_small_registry() -> None:
    result = validate_skills([f"skill-{number}x" for number in range(50)], snapshot(skill("skill-1")))
    suggested = [error for error in result.errors if "did you mean" in error.message]
    assert (len(result.errors), len(suggested)) == (50, 5)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.DEPRECATED, "`a` is deprecated; look for the skill that replaces it"),
        (Status.DISABLED, "`a` is disabled; set its status to active before relying on it"),
        (Status.DRAFT, "`a` is a draft; set its status to active before relying on it"),
    ],
)
def test_a_member_that_is_not_active_is_a_warning(status: Status, words: str) -> None:
    result = validate_skills(["a"], snapshot(skill("a", status=status)))
    assert (result.valid, result.warnings) == (True, (words,))


def test_a_circle_of_three_requirements_is_a_warning() -> None:
    registry = snapshot(skill("a", requires("b")), skill("b", requires("c")), skill("c", requires("a")))
    (warning,) = validate_skills(["c", "a", "b"], registry).warnings
    assert warning == "`c`, `a`, `b` require each other in a circle; check that all of it is meant"


def test_a_mutual_pair_of_requirements_is_no_warning() -> None:
    assert validate_skills(["specification-engine", "opencode-implementer"], CODING).warnings == ()


def test_a_tool_that_the_host_lacks_is_a_warning() -> None:
    result = validate_skills(
        ["specification-engine", "opencode-implementer"], CODING, host_tools=["opencode-executor", "read"]
    )
    assert result.warnings == ("`specification-engine` uses the tool `specKit`, which the host does not have",)


def test_a_pattern_is_looked_for_by_its_tool() -> None:
    rules = ToolRules(None, preapproved=("Bash(git:*)", "mcp__github__*", "Read"))
    result = validate_skills(["a"], snapshot(skill("a", tools=rules)), host_tools=("Bash", "mcp__github__search"))
    assert result.warnings == ("`a` uses the tool `Read`, which the host does not have",)


@pytest.mark.parametrize("step", ["Call `write` on the file.", "write", "Then run opencode-executor once."])
def test_a_step_that_names_a_tool_which_another_member_forbids_is_a_warning(step: str) -> None:
    owner = make_skill("plan", tools=ToolRules(forbidden=("write", "opencode-executor")))
    (warning,) = validate_skills(
        ["plan", "do"], snapshot(owner, make_skill("do", text=SkillText(steps=(step,))))
    ).warnings
    assert "`do`" in warning and "`plan`" in warning


@pytest.mark.parametrize("step", ["Write the plan, then write the rest.", "Use `read`."])
def test_a_step_that_only_has_the_word_of_a_forbidden_tool_is_none(step: str) -> None:
    owner = make_skill("plan", tools=ToolRules(forbidden=("write",)))
    assert (
        validate_skills(["plan", "do"], snapshot(owner, make_skill("do", text=SkillText(steps=(step,))))).warnings == ()
    )


def test_a_skill_that_excludes_itself_is_a_warning_and_no_error() -> None:
    result = validate_skills(["a"], snapshot(skill("a", forbids("a"))))
    assert (result.valid, result.warnings) == (True, ("`a` excludes itself, which is ignored; remove that rule",))


def test_the_json_form_is_that_of_seed_002_with_the_rule() -> None:
    data = validate_skills(["a"], snapshot(skill("a", requires("b"), status=Status.DRAFT), skill("b"))).to_dict()
    assert data == {
        "valid": False,
        "errors": [
            {
                "code": "MISSING_REQUIRED",
                "message": "`a` requires `b`; add `b` or remove `a`",
                "skill": "a",
                "rule": "V002",
            }
        ],
        "warnings": ["`a` is a draft; set its status to active before relying on it"],
    }
