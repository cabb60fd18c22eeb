"""The private event-loop thread behind `weaver.sync`."""

import asyncio
from concurrent.futures import CancelledError
from threading import Event, Thread

from skillweave.loop_thread import LoopThread


def test_what_still_runs_when_the_thread_is_stopped_is_cancelled_and_never_waits_for_ever() -> None:
    thread = LoopThread()
    running = Event()
    ends: list[type[BaseException]] = []

    async def endless() -> None:
        running.set()
        await asyncio.Event().wait()

    def wait() -> None:
        try:
            thread.run(endless())
        except CancelledError as error:
            ends.append(type(error))

    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    assert running.wait(10)
    thread.stop()
    waiting.join(10)
    assert ends == [CancelledError]


def test_a_stopped_thread_starts_again_at_the_next_use() -> None:
    thread = LoopThread()

    async def answer() -> int:
        return 42

    assert thread.run(answer()) == 42
    thread.stop()
    assert thread.run(answer()) == 42
    thread.stop()
