"""The bodies of requests: bounded in size and time, strict JSON, and read as one of the public values."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from math import isfinite
from typing import NoReturn, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from skillweave.codec import read
from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused

T = TypeVar("T")

_JSON = "application/json"
_LENGTH = re.compile("[0-9]+")
_LONGEST_LENGTH = 20
_MOST_DIGITS = 300
"""Digits of a whole number: more could not be compared with a number that has a fraction."""


def body_of(shape: type[T]) -> Callable[[Request], Awaitable[T]]:
    """What reads the body of a request as that value, for FastAPI's `Depends`."""

    async def body(request: Request) -> T:
        return read(await json_body(request), shape)

    return body


async def json_body(request: Request) -> object:
    """The JSON data of the body; raises Refused for one that is too large, too slow, or no JSON."""
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared != _JSON:
        raise Refused(415, "not-json", f"send the body as {_JSON}, not as {declared[:60]!r}")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Refused(415, "packed", f"send the body as it is, not packed as {coding[:60]!r}")
    content = await _content(request)
    try:
        data: object = _STRICT.decode(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(400, "not-json", f"the body is no JSON: {error}"[:500]) from None
    return data


async def _content(request: Request) -> bytes:
    options: ServiceOptions = request.app.state.service.options
    most = options.most_body_bytes
    length = request.headers.get("content-length", "")
    if _LENGTH.fullmatch(length) and int(length[:_LONGEST_LENGTH]) > most:
        raise _too_large(most)
    parts, size = [], 0
    try:
        async with asyncio.timeout(options.body_seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
    except TimeoutError:
        detail = f"the body did not come within {options.body_seconds:g} seconds; send it at once"
        raise Refused(408, "slow-body", detail, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise Refused(400, "broken-off", "the client went away before the body was there") from None
    return b"".join(parts)


def _too_large(most: int) -> Refused:
    detail = f"the body has more than {most:,} bytes; send a shorter transcript, or null for none"
    return Refused(413, "body-too-large", detail, {"Connection": "close"})


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{digits[:40]}… is too large a number")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Of a key that stands twice, somebody before us may have checked the other value than the one that would count.
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return found


_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_whole, parse_float=_number, object_pairs_hook=_object
)
