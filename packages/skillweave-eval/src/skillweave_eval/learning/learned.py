"""What is learned: phrases that led to opening, and from which probability on skills are given (spec 2.6)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar

from skillweave import Skill
from skillweave.registry import Loaded, Source, WrappedSource
from skillweave.selection import LIGHT_WORDS, OwnFit, words_of
from skillweave_eval.answers import Answer, Level
from skillweave_eval.learning.labels import Heard

CONVERSATIONS, USERS = 3, 2
"""A word counts for a skill when it led to it in so many conversations, of so many users."""
MOST = 12
"""Phrases that are learned of a skill: as many as count."""
FADING = timedelta(days=90)
"""A learned phrase is forgotten when nobody said it for so long."""
COST_OF_WRONG = 4
"""A wrong skill that is given costs as much as so many right ones bring."""
MOST_WRONG = 0.01
"""Of all messages so many may get a wrong skill, or as many as before."""


@dataclass(frozen=True, slots=True)
class Learned(OwnFit):
    """A version of what was learned from one tenant's use, which `--fitted` reads.

    `phrases` are by skill, each with the day in ISO 8601 on which it was said last.
    `before` is the version that counted before, 0 for none; `figures` are those of the proof, before and after.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...",)

    phrases: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    tenant: str = ""
    version: int = 0
    before: int = 0
    date: str = ""
    learned_from: int = 0
    judged_on: int = 0
    figures: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)

    @classmethod
    def nothing(cls, fit: OwnFit, tenant: str) -> "Learned":
        """Nothing learned yet, on top of a fit."""
        return cls(fit.slope, fit.offset, fit.give_at, fit.offer_at, fit.embedder, fit.list_at, tenant=tenant)


class WithLearned(WrappedSource):
    """A source whose skills also have the learned phrases, behind those that they have."""

    def __init__(self, source: Source, learned: Learned) -> None:
        super().__init__(source)
        self._phrases = learned.phrases

    def changed(self, loaded: Loaded) -> Loaded:
        """The same skills with more phrases."""
        return replace(loaded, skills=tuple(map(self._told, loaded.skills)))

    def _told(self, skill: Skill) -> Skill:
        learned = self._phrases.get(skill.id)
        return skill if not learned else replace(skill, phrases=tuple(dict.fromkeys((*skill.phrases, *learned))))


def learned_phrases(heard: Sequence[Heard], before: Learned, today: date) -> Mapping[str, Mapping[str, str]]:
    """By skill what led to opening it, newest first, with what was learned before and has not faded.

    Of each request only those words stay that led to the skill in several conversations and of several users, so that
    no phrase holds what one person alone would say. Where nobody said who the users are, nothing is learned.
    """
    by_skill: dict[str, list[Heard]] = defaultdict(list)
    for one in heard:
        for skill_id in one.right if one.words else ():
            by_skill[skill_id].append(one)
    found: dict[str, Mapping[str, str]] = {}
    for skill_id in sorted({*before.phrases, *by_skill}):
        dated = {**before.phrases.get(skill_id, {}), **dict(_phrases(by_skill[skill_id]))}
        fresh = [(text, day) for text, day in dated.items() if date.fromisoformat(day) >= today - FADING]
        if fresh:
            found[skill_id] = dict(sorted(fresh, key=lambda each: each[1], reverse=True)[:MOST])
    return found


def _phrases(heard: Sequence[Heard]) -> Iterator[tuple[str, str]]:
    """The phrases of one skill, oldest first."""
    said = [(one, list(dict.fromkeys(w for w in words_of(one.words) if w not in LIGHT_WORDS))) for one in heard]
    where: dict[str, set[str]] = defaultdict(set)
    who: dict[str, set[str]] = defaultdict(set)
    for one, words in said:
        for word in words:
            where[word].add(one.conversation)
            who[word].update((one.user,) if one.user else ())
    shared = {word for word in where if len(where[word]) >= CONVERSATIONS and len(who[word]) >= USERS}
    for one, words in said:
        kept = [word for word in words if word in shared]
        if len(kept) > 1:
            yield " ".join(kept), datetime.fromtimestamp(one.at, UTC).date().isoformat()


def learned_border(answers: Iterable[Answer], today: float) -> float:
    """From which probability on giving brings most, wrong ones counting more; `today` where nothing brings more.

    When to offer is not learned: of skills that were never shown nobody knows whether they would have been opened.
    """
    firsts = sorted((known for one in answers if (known := _first(one)) is not None), reverse=True)
    most_wrong = max(sum(not right for sure, right in firsts if sure >= today), MOST_WRONG * len(firsts))
    best, border, right, wrong = _worth(firsts, today), today, 0, 0
    for place, (sure, is_right) in enumerate(firsts):
        right, wrong = right + is_right, wrong + (not is_right)
        if place + 1 < len(firsts) and firsts[place + 1][0] == sure:
            continue
        worth = right - COST_OF_WRONG * wrong
        if wrong <= most_wrong and worth > best:
            best, border = worth, sure
    return border


def _worth(firsts: Sequence[tuple[float, bool]], border: float) -> int:
    return sum(1 if right else -COST_OF_WRONG for sure, right in firsts if sure >= border)


def _first(answer: Answer) -> tuple[float, bool] | None:
    """The probability of the likeliest skill, and whether it was right; None where nothing tells that."""
    known = [(place.probability, place.skill_id) for place in answer.ranked if place.probability is not None]
    if not known:
        return None
    sure, skill_id = max(known, key=lambda each: each[0])
    case = answer.case
    if skill_id in (case.expect or ()):
        return sure, True
    return (sure, False) if skill_id in case.not_ or (case.expect and skill_id not in case.fine) else None


def given_from(border: float, answer: Answer) -> Answer:
    """What the answer would have been if the likeliest skill were given from that probability on."""
    first = _first(answer)
    places = [place for place in answer.ranked if place.probability is not None]
    if first is None or not places:
        return answer
    likeliest = max(places, key=lambda place: place.probability or 0.0)
    level = Level.GIVEN if (likeliest.probability or 0.0) >= border else Level.OFFERED
    if (likeliest.level is Level.GIVEN) == (level is Level.GIVEN):
        return answer
    moved = replace(likeliest, level=level)
    return replace(answer, ranked=tuple(moved if place is likeliest else place for place in answer.ranked))
