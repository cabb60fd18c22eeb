"""`skillweave ledger`: what a conversation was given, letting it go, and what people say at a skill's checkpoints."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import Kept, existing, opened, require_known, unknown_conversation
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, counted, listed, tokens_shown

if TYPE_CHECKING:
    from skillweave.injection import PendingCheckpoint
    from skillweave.registry import Source
    from skillweave.state.state import Approval, Engaged, Record, State
    from skillweave.weaver import Weaver
    from skillweave.weaver.verdicts import Judgement, Left

EXAMPLES = {
    "show": """
skillweave ledger show c1
skillweave ledger show c1 multilingual-greetings --json
""",
    "evict": """
skillweave ledger evict c1 multilingual-greetings
skillweave ledger evict c1 artifact:multilingual-greetings/references/forms-of-address.md
""",
    "clear": """
skillweave ledger clear c1
""",
    "disengage": """
skillweave ledger disengage c1 multilingual-greetings
""",
    "unload": """
skillweave ledger unload c1 multilingual-greetings
skillweave ledger unload c1 artifact:multilingual-greetings/references/forms-of-address.md
""",
    "approve": """
skillweave ledger approve c1 invoice-checking payment_release
skillweave ledger approve c1 invoice-checking payment_release --by "Ann Lee" --note "up to 500"
""",
    "reject": """
skillweave ledger reject c1 invoice-checking payment_release --by "Ann Lee"
""",
    "reconsider": """
skillweave ledger reconsider c1 invoice-checking payment_release
""",
    "consent": """
skillweave ledger consent c1 invoice-checking --by "Ann Lee"
""",
}

_SAID = "The verdict"
_GIVEN = typer.Argument(
    metavar="KEY", help="A skill's id, or a key such as artifact:SKILL/FILE.", autocompletion=completion.given
)
_Skill = Annotated[str, typer.Argument(metavar="SKILL", help="A skill's id.", autocompletion=completion.given)]
_Checkpoint = Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The name of one of its checkpoints.")]
_By = Annotated[str | None, options.option(_SAID, "--by NAME", "Who says so. Default: your user name.")]
_Note = Annotated[str, options.option(_SAID, "--note TEXT", "A remark, kept with it.")]


async def show(
    conversation: options.KnownConversation,
    key: Annotated[str | None, _GIVEN] = None,
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Show what a conversation was given, what is engaged in it, and what people decided.

    With its skills at hand it also shows which checkpoints still wait for a person.
    """
    from skillweave.state.codec import state_to_dict

    sources = loading.sources_at_hand()
    kept = loading.kept(conversation)
    async with opened(kept) as store:
        state, _ = await store.load(conversation)
    if state.revision == 0:
        raise unknown_conversation(kept)
    told = state_to_dict(state)
    if key is not None:
        record = _record(state, key, kept)
        place = state.records.index(record)
        return Answer(
            lambda: {"conversation": conversation, "record": told["records"][place]}, lambda page: _row(record, page)
        )
    pending = await _pending(state, sources)
    waiting = None if pending is None else [checkpoint.to_dict() for checkpoint in pending]
    return Answer(
        lambda: {"conversation": conversation, **told, "checkpoints": waiting},
        lambda page: "\n".join(_state_lines(state, pending or (), page)),
    )


async def evict(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], ledger: options.KeptLedger = None
) -> Answer:
    """Forget that a skill was given, so that it is given again."""
    kept = existing(ledger, conversation)
    async with _weaver((), kept) as weaver:
        record = _record(await weaver.state(conversation), key, kept)
        await weaver.evict(conversation, record.key)
    return Answer(
        lambda: {"conversation": conversation, "key": record.key, "evicted": True},
        lambda page: page.entry("evicted", f"{record.key}; it is given again when it is next wanted", Ink.GOOD),
    )


async def clear(conversation: options.KnownConversation, ledger: options.KeptLedger = None) -> Answer:
    """Forget everything about a conversation but its decisions."""
    from skillweave.factory import open_weaver

    kept = existing(ledger, conversation)
    async with opened(kept) as store:
        # Nothing is looked up first: what cannot be read any more must still be possible to remove.
        if not await open_weaver(ledger=store).clear(conversation):
            raise unknown_conversation(kept)
    return Answer(
        lambda: {"conversation": conversation, "cleared": True},
        lambda page: page.entry("cleared", f"{conversation}; its decisions stay for `skillweave why`", Ink.GOOD),
    )


