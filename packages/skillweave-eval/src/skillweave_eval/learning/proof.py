"""Whether what was learned is better on later messages, and its versions (spec 2.6)."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TypeAlias

from skillweave import Weaver
from skillweave.errors import InvalidData, SkillweaveError
from skillweave.values import Portable
from skillweave_eval.answers import Answer, ask_all
from skillweave_eval.learning.labels import Heard
from skillweave_eval.learning.learned import Learned, given_from, learned_border, learned_phrases
from skillweave_eval.metrics import DEPTHS, Difference, Resampling, differences_of

Replay: TypeAlias = Callable[[Learned, Sequence[Answer]], Awaitable[Sequence[Answer]]]
"""What those messages would get with that learned; only messages with words are asked for."""

LEAST = 50
"""Labelled messages from which on anything is learned."""
UNTIL = (0.6, 0.75)
"""Phrases come from the messages up to the first part, the border from those up to the second; the rest judge."""
BETTER = {"recall_at_1": 1, "right_given": 1, "right_reached": 1, "wrong_given": -1, "forbidden_given": -1}
"""The figures that judge, and which way is better."""
CURRENT = "current.json"


@dataclass(frozen=True, slots=True)
class LearnReport(Portable):
    """What was learned, and what it changes on later messages, which it has not seen.

    `found` skills were opened without having been shown. `worse` are the figures by which it is refused; `promoted`
    is the file of the new version, None where nothing was promoted.
    """

    learned: Learned
    messages: int
    labelled: int
    with_words: int
    found: int
    differences: tuple[Difference, ...]
    worse: tuple[str, ...]
    better: tuple[str, ...]
    promoted: str | None = None

    @property
    def proven(self) -> bool:
        """Whether nothing is worse, and something better."""
        return bool(self.better) and not self.worse


@dataclass(frozen=True, slots=True)
class RolledBack(Portable):
    """The version that was left, and the one that counts now, None for none."""

    folder: str
    left: int | None
    now: int | None


async def learn(
    heard: Sequence[Heard], base: Learned, replay: Replay, resampling: Resampling, today: date
) -> LearnReport:
    """Learn from the earlier messages on top of `base`, and judge it by the later ones.

    Raises:
        InvalidData: too few messages say which skill was right.
    """
    labelled = [one for one in heard if one.labelled]
    if len(labelled) < LEAST:
        raise InvalidData(
            f"{len(labelled)} of {len(heard)} messages say which skill was right or wrong, and {LEAST} are needed: "
            "let the model open skills with read_skill, keep what happens with a Keeper, and come again"
        )
    first, second = (round(part * len(labelled)) for part in UNTIL)
    phrases = learned_phrases(labelled[:first], base, today)
    told = replace(base, phrases=phrases)
    # What phrases were made from fits them too well to say when to give.
    seen = labelled[first:second] if phrases != base.phrases else labelled[:second]
    border = learned_border(await replayed(told, seen, replay), base.give_at)
    wanted = replace(
        told,
        give_at=border,
        offer_at=min(base.offer_at, border),
        date=today.isoformat(),
        learned_from=second,
        judged_on=len(labelled) - second,
    )
    differences = await prove(base, wanted, labelled[second:], replay, resampling)
    figures = {one.name: (one.first, one.second) for one in differences}
    return LearnReport(
        replace(wanted, figures=figures),
        len(heard),
        len(labelled),
        sum(bool(one.words) for one in heard),
        sum(len(one.found) for one in heard),
        differences,
        worse_in(differences),
        tuple(one.name for one in differences if one.change.value * BETTER[one.name] > 0),
    )


async def prove(
    base: Learned, wanted: Learned, later: Sequence[Heard], replay: Replay, resampling: Resampling
) -> tuple[Difference, ...]:
    """The figures that judge, with `base` and with what is wanted in its place."""
    before, after = await replayed(base, later, replay), await replayed(wanted, later, replay)
    return tuple(one for one in differences_of(before, after, resampling) if one.name in BETTER)


def worse_in(differences: Sequence[Difference]) -> tuple[str, ...]:
    """The figures of which the whole interval says that they are worse."""
    return tuple(one.name for one in differences if all(BETTER[one.name] * end < 0 for end in _ends(one)))


def _ends(one: Difference) -> tuple[float, float]:
    low, high = one.change.low, one.change.high
    # Without an interval the change itself has to do.
    return (one.change.value,) * 2 if low is None or high is None else (low, high)


async def replayed(learned: Learned, heard: Sequence[Heard], replay: Replay) -> list[Answer]:
    """What the messages would have got: asked again where their words are kept, else by their probabilities."""
    answers = [one.answer for one in heard]
    asked = iter(await replay(learned, [one for one in answers if one.case.query]))
    return [next(asked) if one.case.query else given_from(learned.give_at, one) for one in answers]


def replay_with(weaver_of: Callable[[Learned], Weaver]) -> Replay:
    """Asks a weaver with the learned phrases and the fit, each message in a new conversation."""

    async def replay(learned: Learned, answers: Sequence[Answer]) -> Sequence[Answer]:
        if not answers:
            return ()
        weaver = weaver_of(learned)
        weaver = weaver.variant(settings=replace(weaver.settings, fitted=learned, ranked=max(DEPTHS)))
        await weaver.skills.make_ready()
        return await ask_all(weaver, [one.case for one in answers])

    return replay


class Versions:
    """The promoted versions of one tenant in a folder, and which of them counts.

    Raises:
        InvalidData: the folder holds something else, or the versions of another tenant.
    """

    def __init__(self, folder: Path, tenant: str) -> None:
        self._folder = folder
        self.current = read_learned(folder / CURRENT) if (folder / CURRENT).is_file() else None
        if self.current is not None and self.current.tenant != tenant:
            raise InvalidData(
                f"{folder} holds what was learned from the tenant {self.current.tenant!r}; name another folder for "
                f"{tenant!r}, as one customer's words are not for others"
            )

    def promote(self, learned: Learned) -> Path:
        """Keep a version and let it count; its number is the next one."""
        numbers = [int(one.stem) for one in self._folder.glob("[0-9]*.json")]
        before = 0 if self.current is None else self.current.version
        kept = replace(learned, version=max(numbers, default=0) + 1, before=before)
        file = self._file(kept.version)
        self._folder.mkdir(parents=True, exist_ok=True)
        file.write_text(_text(kept), encoding="utf-8")
        self._count(kept)
        return file

    def roll_back(self) -> Learned | None:
        """Let the version before the current one count again; None where that was the first, and nothing counts.

        Raises:
            InvalidData: nothing was promoted.
        """
        if self.current is None:
            raise InvalidData(f"nothing that was learned counts in {self._folder}; there is nothing to roll back")
        if self.current.before:
            self._count(read_learned(self._file(self.current.before)))
        else:
            (self._folder / CURRENT).unlink()
            self.current = None
        return self.current

    def _file(self, version: int) -> Path:
        return self._folder / f"{version:04d}.json"

    def _count(self, learned: Learned) -> None:
        beside = self._folder / f"{CURRENT}.part"
        beside.write_text(_text(learned), encoding="utf-8")
        beside.replace(self._folder / CURRENT)
        self.current = learned


def read_learned(path: Path) -> Learned:
    """A version; raises InvalidData for anything else, naming the file."""
    try:
        return Learned.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, SkillweaveError) as error:
        raise InvalidData(f"{path} is nothing that `skillweave eval learn` wrote: {error}") from None


def _text(learned: Learned) -> str:
    return f"{json.dumps(learned.to_dict(), indent=2, ensure_ascii=False)}\n"
