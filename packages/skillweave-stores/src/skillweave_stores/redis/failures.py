"""What an error of a Redis means: one line with the server, what is wrong, and the remedy."""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from traceback import walk_tb
from types import MappingProxyType

from redis import exceptions

from skillweave import StoreUnavailable
from skillweave.errors import StoreSilent
from skillweave_stores.facts import LATER, SOON
from skillweave_stores.redis.place import Place

_BY_KIND: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.AuthenticationError, "WRONGPASS"),
    (exceptions.AuthenticationWrongNumberOfArgsError, "WRONGPASS"),
    (exceptions.AuthorizationError, "NOPERM"),
    (exceptions.NoPermissionError, "NOPERM"),
    (exceptions.BusyLoadingError, "LOADING"),
    (exceptions.ReadOnlyError, "READONLY"),
    (exceptions.OutOfMemoryError, "OOM"),
    (exceptions.AskError, "MOVED"),
    (exceptions.MasterDownError, "MASTERDOWN"),
    (exceptions.ClusterDownError, "CLUSTERDOWN"),
    (exceptions.TryAgainError, "CLUSTERDOWN"),
)
"""The word that stands for a kind of error: what a server's answer begins with, which the client library takes away."""
_CODE = re.compile(r"\b(WRONGPASS|NOAUTH|NOPERM|LOADING|READONLY|OOM|WRONGTYPE|MISCONF|NOREPLICAS|BUSY)\b")

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "WRONGPASS": "refuses the user or the password; check both in the URL",
        "NOAUTH": "wants a password; write one into the URL",
        "NOPERM": "does not let this user do what a ledger needs; allow it +@read +@write +@scripting +@connection "
        "+time on the keys ~skillweave:* and ~skill:ledger:*",
        "LOADING": "is loading its data; try again when it has",
        "READONLY": "is a replica, which takes no writes; name its primary in the URL",
        "OOM": "has no memory left (maxmemory), nothing was written; give it more, or let conversations expire with "
        "`keep_days`",
        "WRONGTYPE": "holds a key of another type where a conversation should be; find it with TYPE and remove it, or "
        "use another database",
        "MISCONF": "cannot write to its disk, and takes no writes until it can; look into its log",
        "NOREPLICAS": "has too few replicas to take writes (min-replicas-to-write); look after them",
        "BUSY": "is busy with a script of somebody else; try again, or end that with SCRIPT KILL",
        "MOVED": "is a node of a cluster; write redis+cluster:// in place of redis://",
        "MASTERDOWN": "has lost its primary; try again when there is one",
        "CLUSTERDOWN": "is a cluster of which a part is missing; try again when it is complete",
        "SCRIPTS": "runs no Lua scripts, which a ledger needs; use a Redis from version 6 on, or a Valkey",
        "NO_DATABASE": "has no database of that number; write a lower one at the end of the URL",
        "CLIENTS": "has no connection left for another client (maxclients); raise it, or use fewer `connections`",
        "NO_CLUSTER": "is not a cluster; write redis:// in place of redis+cluster://",
        "REFUSED": "refuses connections; start it, or check host and port in the URL",
        "NAME": "has a host name that nobody knows; check it in the URL",
        "TLS": "and this machine do not agree on TLS; check the certificates, and use rediss:// with TLS, redis:// "
        "without",
        "BROKEN": "broke the connection off; try again when it is up",
    }
)
_NEVER = ("WRONGPASS", "NOAUTH", "NOPERM", "WRONGTYPE", "MOVED", "SCRIPTS", "NO_DATABASE", "NO_CLUSTER", "TLS")
"""What waiting does not help."""
_LATER = ("OOM", "MISCONF", "NOREPLICAS", "NAME")
_RAISED = (exceptions.RedisError, exceptions.RedisClusterException, OSError, TimeoutError, UnicodeEncodeError)
"""What the client library raises, and what it lets through."""
_BROKEN_OFF = (RuntimeError, AttributeError)
"""What the client library falls over where a connection is gone: uvloop raises RuntimeError on a write to a transport
that is closed, and a cluster's client uses connections that another call of it has closed."""


@contextmanager
def mapped_failures(place: Place) -> Iterator[None]:
    """Raises StoreUnavailable for a failure of the client library, and everything else as it is."""
    try:
        yield
    except Exception as error:
        if not is_failure(error):
            raise
        hidden = any(secret in str(error) for secret in place.secrets)
        raise explained(error, place) from (None if hidden else error)


def is_failure(error: BaseException) -> bool:
    """Returns whether the error is the client library's, and not one of ours."""
    if isinstance(error, _BROKEN_OFF):
        frames = (str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__))
        return any(name.partition(".")[0] == "redis" for name in frames)
    return isinstance(error, _RAISED)


def explained(error: BaseException, place: Place) -> StoreUnavailable:
    """The error for whoever called, without the password."""
    said = place.without_secrets(f"{error!s:.300}")
    if isinstance(error, exceptions.TimeoutError | TimeoutError):
        seconds = place.options.call_seconds
        tls = ", whether it has TLS" if place.secure else ""
        return StoreSilent(
            f"the Redis at {place.shown} did not answer within {seconds:g} s; check the network{tls} and how busy it "
            "is, or give it longer with `call_seconds`",
            retry_after=SOON,
        )
    if isinstance(error, UnicodeEncodeError):
        return StoreUnavailable(
            f"a name cannot be stored in the Redis at {place.shown} because it holds half of a surrogate pair; clean "
            "the text first"
        )
    code = _code(error)
    meaning = _MEANINGS.get(code, "answers with an error; look into its log and try again")
    after = None if code in _NEVER else LATER if code in _LATER else SOON
    return StoreUnavailable(f"the Redis at {place.shown} {meaning} ({said})", retry_after=after)


def no_free_connection(place: Place) -> StoreUnavailable:
    """The error of a call that waited for a connection in vain."""
    options = place.options
    return StoreUnavailable(
        f"all {options.connections} connections to the Redis at {place.shown} were in use for {options.wait_seconds:g} "
        "s; raise `connections`, or have fewer turns at once",
        retry_after=SOON,
    )


def _code(error: BaseException) -> str:
    text = str(error)
    code = next((code for kind, code in _BY_KIND if isinstance(error, kind)), "")
    if not code and (found := _CODE.search(text)):
        code = found.group(1)
    if code == "WRONGPASS" and "uthentication required" in text:
        return "NOAUTH"
    if code:
        return code
    if "no permissions" in text or "can't run this command" in text:  # the latter inside a script, before Redis 7.2
        return "NOPERM"
    if "unknown command" in text.lower() and "eval" in text.lower():
        return "SCRIPTS"
    if "DB index is out of range" in text:
        return "NO_DATABASE"
    if "max number of clients" in text:
        return "CLIENTS"
    if "cluster mode is not enabled" in text.lower() or "cluster support disabled" in text:
        return "NO_CLUSTER"
    return _by_cause(error)


def _by_cause(error: BaseException) -> str:
    causes = tuple(_causes(error))
    for kind, code in ((ssl.SSLError, "TLS"), (ConnectionRefusedError, "REFUSED"), (socket.gaierror, "NAME")):
        if any(isinstance(cause, kind) for cause in causes):
            return code
    if "refused" in str(error).lower():
        return "REFUSED"
    connection = any(isinstance(cause, (exceptions.ConnectionError, OSError, *_BROKEN_OFF)) for cause in causes)
    return "BROKEN" if connection else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it came from."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            left += [one.__cause__, one.__context__]
