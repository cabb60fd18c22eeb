"""Requests that no client of ours sends, to every endpoint: each is answered by a documented problem."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from tests.skillweave_server.every import EVERY, WITH_BODY, WITH_ID, Laws, changed, leaves, name_of, target_of
from tests.skillweave_server.guarded import IDS, OPTIONS, Guarded
from tests.skillweave_server.wire import JSON, Heard

from skillweave.api import PREFIX
from skillweave_server.endpoints import Endpoint
from skillweave_stores.access import Scope

pytestmark = pytest.mark.asyncio(loop_scope="module")

LAWS: Laws[Guarded] = Laws()

TEXTS = (
    "",
    " ",
    "\0",
    "a\r\nX-Injected: 1",
    "\ud800",
    "\u202e",
    "../../etc/passwd",
    "'; DROP TABLE skills; --",
    "x" * 20_000,
)
NUMBERS = (-1, 0, 10**30, -(10**30), 1e308, 10**400)
OTHERS: tuple[object, ...] = (None, True, [], {}, [[]], {"": ""})
ODD = ("/", "..", ".", "../..", "a/b", "%2F", "%", "?", "#", "a b", "'", '"', "<script>", ":", "*", "ÿ", "\U0001f600")
UNPRINTABLE = ("\r\nX-Injected: 1", "a\nb", "\0", "\t", "\x7f", "\u2028", "\u202e", "\ufeff")
BROKEN = {
    "nothing": b"",
    "half": b'{"message": "x',
    "no JSON": b"message=x",
    "two values": b"{} {}",
    "a comment": b"{} // x",
    "not a number": b'{"x": NaN}',
    "endless": b'{"x": -Infinity}',
    "too large a number": b'{"x": 1e999}',
    "too many digits": b'{"x": ' + b"9" * 5_000 + b"}",
    "deep lists": b"[" * 50_000,
    "deep objects": b'{"a":' * 16_000,
    "a key twice": b'{"x": 1, "x": 2}',
    "a key twice inside": b'{"x": [{"y": 1, "y": 1}]}',
    "no UTF-8": b'{"x": "\xff"}',
    "half of a pair as bytes": b'{"x": "\xed\xa0\x80"}',
    "another encoding": '{"x": "y"}'.encode("utf-16"),
    "a mark at the start": b"\xef\xbb\xbf{}",
    "a raw line break": b'{"x": "a\nb"}',
}


def is_documented(answer: Heard, endpoint: Endpoint) -> bool:
    """Whether the endpoint says that it may answer so, and a problem is a problem document."""
    if answer.status == endpoint.status:
        return True
    told = answer.header("content-type") == "application/problem+json" and answer.json()["status"] == answer.status
    return told and answer.status in endpoint.statuses and answer.status < 500


@LAWS.at(WITH_BODY)
async def a_body_that_is_no_json_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    answers = {name: await guarded.ask(endpoint, guarded.key(Scope.ADMIN), body=one) for name, one in BROKEN.items()}
    assert {name: one.status for name, one in answers.items()} == dict.fromkeys(BROKEN, 400)
    assert all(is_documented(one, endpoint) for one in answers.values())
    assert await guarded.kept() == before


@LAWS.at(WITH_BODY)
async def a_body_of_another_form_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    for body in (b"null", b"[]", b"true", b"0", b'"x"'):
        answer = await guarded.ask(endpoint, guarded.key(Scope.ADMIN), body=body)
        assert answer.status == 422
        assert is_documented(answer, endpoint)
    assert await guarded.kept() == before


@LAWS.at(WITH_BODY)
async def a_body_that_says_that_it_is_too_large_is_refused_before_it_comes(
    guarded: Guarded, endpoint: Endpoint
) -> None:
    headers = {**JSON, **guarded.key(Scope.ADMIN), "Content-Length": str(OPTIONS.most_body_bytes + 1)}
    answer = await guarded.wire.ask(endpoint.method, target_of(endpoint, IDS), headers, is_endless=True)
    assert answer.status == 413
    assert is_documented(answer, endpoint)
    assert answer.header("connection") == "close"


@LAWS.at(WITH_BODY)
async def a_body_in_pieces_that_becomes_too_large_is_refused_at_once(guarded: Guarded, endpoint: Endpoint) -> None:
    headers = {**JSON, **guarded.key(Scope.ADMIN), "Transfer-Encoding": "chunked"}
    piece = b" " * (OPTIONS.most_body_bytes // 4)
    # The last piece would never come.
    answer = await guarded.wire.ask(endpoint.method, target_of(endpoint, IDS), headers, [piece] * 5, is_endless=True)
    assert answer.status == 413
    assert is_documented(answer, endpoint)


@LAWS.at(WITH_BODY)
async def a_length_that_is_none_does_no_harm(guarded: Guarded, endpoint: Endpoint) -> None:
    for length in ("-1", "x", "1e3", "²", "", "9" * 400):
        headers = {**JSON, **guarded.key(Scope.ADMIN), "Content-Length": length}
        answer = await guarded.wire.ask(endpoint.method, target_of(endpoint, IDS), headers, b"[]")
        assert answer.status in (413, 422)


@LAWS.at(WITH_BODY)
async def a_body_that_never_comes_is_not_waited_for(guarded: Guarded, endpoint: Endpoint) -> None:
    headers = {**JSON, **guarded.key(Scope.ADMIN)}
    answer = await guarded.wire.ask(endpoint.method, target_of(endpoint, IDS), headers, b'{"', is_endless=True)
    assert answer.status == 408
    assert is_documented(answer, endpoint)
    assert answer.header("connection") == "close"


@LAWS.at(WITH_BODY)
async def a_client_that_goes_away_within_its_body_changes_nothing(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    headers = {**JSON, **guarded.key(Scope.ADMIN)}
    sent = guarded.bodies.sent(endpoint, IDS)
    answer = await guarded.wire.ask(endpoint.method, target_of(endpoint, IDS), headers, sent[:-1], breaks_off=True)
    assert answer.status == 400
    assert await guarded.kept() == before


@LAWS.at(WITH_BODY)
async def a_body_of_another_type_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    for kind in (
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
        "\xfc",
    ):
        answer = await guarded.ask(endpoint, {**guarded.key(Scope.ADMIN), "Content-Type": kind})
        assert answer.status == 415
        assert is_documented(answer, endpoint)


@LAWS.at(WITH_BODY)
async def a_packed_body_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    answer = await guarded.ask(endpoint, {**guarded.key(Scope.ADMIN), "Content-Encoding": "gzip"})
    assert answer.status == 415
    assert is_documented(answer, endpoint)


@LAWS.at(WITH_BODY)
async def any_value_at_any_place_of_a_body_is_answered_without_a_failure(guarded: Guarded, endpoint: Endpoint) -> None:
    whole, found = guarded.bodies.of(endpoint, IDS), []
    for place in leaves(whole):
        for value in (*TEXTS, *NUMBERS, *OTHERS):
            sent = json.dumps(changed(whole, place, value)).encode()
            answer = await guarded.ask(endpoint, guarded.key(Scope.ADMIN), body=sent)
            if not is_documented(answer, endpoint):
                found.append((place, value, answer.status, answer.content[:300]))
    assert found == []


@LAWS.at(WITH_ID)
async def an_odd_id_is_an_id_like_others(guarded: Guarded, endpoint: Endpoint) -> None:
    for odd in ODD:
        answer = await guarded.ask(endpoint, guarded.key(Scope.ADMIN), dict.fromkeys(IDS, odd))
        assert is_documented(answer, endpoint) or answer.status == 404, odd
        assert answer.status != 500


@LAWS.at(WITH_ID)
async def an_id_that_cannot_be_printed_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    for bad in UNPRINTABLE:
        answer = await guarded.ask(endpoint, guarded.key(Scope.ADMIN), {**IDS, **dict.fromkeys(IDS, bad)})
        assert answer.status in (404, 422), ascii(bad)
        assert answer.header("x-injected") is None
        assert b"\n" not in answer.content
    assert await guarded.kept() == before


@LAWS.at(WITH_ID)
async def an_id_that_is_too_long_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    answer = await guarded.ask(endpoint, guarded.key(Scope.ADMIN), dict.fromkeys(IDS, "x" * 5_000))
    assert answer.status in (404, 422)


@LAWS.at(WITH_ID)
async def bytes_that_are_no_text_in_a_path_do_no_harm(guarded: Guarded, endpoint: Endpoint) -> None:
    target = target_of(endpoint, dict.fromkeys(IDS, "x")).replace("/x", "/%FF%C0%80")
    answer = await guarded.wire.ask(
        endpoint.method, target, {**JSON, **guarded.key(Scope.ADMIN)}, guarded.bodies.sent(endpoint, IDS)
    )
    assert answer.status < 500


@LAWS.at()
async def a_parameter_that_the_endpoint_does_not_have_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    headers, sent = {**JSON, **guarded.key(Scope.ADMIN)}, guarded.bodies.sent(endpoint, IDS)
    for query in ("tenant=umbrella", "no-such=1", "%0D%0AX-Injected:1=2", "__proto__=1"):
        answer = await guarded.wire.ask(endpoint.method, f"{target_of(endpoint, IDS)}?{query}", headers, sent)
        assert answer.status == 422
        assert is_documented(answer, endpoint)
    assert await guarded.kept() == before


@LAWS.at()
async def odd_values_of_parameters_are_answered_without_a_failure(guarded: Guarded, endpoint: Endpoint) -> None:
    headers, sent = {**JSON, **guarded.key(Scope.ADMIN)}, guarded.bodies.sent(endpoint, IDS)
    found: list[Any] = []
    for name in guarded.bodies.parameters(endpoint, "query"):
        for value in ("", "\0", "a\r\nb", "-1", "1" * 400, "1e999", "NaN", "x" * 5_000, "%FF", "null", "/", "Ω"):
            query = f"{quote(name)}={quote(value) if value != '%FF' else value}"
            answer = await guarded.wire.ask(endpoint.method, f"{target_of(endpoint, IDS)}?{query}", headers, sent)
            if not (is_documented(answer, endpoint) and answer.status < 500):
                found.append((name, value, answer.status, answer.content[:300]))
    assert found == []


@LAWS.at()
async def a_header_with_a_line_break_is_never_sent_back(guarded: Guarded, endpoint: Endpoint) -> None:
    bad = "x\r\nX-Injected: 1"
    headers = {
        **JSON,
        **guarded.key(Scope.ADMIN),
        **dict.fromkeys(
            ("Idempotency-Key", "Last-Event-ID", "User-Agent", "X-Request-ID", "Traceparent", "Origin"), bad
        ),
    }
    answer = await guarded.wire.ask(
        endpoint.method, target_of(endpoint, IDS), headers, guarded.bodies.sent(endpoint, IDS)
    )
    assert answer.status < 500
    for name, value in answer.headers:
        assert b"\n" not in name + value
        assert b"\r" not in name + value


@LAWS.at()
async def every_answer_says_that_nobody_keeps_it_or_guesses_what_it_is(guarded: Guarded, endpoint: Endpoint) -> None:
    for headers in (guarded.key(Scope.ADMIN), {}):
        answer = await guarded.ask(endpoint, headers)
        assert answer.header("cache-control") == "no-store"
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("server") is None
        assert answer.header("x-powered-by") is None


@LAWS.at()
async def another_method_is_refused(guarded: Guarded, endpoint: Endpoint) -> None:
    answer = await guarded.wire.ask("TRACE", target_of(endpoint, IDS), guarded.key(Scope.ADMIN))
    assert answer.status == 405
    assert answer.header("content-type") == "application/problem+json"


@pytest.mark.parametrize("endpoint", EVERY, ids=name_of)
async def test_every_law_holds_at(guarded: Guarded, endpoint: Endpoint) -> None:
    await LAWS.visit(guarded, endpoint)


@pytest.mark.parametrize(
    "target", ["/api", "/api/v1", f"{PREFIX}/", f"{PREFIX}/nothing", "/api/v2/ledger", "//", "/.env"]
)
async def test_a_path_that_is_not_there_is_a_problem_too(guarded: Guarded, target: str) -> None:
    answer = await guarded.wire.ask("GET", target, guarded.key(Scope.ADMIN))
    assert answer.status == 404
    assert answer.header("content-type") == "application/problem+json"
    assert answer.header("x-content-type-options") == "nosniff"


async def test_a_path_with_a_slash_at_its_end_is_not_sent_elsewhere(guarded: Guarded) -> None:
    headers = {**guarded.key(Scope.ADMIN), "Host": "evil.example"}
    answer = await guarded.wire.ask("GET", f"{PREFIX}/approvals/", headers)
    assert answer.status == 404
    assert answer.header("location") is None
