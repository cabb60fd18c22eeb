"""What went wrong at a database, in words: the place, why, and what helps; told by the code that the server gives."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from skillweave import StoreUnavailable
from skillweave.errors import StoreSilent
from skillweave_stores.facts import LATER, SOON

_ENCODING = "cannot hold all characters; make the database with the encoding UTF8"
_ANSWERS: Mapping[str, tuple[str, float | None]] = MappingProxyType(
    {
        "28000": ("refuses the user; check its name, and the server's pg_hba.conf", None),
        "28P01": ("refuses the password; check it, with special characters percent-encoded in a URL", None),
        "3D000": ("has no database of that name; create it, or correct the name", None),
        "53100": ("has a full disk, and nothing was written; free some space", LATER),
        "53200": ("has no memory left; try again, or give it more", LATER),
        "53300": (
            "has no connection left; let it have more (max_connections), or give `connections` a lower number",
            SOON,
        ),
        "57014": ("ended the statement, which took too long; try again, or give `timeout` a higher number", SOON),
        "57P01": ("is shutting down; try again when it is back", SOON),
        "57P02": ("crashed; try again when it is back", SOON),
        "57P03": ("is starting; try again soon", SOON),
        "22001": ("does not take a text of that length; shorten it", None),
        "22021": (_ENCODING, None),
        "22P05": (_ENCODING, None),
        "25006": ("is read-only, as a replica is; name the primary", None),
        "42501": (
            "does not allow this user to do that; grant it all rights on the tables of `skillweave store migrate`",
            None,
        ),
        "42P01": ("has not all tables of skillweave; run `skillweave store migrate --store URL`", None),
        "55P03": ("is held by another process that migrates; try again", SOON),
        "SQLITE_BUSY": ("is locked by another process; try again, or give `timeout` a higher number", SOON),
        "SQLITE_CANTOPEN": ("cannot be opened; check the folder and its rights", None),
        "SQLITE_CORRUPT": ("is damaged; restore a copy of it", None),
        "SQLITE_FULL": ("cannot grow, as on a full disk, and nothing was written; free some space", LATER),
        "SQLITE_IOERR": ("cannot be read or written; check the disk", LATER),
        "SQLITE_NOTADB": ("is no SQLite file; name another one", None),
        "SQLITE_READONLY": ("may only be read; check its rights and those of its folder", None),
    }
)
"""Codes with a remedy of their own, and after how many seconds to try again: SQLSTATE, and the names of SQLite."""
_PASSING_CODES = frozenset({"40001", "40P01", "57P01", "57P02", "57P03", "53300", "SQLITE_BUSY"})
"""A lost race, a deadlock, a restart: the same again may succeed."""


_AT_CONNECTING: Mapping[str, str] = MappingProxyType(
    {
        r"password authentication failed|no password supplied": "28P01",
        r'role ".*" does not exist|no pg_hba\.conf entry|authentication failed': "28000",
        r'database ".*" does not exist': "3D000",
        r"permission denied for database": "42501",
        r"too many clients|too many connections|remaining connection slots": "53300",
        r"the database system is (starting up|in recovery mode|not yet accepting)": "57P03",
        r"the database system is shutting down": "57P01",
    }
)
"""What a server says that lets nobody in, and the code that goes with it, which its driver leaves out then."""


class Interrupted(StoreUnavailable):
    """The connection ended or the call lost a race: the same again may succeed."""


def described(error: Exception, place: str) -> StoreUnavailable:
    """The failure of a database as an error that names the place and what helps, never a password or a parameter."""
    if isinstance(error, NoConnection):
        message = f"all connections to {place} are in use; give `connections` a higher number, or let fewer turns run"
        return StoreUnavailable(message, retry_after=SOON)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlstate", None) or _code_of_sqlite(cause) or _code_at_connecting(str(cause))
    if code in _ANSWERS:
        words, retry_after = _ANSWERS[code]
        kind = Interrupted if code in _PASSING_CODES else StoreUnavailable
        return kind(f"{place} {words}", retry_after=retry_after)
    lost = error.connection_invalidated if isinstance(error, DBAPIError) else hasattr(error, "sqlstate")
    kind = Interrupted if lost or code in _PASSING_CODES else StoreUnavailable
    if (code and not lost) or "FATAL:" in str(cause):
        return kind(f"{place} refuses ({code} {_first_line(cause)}); see what its log says", retry_after=SOON)
    return kind(
        f"{place} does not answer ({_first_line(cause)}); check that it runs and can be reached", retry_after=SOON
    )


def too_late(place: str, seconds: float, connections: int | None = None) -> StoreSilent:
    """The error that a call ended without an answer; `connections` where it had not even one of so many."""
    if connections is None:
        message = "did not answer within {:g} seconds; check it and the network, or give `timeout` a higher number"
        return StoreSilent(f"{place} {message.format(seconds)}", retry_after=SOON)
    return StoreSilent(
        f"{place} gave no connection within {seconds:g} seconds: it does not answer, or all {connections} are in use; "
        "check it and the network, let fewer turns run, or give `connections` a higher number",
        retry_after=SOON,
    )


def closed(place: str) -> StoreUnavailable:
    """The error of a call after `close`."""
    return StoreUnavailable(f"{place} is closed; open it again")


def still_migrating(place: str) -> StoreUnavailable:
    """The error that nobody waits any longer for tables that are being brought up to date."""
    return StoreUnavailable(
        f"the tables of {place} are still being brought up to date, or it fell silent meanwhile; try again later, or "
        "run `skillweave store migrate --store URL` before the service starts",
        retry_after=SOON,
    )


def _code_at_connecting(message: str) -> str:
    return next((code for said, code in _AT_CONNECTING.items() if re.search(said, message)), "")


def _code_of_sqlite(cause: BaseException | None) -> str:
    """The name of the failure without what kind of it it is: `SQLITE_IOERR` for `SQLITE_IOERR_WRITE`."""
    return "_".join(getattr(cause, "sqlite_errorname", "").split("_")[:2])


def _first_line(error: object) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
