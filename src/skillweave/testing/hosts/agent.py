"""What the contract of adapters needs of an agent in any framework."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the host with one text argument, `text`; `run` gets it and gives the result, or raises."""

    name: str
    run: Callable[[str], str]
    description: str = "A tool of the host."


class HostedAgent(Protocol):
    """One agent in one conversation, in a framework with an adapter; each method goes through the real framework.

    An agent that is made again with the same memory folder goes on with the same conversation, as in a new process.
    """

    async def say(self, text: str) -> str:
        """One message of the user, as many calls of the model as it takes, and the model's last words.

        Where the framework pauses at a checkpoint, the words until there; `waiting` then names what for.
        """
        ...

    async def stream(self, text: str) -> str:
        """The same through the framework's streaming, its pieces joined."""
        ...

    def say_sync(self, text: str) -> str:
        """The same through the framework's blocking way."""
        ...

    async def again(self) -> str:
        """The last message of the user once more, from the state before it: a retry after a lost reply."""
        ...

    async def compact(self, summary: str) -> None:
        """Replace everything that was said by a summary, in the way of the framework's users."""
        ...

    async def kept(self) -> Sequence[str]:
        """The history that the host keeps, each message as JSON text."""
        ...

    @property
    def waiting(self) -> Sequence[str]:
        """The names of the checkpoints at which the run paused, empty for a run that ended."""
        ...

    async def resume(self, reply: Mapping[str, object]) -> str:
        """Go on after a person's reply (`verdict`, `by`, `note`), and give the model's last words."""
        ...
