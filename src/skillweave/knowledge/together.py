"""Questions to an entity graph that are asked at one moment go to it together, where it takes them so (spec 6.2)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.knowledge.entity import MOST_NEIGHBOURS, AsksSeveral, EntityGraph, Hops, Neighbour

_Answers: TypeAlias = Mapping[Hops, tuple[Neighbour, ...]]


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
    """The neighbours of entities for one context, each asked for once; `close` gives up what is still under way.

    What is asked for in one round of the event loop goes to the graph in one trip, where the graph has `several`.
    """

    def __init__(self, graph: EntityGraph, patience: Patience) -> None:
        self._graph = graph
        self._patience = patience
        self._several = graph.several if isinstance(graph, AsksSeveral) else None
        self._asked: dict[Hops, asyncio.Task[_Answers]] = {}
        self._gathering: list[Hops] = []

    async def neighbours(self, hops: Hops) -> tuple[Neighbour, ...]:
        """At most `MOST_NEIGHBOURS` of an entity; raises what the graph raises."""
        task = self._asked.get(hops)
        if task is None:
            if self._gathering:
                task = self._asked[self._gathering[0]]
            else:
                task = asyncio.create_task(self._answer(hops))
                task.add_done_callback(lambda one: one.cancelled() or one.exception())  # told to whoever waits for it
            if self._several is not None:
                self._gathering.append(hops)
            self._asked[hops] = task
        return (await asyncio.shield(task))[hops]

    async def _answer(self, first: Hops) -> _Answers:
        if self._several is None:
            found = {first: await self._graph.neighbours(*first, MOST_NEIGHBOURS)}
        else:
            asked, self._gathering = tuple(self._gathering), []
            found = dict(zip(asked, await self._several(asked, MOST_NEIGHBOURS), strict=True))
        self._patience.answers += 1
        return found

    def close(self) -> None:
        """Give up what nobody waits for any more."""
        for task in self._asked.values():
            task.cancel()
