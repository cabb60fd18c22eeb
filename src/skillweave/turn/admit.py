"""Admit: who is wanted in the coming call, what stays engaged, and who is left out (spec 4, 5.4)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from skillweave.conversation import Placement, Read, Role, Turn
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.block import Rung, SkillTools
from skillweave.formats.arguments import digest_in_use, takes_arguments
from skillweave.graph.cursor import Cursor
from skillweave.registry import Snapshot
from skillweave.relations.admit import Group, OutOfScope, admit
from skillweave.relations.rules import all_requirements, needs_any
from skillweave.select.candidates import Candidate, Selection
from skillweave.settings import Settings
from skillweave.skill import ArtifactRef, Skill
from skillweave.state.approvals import kept_out
from skillweave.state.state import (
    RECENT_MESSAGES,
    SECTION,
    Engaged,
    Lifecycle,
    LifecycleOf,
    Record,
    State,
    is_read_apart,
    skill_key,
    skill_of,
)
from skillweave.turn.move import Position
from skillweave.turn.reconcile import Reconciled, Standing, digest_of, reconcile

_STAGE = "admit"
_STRENGTH = ("lexical", "triggers", "graph", "task", "mention", "host", "explicit")
_LEFT = {
    Lifecycle.RECENT: f"left: no user message has matched it for more than {RECENT_MESSAGES} messages",
    Lifecycle.MESSAGE: "left: it applied to the user message that matched it, and this is the next one",
}


@dataclass(frozen=True, slots=True)
class Match:
    """A skill that this turn called for, and the matcher that did; `arguments` came with a mention, None without."""

    skill_id: str
    by: str
    arguments: str | None = None


def engaged_before(state: State, turn_id: str) -> tuple[Engaged, ...]:
    """What was engaged before this turn; a replay finds the same as the first run did."""
    return tuple(entry for entry in state.engaged if entry.since != turn_id)


def aged(engaged: Iterable[Engaged], matched: Iterable[str]) -> tuple[Engaged, ...]:
    """One user message later: matched skills start counting anew."""
    now = frozenset(matched)
    return tuple(replace(entry, idle=0 if entry.skill_id in now else entry.idle + 1) for entry in engaged)


def engage(engaged: Sequence[Engaged], matches: Iterable[Match], turn_id: str) -> tuple[Engaged, ...]:
    """Enter what this turn matched, in the order of first engagement; a stronger matcher replaces a weaker one.

    A mention's arguments, none too, take the place of earlier ones; a match without a mention leaves them as they are.
    """
    entries = {entry.skill_id: entry for entry in engaged}
    for match in matches:
        known = entries.get(match.skill_id)
        if known is None:
            entries[match.skill_id] = Engaged(match.skill_id, match.by, turn_id, arguments=match.arguments or "")
        else:
            arguments = known.arguments if match.arguments is None else match.arguments
            by = max(known.by, match.by, key=_strength)
            entries[match.skill_id] = replace(known, idle=0, by=by, arguments=arguments)
    return tuple(entries.values())


def engagers(engaged: Iterable[Engaged], snapshot: Snapshot) -> Mapping[str, str]:
    """By skill, companions too, the strongest of the matchers that brought it, so that none loosens another's rules."""
    brought: dict[str, str] = {}
    for entry in engaged:
        companions = (needed.rule.skill for needed in all_requirements([entry.skill_id], snapshot))
        for skill_id in (entry.skill_id, *companions):
            brought[skill_id] = max(brought.get(skill_id, entry.by), entry.by, key=_strength)
    return MappingProxyType(brought)


def lasting(engaged: Iterable[Engaged], lifecycle_of: LifecycleOf) -> tuple[Engaged, ...]:
    """What has not left because of its age."""
    return tuple(entry for entry in engaged if _lasts(entry, lifecycle_of(entry.skill_id)))


def living(engaged: Iterable[Engaged], lifecycle_of: LifecycleOf) -> tuple[Engaged, ...]:
    """The same entries, each with the lifecycle that it has now, for whoever looks at the State later."""
    return tuple(replace(entry, lifecycle=lifecycle_of(entry.skill_id)) for entry in engaged)


