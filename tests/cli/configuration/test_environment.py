from skillweave.cli.configuration import strange_variables


def strange(**environment: str) -> list[str]:
    return list(strange_variables(environment))


def test_what_configures_is_not_strange() -> None:
    assert strange(SKILLWEAVE_BUDGET="1", SKILLWEAVE_CONFIG="x", PATH="/bin", HOME="/") == []


def test_the_variables_of_the_projects_own_tests_are_not_strange() -> None:
    assert strange(SKILLWEAVE_SKILLS_SAMPLE="x", SKILLWEAVE_SELECTION="y") == []


def test_a_misspelt_variable_is_named_with_the_nearest() -> None:
    assert strange(SKILLWEAVE_BUDJET="1") == [
        "SKILLWEAVE_BUDJET is ignored: it configures nothing; did you mean SKILLWEAVE_BUDGET?"
    ]


def test_one_that_is_like_none_is_named_with_all() -> None:
    (line,) = strange(SKILLWEAVE_QQQQQQQQQQ="1")
    assert "those that do are SKILLWEAVE_AG" in line
    assert ", SKILLWEAVE_BUDGET, " in line


def test_what_belongs_to_a_turn_is_said_to_be_given_with_the_command() -> None:
    assert strange(SKILLWEAVE_CONVERSATION="c1") == [
        "SKILLWEAVE_CONVERSATION is ignored: it configures nothing; give --conversation with the command"
    ]


def test_an_empty_variable_is_not_set() -> None:
    assert strange(SKILLWEAVE_BUDJET="") == []
