"""Which skill was right for a message, read from what happened after it (spec 2.6)."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from skillweave import Outcome, Store
from skillweave.ledger import Logged
from skillweave.values import Portable
from skillweave_eval.answers import Answer, Level, Place
from skillweave_eval.cases import Case
from skillweave_eval.learning.keeping import Kind, Line

_GIVEN = frozenset({Outcome.INJECTED, Outcome.REFRESHED, Outcome.UPGRADED, Outcome.ALREADY_PRESENT, Outcome.ADOPTED})
_LEVELS = dict.fromkeys(_GIVEN, Level.GIVEN) | {Outcome.OFFERED: Level.OFFERED, Outcome.BELOW_THRESHOLD: Level.SILENT}
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Heard(Portable):
    """A message of a user and what became of it: `answer` holds the ranking, and as its case what was right.

    `right` were opened without having been given, or given and used; `wrong` were taken back before the next message.
    `found` were opened without having been shown. `user` is empty where nobody said who spoke.
    """

    conversation: str
    at: float
    answer: Answer
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    user: str = ""

    @property
    def labelled(self) -> bool:
        """Whether what happened says anything of a skill."""
        return bool(self.right or self.wrong)

    @property
    def words(self) -> str:
        """What the user said, empty where it was not kept."""
        return self.answer.case.query


async def heard_in(store: Store, tenant: str, kept: Sequence[Line]) -> tuple[Heard, ...]:
    """All messages that the ledger's decisions of a tenant tell of, oldest first."""
    beside: dict[str, list[Line]] = {}
    for line in kept:
        beside.setdefault(line.conversation, []).append(line)
    heard = [
        one
        async for conversation in _conversations(store, tenant)
        for one in _heard(conversation, await store.read(conversation, tenant=tenant), beside.get(conversation, ()))
    ]
    return tuple(sorted(heard, key=lambda one: one.at))


async def _conversations(store: Store, tenant: str) -> AsyncIterator[str]:
    after = ""
    while ids := await store.conversations(limit=_AT_ONCE, after=after, tenant=tenant):
        for one in ids:
            yield one
        after = ids[-1]


def _heard(conversation: str, logged: Iterable[Logged], kept: Sequence[Line]) -> Iterator[Heard]:
    turns = [(turn_id, tuple(each)) for turn_id, each in groupby(logged, key=lambda one: one.turn_id)]
    begins = [place for place, (_, each) in enumerate(turns) if any(_is_ranked(one) for one in each)]
    said = {line.turn_id: line for line in kept if line.kind is Kind.SAID}
    for begin, end in pairwise([*begins, len(turns)]):
        turn_id, ranked = turns[begin]
        until = turns[end][1][0].at if end < len(turns) else float("inf")
        after = [line for line in kept if ranked[0].at <= line.at < until]
        opened = [one.decision.skill_id for _, each in turns[begin + 1 : end] for one in each if _opens(one)]
        yield _judged(conversation, ranked, opened, after, said.get(turn_id))


def _is_ranked(logged: Logged) -> bool:
    return logged.decision.probability is not None


def _opens(logged: Logged) -> bool:
    decision = logged.decision
    return decision.outcome in _GIVEN and any(piece.kind == "read" for piece in decision.evidence)


def _judged(
    conversation: str, ranked: Sequence[Logged], opened: Sequence[str], after: Sequence[Line], said: Line | None
) -> Heard:
    places = tuple(_places(ranked))
    levels = {place.skill_id: place.level for place in places}
    wrong = _named(after, Kind.TAKEN_BACK)
    given = [one for one in _named(after, Kind.USED) if levels.get(one) is Level.GIVEN]
    right = tuple(one for one in dict.fromkeys((*opened, *given)) if one not in wrong)
    found = tuple(one for one in right if levels.get(one, Level.SILENT) is Level.SILENT)
    case = Case(
        f"{conversation}/{ranked[0].turn_id}",
        "" if said is None else said.text,
        right or None,
        any_of=True,
        not_=wrong,
        fine=tuple(_below(places, right)),
    )
    answer = Answer(case, places)
    return Heard(conversation, ranked[0].at, answer, right, wrong, found, "" if said is None else said.user)


def _named(lines: Sequence[Line], kind: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.text for line in lines if line.kind is kind))


def _places(ranked: Sequence[Logged]) -> Iterator[Place]:
    """The skills with a probability in the order in which they were shown: what was given, then the list, then none."""
    decisions = [one.decision for one in ranked if _is_ranked(one) and one.decision.outcome in _LEVELS]
    order = (Level.GIVEN, Level.OFFERED, Level.SILENT)
    for one in sorted(decisions, key=lambda each: order.index(_LEVELS[each.outcome])):
        level = _LEVELS[one.outcome]
        yield Place(one.skill_id, level, one.score or 0.0, one.matcher or "", one.probability)


def _below(places: Sequence[Place], right: Sequence[str]) -> Iterator[str]:
    """The shown skills below the last one that was right: nobody need have looked at them."""
    shown = [place.skill_id for place in places if place.level is not Level.SILENT]
    last = max((at for at, one in enumerate(shown) if one in right), default=None)
    return iter(()) if last is None else (one for one in shown[last + 1 :] if one not in right)
