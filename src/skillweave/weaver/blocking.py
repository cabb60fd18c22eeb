"""The same verbs without `await`, on one private event-loop thread: they work inside a running loop too."""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from skillweave.compose.verdict import Verdict
from skillweave.conversation import Turn
from skillweave.diagnostics import Diagnostic
from skillweave.events.event import Event
from skillweave.injection import Injection
from skillweave.registry import Changes, Snapshot
from skillweave.select.candidates import Selection
from skillweave.state.port import Logged
from skillweave.state.state import State
from skillweave.weaver.blocking_engagements import SyncEngagements
from skillweave.weaver.blocking_skill_sets import SyncSkillSets
from skillweave.weaver.reading import ToolAnswer

if TYPE_CHECKING:
    from skillweave.weaver.weaver import Weaver

T = TypeVar("T")


class LoopThread:
    """An event loop in a daemon thread, started at first use."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()
        self._lock = Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the coroutine there and wait for its result; a Ctrl-C here cancels it there."""
        with self._lock:  # so that a `stop` in between cannot leave the work behind in a loop that has ended
            future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the thread and cancel what still runs in it; the next `run` starts another one."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():  # a forked child has the loop but not the thread that ran it
            self._loop, self._process = None, os.getpid()
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            Thread(target=_serve, args=(loop,), name="skillweave-sync", daemon=True).start()
        return self._loop


class SyncWeaver(SyncEngagements, SyncSkillSets):
    """The verbs of a Weaver, blocking; made by `weaver.sync`."""

    def __init__(self, weaver: "Weaver", thread: LoopThread | None = None) -> None:
        self._weaver = weaver
        self._thread = thread or LoopThread()

    def over(self, weaver: "Weaver") -> "SyncWeaver":
        """The verbs of another Weaver on the same loop."""
        return SyncWeaver(weaver, self._thread)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run what awaits this weaver on its own loop, and wait for the result; for adapters of blocking hosts."""
        return self._thread.run(work)

    def tokens_of_everything(self) -> int:
        """See `Weaver.tokens_of_everything`."""
        return self._thread.run(self._weaver.tokens_of_everything())

    def weave(self, message: "str | Turn", **turn: Any) -> Injection:  # noqa: ANN401 - the fields of `Turn`
        """See `Weaver.weave`."""
        return self._thread.run(self._weaver.weave(message, **turn))

    def preview(self, message: "str | Turn", **turn: Any) -> Injection:  # noqa: ANN401
        """See `Weaver.preview`."""
        return self._thread.run(self._weaver.preview(message, **turn))

    def standing(self, conversation: str, **known: Any) -> Injection:  # noqa: ANN401
        """See `Weaver.standing`."""
        return self._thread.run(self._weaver.standing(conversation, **known))

    def match(self, message: "str | Turn", **turn: Any) -> Selection:  # noqa: ANN401
        """See `Weaver.match`."""
        return self._thread.run(self._weaver.match(message, **turn))

    def read_skill(self, skill_id: str, section: str | None = None, **call: Any) -> ToolAnswer:  # noqa: ANN401
        """See `Weaver.read_skill`."""
        return self._thread.run(self._weaver.read_skill(skill_id, section, **call))

    def read_artifact(self, skill_id: str, artifact_id: str, section: str | None = None, **call: Any) -> ToolAnswer:  # noqa: ANN401
        """See `Weaver.read_artifact`."""
        return self._thread.run(self._weaver.read_artifact(skill_id, artifact_id, section, **call))

    def list_skills(self, after: str = "") -> ToolAnswer:
        """See `Weaver.list_skills`."""
        return self._thread.run(self._weaver.list_skills(after))

    def search_skills(self, query: str) -> ToolAnswer:
        """See `Weaver.search_skills`."""
        return self._thread.run(self._weaver.search_skills(query))

    def call_tool(self, name: str, arguments: Mapping[str, object] | None, **call: Any) -> ToolAnswer:  # noqa: ANN401
        """See `Weaver.call_tool`."""
        return self._thread.run(self._weaver.call_tool(name, arguments, **call))

    @contextmanager
    def delivery(self, message: "str | Turn", **turn: Any) -> Iterator[Injection]:  # noqa: ANN401
        """See `Weaver.delivery`; a plain `with`."""
        handing_over = self._weaver.delivery(message, **turn)
        injection = self._thread.run(_entered(handing_over))
        try:
            yield injection
        except BaseException as error:
            self._thread.run(_left(handing_over, error))
            raise
        self._thread.run(_left(handing_over, None))

    def authorize(
        self,
        injection: Injection,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
    ) -> Verdict:
        """See `Weaver.authorize`."""
        return self._thread.run(self._weaver.authorize(injection, tool, arguments, call_id=call_id))

    def emit(
        self,
        conversation: str,
        skill_id: str,
        event_type: str,
        payload: Mapping[str, object],
        *,
        turn_id: str | None = None,
        key: str | None = None,
    ) -> Event:
        """See `Weaver.emit`."""
        work = self._weaver.emit(conversation, skill_id, event_type, payload, turn_id=turn_id, key=key)
        return self._thread.run(work)

    def evict(self, conversation: str, key: str) -> bool:
        """See `Weaver.evict`."""
        return self._thread.run(self._weaver.evict(conversation, key))

    def clear(self, conversation: str) -> bool:
        """See `Weaver.clear`."""
        return self._thread.run(self._weaver.clear(conversation))

    def state(self, conversation: str) -> State:
        """See `Weaver.state`."""
        return self._thread.run(self._weaver.state(conversation))

    def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """See `Weaver.why`."""
        return self._thread.run(self._weaver.why(conversation, skill_id))

    def snapshot(self) -> Snapshot:
        """See `Weaver.snapshot`."""
        return self._thread.run(self._weaver.snapshot())

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """See `Weaver.diagnostics`."""
        return self._thread.run(self._weaver.diagnostics())

    def catalog(self) -> str:
        """See `Weaver.catalog`."""
        return self._thread.run(self._weaver.catalog())

    def refresh(self) -> Changes:
        """See `Weaver.refresh`."""
        return self._thread.run(self._weaver.refresh())

    def close(self) -> None:
        """End the private thread."""
        self._thread.stop()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        # Whoever still waits for an answer is told that it is cancelled, instead of waiting for ever.
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
    finally:
        loop.close()


async def _entered(manager: Any) -> Injection:  # noqa: ANN401 - an async context manager of any kind
    injection: Injection = await manager.__aenter__()
    return injection


async def _left(manager: Any, error: BaseException | None) -> None:  # noqa: ANN401
    if error is None:
        await manager.__aexit__(None, None, None)
    else:
        try:
            await manager.__aexit__(type(error), error, error.__traceback__)
        except type(error) as again:
            if again is not error:
                raise
