"""A step of a graph: one function for blocking runs and one for awaited ones."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import set_config_context

from skillweave.adapters.langgraph.state import SkillState


class Step(Runnable[SkillState, Any]):
    """What LangGraph runs, and traces, as a node or an edge; each function runs in the context of its run.

    A RunnableLambda does the same with a run of its own inside, which costs as much as skillweave's own work.
    """

    def __init__(
        self, run: Callable[[SkillState], Any], arun: Callable[[SkillState], Coroutine[Any, Any, Any]], name: str
    ) -> None:
        self._work = run
        self._awork = arun
        self.name = name

    def invoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it blocking; without a config in the context of the caller."""
        if config is None:
            return self._work(input)
        with set_config_context(config) as context:
            return context.run(self._work, input)

    async def ainvoke(self, input: SkillState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002, ANN401
        """Run it awaited; without a config in the context of the caller."""
        if config is None:
            return await self._awork(input)
        with set_config_context(config) as context:
            return await asyncio.create_task(self._awork(input), context=context)


def at_once(work: Callable[[SkillState], Any]) -> Step:
    """A step that is over in microseconds, which an awaited run need not hand to a thread."""

    async def awaited(state: SkillState) -> Any:  # noqa: ANN401 - what the step gives
        return work(state)

    return Step(work, awaited, getattr(work, "__name__", "step"))
