"""Whether phrases are there, fresh, and each nearer to its own skill than to another (spec 2.7)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillweave import Message, Registry, Role, Skill, Turn
from skillweave.registry import Loaded, WrappedSource
from skillweave.selection import SkillIndex, build_index, select
from skillweave.sources import InCode
from skillweave.values import Portable
from skillweave_eval.phrases.asking import digest_of_material
from skillweave_eval.phrases.writing import Line

SHOWN = 3
"""Phrases that are quoted of a skill."""


@dataclass(frozen=True, slots=True)
class Stolen(Portable):
    """A phrase of a skill that, by what the skills say of themselves, another one would be given for."""

    skill_id: str
    phrase: str
    fits: str


@dataclass(frozen=True, slots=True)
class CheckReport(Portable):
    """What is wrong with the phrases of a library.

    `missing` skills have none, those of `stale` skills were written from another text, `unknown` ids are no skill's;
    `greedy` says for how many phrases of other skills a skill would be given in their place.
    """

    skills: int
    with_phrases: int
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    stolen: tuple[Stolen, ...] = ()
    greedy: Mapping[str, int] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong; a skill without phrases is."""
        return not (self.missing or self.stale or self.unknown or self.stolen)


class Unphrased(WrappedSource):
    """A source without the phrases of its skills, and without the examples that stand for them."""

    def changed(self, loaded: Loaded) -> Loaded:
        """The same skills with nothing that people would type."""
        return replace(loaded, skills=tuple(map(_plain, loaded.skills)))


def _plain(skill: Skill) -> Skill:
    return replace(skill, phrases=(), triggers=replace(skill.triggers, examples=()))


class Fits:
    """Says which skill of a library a phrase belongs to, by what the skills say of themselves."""

    def __init__(self, index: SkillIndex) -> None:
        self._index = index

    @classmethod
    async def of(cls, skills: Iterable[Skill]) -> "Fits":
        """For these skills, without their phrases."""
        return cls(await _index(map(_plain, skills)))

    def __call__(self, phrase: str, skill_id: str) -> str | None:
        """The id of another skill that would be given for the phrase, None where none would."""
        ids = _given(self._index, phrase)
        return ids[0] if ids and skill_id not in ids else None


async def _index(skills: Iterable[Skill]) -> SkillIndex:
    registry = Registry([InCode(*skills)])
    await registry.refresh()
    return build_index(registry.snapshot)


def _given(index: SkillIndex, phrase: str) -> list[str]:
    message = Message(Role.USER, phrase)
    return [one.skill_id for one in select(index, Turn("phrase", "phrase", message, transcript=(message,))).chosen]


async def check_phrases(skills: Sequence[Skill], lines: Mapping[str, Line]) -> CheckReport:
    """What is wrong with the phrases of the skills; `lines` are those of the file, by id."""
    by_id = {skill.id: skill for skill in skills}
    told = {skill.id: (*skill.triggers.examples, *skill.phrases) for skill in skills}
    fits = await Fits.of(skills)
    stolen = [
        Stolen(skill.id, phrase, other)
        for skill in skills
        for phrase in skill.phrases
        if (other := fits(phrase, skill.id))
    ]
    greedy: dict[str, int] = {}
    whole = await _index(skills)
    for skill_id, phrases in told.items():
        for other in (one for phrase in phrases for one in _given(whole, phrase) if one != skill_id):
            greedy[other] = greedy.get(other, 0) + 1
    stale = (
        one for one, line in lines.items() if one in by_id and line.digest not in ("", digest_of_material(by_id[one]))
    )
    return CheckReport(
        len(skills),
        sum(map(bool, told.values())),
        tuple(one for one, phrases in told.items() if not phrases),
        tuple(stale),
        tuple(one for one in lines if one not in by_id),
        tuple(stolen),
        dict(sorted(greedy.items(), key=lambda each: (-each[1], each[0]))),
    )
