"""Writing the phrases of a library: one call a skill, each line kept as soon as it is there."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillweave import Skill
from skillweave.errors import InvalidData, SkillweaveError
from skillweave.selection import TokenCounter
from skillweave.values import Portable
from skillweave_eval.live.models import ModelFailed, Usage
from skillweave_eval.live.runs import INTERRUPTED, OVER, Bench, OverLimit
from skillweave_eval.phrases.asking import digest_of_material, question_for, read_answer

FILE = "skillweave.phrases.jsonl"
"""The name of the file, in the folder of the library."""


@dataclass(frozen=True, slots=True)
class Line(Portable):
    """The phrases of one skill; `digest` is that of what they were written from, `date` the day in ISO 8601."""

    id: str
    digest: str
    phrases: tuple[str, ...]
    model: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class WrittenReport(Portable):
    """What was written, and what was not: `failed` says why by skill id, `stopped` why it ended early."""

    file: str
    skills: int
    known: int
    written: int
    phrases: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    stolen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class DryReport(Portable):
    """What writing would take: calls, tokens sent, and the most that could be answered."""

    file: str
    skills: int
    calls: int
    sent: int
    answered_at_most: int
    cost_at_most: float


class Lines:
    """The file of phrases: read once, a line added for each skill as soon as it is written.

    Raises:
        InvalidData: the file holds something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_id = {line.id: line for line in _read(path)} if path.is_file() else {}

    def is_current(self, skill: Skill) -> bool:
        """Whether the phrases of the skill were written from what it says now."""
        line = self.by_id.get(skill.id)
        return line is not None and bool(line.phrases) and line.digest in ("", digest_of_material(skill))

    def add(self, line: Line) -> None:
        """Keep a skill's phrases for good; those that it had no longer count."""
        self.by_id[line.id] = line
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line.to_dict(), ensure_ascii=False)}\n")

    def tidy(self) -> None:
        """Write the file anew, sorted by id and with one line a skill, so that changes are easily reviewed."""
        lines = (json.dumps(line.to_dict(), ensure_ascii=False) for _, line in sorted(self.by_id.items()))
        beside = self.path.with_suffix(".part")
        beside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        beside.replace(self.path)


def _read(path: Path) -> Iterator[Line]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield Line.from_dict(json.loads(line))
        except (ValueError, SkillweaveError) as error:
            if number == len(lines):  # a line that was cut off when the machine went down
                return
            raise InvalidData(
                f"{path}:{number}: this is no line of phrases: {error}; correct it or take it out"
            ) from None


def sent_for(skill: Skill, count: int, languages: Sequence[str], counter: TokenCounter) -> int:
    """Tokens that asking for the phrases of a skill sends."""
    return sum(counter.count(part) for part in question_for(skill, count, languages))


@dataclass(slots=True)
class Writing:
    """One run: `count` phrases in the first language; `fits` says which other skill a phrase belongs to, if any."""

    bench: Bench
    lines: Lines
    count: int
    languages: Sequence[str]
    date: str
    fits: Callable[[str, str], "str | None"]
    usage: Usage = field(default_factory=Usage)
    written: int = 0
    phrases: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    stolen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: str | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == INTERRUPTED

    async def run(self, skills: Sequence[Skill], at_once: int, progress: Callable[[int, int], None] | None) -> None:
        """Write those of these skills, several at once, until all is done or a limit is reached; Ctrl-C ends it."""
        waiting = iter(skills)

        async def work() -> None:
            for skill in waiting:
                try:
                    await self._write(skill)
                except OverLimit:
                    self.stopped = self.stopped or OVER
                    return
                if progress is not None:
                    progress(self.written + len(self.failed), len(skills))

        async with self.bench.answering:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(max(1, at_once)):
                        group.create_task(work())
            except asyncio.CancelledError:
                self.stopped = INTERRUPTED
        if self.written:
            self.lines.tidy()

    async def _write(self, skill: Skill) -> None:
        system, text = question_for(skill, self.count, self.languages)
        try:
            reply = await self.bench.asked(self.bench.answering, system, text)
        except ModelFailed as failure:
            self.failed[skill.id] = str(failure)
            return
        self.usage = self.usage.plus(reply.usage)
        read = read_answer(reply.text, skill, self.count + 2 * (len(self.languages) - 1), self.languages)
        for why in read.dropped:
            self.dropped[why.value] = self.dropped.get(why.value, 0) + 1
        elsewhere = {phrase: other for phrase in read.phrases if (other := self.fits(phrase, skill.id))}
        if elsewhere:
            self.stolen[skill.id] = tuple(f"{phrase!r} fits {other}" for phrase, other in elsewhere.items())
        kept = tuple(phrase for phrase in read.phrases if phrase not in elsewhere)
        if not kept:
            self.failed[skill.id] = "the answer holds no phrase that could be kept"
            return
        self.lines.add(Line(skill.id, digest_of_material(skill), kept, self.bench.answering.named, self.date))
        self.written += 1
        self.phrases += len(kept)
