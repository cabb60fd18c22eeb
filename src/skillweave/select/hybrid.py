"""The matcher `hybrid`: shared words and nearness of meaning in one ranking (spec 2.4)."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from skillweave.conversation import Role, Turn
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.formats.host_keys import when_to_use_of
from skillweave.select.calibration import calibration_of
from skillweave.select.candidates import Selection
from skillweave.select.index import SkillIndex
from skillweave.select.lexical import Dense, match_message
from skillweave.select.matchers import Hindered, MatchContext
from skillweave.skill import Skill
from skillweave.text.embedding import EmbeddedOnce, Embedder, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MATCHER = "hybrid"
AT_ONCE = 256
"""So many texts of skills are embedded in one go."""
LONGEST_DESCRIPTION = 1_500
MOST_PIECES = 12
"""So many sentences and phrases of a skill have vectors of their own."""
MANY_SKILLS = 5_000
"""In a larger library each skill has one vector: a search takes a few milliseconds, and memory stays within reason."""
WINDOW, STEP = 400, 300
"""A longer message is embedded in windows of so many characters, one every so many: what matters in it is small."""
MOST_WINDOWS = 12

_SENTENCE = re.compile(r"(?<=[.!?;。！？])\s+|\n+")
_QUOTED = re.compile(r'["“„]([^"“”„\n]{6,120})["”]')


class HybridMatcher:
    """Ranks by shared words and by an embedder together, in the place of `lexical`; without vectors by words alone.

    The vectors of a library are made once, beside the event loop; until they are there, and whenever the embedder
    fails, words alone rank, which a diagnostic of the turn says. An embedder without a fitted calibration changes the
    order and what is offered, and gives nothing that words alone would not give.
    """

    name, strength, deliberate = MATCHER, 10, False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder if isinstance(embedder, EmbeddedOnce) else EmbeddedOnce(embedder)
        self._calibration = calibration_of(self._embedder.id)
        self._tables: WeakKeyDictionary[SkillIndex, _Table] = WeakKeyDictionary()
        self._making: dict[int, asyncio.Task[_Table]] = {}

    @property
    def embedder(self) -> EmbeddedOnce:
        """What makes its vectors."""
        return self._embedder

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> Dense | Hindered | None:
        """How near each skill is to the message; None where nobody said anything.

        The vectors of a library that is new go on being made when that takes longer than so many seconds, for a later
        turn.
        """
        message = turn.message.text if turn.message.role is Role.USER else ""
        if not message.strip() or not index.active:
            return None
        try:
            async with asyncio.timeout(seconds * 0.9):
                table = self._tables.get(index) or await self._table(index)
                asked = await self._embedder.embed_passing(list(windows_of(message)))
        except TimeoutError:
            why = "the vectors of the skills, or of the message, are not ready yet"
        except Exception as error:  # noqa: BLE001 - an embedder is anybody's code, and words can rank without it
            why = f"{type(error).__name__}: {error}"
        else:
            return Dense(table.nearness(asked), self._embedder.id)
        return Hindered(None, _words_only(self._embedder.id, why))

    def match(self, context: MatchContext) -> Selection:
        """What words and nearness say together."""
        dense = context.prepared
        if isinstance(dense, Dense):
            return match_message(context, self.name, dense, self._calibration)
        return match_message(context, self.name)

    async def make_ready(self, index: SkillIndex) -> None:
        """Make the vectors of a library now, so that no turn waits for them; raises what the embedder raises."""
        if index not in self._tables:
            await self._table(index)

    async def _table(self, index: SkillIndex) -> "_Table":
        """The library's vectors; who comes second waits for the first, and one who gives up stops nobody's work."""
        task = self._making.get(id(index))
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = asyncio.ensure_future(self._make(index))
            self._making[id(index)] = task
            task.add_done_callback(lambda done: self._made(id(index), done))
        return await asyncio.shield(task)

    async def _make(self, index: SkillIndex) -> "_Table":
        whole = [whole_text(skill) for skill in index.active]
        pieces = [pieces_of(skill) if len(index.active) <= MANY_SKILLS else [] for skill in index.active]
        table = await asyncio.to_thread(
            _Table.of, await self._vectors(whole), pieces, await self._vectors([text for own in pieces for text in own])
        )
        self._tables[index] = table
        return table

    async def _vectors(self, texts: Sequence[str]) -> "list[Vectors]":
        found = []
        for first in range(0, len(texts), AT_ONCE):
            found.append(await self._embedder.embed(texts[first : first + AT_ONCE]))
            await asyncio.sleep(0)
        return found

    def _made(self, key: int, done: "asyncio.Task[_Table]") -> None:
        if self._making.get(key) is done:
            del self._making[key]
        if not done.cancelled():
            done.exception()  # who waited was told; a failure that nobody waited for is met again in the next turn


class _Table:
    """The vectors of a library: one for each whole skill, and those of its pieces, which stand in its order."""

    __slots__ = ("_first", "_pieces", "_whole", "_with")

    def __init__(
        self,
        whole: "NDArray[np.float32]",
        pieces: "NDArray[np.float32] | None",
        having: "NDArray[np.intp]",
        first: "NDArray[np.intp]",
    ) -> None:
        self._whole, self._pieces, self._with, self._first = whole, pieces, having, first

    @classmethod
    def of(cls, whole: "list[Vectors]", pieces: Sequence[Sequence[str]], vectors: "list[Vectors]") -> "_Table":
        import numpy as np

        counts = np.array([len(own) for own in pieces], dtype=np.intp)
        having = counts.nonzero()[0]
        first = (counts.cumsum() - counts)[having]
        # A vector that the embedder could not give is near nothing.
        together = np.nan_to_num(np.concatenate(whole))
        return cls(together, np.nan_to_num(np.concatenate(vectors)) if vectors else None, having, first)

    def nearness(self, asked: "Vectors") -> "NDArray[np.float32]":
        """By position the mean of a skill's whole cosine and that of its nearest piece; of several windows the best."""
        import numpy as np

        asked = np.nan_to_num(asked)
        whole: NDArray[np.float32] = (self._whole @ asked.T).max(axis=1).astype(np.float32)
        if self._pieces is None:
            return whole
        near = whole.copy()
        near[self._with] = np.maximum.reduceat((self._pieces @ asked.T).max(axis=1), self._first)
        mean: NDArray[np.float32] = ((whole + near) / 2).astype(np.float32)
        return mean


