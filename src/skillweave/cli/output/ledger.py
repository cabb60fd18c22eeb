"""What a conversation was given, what is engaged in it and what people decided, as JSON and for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillweave.cli.output.page import Ink, Page, below, counted, listed, printable, shown_time
from skillweave.cli.output.turn import checkpoint_text, cursor_text
from skillweave.codec import Portable
from skillweave.injection import PendingCheckpoint
from skillweave.state.approvals import CONSENT
from skillweave.state.state import Approval, ApprovalVerdict, Engaged, Record, State
from skillweave.weaver.approvals import Judgement
from skillweave.weaver.ledger import Left


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
