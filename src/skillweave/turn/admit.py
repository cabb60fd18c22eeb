"""Admit: who is wanted in the coming call, what stays engaged, and who is left out (spec 4.1, 5.4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from skillweave.decisions import Decision, Outcome
from skillweave.dialogue import Placement, Read, Role
from skillweave.disclose.block import Rung
from skillweave.disclose.fit import Shown
from skillweave.formats.arguments import digest_in_use, takes_arguments
from skillweave.registry import Snapshot
from skillweave.relations.admit import Group, OutOfScope, admit
from skillweave.relations.rules import all_requirements, name_shown, needs_any
from skillweave.select.candidates import Candidate, Selection
from skillweave.select.matchers import UNKNOWN_STRENGTH
from skillweave.settings import Settings
from skillweave.skill import Skill
from skillweave.state.approvals import kept_out
from skillweave.state.state import (
    RECENT_MESSAGES,
    SECTION,
    Engaged,
    Lifecycle,
    LifecycleOf,
    Record,
    is_read_apart,
    skill_key,
    skill_of,
)
from skillweave.turn.library import Inputs
from skillweave.turn.move import Position
from skillweave.turn.reconcile import Presence, Reconciled

_STAGE = "admit"
_LEFT = {
    Lifecycle.RECENT: f"left: no user message has matched it for more than {RECENT_MESSAGES} messages",
    Lifecycle.MESSAGE: "left: it applied to the user message that matched it, and this is the next one",
}


@dataclass(frozen=True, slots=True)
class SkillInTurn:
    """A skill that should be in the context of the coming call, and all that the steps of the turn find out about it.

    From `admit`: the candidate of this turn, if any; the matcher that engaged it; its sections and artifacts that the
    model asked for; the words of the latest mention, where its text takes any. `present` is the rung that is in the
    context with the current content, in the message `carrier`; `outdated` says that other text of the skill is, or may
    be, there; `held` that another turn is just giving it. `goes_with` is the skill that needs this one as its
    companion, where nothing else asks for it. `in_sections` says that it is being read section by section, so that its
    text as a whole is not wanted, `read_apart` that sections or documents of it are in the context already;
    `lingering` that an evicted text of it may still be there.

    From `disclose`: what is shown of it, the records of its texts that the transcript held without one, and what was
    asked to be read of it but does not exist.
    """

    skill: Skill
    candidate: Candidate | None
    engaged_by: str
    goes_with: str | None = None
    reads: tuple[Read, ...] = ()
    arguments: str = ""
    digest: str = ""
    present: Rung | None = None
    carrier: str | None = None
    outdated: bool = False
    held: bool = False
    in_sections: bool = False
    read_apart: bool = False
    lingering: bool = False
    disclosed: Shown | None = None
    adopted: tuple[Record, ...] = ()
    unknown: tuple[Decision, ...] = ()

    @property
    def shown(self) -> Shown:
        """What is shown of it; raises LookupError before `disclose` has run."""
        if self.disclosed is None:
            raise LookupError(f"what is shown of {self.skill.id!r} is not known before the step `disclose`")
        return self.disclosed

    def binds_at(self, rung: Rung | None) -> bool:
        """Whether its permissions apply while this rung of it is shown: with an outline, or any text that is older."""
        return self.outdated or self.read_apart or self.lingering or (rung is not None and rung >= Rung.OUTLINE)


@dataclass(frozen=True, slots=True)
class Admission:
    """Who is wanted, group by group, best ranked first, and what is engaged after the turn.

    `decisions` are about the skills that are left out. `parted` are engaged skills that need one which a person
    rejected: they are not given, and come back when it may. `restraining` are the wanted skills that found no place,
    now or in an earlier turn: what they forbid holds all the same.
    """

    groups: tuple[tuple[SkillInTurn, ...], ...]
    engaged: tuple[Engaged, ...]
    decisions: tuple[Decision, ...]
    parted: tuple[Skill, ...] = ()
    restraining: tuple[Engaged, ...] = ()

    @property
    def skills(self) -> tuple[SkillInTurn, ...]:
        """All wanted skills, best ranked first."""
        return tuple(skill for group in self.groups for skill in group)


def admit_skills(
    inputs: Inputs, selection: Selection, context: Reconciled, position: Position | None = None
) -> Admission:
    """Decides who is wanted; pure, and the same again for a replay of the same turn.

    `context` is what is left beside the transcript of the State that the ledger gave, `position` the place in the
    skill graph, None without one.
    """
    turn, before, again, strengths = inputs.turn, inputs.before, inputs.again, inputs.matchers.strengths
    snapshot, settings = inputs.library.snapshot, inputs.library.settings
    lifecycle_of = partial(_lifecycle_of, settings, turn.placement)
    earlier, waiting = context.state.engaged, context.state.restraining
    gone: tuple[Decision, ...] = ()
    if earlier or waiting:
        earlier, gone = _still_engaged(inputs, earlier, selection, lifecycle_of)
        waiting, _ = _still_engaged(inputs, waiting, selection, lifecycle_of)
        if position is not None:
            earlier, passed = _at_cursor(earlier, position)
            waiting, _ = _at_cursor(waiting, position)
            gone += passed
    rejected = kept_out(before.approvals, snapshot) if before.approvals else {}
    # Most recently matched first; among equals in their latest rank, so that the same ones fit as did then.
    latest_first = earlier[::-1]
    by_recency = sorted(latest_first, key=lambda entry: (entry.idle, entry.place))
    elsewhere = None
    if position is not None:
        elsewhere = OutOfScope(position.here.held_back, position.reason)
    elif turn.limits is not None and turn.limits.closed_skills:
        elsewhere = OutOfScope(frozenset(turn.limits.closed_skills), _closed_to_spawned)
    admission = admit(
        selection,
        snapshot,
        engaged=[entry.skill_id for entry in by_recency],
        max_skills=settings.max_skills,
        granted=settings.granted,
        kept_out=rejected,
        elsewhere=elsewhere,
    )
    own = (*(entry.skill_id for entry in earlier), *(candidate.skill_id for candidate in selection.chosen))
    lives = {skill_id: lifecycle_of(skill_id) for skill_id in own}
    groups: Sequence[Group] = admission.groups
    left: tuple[Decision, ...] = ()
    if position is not None or len(groups) > settings.max_skills or Lifecycle.PINNED in lives.values():
        groups, left = _within_limit(groups, lives, settings.max_skills, position)
    parted = _parted(earlier, rejected, snapshot) if rejected else {}
    # A person's no to what they need ends nobody else's rules.
    # What this process does not know another one may: a skill that is loaded late, or gone for a while, binds again.
    staying = {*parted, *(entry.skill_id for entry in earlier if entry.skill_id not in snapshot)}
    members = dict.fromkeys(member for group in groups for member in group.members)
    places = {skill_id: place for place, skill_id in enumerate(members)}
    matched = (candidate for candidate in selection.chosen if candidate.skill_id in members)
    kept = [entry for entry in earlier if entry.skill_id in members or entry.skill_id in staying]
    engaged = tuple(
        replace(entry, lifecycle=lifecycle_of(entry.skill_id), place=places.get(entry.skill_id, entry.place))
        for entry in engage(kept, matched, turn.id, strengths)
    )
    over = (one.skill_id for one in (*admission.decisions, *left) if one.outcome is Outcome.OVER_LIMIT)
    too_many = set(over).difference(members)
    left_out = [
        *(entry for entry in waiting if entry.skill_id not in members),
        *(entry for entry in earlier if entry.skill_id in too_many),
    ]
    found = [candidate for candidate in selection.chosen if candidate.skill_id in too_many]
    restraining: tuple[Engaged, ...] = ()
    if left_out or found:
        engaging = engage(left_out, found, turn.id, strengths)
        restraining = tuple(replace(entry, lifecycle=lifecycle_of(entry.skill_id)) for entry in engaging)
    return Admission(
        groups=_in_turn(inputs, groups, selection, engaged, context),
        engaged=_engaged_again(engaged, before.engaged) if again else engaged,
        decisions=(
            *(one.to_decision() for one in selection.rejected if one.candidate.skill_id not in members),
            *admission.decisions,
            *gone,
            *left,
        ),
        parted=tuple(parted.values()),
        restraining=_engaged_again(restraining, before.restraining) if again else restraining,
    )


def _closed_to_spawned(skill_id: str) -> str:
    why = "applies at a place of the skill graph that the agent which spawned this one cannot go to"
    return f"{name_shown(skill_id)} {why}"


def _lifecycle_of(settings: Settings, placement: Placement, skill_id: str) -> Lifecycle:
    """The lifecycle that the skill has in this placement: its own, else the one for all."""
    own = settings.lifecycles.get(skill_id, settings.lifecycle)
    if own is not None:
        return Lifecycle(own)
    return Lifecycle.CONVERSATION if placement is Placement.HISTORY else Lifecycle.RECENT


def engage(
    engaged: Iterable[Engaged], matched: Iterable[Candidate], turn_id: str, strengths: Mapping[str, int]
) -> tuple[Engaged, ...]:
    """Enter what this turn matched, in the order of first engagement; a stronger matcher replaces a weaker one.

    A mention's arguments, none too, take the place of earlier ones; a match without a mention leaves them as they are.
    """
    entries = {entry.skill_id: entry for entry in engaged}
    for match in matched:
        known = entries.get(match.skill_id)
        if known is None:
            entries[match.skill_id] = Engaged(match.skill_id, match.matcher, turn_id, arguments=match.arguments or "")
        else:
            arguments = known.arguments if match.arguments is None else match.arguments
            by = max(known.by, match.matcher, key=lambda name: strengths.get(name, UNKNOWN_STRENGTH))
            entries[match.skill_id] = replace(known, idle=0, by=by, arguments=arguments)
    return tuple(entries.values())


def _still_engaged(
    inputs: Inputs, entries: Sequence[Engaged], selection: Selection, lifecycle_of: LifecycleOf
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """Of these entries those that are left when this turn begins, and a decision for each that has left by its age."""
    turn, again = inputs.turn, inputs.again
    # A replay finds what the first run found: not its own entries, which it makes again, and no message older.
    ages = turn.message.role is Role.USER and not again
    matched = {candidate.skill_id for candidate in selection.chosen}
    staying: list[Engaged] = []
    gone: list[Decision] = []
    for entry in entries:
        if again and entry.since == turn.id and entry.skill_id in matched:
            continue
        aged = replace(entry, idle=0 if entry.skill_id in matched else entry.idle + 1) if ages else entry
        lifecycle = lifecycle_of(entry.skill_id)
        if lifecycle.most_idle is None or aged.idle <= lifecycle.most_idle:
            staying.append(aged)
        else:
            gone.append(Decision(entry.skill_id, Outcome.OVER_LIMIT, _STAGE, _LEFT[lifecycle]))
    return tuple(staying), tuple(gone)


def _at_cursor(earlier: Sequence[Engaged], position: Position) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """The engaged skills without those that the conversation has moved away from, and a decision for each of these."""
    gone = [entry.skill_id for entry in earlier if position.has_left(entry)]
    decisions = (Decision(one, Outcome.NOT_AT_CURSOR, "move", f"left: {position.reason(one)}") for one in gone)
    return tuple(entry for entry in earlier if entry.skill_id not in gone), tuple(decisions)


def _within_limit(
    groups: Sequence[Group], lives: Mapping[str, Lifecycle], max_skills: int, position: Position | None
) -> tuple[Sequence[Group], tuple[Decision, ...]]:
    """The groups in their rank without the `recent` ones that are too many; a decision for each that leaves by that.

    `lives` are the lifecycles of the skills that are here in their own right; companions have none. The cursor's skill
    ranks before all others, then come groups with a pinned skill (spec 5.2).
    """
    recent = [g for g in groups if all(lives.get(one, Lifecycle.RECENT) is Lifecycle.RECENT for one in g.members)]
    too_many = recent[max_skills:]
    reason = f"left: the {max_skills} most recently matched skills stay engaged"
    left = tuple(Decision(one, Outcome.OVER_LIMIT, _STAGE, reason) for group in too_many for one in group.members)
    cursor = None if position is None else position.skill

    pinned = {skill_id for skill_id, lifecycle in lives.items() if lifecycle is Lifecycle.PINNED}
    staying = (group for group in groups if group not in too_many)
    elsewhere = frozenset() if cursor is None else frozenset({cursor})
    # False sorts first: the group of the cursor, then those with a pinned skill.
    return sorted(staying, key=lambda g: (elsewhere.isdisjoint(g.members), pinned.isdisjoint(g.members))), left


def _engaged_again(engaged: Iterable[Engaged], before: Iterable[Engaged]) -> tuple[Engaged, ...]:
    """What a replay leaves of its entries: nothing again that was disengaged since its first run."""
    known = {entry.skill_id for entry in before}
    return tuple(entry for entry in engaged if entry.skill_id in known)


def _parted(earlier: Iterable[Engaged], rejected: Mapping[str, str], snapshot: Snapshot) -> Mapping[str, Skill]:
    known = (entry.skill_id for entry in earlier if entry.skill_id in snapshot and entry.skill_id not in rejected)
    return {skill_id: snapshot[skill_id] for skill_id in known if needs_any(skill_id, rejected, snapshot)}


def _in_turn(
    inputs: Inputs, groups: Sequence[Group], selection: Selection, engaged: Sequence[Engaged], context: Reconciled
) -> tuple[tuple[SkillInTurn, ...], ...]:
    """The members of the groups, each with how it stands in the context."""
    turn, snapshot = inputs.turn, inputs.library.snapshot
    candidates = {candidate.skill_id: candidate for candidate in selection.chosen}
    own = {entry.skill_id: entry for entry in engaged}
    engagers = _engagers(engaged, snapshot, inputs.matchers.strengths)
    known = context.records or context.state.superseded
    texts = _TextsInContext.of(context) if known else _NO_TEXTS
    found = []
    for group in groups:
        members = []
        for skill_id in group.members:
            skill = snapshot.skills[skill_id]
            words = own[skill_id].arguments if skill_id in own else ""
            arguments = words if words and takes_arguments(skill) else ""
            alone = skill_id == group.head or skill_id in candidates or skill_id in own
            reads = tuple(_as_listed(read, skill) for read in turn.reads if read.skill_id == skill_id)
            wanted = SkillInTurn(
                skill,
                candidates.get(skill_id),
                engagers.get(skill_id, ""),
                goes_with=None if alone else group.head,
                reads=reads,
                arguments=arguments,
                digest=digest_in_use(skill, arguments) if arguments else skill.digest,
                in_sections=skill_id in texts.in_sections or any(one.artifact is None and one.section for one in reads),
                read_apart=skill_id in texts.read_apart,
            )
            members.append(texts.beside(wanted) if known and turn.placement is Placement.HISTORY else wanted)
        found.append(tuple(members))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _TextsInContext:
    """What the State says of skills' texts; its records are gone through once, for a long chat has hundreds of them.

    By skill: those read section by section, those of which any part was read by itself, and those whose evicted text
    may still be there: it binds until a transcript shows that it is gone. `replaced` are keys that another block took
    the place of.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    presence: Mapping[str, Presence] = field(default_factory=dict)
    in_sections: frozenset[str | None] = frozenset()
    read_apart: frozenset[str | None] = frozenset()
    lingering: frozenset[str | None] = frozenset()
    replaced: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: Reconciled) -> "_TextsInContext":
        apart = [(skill_of(record.key), record.key) for record in context.in_context() if is_read_apart(record.key)]
        old = context.state.superseded
        return cls(
            context.records,
            context.presence,
            in_sections=frozenset(skill_id for skill_id, key in apart if key.startswith(SECTION)),
            read_apart=frozenset(skill_id for skill_id, _ in apart),
            lingering=frozenset(skill_of(one.record.key) for one in old if one.record.rung >= Rung.OUTLINE),
            replaced=frozenset(one.record.key for one in old if one.by),
        )

    def beside(self, wanted: SkillInTurn) -> SkillInTurn:
        key = skill_key(wanted.skill.id)
        record, presence = self.records.get(key), self.presence.get(key)
        outdated, lingering = key in self.replaced, wanted.skill.id in self.lingering
        if record is None or presence is Presence.MINE:
            return replace(wanted, outdated=outdated, lingering=lingering)
        if record.known and record.digest != wanted.digest:
            return replace(wanted, outdated=True, lingering=lingering)
        return replace(
            wanted,
            present=record.rung,
            carrier=record.carrier if record.known else None,
            outdated=outdated,
            held=presence is Presence.HELD,
            lingering=lingering,
        )


_NO_TEXTS = _TextsInContext()


def _engagers(engaged: Iterable[Engaged], snapshot: Snapshot, strengths: Mapping[str, int]) -> Mapping[str, str]:
    """By skill, companions too, the strongest of the matchers that brought it, so that none loosens another's rules."""
    brought: dict[str, str] = {}
    for entry in engaged:
        skill = snapshot.skills.get(entry.skill_id)
        needed = all_requirements([entry.skill_id], snapshot) if skill is not None and skill.relations else ()
        for skill_id in (entry.skill_id, *(requirement.rule.skill for requirement in needed)):
            known = brought.get(skill_id, entry.by)
            brought[skill_id] = max(known, entry.by, key=lambda name: strengths.get(name, UNKNOWN_STRENGTH))
    return brought


def _as_listed(read: Read, skill: Skill) -> Read:
    """The read with the id that the artifact has: a block lists it as one line."""
    ids = [ref.id for ref in skill.artifacts]
    if read.artifact is None or read.artifact in ids:
        return read
    words = read.artifact.split()
    return replace(read, artifact=next((one for one in ids if one.split() == words), read.artifact))
