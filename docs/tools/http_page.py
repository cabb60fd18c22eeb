"""The page of the service's endpoints, made from their declarations."""

import inspect
import json
from collections.abc import Iterable, Iterator

from docs.tools.plain import plain
from skillweave_server.app import GROUPS, describe
from skillweave_server.endpoints import Endpoint

ANSWER = """\
Every endpoint of `skillweave serve`, with the scope that a key needs for it. All paths begin with `/api/v1`. What is
taken and answered in every detail is in the [OpenAPI document](openapi.json), which the service gives too, at
`GET /api/v1/openapi.json`. Keys, limits and problems are in [Access to the service](../concepts/service-access.md)."""


def http_page(note: str) -> str:
    """Every endpoint by its group, in the order of the document."""
    parts = ["# HTTP API", "", note, ANSWER]
    for group in GROUPS:
        parts += [
            "",
            f"## {group.group.capitalize()}",
            "",
            "| endpoint | scope | what it does | problems of its own |",
            "|---|---|---|---|",
            *_rows(group.declared),
        ]
    return "\n".join(parts) + "\n"


def openapi_document() -> str:
    """The OpenAPI document of the service."""
    return json.dumps(describe(), indent=1, ensure_ascii=False) + "\n"


def _rows(declared: Iterable[Endpoint]) -> Iterator[str]:
    for endpoint in declared:
        path = endpoint.path.replace(":path}", "}")
        first = plain(inspect.getdoc(endpoint.handler) or "").partition("\n")[0].replace("|", "\\|")
        problems = ", ".join(map(str, endpoint.problems)) or "–"
        yield f"| `{endpoint.method} {path}` | `{endpoint.scope.value}` | {first} | {problems} |"
