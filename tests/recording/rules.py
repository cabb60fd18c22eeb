"""What the rules of all three interfaces need: the answer of a provider that refuses, and where keys come from.

Which keys an object may have is read from the types of the installed SDKs, which are made from the providers' own
descriptions of their interfaces.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from skillweave_testing.hosts import Says, Sent


@dataclass
class Refused(Exception):
    """A request that the provider does not take; `place` is the parameter that it names, `status` the HTTP status."""

    message: str
    place: str | None = None
    code: str | None = None
    status: int = 400


class Interface:
    """One of a provider's interfaces: what it refuses, what the model is sent through it, and how a reply looks."""

    path: str

    def check(self, body: Mapping[str, Any]) -> None:
        """Raise Refused where the provider would answer with an error."""
        raise NotImplementedError

    def sent(self, body: Mapping[str, Any]) -> Sent:
        """What reaches the model, in the order in which a provider caches it."""
        raise NotImplementedError

    def reply(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        """The provider's answer with what the model says."""
        raise NotImplementedError

    def error(self, refused: Refused) -> dict[str, Any]:
        """The body of an answer that refuses."""
        raise NotImplementedError


@cache
def keys_of(*kinds: Any) -> frozenset[str]:
    """The keys that objects of these types of an SDK may have."""
    return frozenset(key for kind in kinds for key in get_type_hints(kind))


def require_keys(found: Mapping[str, Any], known: Iterable[str], place: str, words: str) -> None:
    """Raise Refused, in the provider's `words`, where the object has a key that is none of the known."""
    for key in found:
        if key not in known:
            where = f"{place}.{key}" if place else key
            raise Refused(words.format(where), where, "unknown_parameter")


def require(condition: object, message: str, place: str | None = None, code: str | None = None) -> None:
    """Raise Refused where the condition does not hold."""
    if not condition:
        raise Refused(message, place, code)


def require_unique(values: Sequence[str], message: str, place: str | None = None) -> None:
    """Raise Refused, naming the value, where one stands there twice."""
    for number, value in enumerate(values):
        require(value not in values[:number], message.format(value), place)


def text_in(content: object) -> str:
    """The text of content that is a text or a list of parts."""
    if isinstance(content, list):
        return "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")


def written(value: object) -> str:
    """A value as JSON in the order in which it came."""
    return json.dumps(value, ensure_ascii=False)


def openai_error(refused: Refused) -> dict[str, Any]:
    """The body of an error of OpenAI's interfaces."""
    return {
        "error": {
            "message": refused.message,
            "type": "invalid_request_error",
            "param": refused.place,
            "code": refused.code,
        }
    }