def still_engaged(
    state: State, selection: Selection, turn: Turn, lifecycle_of: LifecycleOf
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """What is engaged from earlier turns when this one begins, and a decision for each that has left by its age."""
    earlier = engaged_before(state, turn.id)
    if turn.message.role is Role.USER and state.last_turn != turn.id:
        earlier = aged(earlier, (candidate.skill_id for candidate in selection.chosen))
    staying = lasting(earlier, lifecycle_of)
    gone = (entry.skill_id for entry in earlier if entry not in staying)
    return staying, tuple(Decision(one, Outcome.OVER_LIMIT, _STAGE, _LEFT[lifecycle_of(one)]) for one in gone)


def within_limit(
    groups: Sequence[Group], lives: Mapping[str, Lifecycle], max_skills: int
) -> tuple[Sequence[Group], tuple[Decision, ...]]:
    """The groups without the `recent` ones that are too many, and a decision for each skill that leaves by that.

    `lives` are the lifecycles of the skills that are here in their own right; companions have none.
    """
    recent = [group for group in groups if _lifecycles(group, lives) <= {Lifecycle.RECENT}]
    too_many = recent[max_skills:]
    reason = f"left: the {max_skills} most recently matched skills stay engaged"
    left = (member for group in too_many for member in group.members)
    staying = [group for group in groups if group not in too_many]
    return staying, tuple(Decision(member, Outcome.OVER_LIMIT, _STAGE, reason) for member in left)


def pinned_first(groups: Sequence[Group], lives: Mapping[str, Lifecycle]) -> Sequence[Group]:
    """The groups in their rank, those with a pinned skill before the others."""
    return sorted(groups, key=lambda group: Lifecycle.PINNED not in _lifecycles(group, lives))


def engaged_with(
    earlier: Iterable[Engaged],
    groups: Iterable[Group],
    selection: Selection,
    turn: Turn,
    parted: Collection[str] = (),
) -> tuple[Engaged, ...]:
    """What is engaged during this turn: of the earlier ones and of the matched ones, those that were admitted.

    `parted` are earlier ones that stay although they are not admitted: a person keeps out what they need, and a no ends
    nobody else's rules, or nobody knows them here.
    """
    admitted = {member for group in groups for member in group.members}
    staying = [entry for entry in earlier if entry.skill_id in admitted or entry.skill_id in parted]
    matches = [Match(c.skill_id, c.matcher, c.arguments) for c in selection.chosen if c.skill_id in admitted]
    return engage(staying, matches, turn.id)


def engaged_after(engaged: Iterable[Engaged], state: State, turn: Turn) -> tuple[Engaged, ...]:
    """What stays so after the turn: a replay engages nothing again that was disengaged since its first run."""
    if state.last_turn != turn.id:
        return tuple(engaged)
    known = {entry.skill_id for entry in state.engaged}
    return tuple(entry for entry in engaged if entry.skill_id in known)


def by_recency(engaged: Iterable[Engaged]) -> tuple[Engaged, ...]:
    """Most recently matched first; among equals, in their latest rank, so that the same ones fit as did then."""
    latest_first = tuple(engaged)[::-1]
    return tuple(sorted(latest_first, key=lambda entry: (entry.idle, entry.place)))


def placed(engaged: Iterable[Engaged], groups: Iterable[Group]) -> tuple[Engaged, ...]:
    """The same entries, each with its rank in this turn; one that is in no group keeps the rank that it had."""
    members = dict.fromkeys(member for group in groups for member in group.members)
    places = {skill_id: place for place, skill_id in enumerate(members)}
    return tuple(replace(entry, place=places.get(entry.skill_id, entry.place)) for entry in engaged)


def _lasts(entry: Engaged, lifecycle: Lifecycle) -> bool:
    return lifecycle.most_idle is None or entry.idle <= lifecycle.most_idle


def _lifecycles(group: Group, lives: Mapping[str, Lifecycle]) -> set[Lifecycle]:
    return {lives[member] for member in group.members if member in lives}


def _strength(by: str) -> int:
    return _STRENGTH.index(by) if by in _STRENGTH else 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A skill that should be in the context of the coming call, and how it stands there now.

    `present` is the rung that is there with the current content; `outdated` says that other text of the skill is, or
    may be, there; `held` that another turn is just giving it. `goes_with` is the skill that needs this one as its
    companion, where nothing else asks for it. `reads` are its sections and artifacts that the model asked for;
    `in_sections` says that it is being read that way, so that its text as a whole is not wanted, `read_apart` that
    sections or documents of it are in the context already.
    `arguments` are the words of the latest mention, where its text takes any.
    """

    skill: Skill
    candidate: Candidate | None
    engaged_by: str
    present: Rung | None = None
    outdated: bool = False
    held: bool = False
    record: Record | None = None
    goes_with: str | None = None
    reads: tuple[Read, ...] = ()
    in_sections: bool = False
    read_apart: bool = False
    arguments: str = ""

    @property
    def digest(self) -> str:
        """The digest of the skill's text as it is shown now, with which records of it are compared."""
        return digest_in_use(self.skill, self.arguments)


def wanted_groups(
    groups: Sequence[Group],
    selection: Selection,
    snapshot: Snapshot,
    engaged: Sequence[Engaged],
    reconciled: Reconciled,
    turn: Turn,
) -> tuple[tuple[Wanted, ...], ...]:
    """The members of the admitted groups, each with how it stands in the context by the reconciled State."""
    candidates = {candidate.skill_id: candidate for candidate in selection.chosen}
    own = {entry.skill_id for entry in engaged}
    engaged_by = engagers(engaged, snapshot)
    arguments = {entry.skill_id: entry.arguments for entry in engaged if entry.arguments}
    there = _There.of(reconciled)

    def wanted(skill_id: str, group: Group) -> Wanted:
        skill = snapshot.skills[skill_id]
        alone = skill_id == group.head or skill_id in candidates or skill_id in own
        reads = tuple(_as_listed(read, skill) for read in turn.reads if read.skill_id == skill_id)
        plain = Wanted(
            skill,
            candidates.get(skill_id),
            engaged_by.get(skill_id, ""),
            goes_with=None if alone else group.head,
            reads=reads,
            in_sections=skill_id in there.in_sections or any(read.artifact is None and read.section for read in reads),
            read_apart=skill_id in there.read_apart,
            arguments=arguments[skill_id] if skill_id in arguments and takes_arguments(skill) else "",
        )
        return plain if turn.placement is Placement.CALL else _placed(plain, there)

    return tuple(tuple(wanted(member, group) for member in group.members) for group in groups)


def _as_listed(read: Read, skill: Skill) -> Read:
    """The read with the id that the artifact has: a block lists it as one line."""
    ids = [ref.id for ref in skill.artifacts]
    if read.artifact is None or read.artifact in ids:
        return read
    words = read.artifact.split()
    return replace(read, artifact=next((one for one in ids if one.split() == words), read.artifact))


@dataclass(frozen=True, slots=True)
class _There:
    """What the State says, looked up by key once for all skills: a long conversation has hundreds of records.

    `replaced` are the keys of texts that another block took the place of, `in_sections` the skills read in sections,
    `read_apart` those and the skills of which documents were read.
    """

    records: Mapping[str, Record]
    standing: Mapping[str, Standing]
    replaced: frozenset[str]
    in_sections: frozenset[str]
    read_apart: frozenset[str]

    @classmethod
    def of(cls, reconciled: Reconciled) -> "_There":
        standing = reconciled.standing
        records = {record.key: record for record in reconciled.state.records}
        apart = [key for key in records if is_read_apart(key) and standing[key] is not Standing.MINE]
        read = {(skill_of(key), key.startswith(SECTION)) for key in apart}
        return cls(
            records,
            standing,
            replaced=frozenset(old.record.key for old in reconciled.state.superseded if old.by),
            in_sections=frozenset(skill for skill, of_text in read if skill is not None and of_text),
            read_apart=frozenset(skill for skill, _ in read if skill is not None),
        )


def _placed(wanted: Wanted, there: _There) -> Wanted:
    key = skill_key(wanted.skill.id)
    superseded = key in there.replaced
    record = there.records.get(key)
    standing = there.standing.get(key)
    if record is None or standing is Standing.MINE:
        return replace(wanted, outdated=superseded)
    if record.digest != wanted.digest:
        return replace(wanted, outdated=True)
    held = standing is Standing.HELD
    return replace(wanted, present=record.rung, outdated=superseded, held=held, record=record)


READ_SKILL = "read_skill"
"""The tool by which a model reads skills; a host that offers it can show outlines."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The turn before any content is fetched: who is wanted, group by group, best ranked first.

    `parted` are engaged skills that need one which a person rejected: they are not given, and come back when it may.
    `told` is the digest of the transcript that came with the model's calls, the empty text without one. `position` is
    the place in the skill graph, None without one.
    """

    turn: Turn
    snapshot: Snapshot
    settings: Settings
    now: float
    before: State
    reconciled: Reconciled
    engaged: tuple[Engaged, ...]
    groups: tuple[tuple[Wanted, ...], ...]
    decisions: tuple[Decision, ...]
    matched: bool
    parted: tuple[Skill, ...] = ()
    told: str = ""
    position: Position | None = None

    @property
    def cursor(self) -> Cursor | None:
        """Where the cursor is after this turn; without a graph, where it was."""
        return self.before.cursor if self.position is None else self.position.cursor

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All wanted skills, best ranked first."""
        return tuple(wanted for group in self.groups for wanted in group)

    @property
    def skill_tools(self) -> SkillTools:
        """Whether the model has our tools in this turn: by the settings, or by what the host says that it offers."""
        offered = bool(self.turn.reads) or READ_SKILL in (self.turn.tools or ())
        return SkillTools.OFFERED if offered else self.settings.skill_tools

    @property
    def entity(self) -> str | None:
        """The entity that the turn's memory names."""
        found = (self.turn.memory.get(key) for key in self.settings.entity_keys)
        return next((value for value in found if isinstance(value, str) and value), None)


def make_plan(
    turn: Turn,
    selection: Selection,
    snapshot: Snapshot,
    settings: Settings,
    loaded: tuple[State, float],
    blocks: Counter[str] | None,
    position: Position | None = None,
) -> Plan:
    """Decide who is wanted; pure, and the same again for a replay of the same turn.

    `loaded` is what the ledger answered, `blocks` the transcript's blocks by digest, None where the host cannot say.
    """
    state, now = loaded
    told = digest_of(turn.transcript) if turn.reads and turn.transcript is not None else ""
    reconciled = reconcile(state, blocks, holder=turn.id, now=now, told=told)
    lifecycle_of = partial(settings.lifecycle_of, turn.placement)
    earlier, aged_out = still_engaged(reconciled.state, selection, turn, lifecycle_of)
    earlier, passed = _at_cursor(earlier, position)
    rejected = kept_out(state.approvals, snapshot)
    admission = admit(
        selection,
        snapshot,
        engaged=[entry.skill_id for entry in by_recency(earlier)],
        max_skills=settings.max_skills,
        granted=settings.granted,
        kept_out=rejected,
        elsewhere=_elsewhere(position),
    )
    own = (*(entry.skill_id for entry in earlier), *(candidate.skill_id for candidate in selection.chosen))
    lives = {skill_id: lifecycle_of(skill_id) for skill_id in own}
    staying, left = within_limit(admission.groups, lives, settings.max_skills)
    groups = _cursor_first(pinned_first(staying, lives), position)
    parted = _parted(earlier, rejected, snapshot)
    # What this process does not know another one may: a skill that is loaded late, or gone for a while, binds again.
    unknown = (entry.skill_id for entry in earlier if entry.skill_id not in snapshot)
    staying_engaged = engaged_with(earlier, groups, selection, turn, {*parted, *unknown})
    engaged = living(placed(staying_engaged, groups), lifecycle_of)
    return Plan(
        turn=turn,
        snapshot=snapshot,
        settings=settings,
        now=now,
        before=state,
        reconciled=reconciled,
        engaged=engaged_after(engaged, state, turn),
        groups=wanted_groups(groups, selection, snapshot, engaged, reconciled, turn),
        decisions=(*_rejections(selection, groups), *admission.decisions, *aged_out, *passed, *left),
        matched=bool(selection.chosen),
        parted=tuple(parted.values()),
        told=told,
        position=position,
    )


def artifacts_to_show(skill: Skill) -> tuple[ArtifactRef, ...]:
    """The artifacts whose text may stand in a block: documents, not scripts, assets or binary files.

    Of a folder skill only `references/` holds documents for the model; scripts are there to be run and assets to be
    copied, both are listed with their size.
    """
    return tuple(ref for ref in skill.artifacts if _is_document(ref))


_OTHER_FOLDERS = ("scripts/", "assets/")


def _is_document(ref: ArtifactRef) -> bool:
    readable = ref.media_type.startswith("text/") or ref.media_type in ("application/json", "application/yaml")
    return readable and not ref.id.startswith(_OTHER_FOLDERS)


def _at_cursor(
    earlier: Sequence[Engaged], position: Position | None
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """The engaged skills without those that the conversation has moved away from, and a decision for each of these."""
    if position is None:
        return tuple(earlier), ()
    gone = [entry.skill_id for entry in earlier if position.has_left(entry)]
    decisions = (Decision(one, Outcome.NOT_AT_CURSOR, "move", f"left: {position.reason(one)}") for one in gone)
    return tuple(entry for entry in earlier if entry.skill_id not in gone), tuple(decisions)


def _cursor_first(groups: Sequence[Group], position: Position | None) -> Sequence[Group]:
    """The cursor's skill ranks before all others in the budget, pinned ones too (spec 5.2)."""
    skill = None if position is None else position.skill
    return groups if skill is None else sorted(groups, key=lambda group: skill not in group.members)


def _elsewhere(position: Position | None) -> OutOfScope | None:
    return None if position is None else OutOfScope(position.here.held_back, position.reason)


def _parted(earlier: Sequence[Engaged], rejected: Mapping[str, str], snapshot: Snapshot) -> Mapping[str, Skill]:
    if not rejected:
        return {}
    known = (entry.skill_id for entry in earlier if entry.skill_id in snapshot and entry.skill_id not in rejected)
    return {skill_id: snapshot[skill_id] for skill_id in known if needs_any(skill_id, rejected, snapshot)}


def _rejections(selection: Selection, groups: Sequence[Group]) -> tuple[Decision, ...]:
    wanted = {member for group in groups for member in group.members}
    return tuple(rejected.to_decision() for rejected in selection.rejected if rejected.candidate.skill_id not in wanted)
