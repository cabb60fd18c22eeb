from pathlib import Path
from typing import Any


def test_a_valid_set_passes(cli: Any, small: Path) -> None:
    done = cli("validate", "tea", "coffee", "--skills", small, "--json")
    assert done.code == 0
    assert done.data == {"valid": True, "errors": [], "warnings": []}


def test_an_invalid_set_gives_exit_code_1_with_the_json_on_stdout(cli: Any, examples: Path) -> None:
    done = cli("validate", "python-release", "--skills", examples, "--json")
    assert (done.code, done.err) == (1, "")
    assert done.data["valid"] is False
    (error,) = done.data["errors"]
    assert error.keys() == {"code", "message", "skill", "rule"}
    assert (error["code"], error["rule"]) == ("MISSING_REQUIRED", "V002")


def test_people_are_told_the_complete_set(cli: Any, examples: Path) -> None:
    text = cli("validate", "python-release", "--skills", examples).out
    assert text.startswith("invalid ")
    assert "with all companions it is: python-release changelog-writing" in text


def test_an_unknown_skill_is_an_error_of_the_set(cli: Any, small: Path) -> None:
    done = cli("validate", "cofee", "--skills", small, "--json")
    assert done.code == 1
    assert [error["code"] for error in done.data["errors"]] == ["UNKNOWN_SKILL"]


def test_tools_that_the_host_lacks_are_warned_about(cli: Any, small: Path) -> None:
    answer = cli("validate", "coffee", "--skills", small, "--tool", "oven", "--json").data
    assert answer["warnings"] == ["`coffee` uses the tool `kettle`, which the host does not have"]
    assert cli("validate", "coffee", "--skills", small, "--tool", "kettle", "--json").data["warnings"] == []
