"""Several mistakes told at once, so that nobody has to run a reader once for each."""

from collections.abc import Callable
from typing import TypeVar

from skillweave.errors import InvalidGraph

MOST_TOLD = 10
"""Reading ends when so many mistakes are found."""

_Value = TypeVar("_Value")


class Mistakes:
    """Collects what is wrong while reading goes on."""

    def __init__(self) -> None:
        self._found: list[InvalidGraph] = []

    def attempt(self, read: Callable[[], _Value], otherwise: _Value) -> _Value:
        """What the function reads, or the other value where it raises InvalidGraph; the tenth mistake ends it all."""
        try:
            return read()
        except InvalidGraph as error:
            self.add(error)
            return otherwise

    def add(self, error: InvalidGraph) -> None:
        """One more; raises InvalidGraph with all of them when there are enough."""
        self._found.append(error)
        if len(self._found) >= MOST_TOLD:
            self.raise_found()

    def raise_found(self) -> None:
        """Raise InvalidGraph for all that was found, a line for each; nothing where all is well."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            many = f"{len(self._found)} mistakes" if len(self._found) < MOST_TOLD else f"at least {MOST_TOLD} mistakes"
            lines = "\n".join(f"- {error}" for error in self._found)
            raise InvalidGraph(f"the graph has {many}:\n{lines}", mistakes=self._found)
