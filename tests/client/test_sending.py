"""What is sent again and what is not, which errors come out, and that no text holds a key."""

import asyncio
import pickle
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.api.problem import TYPES, Problem, code_of
from skillweave.approvals.case import AlreadyDecided
from skillweave.client import Client, Retries, ServiceError, ServiceUnreachable, SyncClient
from skillweave.client.failures import error_of
from skillweave.client.sending import KeyInTheOpen, at
from skillweave.errors import Contended, InvalidData, InvalidValue, SkillNotFound, StoreUnavailable
from skillweave_server.problems import _STATUS

KEY = "sw_0123456789abcdef_" + "k" * 43
Answer = httpx.Response | Exception


def problem(status: int, code: str = "x", headers: dict[str, str] | None = None) -> httpx.Response:
    told = Problem(f"{TYPES}{code}", "A title", status, "what is wrong").to_dict()
    return httpx.Response(status, json=told, headers=headers)


class Scripted(httpx.AsyncBaseTransport):
    """Answers by a script, the last answer for ever, and keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)


class Slept:
    """The seconds that a client waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client_of(transport: Scripted, slept: Slept, **given: object) -> Client:
    client = Client("http://127.0.0.1:1", transport=transport, **given)  # type: ignore[arg-type]
    client._wire._sleep = slept
    client._wire._draw = lambda: 1.0
    return client


TOOLS = httpx.Response(200, json=[])
BROKEN: Sequence[Answer] = (
    httpx.ConnectError("refused"),
    httpx.ReadError("broke"),
    httpx.ReadTimeout("slow"),
    problem(429),
    problem(502),
    problem(503),
    httpx.Response(504, text="<html>"),
    problem(409, "contended", {"Retry-After": "1"}),
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: getattr(one, "status_code", type(one).__name__))
async def test_what_can_be_repeated_is_sent_again_until_it_is_answered(broken: Answer) -> None:
    transport, slept = Scripted(broken, broken, TOOLS), Slept()
    async with client_of(transport, slept) as client:
        assert await client.list_tools() == ()
    assert len(transport.requests) == 3
    assert slept.seconds == sorted(slept.seconds)


@pytest.mark.parametrize(
    ("answer", "tries"),
    [(httpx.ConnectError("refused"), 4), (problem(429), 4), (httpx.ReadError("broke"), 1), (problem(503), 1)],
    ids=["not sent", "refused before", "broken off", "unavailable"],
)
async def test_what_cannot_be_repeated_is_sent_again_only_if_it_was_not_done(answer: Answer, tries: int) -> None:
    transport = Scripted(answer)
    async with client_of(transport, Slept()) as client:
        with pytest.raises((ServiceError, ServiceUnreachable)):
            await client.escalate_approvals()
    assert len(transport.requests) == tries


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 500])
async def test_a_refusal_is_not_asked_again(status: int) -> None:
    transport = Scripted(problem(status))
    async with client_of(transport, Slept()) as client:
        with pytest.raises(ServiceError) as raised:
            await client.list_tools()
    assert raised.value.problem.status == status
    assert len(transport.requests) == 1


async def test_a_turn_that_is_sent_again_is_the_same_turn() -> None:
    transport = Scripted(httpx.ReadError("broke"), problem(400))
    async with client_of(transport, Slept()) as client:
        with pytest.raises(ServiceError):
            await client.weave("hello", conversation="c")
    first, second = (httpx.Response(200, content=one.content).json() for one in transport.requests)
    assert first == second
    assert first["id"]


@pytest.mark.parametrize("verb", ["emit", "call_tool"])
async def test_what_is_made_once_has_the_same_key_each_time(verb: str) -> None:
    transport = Scripted(httpx.ReadError("broke"), problem(400))
    async with client_of(transport, Slept()) as client:
        calls = {
            "emit": lambda: client.emit("c", "s", "E", {}),
            "call_tool": lambda: client.call_tool("load_skill", {}, conversation="c"),
        }
        with pytest.raises(ServiceError):
            await calls[verb]()  # type: ignore[no-untyped-call]
    first, second = transport.requests
    assert (first.content, first.headers.get("idempotency-key")) == (
        second.content,
        second.headers.get("idempotency-key"),
    )
    assert "key" in httpx.Response(200, content=first.content).json() or first.headers["idempotency-key"]


async def test_a_retry_after_is_waited_for() -> None:
    slept = Slept()
    async with client_of(Scripted(problem(429, headers={"Retry-After": "7"}), TOOLS), slept) as client:
        await client.list_tools()
    assert slept.seconds == [7]


async def test_a_retry_after_may_be_a_date() -> None:
    slept = Slept()
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    async with client_of(Scripted(problem(503, headers={"Retry-After": when}), TOOLS), slept) as client:
        await client.list_tools()
    assert 15 < slept.seconds[0] <= 20


async def test_one_that_is_too_long_is_raised_at_once_with_its_seconds() -> None:
    transport, slept = Scripted(problem(429, headers={"Retry-After": "3600"})), Slept()
    async with client_of(transport, slept) as client:
        with pytest.raises(ServiceError) as raised:
            await client.list_tools()
    assert raised.value.retry_after == 3600
    assert (len(transport.requests), slept.seconds) == (1, [])


