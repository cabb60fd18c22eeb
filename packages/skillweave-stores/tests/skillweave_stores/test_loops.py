import asyncio
import gc
import os
import threading
import weakref

from skillweave_stores.loops import PerLoop


class _Clients:
    def __init__(self) -> None:
        self.made = 0
        self.closed: list[tuple[int, asyncio.AbstractEventLoop]] = []
        self.abandoned: list[int] = []
        self.per_loop = PerLoop(self._make, self._close, self.abandoned.append)

    def _make(self) -> int:
        self.made += 1
        return self.made

    async def _close(self, one: int) -> None:
        self.closed.append((one, asyncio.get_running_loop()))

    async def here(self) -> int:
        return self.per_loop.here()


def test_each_loop_has_a_client_of_its_own() -> None:
    clients = _Clients()
    assert [asyncio.run(clients.here()), asyncio.run(clients.here())] == [1, 2]


async def test_a_loop_keeps_its_client() -> None:
    clients = _Clients()
    assert (clients.per_loop.here(), clients.per_loop.here()) == (1, 1)


async def test_what_a_running_loop_made_is_closed_in_that_loop() -> None:
    clients, other = _Clients(), asyncio.new_event_loop()
    thread = threading.Thread(target=other.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(clients.here(), other).result(10)
    clients.per_loop.here()
    await clients.per_loop.close()
    other.call_soon_threadsafe(other.stop)
    thread.join()
    other.close()
    assert sorted(clients.closed, key=lambda one: one[0]) == [(1, other), (2, asyncio.get_running_loop())]


async def test_what_a_blocked_loop_made_is_abandoned() -> None:
    clients = _Clients()
    clients.per_loop.here()
    closing = threading.Thread(target=lambda: asyncio.run(clients.per_loop.close()))
    closing.start()
    closing.join()  # this loop waits for the other one, which waits for this one
    assert (clients.abandoned, clients.closed) == ([1], [])


def test_what_a_loop_that_has_ended_made_is_abandoned() -> None:
    clients, ended = _Clients(), asyncio.new_event_loop()
    ended.run_until_complete(clients.here())
    asyncio.run(clients.per_loop.close())
    ended.close()
    assert (clients.abandoned, clients.closed) == ([1], [])


def test_what_an_ended_loop_made_is_abandoned_when_another_loop_comes() -> None:
    clients = _Clients()
    asyncio.run(clients.here())
    assert clients.abandoned == []
    asyncio.run(clients.here())
    assert clients.abandoned == [1]


async def test_after_closing_a_new_client_is_made() -> None:
    clients = _Clients()
    clients.per_loop.here()
    await clients.per_loop.close()
    assert clients.per_loop.here() == 2


async def test_a_forked_child_does_not_use_what_its_parent_made() -> None:
    clients = _Clients()
    clients.per_loop.here()
    clients.per_loop._process = os.getpid() + 1  # as it looks in the child
    assert clients.per_loop.here() == 2


async def test_a_forked_child_does_not_close_what_its_parent_made_by_forgetting_it() -> None:
    class Client:
        pass

    async def close(_: Client) -> None: ...

    per_loop = PerLoop(Client, close, lambda _: None)
    parents = weakref.ref(per_loop.here())
    per_loop._process = os.getpid() + 1  # as it looks in the child
    per_loop.here()
    gc.collect()
    assert parents() is not None
