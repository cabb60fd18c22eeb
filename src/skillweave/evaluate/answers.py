"""Asking a Weaver every labelled query, each in a new conversation, and what it answers (spec 9)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from skillweave.codec import Portable
from skillweave.decisions import Outcome
from skillweave.disclose.block import Rung
from skillweave.evaluate.cases import Case
from skillweave.select.candidates import Candidate, Selection

if TYPE_CHECKING:
    from skillweave.injection import Injection
    from skillweave.weaver import Weaver

Progress = Callable[[int, int], None]
"""Told how many of how many queries are answered."""


class Level(StrEnum):
    """What became of a skill for a query: its text is given, a line offers it, or nothing is said of it."""

    GIVEN = "given"
    OFFERED = "offered"
    SILENT = "silent"


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

    A skill that was chosen and did not fit into the budget counts as silent, and is one of `kept_out`.
    """

    case: Case
    ranked: tuple[Place, ...] = ()
    kept_out: tuple[str, ...] = ()
    tokens: int = 0

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
    """The answer to every case, in their order; nothing is written, so that no case has part in another."""
    answers: list[Answer] = []
    for number, case in enumerate(cases, start=1):
        answers.append(await ask(weaver, case))
        if progress is not None:
            progress(number, len(cases))
    return tuple(answers)


async def ask(weaver: "Weaver", case: Case) -> Answer:
    """The answer to one case."""
    turn = case.turn()
    injection = await weaver.preview(turn)
    return _answer(case, await weaver.match(turn), injection)


def _answer(case: Case, selection: Selection, injection: "Injection") -> Answer:
    given = {block.skill_id for block in injection.blocks if block.rung > Rung.CATALOG}
    kept_out = tuple(one.skill_id for one in selection.chosen if one.skill_id not in given)
    places = tuple(_places(selection, given))
    return Answer(case, places, kept_out, injection.tokens.catalog + injection.tokens.injected)


def _places(selection: Selection, given: set[str]) -> Iterator[Place]:
    """What is vetoed, unknown or out of reach has no place in the ranking."""
    for candidate in selection.chosen:
        yield _place(candidate, Level.GIVEN if candidate.skill_id in given else Level.SILENT)
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
