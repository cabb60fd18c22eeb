import pytest

from skillweave.closing import Closable, close_all
from skillweave.values import ClosedOnExit


class Connection(ClosedOnExit):
    def __init__(self, failure: Exception | None = None) -> None:
        self.closed = 0
        self.failure = failure

    async def close(self) -> None:
        self.closed += 1
        if self.failure is not None:
            raise self.failure


async def test_a_block_closes_what_it_entered_also_after_an_error() -> None:
    connection = Connection()

    async def fail() -> None:
        async with connection as entered:
            assert entered is connection
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert connection.closed == 1


async def test_what_holds_nothing_needs_no_close_of_its_own() -> None:
    class Holding(ClosedOnExit):
        pass

    async with Holding() as holding:
        assert isinstance(holding, Closable)


async def test_all_that_can_be_closed_are_closed_once() -> None:
    one, other = Connection(), Connection()
    await close_all([one, object(), other, one])
    assert (one.closed, other.closed) == (1, 1)


async def test_one_that_fails_keeps_no_other_open() -> None:
    connections = [Connection(OSError("gone")), Connection(), Connection(ValueError("too"))]
    with pytest.raises(OSError, match="gone"):
        await close_all(connections)
    assert [connection.closed for connection in connections] == [1, 1, 1]
