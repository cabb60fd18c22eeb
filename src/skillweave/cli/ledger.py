"""`skillweave ledger`: what a conversation was given, and forgetting it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import Kept, existing, opened, unknown_conversation
from skillweave.cli.failure import Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.ledger.state import Record, State

SHOW_EXAMPLES = """
skillweave ledger show c1
skillweave ledger show c1 multilingual-greetings --json
"""
EVICT_EXAMPLES = """
skillweave ledger evict c1 multilingual-greetings
skillweave ledger evict c1 artifact:multilingual-greetings/references/forms-of-address.md
"""
CLEAR_EXAMPLES = """
skillweave ledger clear c1
"""

_Conversation = Annotated[str, typer.Argument(metavar="CONVERSATION", help="The id of a conversation.")]
_KEY = "A skill's id, or a key such as artifact:SKILL/FILE."


def show(
    conversation: _Conversation,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help=_KEY)] = None,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Show what a conversation was given and what is engaged in it."""
    import asyncio

    return asyncio.run(_shown(existing(ledger, conversation), key))


def evict(
    conversation: _Conversation,
    key: Annotated[str, typer.Argument(metavar="KEY", help=_KEY)],
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Forget that a skill was given, so that it is given again."""
    import asyncio

    return asyncio.run(_evicted(existing(ledger, conversation), key))


def clear(
    conversation: _Conversation,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Forget everything about a conversation but its decisions."""
    import asyncio

    return asyncio.run(_cleared(existing(ledger, conversation)))


async def _shown(kept: Kept, key: str | None) -> Answer:
    from skillweave.ledger.document import state_to_dict

    async with opened(kept) as store:
        state, _ = await store.load(kept.conversation)
    if state.revision == 0:
        raise unknown_conversation(kept)
    if key is None:
        return Answer(lambda: {"conversation": kept.conversation, **state_to_dict(state)}, partial(_text, state))
    record = _record(state, key, kept)
    place = state.records.index(record)
    return Answer(
        lambda: {"conversation": kept.conversation, "record": state_to_dict(state)["records"][place]},
        lambda page: _row(record, page),
    )


async def _evicted(kept: Kept, key: str) -> Answer:
    from skillweave.wiring import open_weaver

    async with opened(kept) as store:
        weaver = open_weaver(ledger=store)
        record = _record(await weaver.state(kept.conversation), key, kept)
        await weaver.evict(kept.conversation, record.key)
    return Answer(
        lambda: {"conversation": kept.conversation, "key": record.key, "evicted": True},
        lambda page: page.entry("evicted", f"{record.key}; it is given again when it is next wanted", Ink.GOOD),
    )


async def _cleared(kept: Kept) -> Answer:
    from skillweave.wiring import open_weaver

    async with opened(kept) as store:
        if not await open_weaver(ledger=store).clear(kept.conversation):
            raise unknown_conversation(kept)
    return Answer(
        lambda: {"conversation": kept.conversation, "cleared": True},
        lambda page: page.entry("cleared", f"{kept.conversation}; its decisions stay for `skillweave why`", Ink.GOOD),
    )


def _record(state: "State", key: str, kept: Kept) -> "Record":
    from skillweave.ledger.state import skill_key

    if state.revision == 0:
        raise unknown_conversation(kept)
    record = state.record(key if ":" in key else skill_key(key))
    if record is None:
        known = ", ".join(known.key for known in state.records[:10]) or "none"
        raise Mistake(f"conversation {kept.conversation!r} was not given {key[:100]!r}; what it was given: {known}")
    return record


def _text(state: "State", page: Page) -> str:
    given = [_row(record, page) for record in state.records]
    old = [page.entry("superseded", old.record.key, Ink.FAINT) for old in state.superseded]
    engaged = [
        page.entry("engaged", f"{entry.skill_id}, by {entry.by}; {_idle(entry.idle)}") for entry in state.engaged
    ]
    lines = [*given, *old, *engaged] or [page.wrap("Nothing is recorded as given, and no skill is engaged.")]
    return "\n".join([*lines, page.entry("revision", str(state.revision))])


def _row(record: "Record", page: Page) -> str:
    from skillweave.cli.output.words import tokens_shown

    title = f"{record.key} ({record.rung.label}, {tokens_shown(record.tokens)})"
    return f"{page.entry(record.state.value, title, Ink.GOOD)}\n{page.entry('', f'in message {record.carrier}')}"


def _idle(messages: int) -> str:
    return "matched by the latest message" if messages == 0 else f"not matched for {messages} messages"
