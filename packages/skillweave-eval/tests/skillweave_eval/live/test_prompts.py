"""Evaluation prompts in the shapes that authors of public skills write."""

import json
from pathlib import Path
from typing import Any

import pytest

from skillweave.errors import InvalidData
from skillweave_eval.live.prompts import Assertion, Check, Prompt, read_prompts


def written(folder: Path, data: Any, name: str = "skills/tea/evals/evals.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def prompts(tmp_path: Path, *rows: Any) -> tuple[Prompt, ...]:
    return read_prompts(written(tmp_path, {"skill_name": "tea", "evals": list(rows)}), "tea")


def test_assertions_are_texts_that_a_model_judges(tmp_path: Path) -> None:
    row = {"id": 1, "prompt": "Tea?", "expected_output": "Hot.", "assertions": ["Says hot", "Says leaves"], "files": []}
    (prompt,) = prompts(tmp_path, row)
    assert (prompt.id, prompt.text, prompt.expected) == ("1", "Tea?", "Hot.")
    assert prompt.assertions == (Assertion("Says hot"), Assertion("Says leaves"))


def test_without_assertions_the_expected_output_is_judged(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, {"id": 1, "prompt": "Tea?", "expected_output": "Hot."})
    assert prompt.assertions == (Assertion("Hot."),)


def test_a_prompt_of_which_nothing_is_expected_is_left_out(tmp_path: Path) -> None:
    assert prompts(tmp_path, {"id": 1, "prompt": "Tea?"}) == ()


@pytest.mark.parametrize(
    ("entry", "assertion"),
    [
        ({"type": "contains", "value": "hot"}, Assertion("contains hot", Check.CONTAINS, ("hot",))),
        ({"name": "no_cold", "type": "not_contains", "value": "cold"},
         Assertion("no_cold", Check.CONTAINS, ("cold",), negated=True)),
        ({"type": "not-contains", "value": "cold"},
         Assertion("not_contains cold", Check.CONTAINS, ("cold",), negated=True)),
        ({"type": "regex", "name": "pours", "pattern": "pour(s|ed)"}, Assertion("pours", Check.REGEX, ("pour(s|ed)",))),
        ({"type": "contains-any", "value": ["a", "b"]}, Assertion("contains_any a, b", Check.CONTAINS_ANY, ("a", "b"))),
        ({"type": "llm_judge", "name": "kind", "criterion": "Is it kind?"}, Assertion("Is it kind?")),
        ({"type": "llm-rubric", "value": "Is it kind?"}, Assertion("Is it kind?")),
        ({"name": "kind", "check": "It is kind"}, Assertion("It is kind")),
        ({"type": "tool_call", "description": "Calls the kettle"}, Assertion("Calls the kettle")),
        ({"type": "is-json"}, Assertion("is_json", Check.IS_JSON)),
    ],
)  # fmt: skip
def test_an_assertion_as_an_object_says_how_it_is_decided(tmp_path: Path, entry: Any, assertion: Assertion) -> None:
    (prompt,) = prompts(tmp_path, {"id": 1, "prompt": "Tea?", "assertions": [entry]})
    assert prompt.assertions == (assertion,)


def test_expectations_are_assertions_too(tmp_path: Path) -> None:
    row = {"id": 0, "prompt": "Tea?", "assertions": [{"type": "regex", "pattern": "hot"}], "expectations": ["Is short"]}
    (prompt,) = prompts(tmp_path, row)
    assert {one.check for one in prompt.assertions} == {Check.REGEX, Check.JUDGED}


def test_our_own_may_be_yaml(tmp_path: Path) -> None:
    path = written(tmp_path, "evals:\n- {id: a, prompt: Tea?, assertions: [Says hot]}\n", "evals/evals.yaml")
    assert [one.id for one in read_prompts(path, "tea")] == ["a"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("{", "the JSON is not valid"),
        ({"evals": "none"}, "holds no prompts"),
        ({"evals": [{"assertions": ["x"]}]}, "prompt 1 has no text"),
        ({"evals": [{"prompt": "x", "assertions": [3]}]}, "an assertion is"),
        ({"evals": [{"prompt": "x", "assertions": [{"type": "contains"}]}]}, "no `value`"),
    ],
)
def test_a_mistake_names_the_file(tmp_path: Path, data: Any, told: str) -> None:
    with pytest.raises(InvalidData, match=told):
        read_prompts(written(tmp_path, data), "tea")
