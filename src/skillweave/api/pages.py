"""Lists are answered in pages: some entries, and where the next page begins; and where all operations are."""

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
    """The first `limit` entries as a page; `place` is an entry's `after`. Pass one entry more than the limit."""
    shown = tuple(found[:limit])
    return kind(shown, place(shown[-1]) if len(found) > limit else None)
