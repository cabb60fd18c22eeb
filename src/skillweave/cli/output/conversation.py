"""What is in force in a conversation, for people: engaged skills, verdicts, pending checkpoints, what has left."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from skillweave.cli.output.page import Ink, Page
from skillweave.cli.output.words import counted, listed, tokens_shown
from skillweave.state.approvals import CONSENT
from skillweave.state.state import Approval, ApprovalVerdict, Engaged
from skillweave.weaver.verdicts import Left


def engaged_text(entry: Engaged, page: Page) -> str:
    """Who engaged the skill, for how long it stays, and when it was last matched."""
    lifecycle = "" if entry.lifecycle is None else f", lifecycle {entry.lifecycle.value}"
    return page.entry("engaged", f"{entry.skill_id}, by {entry.by}{lifecycle}; {_idle(entry.idle)}")


def approval_text(approval: Approval, page: Page) -> str:
    """What a person said, when, and about what."""
    when = datetime.fromtimestamp(approval.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    what = f"{approval.checkpoint} of {approval.skill_id}{_before(approval.before)}"
    if approval.checkpoint == CONSENT:
        what = f"the tools that {approval.skill_id} preapproves may run unasked"
    head = page.entry(approval.verdict.value, f"{what}, by {approval.by}, {when}", _ink(approval.verdict))
    return f"{head}\n{page.entry('', approval.note)}" if approval.note else head


def left_text(left: Left, page: Page) -> Iterator[str]:
    """What is gone, and what the host may do about it."""
    if left.disengaged:
        yield page.entry("disengaged", f"{_name(left)}; its rules hold no more from the next turn on", Ink.GOOD)
    for key in left.evicted:
        yield page.entry("evicted", f"{key}; it is given anew when it is next wanted", Ink.GOOD)
    if not left.disengaged and not left.evicted:
        yield page.entry("unchanged", f"{_name(left)}: there was nothing to let go", Ink.FAINT)
    yield from _drops(left, page)
    if left.needed_by:
        yield page.entry("needed by", f"{listed(left.needed_by)}: as a companion it stays, or comes back", Ink.WARN)


def kept_out_text(left: Left, page: Page) -> Iterator[str]:
    """What a rejection means for the skill and for those that need it."""
    yield page.entry(
        "kept out", f"{_name(left)}, until it is approved or reconsidered; what it forbids stays forbidden"
    )
    yield from _drops(left, page)
    if left.needed_by:
        yield page.entry("needed by", f"{listed(left.needed_by)}: without it they leave too", Ink.WARN)


def waiting_turns_text(turn_ids: Iterable[str], page: Page) -> Iterator[str]:
    """Which held turns may go on."""
    for turn_id in turn_ids:
        yield page.entry("resumed", f"turn {turn_id} waits for nobody any more and has 60 s to deliver")


def _drops(left: Left, page: Page) -> Iterator[str]:
    for drop in left.drops:
        whose = f" of {drop.skill_id}" if drop.skill_id else ""
        yield page.entry("drop", f"message {drop.message_id}{whose} can be dropped ({tokens_shown(drop.tokens)})")


def _name(left: Left) -> str:
    return left.key.removeprefix("skill:")


def _before(entries: tuple[str, ...]) -> str:
    return f" before {listed(entries)}" if entries else ""


def _ink(verdict: ApprovalVerdict) -> Ink:
    return Ink.BAD if verdict is ApprovalVerdict.REJECTED else Ink.GOOD


def _idle(messages: int) -> str:
    return "matched by the latest message" if messages == 0 else f"not matched for {counted(messages, 'message')}"
