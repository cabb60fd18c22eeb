"""The published JSON Schemas: what each says, and that values fit theirs (the law is in `test_codec`)."""

import subprocess
import sys
from typing import NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

import skillweave
from skillweave import ToolRules
from skillweave.schemas import SHAPES, Definitions, UnknownSchema, names, schema, schema_of


class Report(TypedDict):
    """What a command tells. It has two keys."""

    rules: tuple[ToolRules, ...]
    note: NotRequired[str]


@pytest.mark.parametrize("name", names())
def test_every_published_schema_is_one_and_says_its_name_and_version(name: str) -> None:
    described = schema(name)
    Draft202012Validator.check_schema(described)
    assert described["$id"] == f"urn:skillweave:schema:{name}:{SHAPES[name][1]}"
    assert described["title"].replace(" ", "") and described["description"].endswith(".")
    assert described["properties"].keys() >= set(described["required"])


def test_an_injection_fits_its_published_schema_and_a_changed_one_does_not() -> None:
    weaver = skillweave.open({"id": "a", "description": "Bakes bread", "triggers": {"keywords": ["bread"]}})
    data = weaver.sync.weave("bread, please", conversation="c").to_dict()
    judge = Draft202012Validator(schema("injection"))
    assert judge.is_valid(data)
    assert [e.json_path for e in judge.iter_errors({**data, "generation": "x"})] == ["$.generation"]
    assert not judge.is_valid({name: data[name] for name in data if name != "waits"})


def test_keys_that_are_derived_or_renamed_or_may_be_left_out_are_described() -> None:
    policy = schema("tool-policy")
    assert policy["required"] == ["allowed_tools", "forbidden_tools", "preapproved_tools"]
    assert policy["additionalProperties"] is False
    assert policy["properties"]["forbidden_tools"]["description"].startswith("The entries that are forbidden")
    assert "from" in schema("move")["properties"]
    assert "skill" in schema("state")["$defs"]["Engaged"]["properties"]


def test_a_ranked_choice_is_described_by_its_words() -> None:
    assert schema("injection")["$defs"]["Rung"]["enum"] == ["catalog", "outline", "instructions", "full"]


def test_a_shape_of_another_room_may_be_a_typed_dict() -> None:
    described = schema_of(Report)
    assert (described["title"], described["description"]) == ("Report", "What a command tells.")
    assert described["required"] == ["rules"]
    assert described["properties"]["rules"] == {"type": "array", "items": {"$ref": "#/$defs/ToolRules"}}


def test_two_classes_of_one_name_are_described_beside_each_other() -> None:
    from skillweave.api import Problem
    from skillweave.graph.checked import Problem as GraphProblem

    defined = Definitions()
    assert defined.add(Problem) == {"$ref": "#/$defs/Problem"}
    assert defined.add(GraphProblem) == {"$ref": "#/$defs/GraphProblem"}
    assert defined.add(Problem) == {"$ref": "#/$defs/Problem"}
    assert "status" in defined.schemas["Problem"]["properties"]
    assert "level" in defined.schemas["GraphProblem"]["properties"]


def test_an_unknown_name_is_answered_with_a_likely_one() -> None:
    with pytest.raises(UnknownSchema, match="there is no schema 'injektion'; did you mean injection"):
        schema("injektion")


def test_asking_for_names_loads_no_value() -> None:
    script = "import sys, skillweave.schemas as s; s.names(); print('skillweave.injection' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
