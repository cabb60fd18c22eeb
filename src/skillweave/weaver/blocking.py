"""Awaited verbs as blocking ones: what a class needs that runs them on a loop of its own."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")


class OnLoop(Protocol):
    """What runs the coroutines of a `weaver` on a loop in another thread, and waits for each."""

    weaver: Any

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the coroutine."""
        ...


class Blocking(Generic[P, T]):
    """One verb of the Weaver on the private loop's thread, with the arguments and the answer that it has there."""

    def __init__(self, verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, sync: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sync: "OnLoop", owner: type) -> Callable[P, T]: ...
    def __get__(self, sync: "OnLoop | None", owner: type) -> Self | Callable[P, T]:
        if sync is None:
            return self

        @wraps(self._verb)
        def verb(*args: P.args, **kwargs: P.kwargs) -> T:
            return sync.run(self._verb(sync.weaver, *args, **kwargs))

        return verb


async def entered(manager: AbstractAsyncContextManager[T]) -> T:
    """The beginning of a block, as a coroutine."""
    return await manager.__aenter__()


async def left(manager: AbstractAsyncContextManager[Any], error: BaseException | None) -> None:
    """The end of a block, with the error that ends it; the same error passes."""
    if error is None:
        await manager.__aexit__(None, None, None)
        return
    try:
        await manager.__aexit__(type(error), error, error.__traceback__)
    except type(error) as again:
        if again is not error:
            raise
