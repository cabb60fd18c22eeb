"""`skillweave ledger`: what a conversation was given, letting it go, and what people say at a skill's checkpoints."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import (
    DEFAULT_CONVERSATION,
    Kept,
    existing,
    opened,
    require_known,
    unknown_conversation,
)
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, below, counted, listed, printable, shown_time
from skillweave.cli.output.turn import checkpoint_text, cursor_text
from skillweave.codec import Portable
from skillweave.injection import PendingCheckpoint
from skillweave.state.approvals import CONSENT
from skillweave.state.state import Approval, ApprovalVerdict, Engaged, Record, State
from skillweave.weaver.approvals import Judgement
from skillweave.weaver.ledger import Left

if TYPE_CHECKING:
    from skillweave.conversation import ToolCall
    from skillweave.registry import Source
    from skillweave.weaver import Weaver

EXAMPLES = {
    "list": """
skillweave ledger list
skillweave ledger list --ledger team.db --json
""",
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
skillweave ledger approve c1 invoice-checking payment_release --by "Ann Lee" \\
    --call '{"id": "call_1", "tool": "pay_invoice", "arguments": {"number": "INV-20417"}}'
skillweave ledger approve c1 contract-clause-review lawyer_sign_off --by "Ann Lee"
skillweave ledger approve c1 invoice-checking preapproved-tools --by "Ann Lee"
""",
    "reject": """
skillweave ledger reject c1 invoice-checking payment_release --by "Ann Lee"
""",
    "reconsider": """
skillweave ledger reconsider c1 invoice-checking payment_release
""",
}

_SAID = "The verdict"
_LISTED = 1000
"""So many conversations are listed, in the order of their ids."""
_GIVEN = typer.Argument(
    metavar="KEY", help="A skill's id, or a key such as artifact:SKILL/FILE.", autocompletion=completion.skill_ids
)
_Skill = Annotated[str, typer.Argument(metavar="SKILL", help="A skill's id.", autocompletion=completion.skill_ids)]


async def list_(ledger: options.KeptLedger = None) -> Answer:
    """List the conversations that are kept, with the skills that apply in each; 1,000 of them at most."""
    async with opened(existing(ledger, DEFAULT_CONVERSATION)) as store:
        names = await store.conversations("", _LISTED)
        found = Conversations(await store.count(), {name: (await store.load(name))[0] for name in names})
    return Answer(lambda: found, partial(conversations_text, found))


async def show(
    conversation: options.KnownConversation,
    key: Annotated[str | None, _GIVEN] = None,
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Show what a conversation was given, which skills apply, and what people decided.

    With --skills it also shows which checkpoints still wait for a person.
    """
    sources, kept = loading.sources_at_hand(), loading.kept(conversation)
    async with _weaver(sources, kept, loading.agent) as weaver:
        state = await weaver.ledger.state(conversation)
        if key is not None:
            record = _record(state, key, kept)
            return Answer(lambda: record, partial(row_text, record))
        policy = await weaver.current_policy(conversation) if sources else None
    shown = StateShown(state, None if policy is None else policy.checkpoints)
    return Answer(lambda: shown, partial(state_text, shown))


async def evict(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], ledger: options.KeptLedger = None
) -> Answer:
    """Forget that a skill was given, so that it is given again."""
    kept = existing(ledger, conversation)
    async with _weaver((), kept) as weaver:
        record = _record(await weaver.ledger.state(conversation), key, kept)
        await weaver.evict(conversation, record.key)
    return _gone(Left(record.key, evicted=(record.key,)))


async def clear(conversation: options.KnownConversation, ledger: options.KeptLedger = None) -> Answer:
    """Forget everything about a conversation but its decisions."""
    import skillweave

    kept = existing(ledger, conversation)
    async with opened(kept) as store:
        # Nothing is looked up first: what cannot be read any more must still be possible to remove.
        if not await skillweave.open(ledger=store).ledger.clear(conversation):
            raise unknown_conversation(kept)
    return Answer(
        State, lambda page: page.entry("cleared", f"{conversation}; its decisions stay for `skillweave why`", Ink.GOOD)
    )


async def disengage(
    conversation: options.KnownConversation, skill: _Skill, *, loading: options.LoadingWithLedger
) -> Answer:
    """Stop a skill from applying; its text may stay.

    From the next turn on its tool rules and checkpoints do not count. A message that calls for it engages it again.
    With --skills the answer says which other skills still need it.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation), loading.agent) as weaver:
        return _gone(await weaver.ledger.disengage(conversation, skill))


