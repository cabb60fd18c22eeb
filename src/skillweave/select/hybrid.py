"""The matcher `hybrid`: shared words and nearness of meaning in one ranking (spec 2.4)."""

import asyncio
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.dialogue import Role, Turn
from skillweave.formats.host_keys import when_to_use_of
from skillweave.select.candidates import Selection
from skillweave.select.index import SkillIndex
from skillweave.select.lexical import Dense, asks_for_nothing, match_message
from skillweave.select.matchers import Hindered, MatchContext
from skillweave.select.query import read_query
from skillweave.select.terms import requests_of
from skillweave.skill import Skill
from skillweave.text.embedding import EmbeddedOnce, Embedder, Vectors
from skillweave.text.search import fold_message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MATCHER = "hybrid"
AT_ONCE = 256
"""So many texts of skills are embedded in one go."""
LONGEST_DESCRIPTION = 1_500
WINDOW, STEP = 400, 300
"""A longer message is embedded in windows of so many characters, one every so many: what matters in it is small."""
MOST_WINDOWS = 12
ONE_THREAD = 9_000
"""Numbers in a block of vectors whose product with a message BLAS makes without threads (from 9,216 on it has some)."""


class HybridMatcher:
    """Ranks by shared words and by an embedder together, in the place of `lexical`; without vectors by words alone.

    The vectors of a library are made once, beside the event loop; until they are there, and whenever the embedder
    fails, words alone rank, which a diagnostic of the turn says. An embedder without a fitted calibration changes the
    order and what is offered, and gives nothing that words alone would not give.
    """

    name, strength, deliberate = MATCHER, 10, False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder if isinstance(embedder, EmbeddedOnce) else EmbeddedOnce(embedder)
        self._tables: WeakKeyDictionary[SkillIndex, _Table] = WeakKeyDictionary()
        self._making: dict[int, asyncio.Task[_Table]] = {}

    @property
    def embedder(self) -> EmbeddedOnce:
        """What makes its vectors."""
        return self._embedder

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> Dense | Hindered | None:
        """How near each skill is to the message; None where nobody said anything, or nothing is asked for.

        The vectors of a library that is new go on being made when that takes longer than so many seconds, for a later
        turn.
        """
        message = turn.message.text if turn.message.role is Role.USER else ""
        if not message.strip() or not index.active:
            return None
        if index in self._tables and len(message) <= WINDOW and asks_for_nothing(read_query(fold_message(message))):
            return None  # a greeting or thanks: words alone say that nothing is to be ranked
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
            return match_message(context, self.name, dense)
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
        told = [(whole_text(skill), *requests_of(skill)) for skill in index.active]
        texts = list(chain.from_iterable(told))
        found = []
        for first in range(0, len(texts), AT_ONCE):
            found.append(await self._embedder.embed(texts[first : first + AT_ONCE]))
            await asyncio.sleep(0)
        table = await asyncio.to_thread(_Table.of, found, [len(each) for each in told])
        self._tables[index] = table
        return table

    def _made(self, key: int, done: "asyncio.Task[_Table]") -> None:
        if self._making.get(key) is done:
            del self._making[key]
        if not done.cancelled():
            done.exception()  # who waited was told; a failure that nobody waited for is met again in the next turn


class _Table:
    """The vectors of a library in its order: of each skill one for what it says of itself, and one for each phrase."""

    __slots__ = ("_begins", "_blocks", "_size")

    def __init__(self, rows: "NDArray[np.float32]", begins: "NDArray[np.int64]") -> None:
        import numpy as np

        self._begins, self._size = begins, len(rows)
        # A product of so few numbers is made in this thread. Of the whole table BLAS would start threads for it, which
        # cost thirty times what they bring here; `einsum` starts none, and takes twice as long as the blocks do.
        height = max(1, ONE_THREAD // max(1, rows.shape[1]))
        filled = np.zeros((-(-len(rows) // height) * height, rows.shape[1]), dtype=np.float32)
        filled[: len(rows)] = rows
        self._blocks = filled.reshape(-1, height, rows.shape[1])

    @classmethod
    def of(cls, vectors: "list[Vectors]", counts: "list[int]") -> "_Table":
        import numpy as np

        # A vector that the embedder could not give is near nothing.
        return cls(np.nan_to_num(np.concatenate(vectors)), np.array([0, *counts[:-1]]).cumsum())

    def nearness(self, asked: "Vectors") -> "NDArray[np.float32]":
        """The cosine of each skill, by position: of its phrases, and of several windows of a message, the best."""
        import numpy as np

        cosines: NDArray[np.float32] = (self._blocks @ np.nan_to_num(asked).T).max(axis=2).reshape(-1)
        return np.maximum.reduceat(cosines[: self._size], self._begins)


def whole_text(skill: Skill) -> str:
    """What a skill says of itself, as one text to embed."""
    return f"{_spoken(skill.name)}: {skill.description}\n{when_to_use_of(skill)}"[:LONGEST_DESCRIPTION].strip()


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
    return Diagnostic("words-only", Severity.WARNING, message, "check the embedder, or give it more time")
