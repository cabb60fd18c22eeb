"""What all operations share: their path, lists in pages, and keys of requests that are sent again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillweave.approvals.case import ApprovalCase, LogRow
from skillweave.codec import Portable

T = TypeVar("T")
P = TypeVar("P")

PREFIX = "/api/v1"
"""What the path of every operation begins with."""
MOST_LISTED = 100
"""Entries of one page."""


@dataclass(frozen=True, slots=True)
class ConversationPage(Portable):
    """Ids of conversations; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[str, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalPage(Portable):
    """Approvals without their `state`; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[ApprovalCase, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class LogPage(Portable):
    """Rows of the log of approvals; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[LogRow, ...]
    next: str | None = None


def page(
    kind: Callable[[tuple[T, ...], str | None], P], found: Sequence[T], limit: int, place: Callable[[T], str]
) -> P:
    """The first `limit` of what was found as a page of that kind; `place` is the `after` that goes on behind an entry.

    Look for one entry more than the limit: only then does the page know whether it is the last.
    """
    shown = tuple(found[:limit])
    return kind(shown, place(shown[-1]) if len(found) > limit else None)


def one_key(what: str, own: str | None, key: str | None, error: Callable[[str], Exception]) -> str | None:
    """The request's own id, else the Idempotency-Key; raises the error where these are two."""
    if own is not None and key is not None and own != key:
        raise error(
            f"the {what} {own[:60]!r} and the Idempotency-Key {key[:60]!r}; give one of them, as one is the other"
        )
    return key if own is None else own
