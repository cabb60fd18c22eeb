"""Labelled queries: what somebody says, and which skills ought to be selected for it (spec 9)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave import Message, Placement, Role, Turn
from skillweave.values import Location, Portable

CONVERSATION, TURN = "evaluation", "query"
"""The conversation that every case is, a new one each time: nothing is kept of it; and its one turn."""


@dataclass(frozen=True, slots=True)
class Case(Portable):
    """One labelled query.

    `expect` are the ids that ought to be selected: all of them, or with `any_of` at least one; empty for a query that
    no skill is for, None where nothing is known of what is right. `not_` are those that must not be given. `fine` ones
    are neither right nor wrong. `history` is what was said before, oldest first; `cursor` is the skill of a skill graph
    that the conversation is in. `kind`, `language` and `source` are groups to report by; `names_skill` says that the
    query contains the name of its skill.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("id", "query", "expect", "any_of", "not_ as not", "fine?", "history?", "cursor?"),
        *("kind?", "language?", "source?", "names_skill?"),
    )

    id: str
    query: str
    expect: tuple[str, ...] | None = None
    any_of: bool = False
    not_: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    cursor: str | None = None
    kind: str = ""
    language: str = ""
    source: str = ""
    names_skill: bool = False
    place: Location | None = field(default=None, compare=False)

    @property
    def named(self) -> tuple[str, ...]:
        """Every id that a label of the case names."""
        return tuple(dict.fromkeys((*(self.expect or ()), *self.not_, *self.fine)))

    def turn(self) -> Turn:
        """The turn of a new conversation in which the query comes after the history."""
        said = (*self.history, Message(Role.USER, self.query)) if self.history else None
        return Turn(TURN, CONVERSATION, Message(Role.USER, self.query), transcript=said, placement=Placement.HISTORY)


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Labelled queries that are judged together; `name` and `split` say in every report which they are."""

    name: str
    split: str
    cases: tuple[Case, ...]

    @property
    def right(self) -> int:
        """How many have a right skill."""
        return sum(bool(case.expect) for case in self.cases)

    @property
    def none(self) -> int:
        """How many have none."""
        return sum(case.expect == () for case in self.cases)


def unknown_labels(cases: Iterable[Case], known: Sequence[str] | frozenset[str]) -> tuple[str, ...]:
    """The ids in labels that no skill has, sorted: a misspelt label would count as a miss for ever."""
    there = frozenset(known)
    return tuple(sorted({skill_id for case in cases for skill_id in case.named if skill_id not in there}))
