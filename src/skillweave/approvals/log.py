"""The log of approvals: each row is chained to the one before by an HMAC, so that a change to any of them shows."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

from skillweave.codec import Portable

BEGINNING = "0" * 64
"""What stands before the first row."""


@dataclass(frozen=True, slots=True)
class LogRow(Portable):
    """One step of one approval: `kind` is created, decided, refused, applied or escalated.

    `number` counts the rows of a tenant from 1 on, `document` is the step as JSON text, `at` seconds of the store's
    clock. `seal` is an HMAC-SHA-256 in hex over this row and the seal of the one before.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...",)

    number: int
    approval: str
    kind: str
    at: float
    document: str
    seal: str


@dataclass(frozen=True, slots=True)
class LogHead(Portable):
    """Where the log of a tenant ends, sealed by itself, so that rows cannot go from its end unseen."""

    number: int
    last_seal: str
    seal: str


def sealed(key: bytes, tenant: str, before: str, row: LogRow) -> str:
    """The seal of a row that comes after the one with the seal `before`."""
    return _mac(key, "row", tenant, before, str(row.number), row.approval, row.kind, repr(row.at), row.document)


def sealed_head(key: bytes, tenant: str, number: int, last_seal: str) -> str:
    """The seal of the end of a log."""
    return _mac(key, "head", tenant, str(number), last_seal)


def problems(key: bytes, tenant: str, rows: Iterable[LogRow], head: LogHead | None) -> tuple[str, ...]:
    """What is wrong with a log, each in words with the number of the row; empty where it is whole.

    `rows` are all rows of the tenant in the order of their numbers.
    """
    found: list[str] = []
    before, number = BEGINNING, 0
    for row in rows:
        if row.number != number + 1:
            found.append(f"row {number + 1} is missing: the next one is {row.number}")
        elif not hmac.compare_digest(row.seal, sealed(key, tenant, before, row)):
            found.append(f"row {row.number} was changed or put in another place: its seal does not fit")
        before, number = row.seal, row.number
    end = LogHead(0, BEGINNING, "") if head is None else head
    if head is not None and not hmac.compare_digest(head.seal, sealed_head(key, tenant, head.number, head.last_seal)):
        found.append("the end of the log was changed: its seal does not fit")
    if (end.number, end.last_seal) != (number, before):
        found.append(f"the log ends at row {number}, and its end says {end.number}: rows were removed or added")
    return tuple(found)


def _mac(key: bytes, *parts: str) -> str:
    # Each part goes in with its length, so that no two lists of parts read the same.
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hmac.new(key, joined.encode("utf-8", "surrogatepass"), sha256).hexdigest()
