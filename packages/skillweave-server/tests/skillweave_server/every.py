"""Every endpoint that is declared, and a request for each: what it takes is read from the published document."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote

from skillweave.api import PREFIX
from skillweave_server.app import GROUPS
from skillweave_server.endpoints import Endpoint

T = TypeVar("T")
Law: TypeAlias = Callable[[T, Endpoint], Awaitable[None]]

EVERY: tuple[Endpoint, ...] = tuple(one for group in GROUPS for one in group.declared)
WITH_BODY = tuple(one for one in EVERY if one.takes is not None)
WITH_ID = tuple(one for one in EVERY if "{" in one.path)
_DEEPEST = 6


def name_of(endpoint: Endpoint) -> str:
    """What tests call an endpoint."""
    return f"{endpoint.method} {endpoint.path}"


def takes_key(endpoint: Endpoint) -> bool:
    """Whether the endpoint takes an Idempotency-Key."""
    return "idempotency_key" in signature(endpoint.handler).parameters


def target_of(endpoint: Endpoint, ids: Mapping[str, str] = {}, *, other: str = "x-1") -> str:
    """The path of the endpoint with these ids, by the names of its parameters, and `other` for the rest."""
    parts = []
    for part in endpoint.path.split("/"):
        before, brace, rest = part.partition("{")
        name, _, after = rest.partition("}")
        known = ids.get(name.partition(":")[0], other)
        parts.append(f"{before}{quote(known, safe='')}{after}" if brace else part)
    return PREFIX + "/".join(parts)


@dataclass(frozen=True, slots=True)
class Laws(Generic[T]):
    """What holds at every endpoint: all laws are asked in one visit, and each that is broken is named."""

    known: dict[Law[T], tuple[Endpoint, ...]] = field(default_factory=dict)

    def at(self, endpoints: tuple[Endpoint, ...] = EVERY) -> Callable[[Law[T]], Law[T]]:
        """Declare what follows as a law of these endpoints."""

        def declare(law: Law[T]) -> Law[T]:
            self.known[law] = endpoints
            return law

        return declare

    async def visit(self, service: T, endpoint: Endpoint) -> None:
        """Fails with every law that does not hold there."""
        broken = []
        for law, endpoints in self.known.items():
            if endpoint in endpoints:
                try:
                    await law(service, endpoint)
                except Exception as error:  # noqa: BLE001 - every law is asked, and all that are broken are named
                    error.add_note(f"the law that is broken: {law.__name__} at {name_of(endpoint)}")
                    broken.append(error)
        if broken:
            raise ExceptionGroup(", ".join(str(one.__notes__[-1]) for one in broken), broken)


class Bodies:
    """Bodies that have every key of what an endpoint takes, made from the schemas of the OpenAPI document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def of(self, endpoint: Endpoint, ids: Mapping[str, str] = {}) -> Any:
        """The body as JSON data, None where the endpoint takes none; `ids` are texts by the names of keys."""
        if endpoint.takes is None:
            return None
        schema = self._operation(endpoint)["requestBody"]["content"]["application/json"]["schema"]
        return self._sample(schema, ids, "", 0)

    def sent(self, endpoint: Endpoint, ids: Mapping[str, str] = {}) -> bytes:
        """The body as it is sent."""
        return b"" if endpoint.takes is None else json.dumps(self.of(endpoint, ids)).encode()

    def parameters(self, endpoint: Endpoint, where: str) -> list[str]:
        """The names of its parameters in the `path`, the `query` or the `header`."""
        return [one["name"] for one in self._operation(endpoint).get("parameters", ()) if one["in"] == where]

    def _operation(self, endpoint: Endpoint) -> Any:
        return self._document["paths"][PREFIX + _documented(endpoint.path)][endpoint.method.lower()]

    def _sample(self, schema: Any, ids: Mapping[str, str], name: str, depth: int) -> Any:
        if schema is True or not schema:
            return ids.get(name, "x")
        if "$ref" in schema:
            return self._sample(self._resolved(schema["$ref"]), ids, name, depth)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._sample(_preferred(schema[several], deep=depth >= _DEEPEST), ids, name, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema:
            if depth > _DEEPEST:
                return {}
            known = schema.get("properties", {})
            made = {key: self._sample(inner, ids, key, depth + 1) for key, inner in known.items()}
            more = schema.get("additionalProperties")
            return made if known or not isinstance(more, dict) else {"k": self._sample(more, ids, name, depth + 1)}
        if kind == "array":
            inner = schema.get("prefixItems") or [schema.get("items", True)]
            return [] if depth > _DEEPEST else [self._sample(one, ids, name, depth + 1) for one in inner]
        return {"integer": 1, "number": 1.5, "boolean": True, "null": None}.get(kind or "", ids.get(name, "x"))

    def _resolved(self, place: str) -> Any:
        found: Any = self._document
        for part in place.removeprefix("#/").split("/"):
            found = found[part]
        return found


def leaves(data: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places of all values in JSON data that hold no other."""
    if isinstance(data, dict):
        return [found for key, inner in data.items() for found in leaves(inner, (*place, key))]
    if isinstance(data, list):
        return [found for number, inner in enumerate(data) for found in leaves(inner, (*place, number))]
    return [place]


def changed(data: Any, place: tuple[str | int, ...], value: Any) -> Any:
    """The data with another value at that place."""
    if not place:
        return value
    first, *rest = place
    if isinstance(data, dict):
        return {**data, first: changed(data[first], tuple(rest), value)}
    return [changed(inner, tuple(rest), value) if number == first else inner for number, inner in enumerate(data)]


def _documented(path: str) -> str:
    return path.replace(":path}", "}")


def _preferred(several: list[Any], *, deep: bool) -> Any:
    """The richest one, or the poorest where enough is nested already."""
    some = [one for one in several if one.get("type") != "null"]
    return several[-1] if deep or not some else max(some, key=lambda one: ("$ref" in one, one.get("type") == "object"))
