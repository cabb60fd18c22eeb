from pathlib import Path
from typing import Any


def test_a_valid_set_passes(cli: Any, small: Path) -> None:
    done = cli("compose", "--validate", "tea", "coffee", "--skills", small, "--json")
    assert done.code == 0
    completion = {"skills": ["tea", "coffee"], "added": [], "missing": []}
    result = {"valid": True, "errors": [], "warnings": []}
    assert done.data == {"result": result, "completion": completion}


def test_an_invalid_set_gives_exit_code_1_with_the_json_on_stdout(cli: Any, examples: Path) -> None:
    done = cli("compose", "--validate", "python-release", "--skills", examples, "--json")
    assert (done.code, done.err) == (1, "")
    assert done.data["result"]["valid"] is False
    (error,) = done.data["result"]["errors"]
    assert error.keys() == {"code", "message", "skill", "rule"}
    assert (error["code"], error["rule"]) == ("MISSING_REQUIRED", "V002")


def test_people_are_told_the_complete_set(cli: Any, examples: Path) -> None:
    text = cli("compose", "--validate", "python-release", "--skills", examples).out
    assert text.startswith("invalid ")
    assert "with all companions it is: python-release changelog-writing" in text


def test_each_companion_is_told_with_the_reason(cli: Any, examples: Path) -> None:
    added = cli("compose", "--validate", "python-release", "--skills", examples, "--json").data["completion"]["added"]
    assert [companion["skill"] for companion in added] == ["changelog-writing"]
    text = " ".join(cli("compose", "--validate", "python-release", "--skills", examples).out.split())
    assert f"companion changelog-writing, as {added[0]['because']}" in text


def test_a_set_that_no_companion_mends_is_said_to_be_one(cli: Any, tmp_path: Path, write: Any) -> None:
    rules = "x-skillweave: {relations: [{kind: requires, skill: milk}, {kind: forbids, skill: milk}]}"
    write(tmp_path / "skills", "tea", "Makes tea.", rules)
    write(tmp_path / "skills", "milk", "Warms milk.")
    text = " ".join(cli("compose", "--validate", "tea", "--skills", tmp_path / "skills").out.split())
    assert "not by companions alone: with all of them the set is not valid either" in text


def test_an_unknown_skill_is_an_error_of_the_set(cli: Any, small: Path) -> None:
    done = cli("compose", "--validate", "cofee", "--skills", small, "--json")
    assert done.code == 1
    assert [error["code"] for error in done.data["result"]["errors"]] == ["UNKNOWN_SKILL"]


def test_tools_that_the_host_lacks_are_warned_about(cli: Any, small: Path) -> None:
    answer = cli("compose", "--validate", "coffee", "--skills", small, "--tool", "oven", "--json").data["result"]
    assert answer["warnings"] == ["`coffee` uses the tool `kettle`, which the host does not have"]
    assert (
        cli("compose", "--validate", "coffee", "--skills", small, "--tool", "kettle", "--json").data["result"][
            "warnings"
        ]
        == []
    )
