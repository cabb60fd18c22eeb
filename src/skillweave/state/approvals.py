"""What people said at checkpoints, and what follows from it: asked again, let through, or kept out (spec 4.3, 5.5)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

from skillweave.compose.entries import index_entries
from skillweave.errors import InvalidVerdict
from skillweave.formats.arguments import digest_in_use
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.registry import Snapshot
from skillweave.relations.rules import name_shown, read_entry
from skillweave.skill import Checkpoint, Skill
from skillweave.state.state import Approval, CallUse, Engaged, State

CONSENT = "preapproved-tools"
"""The name under which consent to a skill's preapproved tools is kept; no checkpoint of that name can be decided."""
MOST_APPROVALS = 200
"""Verdicts that one conversation keeps; beyond it the oldest yes, to a call first, is forgotten, never a no."""
MOST_CALLS = 200
"""Calls that one conversation remembers to have asked about, or to have let through."""
LONGEST_NAME, LONGEST_NOTE = 200, 1000
"""Characters that the name of a reviewer and a reviewer's remark may have."""

NOTICE_END = "It no longer applies; go on without it."
"""How the notice of a rejection ends."""

LetThrough: TypeAlias = frozenset[tuple[str, str, str]]
"""What a person let through: skill id, checkpoint and digest."""


def require_words(by: str, note: str) -> None:
    """Raise InvalidVerdict where nobody is named, or a text is too long to be kept or cannot be shown."""
    if not by.strip() or len(by) > LONGEST_NAME or not by.isprintable():
        raise InvalidVerdict(
            f"by={by[:40]!r} names nobody; give a person's name in 1 to {LONGEST_NAME} printable characters"
        )
    if len(note) > LONGEST_NOTE:
        raise InvalidVerdict(f"the note has {len(note):,} characters; {LONGEST_NOTE:,} are kept, so make it shorter")


def decide(state: State, approval: Approval, answers: Collection[str] = ()) -> State:
    """Enter a verdict in place of earlier ones that it answers; the same verdict again changes nothing.

    A verdict on all calls takes the place of one on the same content; a no of that kind ends what was said yes to about
    single calls. A verdict on a call takes the place of an earlier one on it, and of those whose `call` is in
    `answers`: a no to what the call does, a yes to the call as it was. Raises InvalidVerdict when the conversation is
    full of rejections, none of which may be forgotten.
    """
    kept = [other for other in state.approvals if not takes_place(approval, other, answers)]
    gone = [other for other in state.approvals if takes_place(approval, other, answers)]
    again = len(gone) == 1 and replace(approval, at=gone[0].at) == gone[0] and _is_newest(gone[0], state.approvals)
    # Where the call was let through since, only the same answer to the same question is no new one.
    used = approval.call and use_of(state, approval.call) is not None
    if again and (approval.case or approval.refuses or not used):
        return state
    if used:
        kept = [other for other in kept if other.call != approval.call or other.refuses]
    if len(kept) >= MOST_APPROVALS:
        kept.remove(_oldest_yes(kept))
    uses = tuple(use for use in state.uses if use.call != approval.call)
    stale = state.stale
    if approval.call not in stale and not set(answers).isdisjoint(stale):
        # A yes to other arguments comes as late as one to the call that the person was asked about.
        stale = (*stale, approval.call)[-MOST_CALLS:]
    return replace(state, approvals=(*kept, approval), uses=uses, stale=stale)


def rejection_notice(approval: Approval) -> str:
    """What the model is told when a person rejected a skill before the model acted on it."""
    why = f", saying {approval.note!r}" if approval.note else ""
    return (
        f"{approval.by!r} rejected the skill {approval.skill_id!r} at its checkpoint {approval.checkpoint!r}{why}. "
        f"{NOTICE_END}"
    )


def takes_place(new: Approval, old: Approval, answers: Collection[str] = ()) -> bool:
    """Whether the new verdict stands in place of the old one, as `decide` says."""
    if (old.skill_id, old.checkpoint) != (new.skill_id, new.checkpoint):
        return False
    if not new.call:
        return _subject(old) == _subject(new) or (new.refuses and bool(old.call) and not old.refuses)
    return old.call == new.call or old.call in answers


def withdraw(state: State, skill_id: str, checkpoint: str) -> State:
    """Forget every verdict on the checkpoint, whatever content it was about."""
    kept = tuple(a for a in state.approvals if (a.skill_id, a.checkpoint) != (skill_id, checkpoint))
    return state if len(kept) == len(state.approvals) else replace(state, approvals=kept)


def decided(approvals: Iterable[Approval]) -> LetThrough:
    """What need not be asked again: a yes to one text is none to the same skill with other arguments in it."""
    return frozenset(
        (a.skill_id, a.checkpoint, a.shown or a.digest)
        for a in approvals
        if not a.refuses and a.checkpoint != CONSENT and not a.call
    )


