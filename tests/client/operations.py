"""What each verb of the client really sends, found out by calling it with any legal arguments."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints
from urllib.parse import unquote

import httpx
from hypothesis import strategies as st

from skillweave.client import Client
from skillweave.client.verbs import ClientVerbs
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Message, MessageLike, Turn
from skillweave.weaver.tools import ToolAnswer, ToolSpec
from tests.values import of

PREFIX = "/api/v1"
LATE = {"ToolAnswer": ToolAnswer, "ToolSpec": ToolSpec}
"""What the client imports only when it is asked for it."""
plain = st.text(st.sampled_from("ab/.%?#& +:äß日😀"), min_size=1, max_size=8)
"""Ids and names, with what has a meaning in a URL."""


class Sent(Exception):
    """Stops a verb at its first request."""

    def __init__(self, request: httpx.Request) -> None:
        self.request = request


def _stop(request: httpx.Request) -> httpx.Response:
    raise Sent(request)


@dataclass(frozen=True)
class Verb:
    """A public method of the client."""

    name: str

    @property
    def function(self) -> Any:
        """The method as it is written, a block's too."""
        return inspect.unwrap(getattr(Client, self.name))

    def parameters(self) -> dict[str, tuple[Any, bool]]:
        """By name the type of each argument, and whether it must be given."""
        hints = get_type_hints(self.function, localns=LATE)
        found: dict[str, tuple[Any, bool]] = {}
        for one in list(inspect.signature(self.function).parameters.values())[1:]:
            if one.kind is inspect.Parameter.VAR_KEYWORD:
                fields = get_type_hints(get_args(hints[one.name])[0])
                found |= {name: (hint, name == "conversation") for name, hint in fields.items()}
            else:
                found[one.name] = hints[one.name], one.default is inspect.Parameter.empty
        return found

    def arguments(self, *, full: bool) -> st.SearchStrategy[dict[str, Any]]:
        """Legal arguments: all of them, or those that must be given."""
        told = {name: hint for name, (hint, needed) in self.parameters().items() if needed or full}
        return st.fixed_dictionaries({name: _given(hint) for name, hint in told.items()})

    def request(self, arguments: Mapping[str, Any]) -> httpx.Request:
        """What it sends first."""

        async def called() -> None:
            async with Client("http://service", transport=httpx.MockTransport(_stop)) as client:
                done = getattr(client, self.name)(**arguments)
                if isinstance(done, Coroutine):
                    await done
                elif isinstance(done, AsyncGenerator):
                    await anext(done)
                else:
                    assert isinstance(done, AbstractAsyncContextManager)
                    await done.__aenter__()

        try:
            asyncio.run(called())
        except Sent as sent:
            return sent.request
        raise AssertionError(f"Client.{self.name} sent nothing")

    @property
    def answers(self) -> Any:
        """The type of what it gives: of a list, that of an entry."""
        hint = get_type_hints(self.function, localns=LATE)["return"]
        return get_args(hint)[0] if get_origin(hint) in LISTS else hint

    @property
    def is_list(self) -> bool:
        """Whether it gives one entry after the other."""
        return get_origin(get_type_hints(self.function, localns=LATE)["return"]) is AsyncGenerator


LISTS = (AsyncGenerator, AsyncIterator)


def _given(hint: Any) -> st.SearchStrategy[Any]:
    """What may be given there; never None, which means that nothing is given."""
    arms = [arm for arm in get_args(hint) if arm is not type(None)] if type(None) in get_args(hint) else [hint]
    if arms == [str]:
        return plain
    if set(get_args(MessageLike)) <= {*arms, *get_args(hint)}:
        return plain  # a Message says its role, which is an argument too
    assert Turn not in arms
    if arms == [str, SpawnPlan]:
        return plain
    if len(arms) == 1 and isinstance(arms[0], type) and issubclass(arms[0], Enum):
        return st.just(list(arms[0])[-1])  # the first one is often the default, which a body leaves out
    return st.one_of(*(st.lists(of(Message), max_size=2) if one == Sequence[MessageLike] else of(one) for one in arms))


def verbs() -> list[Verb]:
    """All public methods that send something."""
    return [Verb(name) for name in vars(ClientVerbs) if not name.startswith("_")]


def operation_of(request: httpx.Request, document: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The template of the document's path that the request is for, and what stands in its places."""
    parts = request.url.raw_path.decode().partition("?")[0].split("/")
    for template, operations in document["paths"].items():
        places = template.split("/")
        if len(places) != len(parts) or request.method.lower() not in operations:
            continue
        pairs = list(zip(places, parts, strict=True))
        if all(place == part or place.startswith("{") for place, part in pairs):
            exact = sum(place == part for place, part in pairs)
            found = {place[1:-1]: unquote(part) for place, part in pairs if place.startswith("{")}
            if exact == max(_fits(other, parts) for other in document["paths"]):
                return template, found
    raise AssertionError(f"the document has no {request.method} {request.url.path}")


def _fits(template: str, parts: list[str]) -> int:
    """How many parts stand in the template as they are; of those that do not fit, none."""
    places = template.split("/")
    if len(places) != len(parts):
        return -1
    same = [place == part for place, part in zip(places, parts, strict=True)]
    return sum(same) if all(one or place.startswith("{") for one, place in zip(same, places, strict=True)) else -1
