"""The client is checked against the OpenAPI document of the service: both say the same, whatever either changes."""

from collections.abc import Mapping
from functools import cache
from typing import Any, get_origin

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skillweave.client import Client, SyncClient
from skillweave.compose.spawn import SpawnPlan, SpawnRejected
from skillweave.schemas import Definitions
from skillweave_server.app import describe
from tests.client.operations import PREFIX, Verb, operation_of, verbs

OTHER_NAMES = {"show_conversation": "state", "spawn": "prepare_spawn", "note_spawn_started": "spawned"}
"""Operations for which the client has the word of the Weaver."""
BESIDE = {"delivery": "weave", "claim": "weave"}
"""Verbs that are another way to do an operation that has one of its own."""
BY_PAGES = {"after", "limit"}
"""Parameters that a list gives by itself."""

few = settings(
    max_examples=3,
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@cache
def document() -> Mapping[str, Any]:
    """The document of the whole service."""
    return describe()


def operations() -> dict[str, tuple[str, str, Mapping[str, Any]]]:
    """Method, path and description of each operation by its id."""
    return {
        told["operationId"]: (method.upper(), path, told)
        for path, methods in document()["paths"].items()
        for method, told in methods.items()
    }


@cache
def sent_by(verb: Verb) -> list[httpx.Request]:
    """Requests of the verb, with few and with all arguments."""
    found: list[httpx.Request] = []

    @few
    @given(st.data())
    def call(data: st.DataObject) -> None:
        found.extend(verb.request(data.draw(verb.arguments(full=full))) for full in (False, True))

    call()
    return found


def operation_id(verb: Verb) -> str:
    """The operation that all requests of the verb are for."""
    (one,) = {
        document()["paths"][operation_of(request, document())[0]][request.method.lower()]["operationId"]
        for request in sent_by(verb)
    }
    return str(one)


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/components/schemas/")
    return document()["components"]["schemas"][name] if name else schema


named = pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)


def test_every_operation_has_a_verb_of_its_name() -> None:
    expected = {BESIDE.get(verb.name, verb.name) for verb in verbs()}
    assert {OTHER_NAMES.get(one, one) for one in operations()} == expected


@named
def test_a_verb_asks_for_the_operation_of_its_name(verb: Verb) -> None:
    asked = operation_id(verb)
    assert BESIDE.get(verb.name, verb.name) == OTHER_NAMES.get(asked, asked)


@named
def test_what_stands_in_the_path_are_arguments_of_the_verb(verb: Verb) -> None:
    """Checked by what is sent: another order, or another name, would put another text into the place."""

    @few
    @given(st.data())
    def check(data: st.DataObject) -> None:
        arguments = data.draw(verb.arguments(full=True))
        _, places = operation_of(verb.request(arguments), document())
        for name, text in places.items():
            assert text == arguments[verb_name_of(name, arguments)]

    check()


def verb_name_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The argument for a place in a path: it has its name, or `_id` behind it, as it has in the Weaver."""
    return name if name in arguments else f"{name}_id"


@named
def test_the_parameters_that_are_sent_are_those_of_the_document(verb: Verb) -> None:
    *_, told = operations()[operation_id(verb)]
    places = {"query": set[str](), "header": set[str]()}
    for one in told.get("parameters", []):
        if one["in"] in places:
            places[one["in"]].add(one["name"].lower())
    sent = {name.lower() for request in sent_by(verb) for name in request.url.params}
    headers = {name for request in sent_by(verb) for name in request.headers} & all_headers()
    unsent = (places["query"] | places["header"]) - sent - headers
    assert sent <= places["query"]
    assert headers <= places["header"]
    assert unsent <= (BY_PAGES if verb.is_list else set()) | UNSENT.get(operation_id(verb), set())


@cache
def all_headers() -> set[str]:
    """The names of all headers that any operation has."""
    return {
        one["name"].lower()
        for _, _, told in operations().values()
        for one in told.get("parameters", [])
        if one["in"] == "header"
    }


UNSENT: Mapping[str, set[str]] = {
    "weave": {"idempotency-key"},  # the id of the turn says it
    "emit": {"idempotency-key"},  # the key of the event says it
    "spawn": {"idempotency-key"},  # the id of the spawn says it
    "stream": {"last-event-id"},  # only when it comes again
}
UNSENT_KEYS: Mapping[str, set[str]] = {
    "prepare_spawn": {"plan"},  # `parent` is an id or a plan
    "weave": {"reads", "delivery"},  # reads stand in a Turn only; the delivery is the default
    "claim": {"reads"},
    "delivery": {"reads"},
}


@named
def test_a_body_is_as_the_document_says_and_has_all_keys_that_it_may_have(verb: Verb) -> None:
    *_, told = operations()[operation_id(verb)]
    requests = sent_by(verb)
    if "requestBody" not in told:
        assert {request.content for request in requests} == {b""}
        return
    schema = told["requestBody"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**schema, "components": document()["components"]})
    sent: set[str] = set()
    for request in requests:
        body = httpx.Response(200, content=request.content).json()
        validator.validate(body)
        sent |= body.keys() if isinstance(body, dict) else set()
    keys = resolved(schema).get("properties", {}).keys()
    assert keys - sent == UNSENT_KEYS.get(verb.name, set()), (
        f"Client.{verb.name} has no argument for {sorted(keys - sent)}"
    )


@named
def test_an_answer_has_the_type_that_the_document_says(verb: Verb) -> None:
    *_, told = operations()[operation_id(verb)]
    content, *others = (said.get("content", {}) for status, said in told["responses"].items() if status.startswith("2"))
    assert all(other == content for other in others)
    if verb.answers is type(None):
        assert content == {}
        return
    if "text/event-stream" in content:
        return  # what stands in the events is read by the tests of the stream
    ((kind, one),) = content.items()
    schema = one["schema"]
    if kind != "application/json":
        assert schema == {"type": "string"}
        assert verb.answers in (str, bytes)
        return
    if verb.is_list:
        schema = resolved(schema)["properties"]["items"]["items"]
    if get_origin(verb.answers) is tuple and "next" in resolved(schema).get("properties", {}):
        schema = resolved(schema)["properties"]["items"]
    # A refusal is an answer to the Weaver, and a problem over HTTP.
    wanted = SpawnPlan if verb.answers == SpawnPlan | SpawnRejected else verb.answers
    assert schema == Definitions(place="#/components/schemas/").add(wanted)


def test_the_blocking_client_has_the_same_verbs() -> None:
    assert {name for name in dir(SyncClient) if not name.startswith("_")} - {"run", "url", "close"} == {
        verb.name for verb in verbs()
    }
    for verb in verbs():
        assert getattr(SyncClient, verb.name).__doc__ == getattr(Client, verb.name).__doc__


def test_all_paths_are_below_the_prefix_that_the_client_has() -> None:
    assert {path for path in document()["paths"] if not path.startswith(f"{PREFIX}/")} == set()
