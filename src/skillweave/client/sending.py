"""Requests to the service and their answers: sent again where that is safe, read as the public values."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TypeVar
from urllib.parse import quote

from skillweave._version import __version__
from skillweave.api import PREFIX
from skillweave.api.problem import MEDIA_TYPE, Problem
from skillweave.checking import Checked
from skillweave.client.address import require_address, require_key
from skillweave.client.failures import ServiceError, ServiceUnreachable, error_of
from skillweave.codec import Portable, read, write
from skillweave.errors import InvalidData, MissingExtra
from skillweave.redaction import error_in_words, without_secrets

try:
    import httpx
except ImportError as missing:
    raise MissingExtra("the client of the service", "httpx", "client") from missing

T = TypeVar("T")

_TOO_MANY = 429
_BROKEN = (502, 503, 504)
"""Statuses of a service, or of what stands before it, that does not answer just now."""
_SHOWN = 200
"""Characters of an answer that is not understood which are told."""
_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Repeat(StrEnum):
    """Whether a request that may have been done already can be sent again."""

    SAFE = "safe"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again at most, and how long is waited before: each time twice as long.

    A Retry-After of the service is waited for, if it is not longer than `longest_seconds`: else the error is raised at
    once. Raises InvalidValue.
    """

    most: int = 3
    first_seconds: float = 0.2
    longest_seconds: float = 30.0

    def __post_init__(self) -> None:
        checked = Checked("Retries")
        checked.whole("most", self.most)
        checked.number("first_seconds", self.first_seconds)
        checked.number("longest_seconds", self.longest_seconds)

    def seconds(self, failures: int, asked: float | None = None, *, drawn: float) -> float | None:
        """How long to wait after so many failures in a row; None where it is not tried again.

        `asked` is what the service asks for; `drawn` is a random number below 1, so that not all come again at once.
        """
        if failures > self.most or (asked or 0) > self.longest_seconds:
            return None
        # The power is bounded: after a thousand failures it would not fit into a float.
        own = min(self.first_seconds * 2.0 ** min(failures - 1, 32), self.longest_seconds)
        return max(own * (1 + drawn) / 2, asked or 0)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; `path` is below the API, with what is not safe in a path already encoded."""

    method: str
    path: str
    query: Mapping[str, object] | None = None
    body: object = None
    headers: Mapping[str, str] | None = None
    repeat: Repeat = Repeat.SAFE


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

    async def answer(self, asked: Asked, answers: type[T]) -> T:
        """The answer as that type; raises ServiceError, ServiceUnreachable, and InvalidData for another answer."""
        return read(_json(await self.send(asked)), answers)

    async def send(self, asked: Asked) -> httpx.Response:
        """The answer of the service, which did what it was asked; raises ServiceError and ServiceUnreachable."""
        failures = 0
        while True:
            try:
                return await self._once(asked)
            except (ServiceError, ServiceUnreachable) as error:
                failures += 1
                if not _may_come_again(asked.repeat, error) or not await self.waited(failures, error):
                    raise

    async def waited(self, failures: int, error: ServiceError | ServiceUnreachable) -> bool:
        """Wait until it may be tried again; False at once where it is not worth it."""
        seconds = self.retries.seconds(failures, error.retry_after, drawn=self._draw())
        if seconds is None:
            return False
        await self._sleep(seconds)
        return True

    async def _once(self, asked: Asked) -> httpx.Response:
        content, headers = None, dict(asked.headers or {})
        if asked.body is not None:
            content, headers["Content-Type"] = json_bytes(asked.body), "application/json"
        try:
            response = await self.http.request(
                asked.method, asked.path, params=in_query(asked.query), content=content, headers=headers
            )
        except httpx.TransportError as error:
            raise self.unreachable(error) from error
        if not response.is_success:
            raise problem_in(response)
        return response

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
        name: _word(value) if isinstance(value, str) or not isinstance(value, Sequence) else [*map(_word, value)]
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


def _may_come_again(repeat: Repeat, error: ServiceError | ServiceUnreachable) -> bool:
    """Whether the same request again may succeed, and cannot do anything twice."""
    if isinstance(error, ServiceUnreachable):
        return repeat is Repeat.SAFE or not error.sent
    status = error.problem.status
    if status == _TOO_MANY:
        return True  # refused before anything was done
    return repeat is Repeat.SAFE and (status in _BROKEN or error.retry_after is not None)


def _json(response: httpx.Response) -> object:
    try:
        data: object = response.json()
    except ValueError:
        kind = response.headers.get("content-type", "no type")
        raise InvalidData(f"the answer of {response.url.path} is no JSON, but {kind[:_SHOWN]}") from None
    return data


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


def _word(value: object) -> str:
    return str(value)
