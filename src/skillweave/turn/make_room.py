"""Make room: what leaves the history so that a newly wanted skill fits (spec 2.5, 5.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillweave.decisions import Decision, Outcome
from skillweave.dialogue import Turn
from skillweave.disclose.block import Rung
from skillweave.disclose.fit import Shown
from skillweave.injection import Drop
from skillweave.state.state import Lifecycle, Record, State, is_read_apart, skill_of
from skillweave.turn.admit import Admission, SkillInTurn
from skillweave.turn.reconcile import Presence, Reconciled

IDLE_MESSAGES = 2
"""A skill that matched none of so many of the latest user messages leaves where its room is needed."""
MOST_OUTDATED = 64
"""So many outdated texts may stand in the history before the host is asked to take them out, with or without need."""
WANTED_LATELY = 1
"""A skill that matched one of the latest user messages so many ago at most is one that room is made for."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """What leaves: the messages to take out of the history, and the skills that are engaged no longer."""

    drops: tuple[Drop, ...] = ()
    skills: frozenset[str] = frozenset()
    decisions: tuple[Decision, ...] = ()

    @property
    def carriers(self) -> frozenset[str]:
        """The ids of the messages."""
        return frozenset(drop.message_id for drop in self.drops)


def leaving(
    turn: Turn, admission: Admission, context: Reconciled, per_skill: int, left: int, cursor: str | None
) -> Leaving:
    """What has to leave so that what was left out of the newly wanted skills fits; nothing where that is not enough.

    Outdated texts go first, all of them at once, and where there are many even when nothing is missing. Then goes what
    was read by itself and the texts of skills that apply no longer, then engaged skills, longest without a match first.
    `admission` has what would be shown without that, `left` are the tokens that are still free, `per_skill` the most
    that one skill may take, `cursor` the skill that a graph's cursor is on. In answer to a model's call nothing leaves
    for other skills than those that it is about.
    """
    missing = [sizes for sizes in _left_out(turn, admission, per_skill) if sizes]
    if not missing and len(context.state.superseded) <= MOST_OUTDATED:
        return Leaving()
    parts = list(_parts(admission, context, cursor, reads=bool(turn.reads)))
    needed = _fitting(missing, left + sum(part.tokens for part in parts)) - left
    # They are of no use to anybody: one by one they would break the provider's cache in turn after turn.
    outdated = [part for part in parts if part.outdated]
    chosen = outdated if needed > 0 or len(outdated) > MOST_OUTDATED else []
    freed = sum(part.tokens for part in chosen)
    for part in parts[len(outdated) :]:
        if freed >= needed:
            break
        chosen.append(part)
        freed += part.tokens
    return Leaving(
        tuple(drop for part in chosen for drop in part.drops),
        frozenset(skill_id for part in chosen for skill_id in part.skills),
        tuple(decision for part in chosen for decision in part.decisions()),
    )


def without(admission: Admission, gone: Leaving) -> Admission:
    """The admission without the skills that leave, as it was before anything of it was shown."""
    return replace(
        admission,
        groups=tuple(group for group in admission.groups if not any(one.skill.id in gone.skills for one in group)),
        engaged=tuple(entry for entry in admission.engaged if entry.skill_id not in gone.skills),
        # For lack of room no rule ends.
        restraining=(*admission.restraining, *(one for one in admission.engaged if one.skill_id in gone.skills)),
        decisions=(*gone.decisions, *admission.decisions),
    )


def drops(state: State, turn_id: str) -> tuple[Drop, ...]:
    """The messages that the turn asks the host to take out, also where it is asked again."""
    found: dict[str, Drop] = {}
    for one in state.superseded:
        if one.dropped == turn_id:
            record = one.record
            known = found.get(record.carrier)
            tokens = record.tokens + (known.tokens if known else 0)
            found[record.carrier] = Drop(skill_of(record.key) or "", record.carrier, tokens)
    return tuple(found.values())


def _left_out(turn: Turn, admission: Admission, per_skill: int) -> Iterator[tuple[int, ...]]:
    """The tokens of each text of a newly wanted skill that did not fit, in the forms that would do, the best first."""
    idle = {entry.skill_id: entry.idle for entry in admission.engaged}
    for group in admission.groups:
        if turn.reads and not any(one.reads for one in group):
            continue
        if not turn.reads and _idle(group, idle) > WANTED_LATELY:
            continue
        # A group steps up together, and to make room for one of them alone is of no use.
        own = [size for one in group for size in _own_size(one.shown)]
        if own and max(own) <= per_skill:
            yield (sum(own),)
        for one in group:
            for sizes in _sizes_read(one.shown):
                yield tuple(size for size in sizes if size <= per_skill)


def _own_size(shown: Shown) -> Iterator[int]:
    # An outline is what there is room for at all: dropping other texts would not make its instructions fit.
    own = shown.instructions_left_out
    if own is not None and shown.rung is not Rung.OUTLINE:
        yield own.tokens if own.outline is None else own.outline


def _sizes_read(shown: Shown) -> Iterator[tuple[int, ...]]:
    """Of what was asked to be read: whole, or else its table of contents."""
    for readout in shown.readouts:
        listed = readout.block is not None or (readout.reading.contents.there and readout.reading.section.parts)
        if readout.cost is not None and not listed:
            yield (readout.cost,) if readout.outline is None else (readout.cost, readout.outline)


def _fitting(forms: Iterable[tuple[int, ...]], room: int) -> int:
    """Tokens of what fits into `room`, the best ranked first."""
    total = 0
    for sizes in forms:
        total += next((size for size in sizes if size <= room - total), 0)
    return total


@dataclass(frozen=True, slots=True)
class _Part:
    """Messages that leave together, and the engaged skills that leave with them."""

    drops: tuple[Drop, ...]
    skills: tuple[str, ...] = ()
    idle: int = 0
    outdated: bool = False

    @property
    def tokens(self) -> int:
        return sum(drop.tokens for drop in self.drops)

    def decisions(self) -> Iterator[Decision]:
        reason = f"left to make room: none of the last {self.idle} user messages matched it"
        return (Decision(skill_id, Outcome.OVER_LIMIT, "disclose", reason) for skill_id in self.skills)


def _parts(admission: Admission, context: Reconciled, cursor: str | None, *, reads: bool) -> Iterator[_Part]:
    """What may leave, in the order in which it does; where the model `reads`, what was read before goes sooner.

    What a pinned skill brought into the conversation stays, and what is there of a text that was asked for now.
    """
    tokens = context.tokens_by_carrier()
    live = sorted(context.records.values(), key=lambda record: record.at)
    present = [record for record in live if context.presence[record.key] is Presence.PRESENT]
    # Where one text of a block was evicted, the others in it still stand there.
    shown = {record.carrier for record in present}
    readouts = (readout for one in admission.skills for readout in one.shown.readouts)
    asked = {leaf.key for readout in readouts for leaf in readout.reading.leaves if leaf.there}
    needed = {record.carrier for record in present if record.key in asked}
    outdated = [old.record for old in context.state.superseded if old.record.carrier not in shown and not old.dropped]
    yield from (_Part((drop,), outdated=True) for drop in _drops(outdated, tokens))
    staying = _staying(admission, cursor)
    free = [r for r in present if skill_of(r.key) not in staying and r.carrier not in needed]
    if reads:
        yield from (_Part((drop,)) for drop in _drops([r for r in free if is_read_apart(r.key)], tokens))
        free = [r for r in free if not is_read_apart(r.key)]
    wanted = {one.skill.id for one in admission.skills}
    yield from (_Part((drop,)) for drop in _drops([r for r in free if skill_of(r.key) not in wanted], tokens))
    idle = {entry.skill_id: entry.idle for entry in admission.engaged}
    least_idle = 1 if reads else IDLE_MESSAGES
    groups = [group for group in admission.groups if _may_leave(group, idle, staying, least_idle)]
    for group in sorted(groups, key=lambda group: -_idle(group, idle)):
        members = tuple(one.skill.id for one in group)
        drops = _drops([r for r in free if skill_of(r.key) in members], tokens)
        if drops:
            yield _Part(drops, members, _idle(group, idle))


def _drops(records: Sequence[Record], tokens: Mapping[str, int]) -> tuple[Drop, ...]:
    """The messages of the records, each once; entity context of no skill stays, and so does what no message holds."""
    known = (record for record in records if record.known)
    by_carrier = {record.carrier: skill_id for record in known if (skill_id := skill_of(record.key)) is not None}
    return tuple(Drop(skill_id, carrier, tokens[carrier]) for carrier, skill_id in by_carrier.items())


def _staying(admission: Admission, cursor: str | None) -> set[str]:
    """The members of the groups of which one is pinned, or under the cursor."""
    fixed = {entry.skill_id for entry in admission.engaged if entry.lifecycle is Lifecycle.PINNED} | {cursor}
    groups = ({wanted.skill.id for wanted in group} for group in admission.groups)
    return {skill_id for group in groups if group & fixed for skill_id in group}


def _may_leave(group: Sequence[SkillInTurn], idle: Mapping[str, int], staying: set[str], least_idle: int) -> bool:
    named = any(one.candidate or one.reads for one in group)
    return not named and _idle(group, idle) >= least_idle and not any(one.skill.id in staying for one in group)


def _idle(group: Sequence[SkillInTurn], idle: Mapping[str, int]) -> int:
    return min((idle[one.skill.id] for one in group if one.skill.id in idle), default=0)
