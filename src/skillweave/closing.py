"""What holds a connection, and how it is given back: `close`, and `async with`."""

from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

_ENDING: set[object] = set()
"""What is being ended, so that it is not collected as garbage before."""


@runtime_checkable
class Closable(Protocol):
    """Something that holds a connection, a file or a thread until it is closed."""

    async def close(self) -> None:
        """Give back what it holds; a second call does nothing."""
        ...


class ClosableOnExit(Closable, Protocol):
    """A port whose implementations are also closed at the end of `async with`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class ClosedOnExit:
    """Makes a class with a `close` usable in `async with`; without a `close` of its own it has nothing to give back."""

    __slots__ = ()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give back what it holds; a second call does nothing."""


async def close_all(things: Iterable[object]) -> None:
    """Close those that can be closed, each once and all of them; then raise the first error that there was."""
    import asyncio

    closable = {id(thing): thing for thing in things if isinstance(thing, Closable)}
    results = await asyncio.gather(*(thing.close() for thing in closable.values()), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


async def finished(work: Coroutine[Any, Any, None]) -> None:
    """Do the work to its end, also where the caller is cancelled meanwhile, once or again and again."""
    import asyncio

    task = asyncio.ensure_future(work)
    _ENDING.add(task)
    task.add_done_callback(_ENDING.discard)
    await asyncio.shield(task)
