"""The URL of a Redis: where it is, how messages call it, and the options in its query."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from skillweave import StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave.values import Checked

PLAIN, SECURE, SOCKET = "redis", "rediss", "unix"
_CLUSTER = "redis+cluster", "rediss+cluster"
_FORM = "redis://user:password@host:6379/0"
_ENCODE = f"write {_FORM}, with special characters of the password percent-encoded"
_WHOLE = "connections", "retries"
_LEAST, _LONGEST_SECONDS, _LONGEST_DAYS = 0.001, 86_400.0, 36_500.0


@dataclass(frozen=True, slots=True)
class Options:
    """How a store works with its server; each may also stand in the query of its URL.

    One process has at most `connections` for each event loop, and for each node of a cluster; who comes when all are in
    use waits `wait_seconds` for one. A call takes at most `call_seconds`, with connecting, at most `connect_seconds` at
    a time, and with `retries` after the first try. Conversations that nobody used for `keep_days` are forgotten, with
    what people decided in them; None keeps them for ever.
    """

    connections: int = 50
    wait_seconds: float = 5.0
    connect_seconds: float = 2.0
    call_seconds: float = 5.0
    retries: int = 2
    keep_days: float | None = None

    def __post_init__(self) -> None:
        """Raises InvalidValue for a number that is none, or out of range."""
        checked = Checked("RedisStore")
        checked.whole("connections", self.connections, 1)
        checked.whole("retries", self.retries, 0)
        for name in ("wait_seconds", "connect_seconds", "call_seconds"):
            checked.number(name, getattr(self, name), _LEAST, _LONGEST_SECONDS)
        if self.keep_days is not None:
            checked.number("keep_days", self.keep_days, _LEAST, _LONGEST_DAYS)

    @property
    def try_seconds(self) -> float:
        """How long one try may wait for the answer, so that all of them have their share."""
        return self.call_seconds / (self.retries + 1)

    @property
    def keep_seconds(self) -> int | None:
        """How long a conversation is kept since it was used last."""
        return None if self.keep_days is None else max(1, round(self.keep_days * 86_400))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a Redis is. `shown` is how messages call it, without any user or password.

    `url` is what the client library is given; `secrets` are the texts in it that nobody may be shown.
    """

    shown: str
    options: Options
    cluster: bool
    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def secure(self) -> bool:
        """Whether it is reached by TLS."""
        return self.url.startswith(SECURE)

    def without_secrets(self, text: str) -> str:
        """The text with `***` for the password."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text

    def damaged(self, key: str, what: str) -> StoreUnavailable:
        """The error that a key does not hold what was written there."""
        return StoreUnavailable(
            f"the key {key[:200]!r} in the Redis at {self.shown} is damaged ({what:.100}); remove it with DEL, or "
            "restore a backup"
        )


def place_of(url: str, given: Mapping[str, float | None]) -> Place:
    """What a URL says, with the options that are `given` beside it in place of its own, where they are not None.

    Raises InvalidValue, never with a part of the URL that can belong to a password.
    """
    parts = _split(url)
    cluster, scheme = parts.scheme in _CLUSTER, parts.scheme.removesuffix("+cluster")
    if scheme not in (PLAIN, SECURE, SOCKET):
        raise InvalidValue(f"a Redis is not reached by {parts.scheme[:20]!r}; {_ENCODE}, or use rediss:// for TLS")
    own, others = _options(parts, scheme)
    own |= {name: value for name, value in given.items() if value is not None}
    server = parts._replace(scheme=scheme, query=urlencode(others)).geturl()
    found = tuple(dict.fromkeys(text for text in (parts.password, unquote(parts.password or "")) if text))
    return Place(_shown(parts, scheme), Options(**own), cluster, server, found)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.port != 0 and not parts.fragment and "@" not in f"{parts.path}{parts.query}":
            return parts
    except ValueError:
        pass  # it may show a part of the password
    raise InvalidValue(f"the URL of the Redis cannot be read; {_ENCODE}")


def _options(parts: SplitResult, scheme: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Our options in the query, and those of TLS and of a socket, which are the client library's."""
    own: dict[str, Any] = {}
    others: dict[str, str] = {}
    names = [one.name for one in fields(Options)]
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in names:
            own[name] = _number(name, value)
        elif (scheme == SECURE and name.startswith("ssl_")) or (scheme == SOCKET and name == "db"):
            others[name] = value
        else:
            known = ", ".join(names)
            raise InvalidValue(
                f"{name[:40]!r} is no option of a Redis; there are {known}, and with rediss:// those that begin with "
                "ssl_, such as ssl_ca_certs"
            )
    return own, others


def _shown(parts: SplitResult, scheme: str) -> str:
    if scheme == SOCKET:
        return f"{scheme}://{unquote(parts.path)}"
    database = parts.path.strip("/") or "0"
    if not database.isascii() or not database.isdigit():
        raise InvalidValue(f"the URL of the Redis names no database by its number; {_ENCODE}")
    cluster = parts.scheme in _CLUSTER
    if cluster and int(database) != 0:
        raise InvalidValue(f"a Redis Cluster has the database 0 only, not {int(database)}; leave it out of the URL")
    host = parts.hostname or "localhost"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{parts.port or 6379}{'' if cluster else f'/{int(database)}'}"


def _number(name: str, value: str) -> float:
    try:
        return int(value) if name in _WHOLE else float(value)
    except ValueError:
        raise InvalidValue(f"`{name}` of the Redis is {value[:40]!r}, which is no number") from None
