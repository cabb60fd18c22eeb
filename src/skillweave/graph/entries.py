"""Which entries may begin at a moment (spec 3.2, 3.4)."""

from collections.abc import Iterator

from skillweave.graph.compiled import Compiled
from skillweave.graph.conditions import AllOf, Condition, Intent, leaves_of
from skillweave.graph.declared import Entry
from skillweave.graph.judging import HOLDS, HOLDS_NOT, Sight, Verdict, judge


def judged_entries(compiled: Compiled, sight: Sight) -> Iterator[tuple[Entry, Verdict]]:
    """Every entry, in the order of declaration, with whether it may begin: its condition holds, or it has none.

    None with a condition may where the message is one of `never_routes`.
    """
    never = is_never(compiled, sight)
    for entry in compiled.declared.entries:
        if entry.condition is None:
            yield entry, HOLDS
        else:
            yield entry, HOLDS_NOT if never else judge(entry.condition, sight)


def scorable_entries(compiled: Compiled, sight: Sight) -> Iterator[Entry]:
    """The entries that may begin as far as it can be said without a scorer: their intents are left out of it."""
    never = is_never(compiled, sight)
    for entry in compiled.declared.entries:
        condition = entry.condition
        if condition is None or (not never and judge(_without_intents(condition), sight).holds):
            yield entry


def intents_of(entry: Entry) -> tuple[Intent, ...]:
    """The intents that the entry's condition asks for."""
    return tuple(leaf for leaf in leaves_of(entry.condition) if isinstance(leaf, Intent))


def is_never(compiled: Compiled, sight: Sight) -> bool:
    """Whether the user's message is a phrase that must not start any conditional entry."""
    return bool(compiled.never) and " ".join(sight.message.text.split()) in compiled.never


def _without_intents(condition: Condition) -> Condition:
    return AllOf(tuple(leaf for leaf in leaves_of(condition) if not isinstance(leaf, Intent)))