async def disengage(
    conversation: options.KnownConversation, skill: _Skill, *, loading: options.LoadingWithLedger
) -> Answer:
    """Let a skill apply no longer; its text may stay.

    From the next turn on its tool rules and checkpoints are not in force. A message that calls for it engages it
    again. With its skills at hand the answer says which others still need it.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation)) as weaver:
        left = await weaver.disengage(conversation, skill)
    return _gone(conversation, left)


async def unload(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], *, loading: options.LoadingWithLedger
) -> Answer:
    """Let a text go: all of a skill, which is disengaged too, or one of its documents.

    The answer names the messages that can be dropped; the text is given anew when it is wanted again.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation)) as weaver:
        left = await weaver.unload(conversation, key)
    return _gone(conversation, left)


async def approve(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Let a skill through a checkpoint, until its text changes."""
    async with _weaver(loading.sources(), loading.kept(conversation)) as weaver:
        said = await weaver.decide(conversation, skill, checkpoint, "approved", by=_person(by), note=note)
    return _judged(conversation, said)


async def reject(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Stop a skill at a checkpoint: it leaves the conversation and stays out.

    The tool that the checkpoint stands before stays denied, until `approve` or `reconsider`.
    """
    async with _weaver(loading.sources(), loading.kept(conversation)) as weaver:
        said = await weaver.decide(conversation, skill, checkpoint, "rejected", by=_person(by), note=note)
    return _judged(conversation, said)


async def consent(
    conversation: options.KnownConversation, skill: _Skill, by: _By = None, *, loading: options.LoadingWithLedger
) -> Answer:
    """Agree that the tools that a skill preapproves run unasked, until its text changes."""
    async with _weaver(loading.sources(), loading.kept(conversation)) as weaver:
        said = await weaver.consent(conversation, skill, by=_person(by))
    return _judged(conversation, said)


async def reconsider(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Withdraw what was said at a checkpoint, so that it asks again.

    A rejected skill may come back then. To withdraw consent, name the checkpoint preapproved-tools.
    """
    async with _weaver(loading.sources(), loading.kept(conversation)) as weaver:
        withdrawn = await weaver.reconsider(conversation, skill, checkpoint)
    return Answer(
        lambda: {"conversation": conversation, "withdrawn": [one.to_dict() for one in withdrawn]},
        lambda page: "\n".join(_withdrawn_lines(withdrawn, page)),
    )


@asynccontextmanager
async def _weaver(sources: "Sequence[Source]", kept: Kept) -> "AsyncIterator[Weaver]":
    """A weaver over the ledger; raises Mistake where that knows nothing of the conversation."""
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        await require_known(store, kept)
        yield open_weaver(*sources, ledger=store)


def _gone(conversation: str, left: "Left") -> Answer:
    return Answer(
        lambda: {"conversation": conversation, **left.to_dict()}, lambda page: "\n".join(_left_lines(left, page))
    )


def _judged(conversation: str, said: "Judgement") -> Answer:
    return Answer(
        lambda: {"conversation": conversation, **said.to_dict()}, lambda page: "\n".join(_judged_lines(said, page))
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


def _person(by: str | None) -> str:
    from getpass import getuser

    if by is not None:
        return by
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        raise Mistake("this system has no name for you; say who decides with --by NAME") from None


def _record(state: "State", key: str, kept: Kept) -> "Record":
    from skillweave.state.state import full_key

    if state.revision == 0:
        raise unknown_conversation(kept)
    record = state.record(full_key(key))
    if record is None:
        known = ", ".join(known.key for known in state.records[:10]) or "none"
        raise Mistake(f"conversation {kept.conversation!r} was not given {key[:100]!r}; what it was given: {known}")
    return record


def _state_lines(state: "State", pending: "Sequence[PendingCheckpoint]", page: Page) -> Iterator[str]:
    from skillweave.cli.output.turn import checkpoint_text, cursor_text

    if not (state.records or state.superseded or state.engaged or state.cursor):
        yield page.wrap("Nothing is recorded as given, and no skill is engaged.")
    yield from (_row(record, page) for record in state.records)
    yield from (page.entry("superseded", old.record.key, Ink.FAINT) for old in state.superseded)
    yield from (engaged_text(entry, page) for entry in state.engaged)
    if state.cursor is not None:
        yield cursor_text(state.cursor, page)
    yield from (_approval(approval, page) for approval in state.approvals)
    yield from (checkpoint_text(one, page, of=one.skill_id) for one in pending)
    yield page.entry("revision", str(state.revision))


def _row(record: "Record", page: Page) -> str:
    title = f"{record.key} ({record.rung.label}, {tokens_shown(record.tokens)})"
    return f"{page.entry(record.state.value, title, Ink.GOOD)}\n{page.entry('', f'in message {record.carrier}')}"


def engaged_text(entry: "Engaged", page: Page) -> str:
    """Who engaged the skill, for how long it stays, and when it was last matched."""
    lifecycle = "" if entry.lifecycle is None else f", lifecycle {entry.lifecycle.value}"
    ago = f"not matched for {counted(entry.idle, 'message')}" if entry.idle else "matched by the latest message"
    return page.entry("engaged", f"{entry.skill_id}, by {entry.by}{lifecycle}; {ago}")


def _approval(approval: "Approval", page: Page) -> str:
    """What a person said, when, and about what."""
    from skillweave.state.approvals import CONSENT

    when = datetime.fromtimestamp(approval.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    before = f" before {listed(approval.before)}" if approval.before else ""
    what = f"{approval.checkpoint} of {approval.skill_id}{before}"
    if approval.checkpoint == CONSENT:
        what = f"the tools that {approval.skill_id} preapproves may run unasked"
    ink = Ink.BAD if approval.verdict.value == "rejected" else Ink.GOOD
    head = page.entry(approval.verdict.value, f"{what}, by {approval.by}, {when}", ink)
    return f"{head}\n{page.entry('', approval.note)}" if approval.note else head


def _left_lines(left: "Left", page: Page) -> Iterator[str]:
    """What is gone, and what the host may do about it."""
    name = left.key.removeprefix("skill:")
    if left.disengaged:
        yield page.entry("disengaged", f"{name}; its rules hold no more from the next turn on", Ink.GOOD)
    for key in left.evicted:
        yield page.entry("evicted", f"{key}; it is given anew when it is next wanted", Ink.GOOD)
    if not left.disengaged and not left.evicted:
        yield page.entry("unchanged", f"{name}: there was nothing to let go", Ink.FAINT)
    yield from _drops(left, page)
    if left.needed_by:
        yield page.entry("needed by", f"{listed(left.needed_by)}: as a companion it stays, or comes back", Ink.WARN)


def _judged_lines(said: "Judgement", page: Page) -> Iterator[str]:
    """The verdict, what a rejection means for the skill and for those that need it, and which held turns go on."""
    yield _approval(said.approval, page)
    left = said.left
    if left is not None:
        name = left.key.removeprefix("skill:")
        stays = "until it is approved or reconsidered; what it forbids stays forbidden"
        yield page.entry("kept out", f"{name}, {stays}")
        yield from _drops(left, page)
        if left.needed_by:
            yield page.entry("needed by", f"{listed(left.needed_by)}: without it they leave too", Ink.WARN)
    for turn_id in said.resumed:
        yield page.entry("resumed", f"turn {turn_id} waits for nobody any more and has 60 s to deliver")


def _drops(left: "Left", page: Page) -> Iterator[str]:
    for drop in left.drops:
        whose = f" of {drop.skill_id}" if drop.skill_id else ""
        yield page.entry("drop", f"message {drop.message_id}{whose} can be dropped ({tokens_shown(drop.tokens)})")


def _withdrawn_lines(withdrawn: "Sequence[Approval]", page: Page) -> Iterator[str]:
    if not withdrawn:
        yield page.entry("unchanged", "nobody has decided this", Ink.FAINT)
        return
    yield page.entry("withdrawn", "it asks again; this was said:", Ink.GOOD)
    yield from (_approval(approval, page) for approval in withdrawn)
