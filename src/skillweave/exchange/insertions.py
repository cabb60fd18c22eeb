"""What is kept of an exchange so that the next request finds it."""

from dataclasses import dataclass
from typing import Any

from skillweave.exchange.wire import read_object, write_json


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one place in a chain.

    `conversation` is the ledger's id. `text` was put there. `state` says that a request ended there, `left` that a
    later one went on from there; `said` is the digest behind its reply, where the client holds another one than the
    model gave. `turns` are those of the ledger that it took. `tools` is the digest of the client's tools, `withheld`
    are those that were taken out, `own` says whether ours stood there: as they were at the first request. `start` is
    the digest before a reply that ends here, `items` what the model really said in place of what the client holds,
    `held` the results of its calls that belong in front of the client's.
    """

    conversation: str = ""
    text: str = ""
    state: bool = False
    left: bool = False
    said: str = ""
    turns: tuple[str, ...] = ()
    tools: str = ""
    withheld: tuple[str, ...] = ()
    own: bool = False
    start: str | None = None
    items: tuple[Any, ...] = ()
    held: tuple[Any, ...] = ()

    def to_bytes(self) -> bytes:
        """The entry as JSON, without what is as it usually is."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return write_json({name: one for name, one in fields.items() if one not in ("", False, (), None)})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Entry":
        """The entry that `to_bytes` wrote; raises Unreadable."""
        read = read_object(data)
        known: dict[str, Any] = {
            name: tuple(one) if isinstance(one, list) else one for name, one in read.items() if name in cls.__slots__
        }
        return cls(**known)


def chain_key(digest: str) -> str:
    """The key of a place in a chain."""
    return f"at:{digest}"


MAIN = "main"
"""The key of a session's main chain."""
