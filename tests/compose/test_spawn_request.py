from typing import Any

import pytest

from skillweave import SpawnRequest
from skillweave.errors import InvalidSpawn


def test_unknown_parameters_are_kept_in_extra_and_come_back() -> None:
    data = {"task": "Do it", "skills": ["a", "b"], "label": "doer", "runTimeoutSeconds": 60, "tags": ["x", {}]}
    request = SpawnRequest.from_dict(data)
    assert (request.skills, request.label, request.model) == (("a", "b"), "doer", None)
    assert request.extra["runTimeoutSeconds"] == 60
    assert request.to_dict() == data
    assert SpawnRequest.from_dict(request.to_dict()) == request


def test_what_is_kept_cannot_be_changed() -> None:
    tags: list[object] = ["x"]
    request = SpawnRequest.from_dict({"task": "Do it", "tags": tags})
    tags.append("y")
    assert request.extra["tags"] == ("x",)


def test_no_skills_named_and_an_empty_list_are_two_things() -> None:
    assert SpawnRequest.from_dict({"task": "Do it"}).skills is None
    assert SpawnRequest.from_dict({"task": "Do it", "skills": None}).skills is None
    assert SpawnRequest.from_dict({"task": "Do it", "skills": []}).skills == ()
    assert SpawnRequest("Do it", ()).to_dict() == {"task": "Do it", "skills": []}


def test_repeated_skills_are_dropped_silently() -> None:
    assert SpawnRequest("Do it", ("a", "b", "a")).skills == ("a", "b")


@pytest.mark.parametrize(
    ("skills", "words"),
    [
        ([1], "skill name 1 of 1 is 1, of type int"),
        (["a", None], "skill name 2 of 2 is None"),
        ([["a"]], "of type list"),
        ("a", "not the one text 'a'; write ['a']"),
        ({"a": 1}, "is dict; give a list of skill ids"),
        (7, "is int"),
        (True, "is bool"),
    ],
)
def test_skills_that_are_no_list_of_texts_are_refused(skills: Any, words: str) -> None:
    with pytest.raises(InvalidSpawn) as refusal:
        SpawnRequest.from_dict({"task": "Do it", "skills": skills})
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"task": None},
        {"task": 1},
        {"task": " \n"},
        {"task": "x", "label": 1},
        {"task": "x", "model": ["m"]},
        [],
        "x",
    ],
)
def test_a_request_that_cannot_be_read_is_refused(data: Any) -> None:
    with pytest.raises(InvalidSpawn):
        SpawnRequest.from_dict(data)


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}])
def test_a_parameter_that_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidSpawn, match="give JSON data"):
        SpawnRequest.from_dict({"task": "x", "more": value})