@given(st.integers(1, 10_000), st.none() | st.floats(0, 1e9), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_bounded_and_never_shorter_than_asked(failures: int, asked: float | None, drawn: float) -> None:
    retries = Retries(most=20_000, first_seconds=0.2, longest_seconds=30)
    seconds = retries.seconds(failures, asked, drawn=drawn)
    if asked is not None and asked > 30:
        assert seconds is None
    else:
        assert seconds is not None
        assert (asked or 0) <= seconds <= 30


def test_waits_grow_and_then_end() -> None:
    retries = Retries(most=3, first_seconds=1, longest_seconds=3)
    assert [retries.seconds(failures, drawn=1.0) for failures in range(1, 5)] == [1, 2, 3, None]


@pytest.mark.parametrize("kind", _STATUS, ids=lambda kind: kind.__name__)
def test_every_error_that_the_service_answers_is_raised_as_the_engines_own(kind: type[Exception]) -> None:
    error = error_of(Problem(f"{TYPES}{code_of(kind)}", "T", 404, "told"), 2.0)
    assert isinstance(error, kind)
    assert isinstance(error, ServiceError)
    assert (str(error), error.problem.detail, error.retry_after) == ("told", "told", 2.0)


def test_a_problem_of_another_kind_is_a_service_error() -> None:
    assert type(error_of(Problem("about:blank", "T", 500, "told"))) is ServiceError


def test_an_error_can_be_pickled() -> None:
    error = error_of(Problem(f"{TYPES}already-decided", "T", 409, "told"), 1.0)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, AlreadyDecided)
    assert (again.problem, again.retry_after, str(again)) == (error.problem, 1.0, "told")


async def test_an_answer_of_a_proxy_is_told_with_its_status() -> None:
    async with client_of(Scripted(httpx.Response(413, text="<h1>too large</h1>")), Slept()) as client:
        with pytest.raises(ServiceError, match=r"413 .*too large") as raised:
            await client.list_tools()
    assert raised.value.problem.type == "about:blank"


async def test_an_answer_that_is_no_json_is_an_error_that_says_so() -> None:
    async with client_of(Scripted(httpx.Response(200, text="<h1>hello</h1>")), Slept()) as client:
        with pytest.raises(InvalidData, match="is no JSON"):
            await client.list_tools()


async def test_nobody_who_answers_is_a_store_that_is_unavailable() -> None:
    async with client_of(Scripted(httpx.ConnectError("refused")), Slept()) as client:
        with pytest.raises(ServiceUnreachable, match=r"127\.0\.0\.1:1 does not answer .*skillweave serve") as raised:
            await client.list_tools()
    assert isinstance(raised.value, StoreUnavailable)


@pytest.mark.parametrize("kind", [SkillNotFound, Contended])
async def test_a_known_refusal_is_caught_as_in_the_process(kind: type[Exception]) -> None:
    async with client_of(Scripted(problem(404, code_of(kind))), Slept()) as client:
        with pytest.raises(kind, match="what is wrong"):
            await client.list_tools()


@pytest.mark.parametrize("make", [Client, SyncClient])
def test_the_key_is_in_no_text(make: Callable[..., object]) -> None:
    assert KEY not in repr(make("http://localhost:1", KEY))
    assert KEY not in str(vars(make("http://localhost:1", KEY)))
    for wrong in (f"{KEY}\n", f"{KEY} x", f"{KEY}ä", ""):
        with pytest.raises(InvalidValue, match="no API key") as raised:
            make("http://localhost:1", wrong)
        assert KEY not in str(raised.value)


async def test_the_key_is_in_no_error() -> None:
    for answer in (httpx.ConnectError("refused"), problem(401)):
        async with client_of(Scripted(answer), Slept(), key=KEY) as client:
            with pytest.raises((ServiceError, ServiceUnreachable)) as raised:
                await client.list_tools()
            error: BaseException | None = raised.value
            while error is not None:
                assert KEY not in f"{error} {error!r} {vars(error)!r}"
                error = error.__cause__


async def test_a_redirect_is_not_followed() -> None:
    transport = Scripted(httpx.Response(307, headers={"Location": "http://elsewhere/"}))
    async with client_of(transport, Slept(), key=KEY) as client:
        with pytest.raises(ServiceError, match="307"):
            await client.list_tools()
    assert [one.url.host for one in transport.requests] == ["127.0.0.1"]


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8000", "ftp://a", "http://", "http://a:b", "http://u:p@a", "http://a?x=1", "http://a#x"),
        *("http://a:99999999",),
    ],
)
def test_what_is_no_address_of_a_service_is_refused(url: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        Client(url)
    assert "p@a" not in str(raised.value)


def test_a_key_that_would_be_readable_on_the_way_gives_a_warning() -> None:
    with pytest.warns(KeyInTheOpen, match="service.example") as told:
        Client("http://service.example", KEY)
    assert KEY not in str(told[0].message)
    assert told[0].filename == __file__


@pytest.mark.parametrize("url", ["http://127.0.0.1", "http://[::1]:1", "http://localhost", "https://service.example"])
def test_a_key_that_nobody_can_read_gives_none(url: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client(url, KEY)
        Client("http://service.example")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_text_stays_one_part_of_a_path(text: str) -> None:
    path = at("/a/{}/b", text)
    url = httpx.URL(f"http://h{path}")
    assert url.raw_path.decode() == path
    assert path.count("/") == 3


def test_the_blocking_client_works_inside_a_running_loop() -> None:
    async def inside() -> None:
        client = SyncClient("http://127.0.0.1:1", retries=Retries(most=0))
        with client, pytest.raises(ServiceUnreachable):
            client.list_tools()

    asyncio.run(inside())
