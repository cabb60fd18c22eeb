"""What a message asks by its words: which stand where, what follows what, and what was said before (spec 2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillweave.select.terms import humps_of
from skillweave.text.search import Folded
from skillweave.text.words import SHARED_WORDS, is_foreign, words_in, words_of

MOST_EARLIER = 3
"""So many earlier messages of the user count in a follow-up."""
LONGEST_EARLIER = 4_000
"""Characters of an earlier message that are read."""


@dataclass(frozen=True, slots=True)
class Query:
    """The content words of a message.

    `spans` are the distinct words with their first place in the folded text; `sequence` is all of them in order;
    `humps` are the parts of words in camel case; `earlier` are the words of messages before, the latest first.
    """

    spans: Mapping[str, tuple[int, int]]
    sequence: Sequence[str]
    humps: Sequence[str] = ()
    earlier: Sequence[Sequence[str]] = ()


def read_query(message: Folded, earlier: Sequence[str] = ()) -> Query:
    """Read a folded message; `earlier` are the user's messages before it, oldest first."""
    spans: dict[str, tuple[int, int]] = {}
    sequence: list[str] = []
    for word, start, end in words_in(message.text):
        sequence.append(word)
        spans.setdefault(word, (start, end))
    if not SHARED_WORDS.isdisjoint(spans) and is_foreign(message.text):
        spans = {word: span for word, span in spans.items() if word not in SHARED_WORDS}
        sequence = [word for word in sequence if word in spans]
    before = [words_of(text[:LONGEST_EARLIER]) for text in reversed(earlier[-MOST_EARLIER:])]
    return Query(spans, sequence, humps_of(message.original), before)
