"""The three forms of a request: what the steps of an exchange have to know of each, and what is alike in all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from skillweave.adapters.chat import Call, HostMessage
from skillweave.adapters.messages.lists import Style, tool_names, with_parameters
from skillweave.dialogue import Message, Role
from skillweave.errors import InvalidTurn
from skillweave.exchange.chain import without_tags
from skillweave.exchange.streams import Carried, Sieve, Stream
from skillweave.exchange.wire import Unreadable


@dataclass(frozen=True, slots=True)
class Answered:
    """A call that was answered inside: with our tool's answer, or with why it was not run."""

    call: Call
    text: str
    failed: bool


class Form:
    """What is known of a form; bodies, items and replies are JSON values that are never changed in place.

    An item is one entry of the list that holds the conversation: a message, or in `responses` an input item.
    """

    name: ClassVar[str]
    key: ClassVar[str]
    """Where the items stand in a body."""
    style: ClassVar[Style]
    own_item: ClassVar[bool] = False
    """Whether a text of ours is an item of its own, and no part of the client's."""

    def items(self, body: Mapping[str, Any]) -> list[Any]:
        """Returns the items; raises Unreadable."""
        found = body.get(self.key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise Unreadable(f"`{self.key}` of this request is no list of objects")
        return found

    def normal(self, item: Mapping[str, Any]) -> object | None:
        """Returns the item in the one form that is digested; None for one that is left out of the chain."""
        raise NotImplementedError

    def read(self, items: Sequence[Any], body: Mapping[str, Any]) -> list[HostMessage]:
        """Returns what the model is sent; what agents wrote in tags is nobody's words. Raises Unreadable."""
        try:
            found = self.style.read(items)
        except InvalidTurn as error:
            raise Unreadable(str(error)) from error
        return [in_own_words(piece) for piece in found]

    def place(self, items: Sequence[Any]) -> int | None:
        """Returns the index of the item in which, or behind which, a text of ours stands; None where there is none."""
        raise NotImplementedError

    def put(self, item: Mapping[str, Any], text: str) -> list[Any]:
        """Returns the item with a text of ours: in it, or behind it as an item of its own."""
        raise NotImplementedError

    def with_catalog(self, body: Mapping[str, Any], catalog: str) -> dict[str, Any]:
        """Returns the body with the list of skills at the end of its system prompt."""
        raise NotImplementedError

    def forces(self, choice: object) -> str | bool:
        """Whether a `tool_choice` forces a call: the name of the tool, or True for any; False where it does not."""
        raise NotImplementedError

    def choice(self, *, none: bool) -> object:
        """Returns the `tool_choice` that leaves it to the model, or the one that allows no call."""
        return "none" if none else "auto"

    def found(self, reply: Mapping[str, Any], tools: Sequence[Any]) -> tuple[Call, ...]:
        """Returns the calls of a reply that somebody here would have to run."""
        return with_parameters(self.style.found(reply), tools)

    def text(self, reply: Mapping[str, Any]) -> str:
        """Returns what the model said."""
        raise NotImplementedError

    def history(self, reply: Mapping[str, Any]) -> list[Any]:
        """Returns what a later request carries of the reply."""
        raise NotImplementedError

    def results(self, answered: Sequence[Answered]) -> list[Any]:
        """Returns the items that answer these calls."""
        return [self.style.result(one.call, one.text, one.failed) for one in answered]

    def unthought(self, item: Mapping[str, Any]) -> list[Any]:
        """Returns an item of the model without its reasoning, of which a provider takes none but the original."""
        return [{key: one for key, one in item.items() if not key.startswith("reasoning")}]

    def joined(self, items: Sequence[Any], held: Sequence[Any]) -> list[Any]:
        """Returns the items that follow a reply, with held results of the same reply in front."""
        return [*held, *items]

    def merged(
        self, replies: Sequence[Mapping[str, Any]], visible: Sequence[Call], *, words: str = ""
    ) -> dict[str, Any]:
        """Returns one reply for all rounds: one id, the calls that the client may see, the last finish reason.

        `words` stand in for a reply of which nothing else is left.
        """
        raise NotImplementedError

    def stream(self, sieve: Sieve, carried: Carried) -> Stream:
        """Returns the reader of one streamed round."""
        raise NotImplementedError

    def keep_alive(self) -> bytes:
        """Returns what says to a client that a held stream lives."""
        return b": held\n\n"


def names_of(tools: Sequence[Any]) -> tuple[str, ...]:
    """Returns the names of declared tools; raises Unreadable for a list with one that names none."""
    try:
        return tool_names(tools)
    except InvalidTurn as error:
        raise Unreadable(str(error)) from error


def tools_of(body: Mapping[str, Any]) -> list[Any]:
    """Returns the tools that a request declares; raises Unreadable for what is no list of objects."""
    tools = body.get("tools")
    if tools is None:
        return []
    if not isinstance(tools, list) or not all(isinstance(one, dict) for one in tools):
        raise Unreadable("`tools` of this request is no list of objects")
    return tools


def in_own_words(piece: HostMessage) -> HostMessage:
    """Returns a message of the user without what agents wrote in tags; one that is nothing else is nobody's words."""
    if piece.message.role is not Role.USER:
        return piece
    content = piece.message.content
    parts = (content,) if isinstance(content, str) else content or ()
    left = tuple(without_tags(part) if isinstance(part, str) else part for part in parts)
    if left == tuple(parts):
        return piece
    said = tuple(part for part in left if part)
    spoken = Message(Role.USER, said) if said else Message(Role.SYSTEM, None)
    return HostMessage(piece.where, piece.message, piece.host_part, piece.calls, piece.result, spoken)


def part_put(content: object, text: str) -> list[Any]:
    """Returns content as a list of parts with one more text."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())  # type: ignore[call-overload]
    return [*(part for part in parts if part != {"type": "text", "text": ""}), {"type": "text", "text": text}]


def added(*usages: object) -> dict[str, Any]:
    """Returns usage with the last round's input and all rounds' output."""
    known = [one for one in usages if isinstance(one, Mapping)]
    total = dict(known[-1]) if known else {}
    for key in ("completion_tokens", "output_tokens"):
        counts = [one[key] for one in known if isinstance(one.get(key), int)]
        if counts and len(known) > 1:
            total[key] = sum(counts)
            for whole, given in (("total_tokens", "prompt_tokens"), ("total_tokens", "input_tokens")):
                if isinstance(total.get(whole), int) and isinstance(total.get(given), int):
                    total[whole] = total[given] + total[key]
    return total
