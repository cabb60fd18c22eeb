"""Requests to the service and their answers: sent again where that is safe, read as the public values."""

import asyncio
import json
import random
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlsplit

from skillweave._version import __version__
from skillweave.api import GAP, MEDIA_TYPE, PREFIX, Problem
from skillweave.checking import Checked
from skillweave.client.failures import ServiceError, ServiceUnreachable, error_of
from skillweave.codec import Portable, read, write
from skillweave.errors import InvalidData, InvalidValue, needing
from skillweave.events.event import Event, StreamedEvent
from skillweave.redaction import error_in_words, without_secrets

with needing("client", "the client of the service"):
    import httpx
    from httpx_sse import EventSource, ServerSentEvent

T = TypeVar("T")

_TOO_MANY = 429
_BROKEN = (502, 503, 504)
"""Statuses of a service, or of what stands before it, that does not answer just now."""
_SHOWN = 200
"""Characters of an answer that is not understood which are told."""
SILENT_SECONDS = 60.0
"""A stream that says nothing for so long, not even that it lives, is broken: four times what the service waits."""
_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class KeyInTheOpen(UserWarning):
    """A key goes over a network without encryption: whoever stands between can read it."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again at most, and the waits before, each twice as long. Raises InvalidValue."""

    most: int = 3
    first_seconds: float = 0.2
    longest_seconds: float = 30.0

    def __post_init__(self) -> None:
        checked = Checked("Retries")
        checked.whole("most", self.most)
        checked.number("first_seconds", self.first_seconds)
        checked.number("longest_seconds", self.longest_seconds)

    def seconds(self, failures: int, asked: float | None = None, *, drawn: float) -> float | None:
        """How long to wait after so many failures, None to give up; `asked` by the service, `drawn` below 1."""
        if failures > self.most or (asked or 0) > self.longest_seconds:
            return None
        # The power is bounded: after a thousand failures it would not fit into a float.
        own = min(self.first_seconds * 2.0 ** min(failures - 1, 32), self.longest_seconds)
        return max(own * (1 + drawn) / 2, asked or 0)


class Sent(TypedDict, total=False):
    """What a request carries; one that is `safe`, as most are, is sent again where it may have been done already."""

    query: Mapping[str, object]
    body: object
    headers: Mapping[str, str]
    safe: bool


