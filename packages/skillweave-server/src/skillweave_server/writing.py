"""Answers as JSON bytes."""

import json
from typing import Any

from fastapi.responses import Response

from skillweave.values import Portable, write


def json_bytes(data: object) -> bytes:
    """Compact JSON in ASCII, which carries every text, also half of a surrogate pair."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def written(value: Any) -> object:  # noqa: ANN401 - whatever an endpoint answers
    """The JSON data of an answer: a value, or lists and mappings of values."""
    if isinstance(value, Portable):
        return write(value)
    if isinstance(value, list | tuple):
        return [written(one) for one in value]
    if isinstance(value, dict):
        return {key: written(one) for key, one in value.items()}
    return value


def answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401 - whatever an endpoint answers
    """The HTTP answer; None has no content."""
    if value is None:
        return Response(status_code=204)
    return Response(json_bytes(written(value)), status, media_type="application/json")
