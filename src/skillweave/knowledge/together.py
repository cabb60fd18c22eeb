"""Questions to an entity graph that are asked at one moment go to it together, where it takes them so (spec 6.2)."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.knowledge.entity import MOST_NEIGHBOURS, AsksSeveral, EntityGraph, Hops, Neighbour

_Answers: TypeAlias = Mapping[Hops, tuple[Neighbour, ...] | Exception]


@dataclass(slots=True)
class Patience:
    """How long a graph may say nothing, and how long it is waited for at the most while it is at work, in seconds.

    It is at work while it gives answers, to whoever asks, and where several contexts wait for it at once.
    """

    silence: float
    longest: float
    waiting: int = 0
    answers: int = 0

    def told(self, *, at_last: bool) -> str:
        """How long an answer was waited for, in words."""
        return f"{(self.longest if at_last else self.silence) * 1000:.0f} ms"


class Together:
    """The neighbours of entities for all contexts of one event loop, each asked for once at a time.

    What is asked for in one round of the loop goes to the graph in one trip, where the graph has `several`. What nobody
    waits for any more is given up.
    """

    def __init__(self, graph: EntityGraph, patience: Patience) -> None:
        self.graph = graph
        self._patience = patience
        self._several = graph.several if isinstance(graph, AsksSeveral) else None
        self._asked: dict[Hops, asyncio.Task[_Answers]] = {}
        self._waiting: Counter[asyncio.Task[_Answers]] = Counter()
        self._gathering: list[Hops] = []

    async def neighbours(self, hops: Hops) -> tuple[Neighbour, ...]:
        """At most `MOST_NEIGHBOURS` of an entity; raises what the graph raises."""
        task = self._asked.get(hops) or self._put(hops)
        self._waiting[task] += 1
        try:
            answer = (await asyncio.shield(task))[hops]
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                task.cancel()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _put(self, hops: Hops) -> "asyncio.Task[_Answers]":
        if self._gathering:
            task = self._asked[self._gathering[0]]
        else:
            task = asyncio.create_task(self._answer(hops))
            task.add_done_callback(self._forget)
        if self._several is not None:
            self._gathering.append(hops)
        self._asked[hops] = task
        return task

    async def _answer(self, first: Hops) -> _Answers:
        found: _Answers
        if self._several is None:
            found = {first: await self.graph.neighbours(*first, MOST_NEIGHBOURS)}
        else:
            asked, self._gathering = tuple(self._gathering), []
            found = dict(zip(asked, await self._several(asked, MOST_NEIGHBOURS), strict=True))
        self._patience.answers += 1
        return found

    def _forget(self, task: "asyncio.Task[_Answers]") -> None:
        """What came is told to those who wait, and asked again by the next: it may have changed."""
        if not task.cancelled():
            task.exception()
        self._asked = {hops: one for hops, one in self._asked.items() if one is not task}
        if self._gathering and self._gathering[0] not in self._asked:
            self._gathering = []
