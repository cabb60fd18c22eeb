"""Real servers for the pages that name one: a PostgreSQL and a Redis, each empty when a page begins."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave_testing.servers import PostgresServer, RedisServer

POSTGRES, REDIS = "db.example:5432", "kv.example:6379"
"""The addresses that pages give; real ones are as long, so that lines of an output break at the same places."""
USER, DATABASE = "weaver", "skills"


@contextmanager
def real_servers(text: str) -> Iterator[Mapping[str, str]]:
    """The addresses of running servers, by those that the text of a page names."""
    found = {}
    if POSTGRES in text:
        found[POSTGRES] = _empty_postgres(_postgres())
    if REDIS in text:
        found[REDIS] = _empty_redis(_redis())
    for shown, real in found.items():
        if len(shown) != len(real):
            raise ValueError(f"{real} is not as long as {shown}, so that outputs would differ; start another server")
    yield found


@cache
def _postgres() -> "PostgresServer":
    from skillweave_testing.servers import PostgresServer

    server = PostgresServer()
    server.start()
    return server


@cache
def _redis() -> "RedisServer":
    from skillweave_testing.servers import RedisServer

    server = RedisServer()
    server.start()
    return server


def _empty_postgres(server: "PostgresServer") -> str:
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        roles = connection.execute("SELECT rolname FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user")
        for (role,) in roles.fetchall():
            connection.execute(f'DROP ROLE "{role}"')
        connection.execute(f"CREATE ROLE {USER} LOGIN CREATEROLE")
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER {USER}")
    return _address(server.port)


def _empty_redis(server: "RedisServer") -> str:
    server.flush()
    return _address(server.port)


def _address(port: int) -> str:
    from skillweave_testing.servers import HOST

    return f"{HOST}:{port}"


def table_of(url: str, query: str) -> str:
    """What a SQL block prints: the rows of its last statement in columns, nothing where that has none."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        answer = connection.execute(query)  # type: ignore[call-overload]
        while answer.nextset():
            pass
        if answer.description is None:
            return ""
        rows = [[column.name for column in answer.description], *([_cell(one) for one in row] for row in answer)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    import json

    return "" if value is None else json.dumps(value) if isinstance(value, list | dict) else str(value)
