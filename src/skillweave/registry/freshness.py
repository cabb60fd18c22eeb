"""Whether what was loaded is still what the sources hold: versions are compared at most once a second, by who asks."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import SkillweaveError
from skillweave.registry.source import Source, Versioned

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

COMPARE_SECONDS = 1.0
"""How old a comparison may be when it is relied on."""
LONGEST_PAUSE = 60.0
"""The next comparison after one that failed comes no later than this."""
PAUSE_FACTOR = 10
"""So many times as long as a failed comparison took none is made: a silent server costs a tenth of the time."""
LONGEST_READ = 60.0
"""What changed must be read within so many seconds; no turn waits that long."""
MAY_BE_OLD = "skills-may-be-old"

Versions: TypeAlias = Mapping[int, str | None]
"""What sources answer now, by their places in the registry."""


class Freshness:
    """Compares the versions of sources with those that were loaded; callers of one moment share a comparison."""

    def __init__(
        self,
        sources: Sequence[Source],
        is_old: Callable[[int, str | None], bool],
        read_again: Callable[[Versions], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self.clock = clock
        self.behind: Diagnostic | None = None
        self.sources = {place: one for place, one in enumerate(sources) if isinstance(one, Versioned)}
        self._names = tuple(source.name for source in sources)
        self._is_old = is_old
        self._read_again = read_again
        self._lock = Lock()
        self._look: _Look | None = None
        self._next = 0.0

    def compared(self, begun: float) -> None:
        """Everything is as it was at that time of the clock, or newer."""
        self.behind, self._next = None, begun + COMPARE_SECONDS

    async def catch_up(self, seconds: float) -> None:
        """Compares versions, at most once a second, and reads what changed, for at most `seconds`; see `behind`."""
        if not self.sources:
            return
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            look = self._look
            if look is None or look.task.done() or look.loop is not loop:
                now = self.clock()
                if now < self._next:
                    return
                self._next = now + COMPARE_SECONDS
                look = self._look = _Look(loop, lambda look: self._compare(look, now, seconds / 2))
        await look.answered.wait()
        done, _ = await asyncio.wait((look.task,), timeout=max(0.0, look.until - loop.time()))
        if done:
            look.task.result()
        else:
            self.behind = _behind("what changed is being read, which takes longer than a turn waits")

    async def _compare(self, look: "_Look", begun: float, seconds: float) -> None:
        import asyncio

        failures: list[str] = []
        try:
            versions = await self._versions(seconds, failures)
        finally:
            look.until = look.loop.time() + seconds
            look.answered.set()
        old = {place: version for place, version in versions.items() if self._is_old(place, version)}
        try:
            async with asyncio.timeout(LONGEST_READ):
                if old:
                    await self._read_again(old)
        except TimeoutError:
            failures.append(f"what changed was not read within {LONGEST_READ:g} s")
        except Exception as error:  # noqa: BLE001 - guests are sources: whatever they raise is told, and costs no turn
            failures.append(_said_by(error))
        if not failures:
            self.compared(begun)
            return
        now = self.clock()
        self.behind = _behind("; ".join(failures))
        self._next = now + min(LONGEST_PAUSE, max(COMPARE_SECONDS, PAUSE_FACTOR * (now - begun)))

    async def _versions(self, seconds: float, failures: list[str]) -> Versions:
        """The versions that sources told in time; what hindered the others is added to the failures."""
        import asyncio

        async def version_of(place: int, source: Versioned) -> str | None:
            try:
                async with asyncio.timeout(seconds):
                    return await source.version()
            except TimeoutError:
                failures.append(f"{self._names[place]!r} did not say within {seconds:g} s whether it changed")
            except Exception as error:  # noqa: BLE001 - as above
                failures.append(_said_by(error))
            return None

        answers = await asyncio.gather(*(version_of(place, source) for place, source in self.sources.items()))
        return dict(zip(self.sources, answers, strict=True))


class _Look:
    """A comparison on its way: its loop, whether the versions came, and `until` when (loop's clock) others wait."""

    def __init__(self, loop: "AbstractEventLoop", work: "Callable[[_Look], Coroutine[None, None, None]]") -> None:
        import asyncio

        self.loop, self.until, self.answered = loop, 0.0, asyncio.Event()
        self.task: Task[None] = loop.create_task(work(self))
        # A failure that nobody waits for any more comes again with the next comparison.
        self.task.add_done_callback(lambda done: done.cancelled() or done.exception())


def _said_by(error: Exception) -> str:
    return str(error) if isinstance(error, SkillweaveError) else f"{type(error).__name__}: {error}"


def _behind(why: str) -> Diagnostic:
    return Diagnostic(
        MAY_BE_OLD,
        Severity.WARNING,
        f"the skills may be older than what their sources hold: {why}",
        "check the source; until it answers, turns go on with the skills that were read last",
    )