async def unload(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], *, loading: options.LoadingWithLedger
) -> Answer:
    """Take a text out: a whole skill, which is disengaged too, or one of its documents.

    The answer names the messages that you can drop from the history. The text is given again when it is wanted again.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation), loading.agent) as weaver:
        return _gone(await weaver.ledger.unload(conversation, key))


@dataclass(frozen=True, slots=True)
class _Point:
    """The checkpoint of a skill in a conversation."""

    conversation: options.KnownConversation
    skill: _Skill
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT",
            help="The name of one of its checkpoints, or preapproved-tools: that the tools it preapproves run unasked.",
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Who says what about which call."""

    by: Annotated[str | None, options.option(_SAID, "--by NAME", "Who says so. Default: your user name.")] = None
    call: Annotated[
        str | None,
        options.option(_SAID, "--call JSON", "The call that it is about, as in the question: id, tool and arguments."),
    ] = None


async def approve(at: _Point, *, said: _Verdict, loading: options.LoadingWithLedger) -> Answer:
    """Let one call through a checkpoint, or with no --call the skill, until its text changes.

    A checkpoint before a tool asks about each call, unless it has `scope: conversation`.
    """
    return await _decided(at, "approved", said, loading)


async def reject(at: _Point, *, said: _Verdict, loading: options.LoadingWithLedger) -> Answer:
    """Stop one call at a checkpoint, or with no --call the skill: it leaves the conversation and stays out.

    A call that was stopped stays denied with these arguments. With no --call the tool that the checkpoint stands before
    stays denied. Both last until `reconsider`, or `approve` of the same.
    """
    return await _decided(at, "rejected", said, loading)


async def _decided(at: _Point, verdict: str, said: _Verdict, loading: options.LoadingWithLedger) -> Answer:

    call, person = None if said.call is None else _call_in(said.call), _person(said.by)
    async with _weaver(loading.sources(), loading.kept(at.conversation), loading.agent) as weaver:
        if at.checkpoint == CONSENT and verdict == "approved":
            kept = await weaver.approvals.consent(at.conversation, at.skill, by=person)
        else:
            where = at.conversation, at.skill, at.checkpoint
            kept = await weaver.approvals.decide(*where, verdict, by=person, call=call)
    return Answer(lambda: kept, lambda page: "\n".join(judged_lines(kept, page)))


async def reconsider(at: _Point, *, loading: options.LoadingWithLedger) -> Answer:
    """Take back what was said at a checkpoint, so that it asks again.

    A rejected skill may come back then.
    """
    async with _weaver(loading.sources(), loading.kept(at.conversation), loading.agent) as weaver:
        withdrawn = Withdrawn(await weaver.approvals.reconsider(at.conversation, at.skill, at.checkpoint))
    return Answer(lambda: withdrawn, partial(withdrawn_text, withdrawn))


@asynccontextmanager
async def _weaver(sources: "Sequence[Source]", kept: Kept, agent: str | None = None) -> "AsyncIterator[Weaver]":
    import skillweave

    async with opened(kept, sources) as store:
        await require_known(store, kept)
        weaver = skillweave.open(*sources, ledger=store)
        yield weaver if agent is None else await weaver.for_agent(agent)


def _gone(left: "Left") -> Answer:

    return Answer(lambda: left, lambda page: "\n".join(left_lines(left, page)))


def _call_in(text: str) -> "ToolCall":
    from skillweave.conversation import ToolCall

    try:
        call = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Mistake(f"--call is no JSON ({str(error)[:80]}); give one object in quotes") from None
    names = sorted(call) if isinstance(call, dict) else [type(call).__name__]
    if names != ["arguments", "id", "tool"] or not isinstance(call["arguments"], dict):
        raise Mistake(
            f"--call has {', '.join(names)[:60] or 'nothing'}; it is the `call` of a question: "
            '{"id": "call_1", "tool": "pay", "arguments": {"amount": 5}}'
        )
    return ToolCall(str(call["id"]), str(call["tool"]), call["arguments"])


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

    record = state.record(full_key(key))
    if record is None:
        known = ", ".join(known.key for known in state.records[:10]) or "none"
        raise Mistake(f"conversation {kept.conversation!r} was not given {key[:100]!r}; what it was given: {known}")
    return record


@dataclass(frozen=True, slots=True)
class StateShown(Portable):
    """All that is kept about a conversation; `checkpoints` wait for a person, null where no skills were at hand."""

    state: State
    checkpoints: tuple[PendingCheckpoint, ...] | None


@dataclass(frozen=True, slots=True)
class Conversations(Portable):
    """What is kept about conversations, by their ids; the ledger keeps `total`."""

    total: int
    conversations: Mapping[str, State]


@dataclass(frozen=True, slots=True)
class Withdrawn(Portable):
    """The verdicts that are taken back, so that their checkpoint asks again."""

    withdrawn: tuple[Approval, ...]


