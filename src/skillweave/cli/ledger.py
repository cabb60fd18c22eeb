"""`skillweave ledger`: what a conversation was given, and forgetting it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import Kept, existing, opened, unknown_conversation
from skillweave.cli.arguments.skills import sources_at_hand
from skillweave.cli.completion import offers
from skillweave.cli.failure import Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillweave.injection import PendingCheckpoint
    from skillweave.registry import Source
    from skillweave.state.state import Record, State

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

_GIVEN = typer.Argument(
    metavar="KEY", help="A skill's id, or a key such as artifact:SKILL/FILE.", autocompletion=offers.given
)


def show(
    conversation: options.KnownConversation,
    key: Annotated[str | None, _GIVEN] = None,
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Show what a conversation was given, what is engaged in it, and what people decided.

    With its skills at hand it also shows which checkpoints still wait for a person.
    """
    import asyncio

    sources = sources_at_hand(skills, strict=strict, packs=pack)
    return asyncio.run(_shown(existing(ledger, conversation), sources, key))


def evict(
    conversation: options.KnownConversation,
    key: Annotated[str, _GIVEN],
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Forget that a skill was given, so that it is given again."""
    import asyncio

    return asyncio.run(_evicted(existing(ledger, conversation), key))


def clear(
    conversation: options.KnownConversation,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Forget everything about a conversation but its decisions."""
    import asyncio

    return asyncio.run(_cleared(existing(ledger, conversation)))


async def _shown(kept: Kept, sources: "Sequence[Source]", key: str | None) -> Answer:
    from skillweave.state.codec import state_to_dict

    async with opened(kept) as store:
        state, _ = await store.load(kept.conversation)
    if state.revision == 0:
        raise unknown_conversation(kept)
    if key is None:
        pending = await _pending(state, sources)
        return Answer(
            lambda: {
                "conversation": kept.conversation,
                **state_to_dict(state),
                "checkpoints": None if pending is None else [checkpoint.to_dict() for checkpoint in pending],
            },
            partial(_text, state, pending or ()),
        )
    record = _record(state, key, kept)
    place = state.records.index(record)
    return Answer(
        lambda: {"conversation": kept.conversation, "record": state_to_dict(state)["records"][place]},
        lambda page: _row(record, page),
    )


async def _pending(state: "State", sources: "Sequence[Source]") -> "Sequence[PendingCheckpoint] | None":
    """What waits for a person in the skills that are in force; None where no skills are at hand to say so."""
    from skillweave.cli.arguments.skills import load
    from skillweave.relations.rules import all_requirements
    from skillweave.state.approvals import digests_shown, kept_out
    from skillweave.turn.policy import pending_checkpoints

    if not sources:
        return None
    if not state.engaged and not state.approvals:
        return ()
    known = (await load(sources)).snapshot
    engaged = [entry.skill_id for entry in state.engaged]
    names = dict.fromkeys((*engaged, *(one.rule.skill for one in all_requirements(engaged, known))))
    out = kept_out(state.approvals, known)
    found = [known.skills[name] for name in names if name in known.skills and name not in out]
    kept = [known.skills[name] for name in out]
    return pending_checkpoints(found, state.approvals, kept, digests_shown(state.engaged, known))


async def _evicted(kept: Kept, key: str) -> Answer:
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        weaver = open_weaver(ledger=store)
        record = _record(await weaver.state(kept.conversation), key, kept)
        await weaver.evict(kept.conversation, record.key)
    return Answer(
        lambda: {"conversation": kept.conversation, "key": record.key, "evicted": True},
        lambda page: page.entry("evicted", f"{record.key}; it is given again when it is next wanted", Ink.GOOD),
    )


async def _cleared(kept: Kept) -> Answer:
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        if not await open_weaver(ledger=store).clear(kept.conversation):
            raise unknown_conversation(kept)
    return Answer(
        lambda: {"conversation": kept.conversation, "cleared": True},
        lambda page: page.entry("cleared", f"{kept.conversation}; its decisions stay for `skillweave why`", Ink.GOOD),
    )


def _record(state: "State", key: str, kept: Kept) -> "Record":
    from skillweave.state.state import full_key

    if state.revision == 0:
        raise unknown_conversation(kept)
    record = state.record(full_key(key))
    if record is None:
        known = ", ".join(known.key for known in state.records[:10]) or "none"
        raise Mistake(f"conversation {kept.conversation!r} was not given {key[:100]!r}; what it was given: {known}")
    return record


def _text(state: "State", pending: "Sequence[PendingCheckpoint]", page: Page) -> str:
    from skillweave.cli.output.conversation import approval_text, engaged_text
    from skillweave.cli.output.injection import checkpoint_text
    from skillweave.cli.output.move import cursor_text

    given = [_row(record, page) for record in state.records]
    old = [page.entry("superseded", old.record.key, Ink.FAINT) for old in state.superseded]
    engaged = [engaged_text(entry, page) for entry in state.engaged]
    at = [] if state.cursor is None else [cursor_text(state.cursor, page)]
    said = [approval_text(approval, page) for approval in state.approvals]
    waiting = [checkpoint_text(one, page, of=one.skill_id) for one in pending]
    lines = [*given, *old, *engaged, *at] or [page.wrap("Nothing is recorded as given, and no skill is engaged.")]
    return "\n".join([*lines, *said, *waiting, page.entry("revision", str(state.revision))])


def _row(record: "Record", page: Page) -> str:
    from skillweave.cli.output.words import tokens_shown

    title = f"{record.key} ({record.rung.label}, {tokens_shown(record.tokens)})"
    return f"{page.entry(record.state.value, title, Ink.GOOD)}\n{page.entry('', f'in message {record.carrier}')}"
