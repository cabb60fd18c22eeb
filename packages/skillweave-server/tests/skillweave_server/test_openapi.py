"""The OpenAPI document is true: whatever is sent, each answer is one that it tells of, and none is a mistake (5xx)."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup
from tests.skillweave_server.guarded import Guarded
from tests.skillweave_server.harbour import harbour_service, write_pack
from tests.skillweave_server.parts import reached_in

from skillweave.api.skills import ArtifactContent, SkillDefinition
from skillweave.approvals.case import ApprovalRequest
from skillweave.client import Client
from skillweave.entities import Edge, Entity, Point
from skillweave.loop_thread import LoopThread
from skillweave_server.app import create_app, describe

EXAMPLES = 60 if os.environ.get("SKILLWEAVE_SOAK") else 3
"""Requests for each operation and each way to make them."""
HOST = "http://127.0.0.1"
SOME_KEY = {"Authorization": "Bearer sw_any"}
"""The document names keys, and this service has none: each is as good as another."""

DOCUMENT = describe()
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(DOCUMENT)))
OPERATIONS = {
    one.label: one
    for one in sorted((found.ok() for found in SCHEMA.get_all_operations()), key=lambda one: one.method == "delete")
}
"""By method and path; those that take something away come last."""
load_all_checks()
# Not among them: `unsupported_method` and `allow_header_conformance`, which a test of one path stands for below.
TRUE = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)


DUES: Mapping[str, Any] = {
    "id": "harbour-dues",
    "description": "Collects harbour dues.",
    "triggers": {"keywords": ["dues"]},
    "text": {"instructions": "Ask for the dues."},
    "checkpoints": ["sign-off"],
    "emits": ["dues.paid"],
    "artifacts": [{"id": "notes.txt", "media_type": "text/plain"}],
}
BERTH = Entity("berth-7", "Berth", {"name": "Berth 7"}, ("Seven",), Point(53.5413, 9.9668, "WGS84"))
IDS: Mapping[str, str] = {
    "conversation": "the-conversation",
    "turn": "the-turn",
    "key": DUES["id"],
    "skill": DUES["id"],
    "artifact": "notes.txt",
    "agent": "harbour-master",
    "graph": "current",
    "entity": BERTH.id,
}
"""What the service has, by the names of parameters; the approval has an id of its own."""


@dataclass
class Fuzzed:
    """A service that has something for every operation, on a loop of its own."""

    http: httpx.AsyncClient
    thread: LoopThread
    ids: Mapping[str, str]

    def answer(self, case: schemathesis.Case) -> httpx.Response:
        """What the service answers to the generated request."""
        prepared = requests.Request(**case.as_transport_kwargs(base_url=HOST)).prepare()
        headers = [(_bytes(name), _bytes(value)) for name, value in prepared.headers.items()]
        request = httpx.Request(str(prepared.method), str(prepared.url), headers=headers, content=prepared.body)
        return self.thread.run(self.http.send(request))


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


@asynccontextmanager
async def filled(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Mapping[str, str]]]:
    """The service with something under each of the ids, and the ids."""
    service = harbour_service(f"sqlite:///{folder / 'service.db'}", write_pack(folder))
    app = create_app(service)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=HOST) as http,
        Client(HOST, transport=transport) as client,
    ):
        content = {IDS["artifact"]: ArtifactContent("All dues.")}
        await client.publish_skill(DUES["id"], SkillDefinition(DUES, content))
        await client.put_entities([BERTH, replace(BERTH, id="berth-8", aliases=())], [Edge("berth-7", "BY", "berth-8")])
        await client.weave("What are the dues?", conversation=IDS["conversation"], turn_id=IDS["turn"])
        asked = await client.ask_for_approval(ApprovalRequest(IDS["conversation"], DUES["id"], "sign-off"))
        service.leaving.set()  # a stream answers, and ends at once
        yield http, {**IDS, "approval": asked.id}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    thread = LoopThread()
    opening = filled(tmp_path_factory.mktemp("fuzzed"))
    http, ids = thread.run(opening.__aenter__())
    with ExitStack() as ending:
        ending.callback(thread.stop)
        ending.callback(lambda: thread.run(opening.__aexit__(None, None, None)))
        yield Fuzzed(http, thread, ids)


STRICT = CHECKS.get_by_names(["negative_data_rejection"])
"""What does not fit the document is refused."""
ONE_OF_A_LIST = "GET /api/v1/graphs/{graph}/checkup"
"""Takes a list in the query; one that is no list for the check is a list of one on the wire."""


def has_input(label: str) -> bool:
    """Whether anything wrong can be sent there."""
    told = DOCUMENT["paths"][label.partition(" ")[2]][label.partition(" ")[0].lower()]
    return bool(told.get("parameters") or told.get("requestBody"))


WAYS = [
    pytest.param(label, mode, id=f"{mode.value} {label}")
    for label in OPERATIONS
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or has_input(label)
]


@pytest.mark.parametrize(("label", "mode"), WAYS)
def test_whatever_is_sent_the_answer_is_in_the_document(fuzzed: Fuzzed, label: str, mode: GenerationMode) -> None:
    operation = OPERATIONS[label]
    known = {one.name: fuzzed.ids[one.name] for one in operation.path_parameters}

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=not os.environ.get("SKILLWEAVE_SOAK"),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        ids = known if data.draw(st.sampled_from([True, True, False])) else None
        case = data.draw(operation.as_strategy(mode, path_parameters=ids, headers=SOME_KEY))
        answer = fuzzed.answer(case)
        is_strict = mode is GenerationMode.NEGATIVE and label != ONE_OF_A_LIST
        case.validate_response(answer, checks=[*TRUE, *STRICT] if is_strict else TRUE)

    check()


def broken(place: list[str], value: object) -> Any:
    """The schema with another value at a place of the document."""
    document = json.loads(json.dumps(DOCUMENT))
    inner = document
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    found = schemathesis.openapi.from_dict(document)
    return found["/api/v1/skills"]["GET"]


SHOWN = ["paths", "/api/v1/skills", "get", "responses"]


@pytest.mark.parametrize(
    ("place", "value", "kind"),
    [
        ([*SHOWN, "200", "content", "application/json", "schema"], {"type": "integer"}, "JsonSchemaError"),
        ([*SHOWN, "200", "content"], {"text/plain": {"schema": {"type": "string"}}}, "UndefinedContentType"),
        (SHOWN, {"404": {"description": "Nothing else"}}, "UndefinedStatusCode"),
    ],
    ids=["schema", "content type", "status"],
)
def test_an_answer_that_the_document_does_not_tell_of_is_found(
    fuzzed: Fuzzed, place: list[str], value: object, kind: str
) -> None:
    case = broken(place, value).Case()
    answer = fuzzed.answer(case)
    assert answer.status_code == 200
    with pytest.raises(FailureGroup) as raised:
        case.validate_response(answer, checks=TRUE)
    assert {type(one).__name__ for one in raised.value.exceptions} == {kind}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("label", OPERATIONS)
async def test_without_a_key_an_operation_answers_401_as_the_document_says(guarded: Guarded, label: str) -> None:
    operation = OPERATIONS[label]
    case = operation.Case(path_parameters={one.name: "x" for one in operation.path_parameters})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded.app), base_url=HOST) as http:
        answer = await http.request(case.method, case.formatted_path)
    assert answer.status_code == 401
    case.validate_response(answer, checks=TRUE)


def test_the_document_is_valid_openapi() -> None:
    SCHEMA.validate()
    assert DOCUMENT["openapi"].startswith("3.1")
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_of_the_document_is_to_one_of_its_schemas() -> None:
    found = {one.removeprefix("#/components/schemas/") for one in references(DOCUMENT)}
    assert found <= DOCUMENT["components"]["schemas"].keys()


def references(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        if isinstance(data.get("$ref"), str):
            yield data["$ref"]
        for inner in data.values():
            yield from references(inner)
    elif isinstance(data, list | tuple):
        for inner in data:
            yield from references(inner)


@pytest.mark.soak
def test_the_document_is_the_same_on_every_start() -> None:
    code = "import json\nfrom skillweave_server.app import describe\nprint(json.dumps(describe()))"
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert json.loads(told[0]) == json.loads(json.dumps(DOCUMENT))


async def test_who_looks_at_the_service_is_led_to_its_endpoints(tmp_path: Path) -> None:
    async with reached_in(tmp_path) as http:
        led = await http.get("/")
        page = await http.get("/" + led.headers["location"].lstrip("/"))
        assert (led.status_code, page.status_code) == (307, 200)
        assert all(f"<code>{path}</code>" in page.text for path in describe()["paths"])
        assert 'href="/api/v1/openapi.json"' in page.text
        assert "://" not in page.text


async def test_a_method_that_a_path_does_not_have_is_answered_with_those_it_has(tmp_path: Path) -> None:
    async with reached_in(tmp_path) as http:
        answer = await http.patch("/api/v1/ledger/c")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE, GET")


async def test_the_service_gives_the_document_to_everybody(tmp_path: Path) -> None:
    async with reached_in(tmp_path) as http:
        answer = await http.get("/api/v1/openapi.json")
    assert answer.json() == json.loads(json.dumps(DOCUMENT))