def conversations_text(found: Conversations, page: Page) -> str:
    """A line for each conversation, and how many there are."""
    width = max(map(len, found.conversations), default=0)
    lines = [f"{printable(name):<{width}}  {_applying(state)}" for name, state in found.conversations.items()]
    shown = len(lines)
    count = counted(found.total, "conversation") if shown == found.total else f"{shown:,} of {found.total:,}"
    return below(lines, f"{count}.")


def _applying(state: State) -> str:
    engaged = listed((one.skill_id for one in state.engaged), none="no skill")
    return f"{engaged}; {counted(len(state.records), 'text')} given"


def withdrawn_text(said: Withdrawn, page: Page) -> str:
    """The verdicts that are taken back."""
    if not said.withdrawn:
        return page.entry("unchanged", "nobody has decided this", Ink.FAINT)
    head = page.entry("withdrawn", "it asks again; this was said:", Ink.GOOD)
    return "\n".join([head, *(_approval(approval, page) for approval in said.withdrawn)])


def state_text(shown: StateShown, page: Page) -> str:
    """What a conversation was given, what is engaged in it, and what people decided or have to decide."""
    state = shown.state
    lines = [row_text(record, page) for record in state.records]
    lines += [page.entry("superseded", old.record.key, Ink.FAINT) for old in state.superseded]
    lines += [engaged_text(entry, page) for entry in state.engaged]
    for entry in state.restraining:
        text = f"{entry.skill_id}, by {entry.by}: no place for it, what it forbids holds"
        lines.append(page.entry("restrains", text))
    if state.cursor is not None:
        lines.append(cursor_text(state.cursor, page))
    if not lines:
        lines.append(page.wrap("Nothing is recorded as given, and no skill is engaged."))
    lines += [_approval(approval, page) for approval in state.approvals]
    lines += [checkpoint_text(one, page, of=one.skill_id) for one in shown.checkpoints or ()]
    return "\n".join([*lines, page.entry("revision", str(state.revision))])


def row_text(record: Record, page: Page) -> str:
    """One text that was given, and the message that holds it."""
    if not record.known:
        return page.entry(record.state.value, f"{record.key} (by another program, in words that nobody recorded)")
    title = f"{record.key} ({record.rung.label}, {counted(record.tokens, 'token')})"
    return f"{page.entry(record.state.value, title, Ink.GOOD)}\n{page.entry('', f'in message {record.carrier}')}"


def engaged_text(entry: Engaged, page: Page) -> str:
    """Who engaged the skill, for how long it stays, and when it was last matched."""
    lifecycle = "" if entry.lifecycle is None else f", lifecycle {entry.lifecycle.value}"
    ago = f"not matched for {counted(entry.idle, 'message')}" if entry.idle else "matched by the latest message"
    return page.entry("engaged", f"{entry.skill_id}, by {entry.by}{lifecycle}; {ago}")


def _approval(approval: Approval, page: Page) -> str:
    when = shown_time(approval.at)
    before = f" before {listed(approval.before)}" if approval.before else ""
    what = f"{approval.checkpoint} of {approval.skill_id}{before}"
    if approval.checkpoint == CONSENT:
        what = f"the tools that {approval.skill_id} preapproves may run without asking"
    ink = Ink.BAD if approval.verdict is ApprovalVerdict.REJECTED else Ink.GOOD
    head = page.entry(approval.verdict.value, f"{what}, by {approval.by}, {when}", ink)
    return f"{head}\n{page.entry('', approval.note)}" if approval.note else head


def left_lines(left: Left, page: Page) -> Iterator[str]:
    """What is gone, and what the host may do about it."""
    name = left.key.removeprefix("skill:")
    if left.disengaged:
        yield page.entry("disengaged", f"{name}; its rules do not count from the next turn on", Ink.GOOD)
    for key in left.evicted:
        yield page.entry("evicted", f"{key}; it is given again when it is next wanted", Ink.GOOD)
    if not left.disengaged and not left.evicted:
        yield page.entry("unchanged", f"{name}: there was nothing to take out", Ink.FAINT)
    yield from _drops(left, page)
    if left.needed_by:
        yield page.entry(
            "needed by", f"{listed(left.needed_by)}: it is required there, and stays or comes back", Ink.WARN
        )


def judged_lines(said: Judgement, page: Page) -> Iterator[str]:
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
        yield page.entry("resumed", f"turn {turn_id} waits for nobody now and has 60 seconds to deliver")


def _drops(left: Left, page: Page) -> Iterator[str]:
    for drop in left.drops:
        whose = f" of {drop.skill_id}" if drop.skill_id else ""
        yield page.entry("drop", f"message {drop.message_id}{whose} can be dropped ({counted(drop.tokens, 'token')})")