def whole_text(skill: Skill) -> str:
    """What a skill says of itself, as one text to embed."""
    return f"{_spoken(skill.name)}: {skill.description}\n{when_to_use_of(skill)}"[:LONGEST_DESCRIPTION].strip()


def pieces_of(skill: Skill) -> list[str]:
    """The name, sentences, quoted phrases and examples of a skill: a short message is nearer to one of them."""
    said = f"{skill.description}\n{when_to_use_of(skill)}"[:LONGEST_DESCRIPTION]
    sentences = [text.strip() for text in _SENTENCE.split(said) if len(text.split()) > 2]
    quoted = [match[1].strip() for match in _QUOTED.finditer(said)]
    return list(dict.fromkeys([_spoken(skill.name), *skill.triggers.examples, *sentences, *quoted]))[:MOST_PIECES]


def windows_of(message: str) -> Iterator[str]:
    """The message, or where it is long overlapping windows of it that begin at spaces."""
    if len(message) <= WINDOW:
        yield message
        return
    yield message
    begin = 0
    for _ in range(MOST_WINDOWS):
        yield message[begin : begin + WINDOW]
        if begin + WINDOW >= len(message):
            return
        space = message.rfind(" ", begin, begin + STEP)
        begin = space + 1 if space > begin else begin + STEP


def _spoken(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _words_only(embedder: str, why: str) -> Diagnostic:
    message = f"skills were ranked by words alone, since the embedder {embedder!r} gave no vectors: {why}"
    return Diagnostic("words-only", Severity.WARNING, message, "see to the embedder, or allow it more time")
