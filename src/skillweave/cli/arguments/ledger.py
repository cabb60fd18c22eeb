"""Which ledger a command works on, and under which conversation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.arguments.reading import file_of
from skillweave.cli.failure import Mistake
from skillweave.conversation import Message, Role, Turn

if TYPE_CHECKING:
    from skillweave.registry import Source
    from skillweave.state.port import Store

DEFAULT_LEDGER = ".skillweave/state.db"
DEFAULT_CONVERSATION = "default"


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a turn is kept: the ledger's name, None for this command only, and the conversation's id."""

    ledger: str | None
    conversation: str


def kept_in(ledger: str | None, conversation: str | None) -> Kept:
    """A conversation alone is kept in the default file; without one and without a ledger nothing is kept."""
    _require_name(ledger)
    if conversation == "":
        raise Mistake("the conversation's id is empty; give one, such as --conversation c1, or leave that option out")
    if ledger is None and conversation is not None:
        ledger = DEFAULT_LEDGER
    return Kept(ledger, DEFAULT_CONVERSATION if conversation is None else conversation)


def existing(ledger: str | None, conversation: str) -> Kept:
    """The ledger of a command that only looks; raises Mistake where there is none, InvalidTurn for a bad id."""
    Turn("look", conversation, Message(Role.USER, None))
    _require_name(ledger)
    name = ledger or DEFAULT_LEDGER
    if name.startswith("memory://"):
        raise Mistake(f"{name} keeps nothing from one command to the next; name a file with --ledger")
    path = file_of(name)
    if path is not None and not path.exists():
        raise Mistake(
            f"there is no ledger {str(path)!r}; name it with --ledger, or begin one: "
            f"skillweave weave --conversation {conversation} MESSAGE"
        )
    return Kept(name, conversation)


def _require_name(ledger: str | None) -> None:
    # Of an empty shell variable; the default file would be written to without anybody having asked for it.
    if ledger is not None and not ledger.strip():
        raise Mistake("the name of the ledger is empty; name a file with --ledger, or leave that option out")


def unknown_conversation(kept: Kept) -> Mistake:
    """The error that the ledger knows nothing of the conversation."""
    return Mistake(
        f"nothing is kept about conversation {kept.conversation!r} in {kept.ledger}; "
        "check its id, or name another ledger with --ledger"
    )


async def require_known(store: "Store", kept: Kept) -> None:
    """Raise Mistake where the ledger knows nothing of the conversation."""
    state, _ = await store.load(kept.conversation)
    if state.revision == 0:
        raise unknown_conversation(kept)


def opened(kept: Kept, sources: "Iterable[Source]" = ()) -> "Store":
    """The store, to be closed with `async with`; its decisions are where a weaver over those sources keeps them."""
    from skillweave.stores.named import store_of
    from skillweave.stores.split import with_log

    return with_log(store_of(kept.ledger), sources)


def databases_in(skills: Sequence[str] | None) -> "tuple[Source, ...]":
    """The sources of those of the named skills that are URLs; nothing is read yet."""
    named = [name for name in skills or () if "://" in name]
    if not named:
        return ()
    from skillweave.sources.named import source_of

    return tuple(map(source_of, named))
