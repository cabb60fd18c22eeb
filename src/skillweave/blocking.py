"""Awaited verbs as blocking ones: what a class needs that runs another class's verbs on a loop in its own thread."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")


class OnLoop(Protocol):
    """What runs the coroutines of `awaited` on a loop in another thread, and waits for each."""

    @property
    def awaited(self) -> Any:  # noqa: ANN401 - an object of the class whose verbs these are
        """Whose verbs run there."""
        ...

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the coroutine."""
        ...


class Blocking(Generic[P, T]):
    """One awaited verb on the private loop's thread, with the arguments and the answer that it has there."""

    def __init__(self, verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, sync: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sync: OnLoop, owner: type) -> Callable[P, T]: ...
    def __get__(self, sync: OnLoop | None, owner: type) -> Self | Callable[P, T]:
        if sync is None:
            return self

        @wraps(self._verb)
        def verb(*args: P.args, **kwargs: P.kwargs) -> T:
            return sync.run(self._verb(sync.awaited, *args, **kwargs))

        return verb


class BlockingSeries(Generic[P, T]):
    """One verb that gives one thing after the other, for a plain `for`; each is waited for when it is asked for."""

    def __init__(self, verb: Callable[Concatenate[Any, P], AsyncGenerator[T, None]]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, sync: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sync: OnLoop, owner: type) -> Callable[P, Generator[T, None, None]]: ...
    def __get__(self, sync: OnLoop | None, owner: type) -> Self | Callable[P, Generator[T, None, None]]:
        if sync is None:
            return self

        @wraps(self._verb)
        def verb(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
            series = self._verb(sync.awaited, *args, **kwargs)
            try:
                while found := sync.run(_next(series)):
                    yield found[0]
            finally:
                sync.run(_ended(series))

        return verb


class BlockingBlock(Generic[P, T]):
    """One verb that makes a block, for a plain `with`."""

    def __init__(self, verb: Callable[Concatenate[Any, P], AbstractAsyncContextManager[T]]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, sync: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sync: OnLoop, owner: type) -> Callable[P, AbstractContextManager[T]]: ...
    def __get__(self, sync: OnLoop | None, owner: type) -> Self | Callable[P, AbstractContextManager[T]]:
        if sync is None:
            return self

        @wraps(self._verb)
        @contextmanager
        def verb(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            block = self._verb(sync.awaited, *args, **kwargs)
            given = sync.run(_entered(block))
            try:
                yield given
            except BaseException as error:
                sync.run(_left(block, error))
                raise
            sync.run(_left(block, None))

        return verb


async def _next(series: AsyncGenerator[T, None]) -> tuple[T] | None:
    try:
        return (await anext(series),)
    except StopAsyncIteration:
        return None


async def _ended(series: AsyncGenerator[Any, None]) -> None:
    await series.aclose()


async def _entered(manager: AbstractAsyncContextManager[T]) -> T:
    return await manager.__aenter__()


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
