import pytest

from skillweave import SkillNotFound, ToolRules
from skillweave.compose.composition import compose_ids, compose_skills
from skillweave.errors import InvalidSkill
from skillweave.tools import Composition, Mode
from tests.related import CODING, OPENCODE_IMPLEMENTER, SPECIFICATION_ENGINE, allowing, skill

EDITOR = skill("editor", tools=allowing("write", "read"))
READER = skill("reader", tools=allowing("read", forbidden=("write",)))
SILENT = skill("silent")


def test_the_worked_example_of_seed_002() -> None:
    assert compose_ids(["specification-engine", "opencode-implementer"], CODING).to_dict() == {
        "skills": ["specification-engine", "opencode-implementer"],
        "allowed_tools": ["specKit", "opencode-executor"],
        "forbidden_tools": ["write", "edit"],
        "execution_protocol": ["analyze-task", "generate-spec", "validate-spec", "read-spec", "implement", "verify"],
    }


def test_the_intersection_of_the_seeds_pair_has_no_tool_left() -> None:
    composition = compose_skills([SPECIFICATION_ENGINE, OPENCODE_IMPLEMENTER], Mode.INTERSECTION)
    assert composition.allowed_tools == ()


def test_an_intersection_is_what_every_member_with_rules_allows() -> None:
    assert compose_skills([EDITOR, SILENT, READER], Mode.INTERSECTION).allowed_tools == ("read",)


def test_the_mode_may_be_spelt_as_text() -> None:
    assert compose_skills([EDITOR, READER], "intersection").allowed_tools == ("read",)  # type: ignore[arg-type]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'both' is not a valid Mode"):
        compose_skills([EDITOR], "both")  # type: ignore[arg-type]


def test_v004_a_tool_forbidden_by_an_earlier_member_is_not_allowed_again_by_a_later_one() -> None:
    assert compose_skills([READER, EDITOR]).allowed_tools == ("read",)


def test_v005_no_tool_at_all_is_not_the_same_as_no_rules() -> None:
    assert compose_skills([skill("mute", tools=allowing())]).allowed_tools == ()
    assert compose_skills([SILENT]).allowed_tools is None


def test_v006_a_skill_that_stands_twice_counts_once_at_its_first_position() -> None:
    assert compose_ids(["opencode-implementer", "specification-engine", "opencode-implementer"], CODING).skills == (
        "opencode-implementer",
        "specification-engine",
    )
    assert compose_skills([EDITOR, READER, EDITOR]).skills == ("editor", "reader")


def test_a_member_without_rules_lifts_no_restriction() -> None:
    assert compose_skills([SILENT, EDITOR]).allowed_tools == ("write", "read")


def test_a_member_that_only_forbids_restricts_nothing_else() -> None:
    careful = skill("careful", tools=ToolRules(None, forbidden=("write",)))
    composition = compose_skills([careful, SILENT])
    assert (composition.allowed_tools, composition.forbidden_tools) == (None, ("write",))


def test_no_skills_compose_to_no_capability() -> None:
    assert compose_skills([]) == Composition((), (), (), (), ())


def test_a_forbidden_name_takes_all_entries_of_that_tool() -> None:
    committer = skill("committer", tools=allowing("Bash(git:*)", "Read"))
    quiet = skill("quiet", tools=allowing("Bash(ls:*)", forbidden=("Bash",)))
    assert compose_skills([committer, quiet]).allowed_tools == ("Read",)


def test_preapproved_tools_stay_within_what_is_allowed_and_not_forbidden() -> None:
    first = skill("first", tools=allowing("Bash", "Read", preapproved=("Bash(git:*)", "Read", "Write")))
    second = skill("second", tools=allowing(forbidden=("Read",), preapproved=("Bash",)))
    assert compose_skills([first, second]).preapproved_tools == ("Bash(git:*)", "Bash")


def test_preapproved_tools_without_any_allowed_list_stay() -> None:
    public = skill("public", tools=ToolRules(None, preapproved=("Bash(git:*)", "Read")))
    composition = compose_skills([public])
    assert (composition.allowed_tools, composition.preapproved_tools) == (None, ("Bash(git:*)", "Read"))


def test_shared_steps_stand_once_where_they_first_occur() -> None:
    composition = compose_skills([skill("a", steps=("read", "write")), skill("b", steps=("check", "read"))])
    assert composition.execution_protocol == ("read", "write", "check")


def test_no_restriction_is_null_in_json() -> None:
    assert compose_skills([SILENT]).to_dict()["allowed_tools"] is None


def test_an_unknown_id_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(SkillNotFound, match="did you mean 'opencode-implementer'"):
        compose_ids(["opencode-implementor"], CODING)


def test_an_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidSkill):
        compose_ids([1], CODING)  # type: ignore[list-item]