def ask_about(state: State, call: str) -> State:
    """A person is asked about the call, from now on; a yes to it that counts no more goes."""
    if call in state.asked:
        return state
    approvals, stale = state.approvals, state.stale
    if call in void_calls(state):
        approvals = tuple(a for a in approvals if a.call != call or a.refuses)
        stale = tuple(other for other in stale if other != call)
    return replace(state, approvals=approvals, asked=(*state.asked, call)[-MOST_CALLS:], stale=stale)


def user_spoke(state: State) -> State:
    """The user has said something since these calls were asked about: a yes to one of them is void."""
    used = {use.call for use in state.uses}
    yes = (a.call for a in state.approvals if a.call and not a.refuses and a.call not in used)
    waiting = dict.fromkeys((*state.stale, *state.asked, *yes))
    if len(waiting) == len(state.stale):
        return state
    kept = tuple(waiting)[-MOST_CALLS:]
    gone = set(waiting).difference(kept)
    # What is forgotten takes the yes with it.
    approvals = tuple(a for a in state.approvals if a.call not in gone or a.refuses) if gone else state.approvals
    return replace(state, approvals=approvals, asked=(), stale=kept)


def take(state: State, call: str, key: str, now: float) -> State:
    """Let the call through, once: a yes to it of before counts no more."""
    uses = (*(use for use in state.uses if use.call != call), CallUse(call, now, key))
    gone = {use.call for use in uses[:-MOST_CALLS]}
    return replace(
        state,
        # A use that is forgotten takes the yes with it.
        approvals=tuple(a for a in state.approvals if a.call not in gone or a.refuses) if gone else state.approvals,
        asked=tuple(other for other in state.asked if other != call),
        uses=uses[-MOST_CALLS:],
    )


def give_back(state: State, call: str) -> State:
    """The call that was let through did not run after all: what was said of it counts again."""
    left = tuple(use for use in state.uses if use.call != call)
    return state if len(left) == len(state.uses) else replace(state, uses=left)


def use_of(state: State, call: str) -> CallUse | None:
    """When the call was let through, if it was."""
    return next((use for use in state.uses if use.call == call), None)


def void_calls(state: State) -> frozenset[str]:
    """The calls to which a yes counts no more: they were let through, or the user has spoken since."""
    return frozenset((*state.stale, *(use.call for use in state.uses)))


def shown_with(text: str, call: str) -> str:
    """The digest of what a person saw who decided about a call: the text's and the call's together."""
    return sha256(f"{text}\n{call}".encode()).hexdigest()


