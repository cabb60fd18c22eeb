from pathlib import Path
from typing import Any


def test_the_json_is_the_composition(cli: Any, examples: Path) -> None:
    answer = cli("compose", "feature-spec", "feature-build", "--skills", examples, "--json").data
    assert answer.keys() == {"skills", "allowed_tools", "forbidden_tools", "execution_protocol"}
    assert answer["allowed_tools"] == ["read_file", "search_code", "save_spec", "run_tests", "apply_change"]
    assert answer["forbidden_tools"] == ["write", "edit"]


def test_the_intersection_leaves_what_all_allow(cli: Any, examples: Path) -> None:
    words = ("compose", "feature-spec", "feature-build", "--mode", "intersection", "--skills", examples)
    assert cli(*words, "--json").data["allowed_tools"] == []
    assert "allowed          no tool" in cli(*words).out


def test_a_skill_without_rules_allows_any_tool(cli: Any, small: Path) -> None:
    assert cli("compose", "tea", "--skills", small, "--json").data["allowed_tools"] is None
    assert "allowed          any tool: none of them has rules" in cli("compose", "tea", "--skills", small).out


def test_an_unknown_skill_is_named_with_the_nearest(cli: Any, small: Path) -> None:
    done = cli("compose", "cofee", "--skills", small)
    assert done.code == 1
    assert done.err == "skillweave: skill 'cofee' is not in the registry; did you mean 'coffee'?\n"