class Wire:
    """Sends requests to one service with one key; the key is in no text that it makes."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float,
        retries: Retries,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.url = require_address(url, key)
        self.retries = retries
        headers = {"User-Agent": f"skillweave/{__version__}", "Accept": f"application/json, {MEDIA_TYPE}"}
        if key is not None:
            headers["Authorization"] = f"Bearer {require_key(key)}"
        self.http = httpx.AsyncClient(
            base_url=f"{self.url}{PREFIX}", headers=headers, timeout=timeout, transport=transport
        )
        self._sleep, self._draw = sleep, draw

    async def answer(self, answers: type[T], method: str, path: str, **sent: Unpack[Sent]) -> T:
        """What `send` gets, as that type; raises InvalidData for another answer."""
        response = await self.send(method, path, **sent)
        try:
            data: object = response.json()
        except ValueError:
            kind = response.headers.get("content-type", "no type")
            raise InvalidData(f"the answer of {response.url.path} is no JSON, but {kind[:_SHOWN]}") from None
        return read(data, answers)

    async def send(self, method: str, path: str, **sent: Unpack[Sent]) -> httpx.Response:
        """Sends a request to a path below the API. Raises ServiceError and ServiceUnreachable."""
        content, headers = None, dict(sent.get("headers", {}))
        if (body := sent.get("body")) is not None:
            content, headers["Content-Type"] = json_bytes(body), "application/json"
        request = self.http.build_request(
            method, path, params=in_query(sent.get("query")), content=content, headers=headers
        )
        failures = 0
        while True:
            try:
                return await self._once(request)
            except (ServiceError, ServiceUnreachable) as error:
                failures += 1
                if not await self.waited(failures, error, safe=sent.get("safe", True)):
                    raise

    async def _once(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self.http.send(request)
        except httpx.TransportError as error:
            raise self.unreachable(error) from error
        if not response.is_success:
            raise problem_in(response)
        return response

    async def listen(
        self, path: str, after: str | None, seen: str
    ) -> AsyncGenerator[tuple[str, StreamedEvent | None], None]:
        """Yield from one connection each position that the service tells, with the event there if it is one."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": seen} if seen else {})}
        timeout = httpx.Timeout(**{**self.http.timeout.as_dict(), "read": SILENT_SECONDS})
        try:
            async with self.http.stream(
                "GET", path, params=in_query({"after": after}), headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise problem_in(response)
                async with aclosing(EventSource(response).aiter_sse()) as source:
                    async for one in source:
                        yield one.id, _event_in(one)
        except httpx.TransportError as error:
            raise self.unreachable(error) from error

    async def waited(self, failures: int, error: ServiceError | ServiceUnreachable, *, safe: bool = True) -> bool:
        """Wait until it may be tried again; False at once where it may not, or is not worth it."""
        if not _may_come_again(error, safe=safe):
            return False
        seconds = self.retries.seconds(failures, error.retry_after, drawn=self._draw())
        if seconds is None:
            return False
        await self._sleep(seconds)
        return True

    async def rested(self) -> None:
        """Wait a little, so that what ends at once is not begun again at once."""
        await self._sleep(self.retries.first_seconds * (1 + self._draw()) / 2)

    def unreachable(self, error: httpx.TransportError) -> ServiceUnreachable:
        """The exception for a connection that is not there, or that broke."""
        made = ServiceUnreachable(
            f"the service at {self.url} does not answer ({error_in_words(error)}); check that it runs there, with "
            "`skillweave serve`, and the address"
        )
        made.sent = not isinstance(error, _NOTHING_SENT)
        return made

    async def close(self) -> None:
        """Give back the connections."""
        await self.http.aclose()


def at(path: str, *parts: str) -> str:
    """The path with those parts in the place of each `{}`, encoded so that each stays one part of it."""
    # A dot is safe in a URL, but `.` and `..` alone are ways through the path.
    return path.format(*(quote(part, safe="", errors="surrogatepass").replace(".", "%2E") for part in parts))


def in_query(values: Mapping[str, object] | None) -> dict[str, str | list[str]]:
    """What is not None, as texts; a list stands as often as it has members."""
    return {
        name: str(value) if isinstance(value, str) or not isinstance(value, Sequence) else [*map(str, value)]
        for name, value in (values or {}).items()
        if value is not None
    }


def json_bytes(body: object) -> bytes:
    """The value as JSON; in ASCII, which carries every text."""
    data = write(body) if isinstance(body, Portable) else body
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def problem_in(response: httpx.Response) -> ServiceError:
    """The exception for an answer that is no success; what stands between may answer no problem document."""
    try:
        problem = read(response.json(), Problem)
    except (ValueError, InvalidData):
        title = response.reason_phrase or "Error"
        said = response.text[:_SHOWN].strip() or "nothing"
        detail = f"the answer is {response.status_code} {title}, and no problem document of the service: {said}"
        problem = Problem("about:blank", title, response.status_code, without_secrets(detail))
    return error_of(problem, _seconds_in(response.headers.get("Retry-After")))


def _may_come_again(error: ServiceError | ServiceUnreachable, *, safe: bool) -> bool:
    """Whether the same request again may succeed, and cannot do anything twice."""
    if isinstance(error, ServiceUnreachable):
        return safe or not error.sent
    status = error.problem.status
    # What is refused for its number was not done.
    return status == _TOO_MANY or (safe and (status in _BROKEN or error.retry_after is not None))


def _event_in(sent: ServerSentEvent) -> StreamedEvent | None:
    """The event, None for what only tells a position; raises the error that ends a stream with a gap."""
    if not sent.data:
        return None
    try:
        data = json.loads(sent.data)
    except ValueError:
        raise InvalidData(f"the event at {sent.id[:100]!r} of the stream is no JSON") from None
    if sent.event == GAP:
        raise error_of(read(data, Problem))
    return StreamedEvent(sent.id, read(data, Event))


def _seconds_in(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After, which is a number or a date."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (then.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def require_address(url: str, key: str | None) -> str:
    """The address without a slash at its end; raises InvalidValue for what is none, or has a user or a query in it.

    Warns with KeyInTheOpen of a key that would travel unencrypted beyond this machine.
    """
    shown = without_secrets(str(url))[:100]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # the port is read here, so that a wrong one is found now
    except (ValueError, AttributeError):
        raise InvalidValue(f"Client(url={shown!r}) is no address; give one like http://127.0.0.1:8321") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidValue(f"Client(url={shown!r}) is no address; give one like http://127.0.0.1:8321")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidValue(
            f"Client(url={shown!r}) has more than an address; leave out user, `?` and `#`, and give the key as key="
        )
    if key is not None and parts.scheme == "http" and not is_loopback(host):
        warnings.warn(
            f"the API key goes to {host} without encryption; use https, or a network that nobody else reads",
            KeyInTheOpen,
            stacklevel=4,
        )
    return url.rstrip("/")


def require_key(key: str) -> str:
    """The key, if it can stand in a header; raises InvalidValue, which does not show it."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidValue("Client(key=...) is no API key; give it as `skillweave keys new` printed it, in one line")
    return key


def is_loopback(host: str) -> bool:
    """Whether what is sent there stays on this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