def calls_let_through(
    approvals: Iterable[Approval],
    asking: Sequence[tuple[Skill, str]],
    let_through: LetThrough,
    void: Collection[str] = (),
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By the digest of each call that a person said yes to, the checkpoints that it has passed: by entry their names.

    `asking` are the skills whose checkpoints ask, each with the digest of what is shown of it. Where several ask under
    one name before the same tool, each has to be answered. A yes to a call in `void` counts no more.
    """
    yes = [a for a in approvals if a.call and not a.refuses and a.call not in void]
    if not yes:
        return EMPTY
    said = {(a.skill_id, a.checkpoint, a.shown, a.call) for a in yes}
    points = [
        (one.before, one, skill.id, text)
        for skill, text in asking
        for one in skill.checkpoints
        if one.blocking and one.before is not None and (one.per_call or (skill.id, one.name, text) not in let_through)
    ]
    found: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for call in dict.fromkeys(a.call for a in yes):
        passed: dict[str, dict[str, None]] = {}
        open_still: set[tuple[str, str]] = set()
        for before, one, skill_id, text in points:
            if (skill_id, one.name, shown_with(text, call), call) in said:
                passed.setdefault(before, {})[one.name] = None
            else:
                open_still.add((before, one.name))
        left = {before: tuple(n for n in names if (before, n) not in open_still) for before, names in passed.items()}
        found[call] = FrozenDict({before: names for before, names in left.items() if names})
    return FrozenDict({call: names for call, names in found.items() if names})


def refused_calls(approvals: Iterable[Approval]) -> Mapping[str, str]:
    """By the digest of what a call does, in whose words a person refused it; its skill need not be there any more."""
    return FrozenDict({a.call: _why_denied(a) for a in approvals if a.call and a.refuses})


def digests_shown(engaged: Iterable[Engaged], snapshot: Snapshot) -> Mapping[str, str]:
    """By skill id, the digest of what is shown of those engaged skills whose text has arguments in it."""
    with_words = (entry for entry in engaged if entry.arguments and entry.skill_id in snapshot)
    return FrozenDict(
        {entry.skill_id: digest_in_use(snapshot[entry.skill_id], entry.arguments) for entry in with_words}
    )


def consented(approvals: Iterable[Approval], skills: Iterable[Skill]) -> frozenset[str]:
    """The digests of those skills whose preapproved tools a person agreed to, as they are now."""
    agreed = {_subject(a) for a in approvals if not a.refuses and a.checkpoint == CONSENT}
    return frozenset(skill.digest for skill in skills if (skill.id, CONSENT, skill.digest, "") in agreed)


def undecided(skill: Skill, let_through: LetThrough, shown: str | None = None) -> tuple[Checkpoint, ...]:
    """The checkpoints that nobody has let the skill through as it is now, in its order; those about calls always ask.

    `shown` is the digest of what is shown of it, None for its own: without arguments.
    """
    digest = shown or skill.digest
    return tuple(one for one in skill.checkpoints if (skill.id, one.name, digest) not in let_through or one.per_call)


def guards(skill: Skill, approvals: Sequence[Approval], shown: str | None = None) -> tuple[Checkpoint, ...]:
    """The checkpoints of a rejected skill that still ask before their tools; the rejected ones ask nobody any more."""
    no = {_subject(approval) for approval in approvals if approval.refuses}
    left = undecided(skill, decided(approvals), shown)
    asking = (one for one in left if (skill.id, one.name, skill.digest, "") not in no)
    return tuple(one for one in asking if one.blocking and one.before is not None)


def waits(skill: Skill, let_through: LetThrough, shown: str | None = None) -> bool:
    """Whether a person must decide before the model acts on the skill at all; a tool's checkpoint asks at its call."""
    return any(one.blocking and one.before is None for one in undecided(skill, let_through, shown))


def kept_out(approvals: Iterable[Approval], snapshot: Snapshot) -> Mapping[str, str]:
    """The skills that a person rejected as they are now, by id, each with the reason in words."""
    return FrozenDict({a.skill_id: _why_kept_out(a) for a in approvals if _stands(a, snapshot)})


def denied_tools(approvals: Sequence[Approval], snapshot: Snapshot, in_force: Collection[str]) -> Mapping[str, str]:
    """The tool entries that a rejected checkpoint stood before, each with the reason in words.

    A rejection holds while it stands for the skill as it is now. When the skill was edited or removed, the latest
    verdict still holds its tool back, until the changed skill is in force and a checkpoint of its own stands before
    that tool: one that an edit took away asks nobody, so it lets nothing through either.
    """
    latest = _newest(approvals).values()
    return FrozenDict(
        {
            entry: _why_denied(a)
            for a in approvals
            if a.refuses and not a.call
            for entry in a.before
            if _stands(a, snapshot)
            or (a in latest and not (a.skill_id in in_force and _asks_before(entry, snapshot.skills[a.skill_id])))
        }
    )


def _stands(approval: Approval, snapshot: Snapshot) -> bool:
    skill = snapshot.skills.get(approval.skill_id)
    rejected = approval.refuses and not approval.call and approval.checkpoint != CONSENT
    return rejected and skill is not None and skill.digest == approval.digest


def _asks_before(entry: str, skill: Skill) -> bool:
    asking = tuple(one.before for one in skill.checkpoints if one.blocking and one.before is not None)
    return index_entries(asking).holds(read_entry(entry))


def _subject(approval: Approval) -> tuple[str, str, str, str]:
    return approval.skill_id, approval.checkpoint, approval.digest, approval.call


def _is_newest(approval: Approval, approvals: Iterable[Approval]) -> bool:
    return bool(approval.call) or _newest(approvals)[approval.skill_id, approval.checkpoint] is approval


def _newest(approvals: Iterable[Approval]) -> dict[tuple[str, str], Approval]:
    """The latest verdict on all calls, by skill and checkpoint."""
    return {(approval.skill_id, approval.checkpoint): approval for approval in approvals if not approval.call}


def _oldest_yes(approvals: Sequence[Approval]) -> Approval:
    yes = [approval for approval in approvals if not approval.refuses]
    for approval in (*(one for one in yes if one.call), *yes):
        return approval
    raise InvalidVerdict(
        f"this conversation keeps {len(approvals)} rejections, none of which is forgotten by itself; "
        "withdraw those that no longer matter with `weaver.approvals.reconsider`"
    )


def _why_kept_out(approval: Approval) -> str:
    return (
        f"{name_shown(approval.by)} rejected {name_shown(approval.skill_id)} at its checkpoint "
        f"{name_shown(approval.checkpoint)}; "
        "another verdict (`weaver.approvals.decide` or `.reconsider`, `skillweave ledger`) lets it in again"
    )


def _why_denied(approval: Approval) -> str:
    why = f", saying {approval.note!r}" if approval.note else ""
    return f"rejected by {name_shown(approval.by)} at the checkpoint {name_shown(approval.checkpoint)}{why}"
