"""Asking a Weaver every labelled query, each in a new conversation, and what it answers (spec 9)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from skillweave import Outcome
from skillweave.errors import InvalidData
from skillweave.selection import Candidate, Selection
from skillweave.turns import Rung
from skillweave.values import Portable
from skillweave_eval.cases import CONVERSATION, Case

if TYPE_CHECKING:
    from skillweave import Injection, Weaver

Progress = Callable[[int, int], None]
"""Told how many of how many queries are answered."""


HINDERED = frozenset({"matcher-unprepared", "words-only"})
"""The codes of turns in which a matcher could not do what it does otherwise."""


class Level(StrEnum):
    """What became of a skill for a query: its text is given, a line offers it, or nothing is said of it."""

    GIVEN = "given"
    OFFERED = "offered"
    SILENT = "silent"


_LEVELS = {
    Outcome.INJECTED: Level.GIVEN,
    Outcome.OFFERED: Level.OFFERED,
    Outcome.OVER_LIMIT: Level.SILENT,
    Outcome.BELOW_THRESHOLD: Level.SILENT,
}
"""What a decision of a turn means for a ranking; what is vetoed, unknown or out of reach has no place in one."""


@dataclass(frozen=True, slots=True)
class Place(Portable):
    """A skill in a ranking; `score` compares within one matcher only, `probability` is None where nobody knows."""

    skill_id: str
    level: Level
    score: float
    matcher: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Answer(Portable):
    """What became of one query: the ranking, best first, and the tokens of the turn, the catalog's among them.

    A skill that was chosen and did not fit into the budget is one of `kept_out`; it counts as offered where its catalog
    line stands in, else as silent. `hindered` is
    why a matcher could not take part as it should, such as an embedder that failed; None where all did.
    """

    case: Case
    ranked: tuple[Place, ...] = ()
    kept_out: tuple[str, ...] = ()
    tokens: int = 0
    hindered: str | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The ids whose text is given."""
        return tuple(place.skill_id for place in self.ranked if place.level is Level.GIVEN)

    @property
    def offered(self) -> tuple[str, ...]:
        """The ids that are offered."""
        return tuple(place.skill_id for place in self.ranked if place.level is Level.OFFERED)

    def level(self, skill_id: str) -> Level:
        """What became of that skill."""
        return next((place.level for place in self.ranked if place.skill_id == skill_id), Level.SILENT)


async def ask_all(weaver: "Weaver", cases: Sequence[Case], progress: Progress | None = None) -> tuple[Answer, ...]:
    """The answer to every case, in their order; none has part in another.

    The weaver's ledger should be one in memory: for cases at a cursor a conversation is begun in it.
    """
    answers: list[Answer] = []
    for number, case in enumerate(cases, start=1):
        answers.append(await ask(weaver, case))
        if progress is not None:
            progress(number, len(cases))
    return tuple(answers)


async def ask(weaver: "Weaver", case: Case) -> Answer:
    """The answer to one case.

    Raises:
        InvalidData: the case stands at a cursor, and there is no skill graph.
    """
    if case.cursor is not None:
        return await _ask_at(weaver, case, case.cursor)
    turn = case.turn()
    injection = await weaver.preview(turn)
    return _answer(case, await weaver.skills.match(turn), injection)


async def _ask_at(weaver: "Weaver", case: Case, cursor: str) -> Answer:
    """The answer in a conversation that stands at that skill: what its decisions say, for only a turn knows of it."""
    from skillweave import State
    from skillweave.graph import Cursor
    from skillweave.ledger import Writes

    graph = await weaver.skills.graph()
    if graph is None:
        raise InvalidData(
            f"{case.place or case.id}: the test stands at the cursor {cursor!r}, and there is no skill graph"
        )
    turn = replace(case.turn(), conversation=f"{CONVERSATION} at {cursor}")
    if not (await weaver.ledger.state(turn.conversation)).revision:
        begun = State(cursor=Cursor(cursor, {cursor: 1}, (cursor,), graph.digest))
        await weaver.ledger.store.swap(turn.conversation, 0, Writes(begun), tenant=weaver.ledger.tenant)
    injection = await weaver.preview(turn)
    places = tuple(
        Place(one.skill_id, _LEVELS[one.outcome], one.score or 0.0, one.matcher or one.stage)
        for one in injection.decisions
        if one.outcome in _LEVELS
    )
    return Answer(case, places, tokens=injection.tokens.catalog + injection.tokens.injected)


def _answer(case: Case, selection: Selection, injection: "Injection") -> Answer:
    given = {block.skill_id for block in injection.blocks if block.rung > Rung.CATALOG}
    named = {block.skill_id for block in injection.blocks} - given  # too long to be given: one line stands in
    kept_out = tuple(one.skill_id for one in selection.chosen if one.skill_id not in given)
    places = tuple(_places(selection, given, named))
    hindered = next((one.message for one in injection.diagnostics if one.code in HINDERED), None)
    return Answer(case, places, kept_out, injection.tokens.catalog + injection.tokens.injected, hindered)


def _places(selection: Selection, given: set[str], named: set[str]) -> Iterator[Place]:
    """What is vetoed, unknown or out of reach has no place in the ranking."""
    for candidate in selection.chosen:
        level = Level.OFFERED if candidate.skill_id in named else Level.SILENT
        yield _place(candidate, Level.GIVEN if candidate.skill_id in given else level)
    for refused in selection.rejected:
        if refused.outcome is Outcome.OVER_LIMIT:
            yield _place(refused.candidate, Level.SILENT)
    for candidate in selection.offered:
        yield _place(candidate, Level.OFFERED)
    for refused in selection.rejected:
        if refused.outcome is Outcome.BELOW_THRESHOLD:
            yield _place(refused.candidate, Level.SILENT)


def _place(candidate: Candidate, level: Level) -> Place:
    return Place(candidate.skill_id, level, candidate.score, candidate.matcher, candidate.probability)
