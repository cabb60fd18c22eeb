"""The beginning of an exchange: which form a request has, by its path, and its steps."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from skillweave.exchange.chat import Chat
from skillweave.exchange.forms import Form
from skillweave.exchange.messages import Messages
from skillweave.exchange.responses import Responses
from skillweave.exchange.run import Exchange
from skillweave.exchange.steps import Asked, Parts, Step

_MESSAGES = Messages()
_BY_END: tuple[tuple[str, Form, bool], ...] = (
    ("/chat/completions", Chat(), False),
    ("/responses", Responses(), False),
    ("/messages", _MESSAGES, False),
    ("/messages/count_tokens", _MESSAGES, True),
)


class Begun:
    """A request on its way: `steps` says what its door has to do, `keep_alive` tells a client that a stream lives."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.steps: AsyncGenerator[Step, Any] = exchange.steps()
        self.form = exchange.form.name
        self.keep_alive = exchange.form.keep_alive()

    @property
    def way(self) -> str:
        """How the request stands to what came before it, such as `new`, `on`, `fork` and `side`."""
        return self._exchange.context.way.value

    @property
    def overhead(self) -> float:
        """Seconds that were added to the time of the upstream until now."""
        return self._exchange.overhead

    @property
    def facts(self) -> Mapping[str, str | int | bool | tuple[str, ...]]:
        """What is known of it now, by name, for whoever records it; `rounds` are those that the client did not see."""
        exchange = self._exchange
        return {
            "conversation": exchange.context.conversation,
            "form": self.form,
            "way": self.way,
            "rounds": max(len(exchange.replies) - 1, 0),
            "given": tuple(dict.fromkeys(exchange.given)),
            "passed": "Passed" in exchange.notes,
        }


def begin(parts: Parts, asked: Asked) -> Begun | None:
    """Returns the exchange of a POST; None for a path that has none of the three forms."""
    found = next(((form, counts) for end, form, counts in _BY_END if asked.path.endswith(end)), None)
    return None if found is None else Begun(Exchange(parts, found[0], asked, found[1]))
