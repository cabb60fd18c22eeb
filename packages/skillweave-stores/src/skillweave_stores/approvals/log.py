"""The log of approvals: each row is chained to the one before by an HMAC, so that a change to any of them shows."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from skillweave.approvals import LogRow
from skillweave.errors import InvalidValue, StoreUnavailable
from skillweave.values import Portable

BEGINNING = "0" * 64
"""What stands before the first row."""


@dataclass(frozen=True, slots=True)
class LogHead(Portable):
    """Where the log of a tenant ends, sealed by itself, so that rows cannot go from its end unseen."""

    number: int
    last_seal: str
    seal: str


class ApprovalLogBroken(StoreUnavailable):
    """A log that does not end as it was sealed: it was changed, or the key is another one; nothing is added to it."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"the log of approvals in {place} does not end as it was sealed ({why}), and nothing was written; give "
            "the key that it was made with, or see what `verify` finds and restore a copy"
        )


def sealed(key: bytes, tenant: str, before: str, row: LogRow) -> str:
    """The seal of a row that comes after the one with the seal `before`."""
    return _mac(key, "row", tenant, before, str(row.number), row.approval, row.kind, repr(row.at), row.document)


def sealed_head(key: bytes, tenant: str, number: int, last_seal: str) -> str:
    """The seal of the end of a log."""
    return _mac(key, "head", tenant, str(number), last_seal)


def first_head(key: bytes, tenant: str) -> LogHead:
    """The end of a log without rows."""
    return LogHead(0, BEGINNING, sealed_head(key, tenant, 0, BEGINNING))


def is_sealed(key: bytes, tenant: str, head: LogHead) -> bool:
    """Whether the end of a log has the seal that belongs to it."""
    return _equal(head.seal, sealed_head(key, tenant, head.number, head.last_seal))


def row_kept(row: LogRow) -> str:
    """What a verdict answers of its row: the number and the seal."""
    return f"{row.number}:{row.seal}"


def read_kept(kept: Collection[str]) -> Mapping[int, str]:
    """Returns the seals by number of what `row_kept` wrote; raises InvalidValue for another text."""
    found: dict[int, str] = {}
    for text in kept:
        number, _, seal = text.partition(":")
        if not (number.isascii() and number.isdigit() and seal):
            raise InvalidValue(f"{text[:80]!r} is no row of a log of approvals; give the `logged` of a verdict")
        found[int(number)] = seal
    return found


def next_row(
    key: bytes, tenant: str, head: LogHead, *, approval: str, kind: str, at: float, document: str
) -> tuple[LogRow, LogHead]:
    """The row that comes after the end of a log, and the end afterwards."""
    row = LogRow(head.number + 1, approval, kind, at, document, "")
    seal = sealed(key, tenant, head.last_seal, row)
    return replace(row, seal=seal), LogHead(row.number, seal, sealed_head(key, tenant, row.number, seal))


@dataclass(slots=True)
class LogCheck:
    """Checks a log row by row, in the order of their numbers; `found` is what is wrong so far, each in words.

    `kept` are the seals of rows, by number, as conversations and people have them.
    """

    key: bytes = field(repr=False)
    tenant: str
    kept: Mapping[int, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    _number: int = 0
    _before: str = BEGINNING

    def add(self, row: LogRow) -> None:
        """Look at the next row."""
        if row.number != self._number + 1:
            self.found.append(f"row {self._number + 1} is missing: the next one is {row.number}")
        elif not _equal(row.seal, sealed(self.key, self.tenant, self._before, row)):
            self.found.append(f"row {row.number} was changed or put in another place: its seal does not fit")
        if not _equal(self.kept.get(row.number, row.seal), row.seal):
            self.found.append(f"row {row.number} is another one than a conversation keeps: the log was written anew")
        self._before, self._number = row.seal, row.number

    def end(self, head: LogHead | None) -> tuple[str, ...]:
        """Look at the end, after all rows; everything that is wrong, empty where the log is whole."""
        if head is not None and not is_sealed(self.key, self.tenant, head):
            self.found.append("the end of the log was changed: its seal does not fit")
        end = (0, BEGINNING) if head is None else (head.number, head.last_seal)
        if end != (self._number, self._before):
            message = (
                f"the log ends at row {self._number}, and its end says {end[0]}: rows were removed, added or changed"
            )
            self.found.append(message)
        if (last := max(self.kept, default=0)) > self._number:
            message = f"the log ends at row {self._number}, and a conversation keeps row {last}: its end was cut off"
            self.found.append(message)
        return tuple(self.found)


def _equal(one: str, other: str) -> bool:
    # As bytes, as texts that are not ASCII cannot be compared so; somebody may have put any into a row.
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def _mac(key: bytes, *parts: str) -> str:
    # Each part goes in with its length, so that no two lists of parts read the same.
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hmac.new(key, joined.encode("utf-8", "surrogatepass"), sha256).hexdigest()
