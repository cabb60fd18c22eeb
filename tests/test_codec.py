"""Values travel: by pickle, by copy, and as JSON data (one law for every public value)."""

import copy
import json
import pickle
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator

from skillweave import Event
from skillweave.codec import Portable
from skillweave.schemas import schema_of
from tests.depth import examples
from tests.values import events, portable_classes, values_of

CLASSES = [cls for cls in portable_classes() if cls is not Event]


def named(cls: type[Portable]) -> str:
    return cls.__name__


@cache
def judge_of(cls: type[Portable]) -> Draft202012Validator:
    return Draft202012Validator(schema_of(cls))


def travelled(value: Any) -> None:
    cls = type(value)
    data = value.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert list(judge_of(cls).iter_errors(data)) == []
    back = cls.from_dict(json.loads(json.dumps(data)))
    assert back == value
    assert back.to_dict() == data
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


@pytest.mark.parametrize("cls", CLASSES, ids=named)
def test_every_public_value_fits_its_schema_and_comes_back_from_json_pickle_and_a_copy(cls: type[Portable]) -> None:
    @given(value=values_of(cls))
    @settings(max_examples=examples(8), phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    def law(value: Portable) -> None:
        travelled(value)

    law()


@given(event=events())
def test_every_event_comes_back_with_a_payload_of_its_own_class(event: Event) -> None:
    travelled(event)
    assert type(Event.from_dict(event.to_dict()).payload) is type(event.payload)
