"""Verbs that are awaited on an object, and block on its twin, which has an event loop in a thread of its own."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from functools import partial, wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from skillweave.loop_thread import LoopThread

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")
"""Awaited or Blocked."""


class Awaited:
    """Marks an object whose verbs are awaited, as in `LedgerView[Awaited]`."""


class Blocked:
    """Marks an object whose verbs block, as in `LedgerView[Blocked]`."""


class Verbs(Generic[M]):
    """An object with verbs, awaited or blocking: `_thread` runs those that block, None where they are awaited.

    A verb does not call another one of its own object, which may be blocking; the type checker refuses it.
    """

    _thread: LoopThread | None = None


class Verb(Generic[P, T]):
    """Decorates an async method, which on a blocking object returns its result without `await`."""

    def __init__(self, func: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.func = func

    @overload
    def __get__(self, one: None, owner: type) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, one: Verbs[Awaited], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, one: Verbs[Blocked], owner: type) -> Callable[P, T]: ...
    def __get__(self, one: Verbs[Any] | None, owner: type) -> Callable[..., Any]:
        verb = self.func if one is None else MethodType(self.func, one)
        return verb if one is None or (thread := one._thread) is None else _blocking(verb, thread, _result)  # noqa: SLF001


class VerbSeries(Generic[P, T]):
    """Decorates an async generator, for a plain `for` on a blocking object; it waits for each item in turn."""

    def __init__(self, func: Callable[Concatenate[Any, P], AsyncGenerator[T, None]]) -> None:
        self.func = func

    @overload
    def __get__(self, one: None, owner: type) -> Callable[Concatenate[Any, P], AsyncGenerator[T, None]]: ...
    @overload
    def __get__(self, one: Verbs[Awaited], owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...
    @overload
    def __get__(self, one: Verbs[Blocked], owner: type) -> Callable[P, Generator[T, None, None]]: ...
    def __get__(self, one: Verbs[Any] | None, owner: type) -> Callable[..., Any]:
        verb = self.func if one is None else MethodType(self.func, one)
        return verb if one is None or (thread := one._thread) is None else _blocking(verb, thread, _items)  # noqa: SLF001


class VerbBlock(Generic[P, T]):
    """Decorates an async context manager, for a plain `with` on a blocking object."""

    def __init__(self, func: Callable[Concatenate[Any, P], AbstractAsyncContextManager[T]]) -> None:
        self.func = func

    @overload
    def __get__(self, one: None, owner: type) -> Callable[Concatenate[Any, P], AbstractAsyncContextManager[T]]: ...
    @overload
    def __get__(self, one: Verbs[Awaited], owner: type) -> Callable[P, AbstractAsyncContextManager[T]]: ...
    @overload
    def __get__(self, one: Verbs[Blocked], owner: type) -> Callable[P, AbstractContextManager[T]]: ...
    def __get__(self, one: Verbs[Any] | None, owner: type) -> Callable[..., Any]:
        verb = self.func if one is None else MethodType(self.func, one)
        return verb if one is None or (thread := one._thread) is None else _blocking(verb, thread, _block)  # noqa: SLF001


def _blocking(verb: Callable[..., Any], thread: LoopThread, made: Callable[..., Any]) -> Callable[..., Any]:
    return wraps(verb)(partial(made, thread, verb))


def _result(thread: LoopThread, verb: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    return thread.run(verb(*args, **kwargs))


def _items(
    thread: LoopThread, verb: Callable[P, AsyncGenerator[T, None]], *args: P.args, **kwargs: P.kwargs
) -> Iterator[T]:
    series = verb(*args, **kwargs)
    try:
        while found := thread.run(_next(series)):
            yield found[0]
    finally:
        thread.run(_awaited(series.aclose()))


@contextmanager
def _block(
    thread: LoopThread, verb: Callable[P, AbstractAsyncContextManager[T]], *args: P.args, **kwargs: P.kwargs
) -> Iterator[T]:
    block = verb(*args, **kwargs)
    given = thread.run(_awaited(block.__aenter__()))
    try:
        yield given
    except BaseException as error:
        thread.run(_left(block, error))
        raise
    thread.run(_left(block, None))


async def _next(series: AsyncGenerator[T, None]) -> tuple[T] | None:
    try:
        return (await anext(series),)
    except StopAsyncIteration:
        return None


async def _awaited(work: Awaitable[T]) -> T:
    return await work


async def _left(manager: AbstractAsyncContextManager[Any], error: BaseException | None) -> None:
    """The end of a block, with the error that ends it; the same error passes."""
    if error is None:
        await manager.__aexit__(None, None, None)
        return
    try:
        await manager.__aexit__(type(error), error, error.__traceback__)
    except type(error) as again:
        if again is not error:
            raise
