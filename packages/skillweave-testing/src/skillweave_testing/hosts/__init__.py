"""The contract of adapters: an agent in any framework, a scripted model inside it, and what has to hold for both.

The scripted models of the frameworks are in modules of their names and need nothing else; the contract suites
(`skillweave_testing.hosts.contracts`) need pytest with pytest-asyncio.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Asks", "HostedAgent", "Says", "Script", "Sent", "Tool", "as_json", "names", "tool_call"]


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
        """What `say` does through the framework's streaming, its pieces joined."""
        ...

    def say_sync(self, text: str) -> str:
        """What `say` does through the framework's blocking way."""
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
        """Go on after a person's reply (`verdict`, `by`, `note`, `call`, `arguments`), and give the model's last words.

        A reply that names a `call` is about that one alone; where others still wait, the words until there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Asks:
    """One tool call that the model makes; `id` is made up where there is none."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict, hash=False)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Says:
    """One reply of the model: a text, tool calls, or both; `fails` is raised instead, as by a provider that is down."""

    text: str = ""
    asks: tuple[Asks, ...] = ()
    fails: Exception | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What one call of the model was sent: `messages` are its messages as JSON texts, without the system prompt.

    `tools` are the names that it was shown, `declared` their declarations as JSON texts.
    """

    system: str
    messages: tuple[str, ...]
    tools: tuple[str, ...]
    declared: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that stands in the messages, value by value; a text is the same as one part with that text.

        So a provider reads them too, and caches them. Cache markers are left out: they move on from call to call.
        """
        return tuple(value for message in self.messages for value in _values(json.loads(message)))

    def times(self, text: str) -> int:
        """How often the text stands anywhere in the call."""
        return self.system.count(text) + self.times_in_messages(text)

    def times_in_messages(self, text: str) -> int:
        """How often the text stands in the messages."""
        inside = json.dumps(text, ensure_ascii=False)[1:-1]
        return sum(message.count(inside) for message in self.messages)


class Script:
    """The model's part: each call takes the next reply, and the last one is said for good.

    A scripted model of a framework calls `reply` with what it was sent; the record is in `sent`. `before_reply` is
    called before each reply, for what is to happen while the model thinks.
    """

    def __init__(self, *says: Says | str, otherwise: str = "All right.") -> None:
        self._coming: list[Says] = [Says(one) if isinstance(one, str) else one for one in says]
        self._otherwise = Says(otherwise)
        self._asked = 0
        self.sent: list[Sent] = []
        self.before_reply: Callable[[], object] = _nothing

    @property
    def last(self) -> Sent:
        """What the model was sent last."""
        return self.sent[-1]

    def then(self, *says: Says | str) -> None:
        """Add replies to come."""
        self._coming += [Says(one) if isinstance(one, str) else one for one in says]

    def reply(self, sent: Sent) -> Says:
        """Record the call, and answer it; every tool call has an id of its own. Raises what the reply fails with."""
        self.sent.append(sent)
        self.before_reply()
        says = self._coming.pop(0) if self._coming else self._otherwise
        if says.fails is not None:
            raise says.fails
        return Says(says.text, tuple(self._named(asks) for asks in says.asks))

    def _named(self, asks: Asks) -> Asks:
        self._asked += 1
        return asks if asks.id else Asks(asks.tool, asks.arguments, f"call-{self._asked}")


def _nothing() -> None:
    """What happens while the model thinks, unless a test says otherwise."""


def as_json(message: object) -> str:
    """A message as the text that a Sent keeps of it."""
    return json.dumps(message, ensure_ascii=False, sort_keys=True, default=str)


def _values(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("type") in ("text", "input_text") and "text" in node:
            yield str(node["text"])
        elif node.get("kind") != "cache-point":
            for key, value in node.items():
                yield from () if key == "cache_control" else _values(value)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value)
    elif node is not None:
        yield str(node)


def tool_call(tool: str, id: str = "", **arguments: object) -> Asks:  # noqa: A002 - as in the wire formats
    """A call with its arguments by name."""
    return Asks(tool, arguments, id)


def names(tools: Sequence[object]) -> tuple[str, ...]:
    """The names of a framework's tool definitions, which all have one."""
    return tuple(str(getattr(tool, "name", tool)) for tool in tools)
