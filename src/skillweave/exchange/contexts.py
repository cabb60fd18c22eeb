"""Which context a request goes on from, found by the content of its messages (spec 12.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from skillweave.exchange.chain import Link
from skillweave.exchange.identify import Scope
from skillweave.exchange.insertions import MAIN, Entry, chain_key
from skillweave.state.state import State

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
EMPTY = Entry()


class Way(StrEnum):
    """How a request stands to what came before it.

    `new` begins a conversation, `on` extends its newest state, `again` repeats it, `fork` extends an earlier one,
    `rewrite` is a history that was written anew, `side` a request beside the chat.
    """

    NEW = "new"
    ON = "on"
    AGAIN = "again"
    FORK = "fork"
    REWRITE = "rewrite"
    SIDE = "side"


@dataclass(frozen=True, slots=True)
class Context:
    """The conversation of a request and the way to it.

    `digest` is that of the whole request, `before` the state that it extends, if any, with its entry as `known`;
    `parent` is the conversation that a fork comes from, `shared` the turns that both have.
    """

    way: Way
    conversation: str
    digest: str
    known: Entry = EMPTY
    before: str | None = None
    parent: str = ""
    shared: frozenset[str] = field(default=frozenset())

    @property
    def turn_id(self) -> str:
        """The id of the request's turn: the same request is the same turn."""
        return turn_id(self.conversation, self.digest)


def turn_id(conversation: str, digest: str) -> str:
    """The digest of a conversation and a request."""
    joined = "\0".join((conversation, digest)).encode("utf-8", "surrogatepass")
    return f"exchange-{sha256(joined).hexdigest()[:32]}"


def tools_digest(names: Sequence[str]) -> str:
    """The digest of a set of tools, empty for none."""
    return sha256("\0".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()[:16] if names else ""


def is_probe(body: Mapping[str, Any]) -> bool:
    """Whether no more than one token is wanted: a client that asks whether its key works."""
    return any(body.get(name) == 1 for name in _LIMITS)


def context_of(
    scope: Scope, session: str, links: Sequence[Link], entries: Mapping[str, Entry], tools: str, *, beside: bool
) -> Context:
    """Returns the context of a request whose chain is `links`, by what is known of the places in it.

    `beside` says that a request that extends no chain is beside the chat of its session.
    """
    digest = links[-1].digest if links else sha256(tools.encode()).hexdigest()
    states = [
        (link, entries[key]) for link in links if (key := chain_key(link.digest)) in entries and entries[key].state
    ]
    if states:
        link, known = states[-1]
        if not known.left:
            way = Way.AGAIN if link.digest == digest else Way.ON
            return Context(way, known.conversation, digest, known, link.digest)
        shared = frozenset(turn for _, one in states for turn in one.turns)
        conversation = f"{known.conversation}~{digest[:12]}"
        return Context(Way.FORK, conversation, digest, known, None, known.conversation, shared)
    if not session:
        return Context(Way.NEW, scope.conversation(f"chat-{digest[:24]}"), digest)
    conversation = scope.conversation(session)
    main = entries.get(MAIN)
    if beside or (main is not None and main.tools not in ("", tools)):
        return Context(Way.SIDE, conversation if main is None else main.conversation, digest, main or EMPTY)
    if main is None:
        return Context(Way.NEW, conversation, digest)
    # What began without tools was a title or the like, or an agent that has none.
    return Context(
        Way.REWRITE, main.conversation, digest, main if main.tools == tools else replace(main, own=False, withheld=())
    )


def inherited(parent: State, shared: frozenset[str]) -> State:
    """Returns the State of a fork: what was engaged in the shared part, and every restraint, no permission."""
    engaged = tuple(one for one in parent.engaged if one.since in shared)
    kept = {one.skill_id for one in engaged}
    return replace(
        parent,
        revision=0,
        engaged=engaged,
        restraining=tuple(one for one in parent.restraining if one.since in shared),
        records=tuple(one for one in parent.records if one.holder in shared or one.key.removeprefix("skill:") in kept),
        superseded=(),
        approvals=tuple(one for one in parent.approvals if one.refuses),
        last_turn="",
        said="",
        asked=(),
        stale=(),
        uses=(),
    )
