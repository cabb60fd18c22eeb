"""What the host may take out of the history, so that a text fits that was left out (spec 5.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillweave.conversation import Turn
from skillweave.disclose.block import Rung
from skillweave.disclose.fit import Shown
from skillweave.injection import Drop
from skillweave.state.state import SKILL, Lifecycle, Record, is_read_apart, skill_key, skill_of
from skillweave.turn.admit import Admission
from skillweave.turn.reconcile import Presence, Reconciled


def drops(turn: Turn, admission: Admission, context: Reconciled, per_skill: int, left: int) -> tuple[Drop, ...]:
    """What the host may remove so that what was left out fits: outdated texts, then skills longest without a match.

    `left` are the tokens that are still free, `per_skill` the most that one skill may take. Nothing goes for a text
    that would not fit even then, and in answer to a model's call nothing for other skills than those that it is about.
    """
    missing = [sizes for sizes in _left_out(turn, admission, per_skill) if sizes]
    if not missing:
        return ()
    candidates = list(_droppable(admission, context))
    needed = _fitting(missing, left + sum(drop.tokens for drop in candidates)) - left
    chosen: list[Drop] = []
    for candidate in candidates:
        if sum(drop.tokens for drop in chosen) >= needed:
            break
        chosen.append(candidate)
    return tuple(chosen)


def _left_out(turn: Turn, admission: Admission, per_skill: int) -> Iterator[tuple[int, ...]]:
    """The tokens of each text that did not fit, in the forms that would do, the best first."""
    for group in admission.groups:
        if turn.reads and not any(one.reads for one in group):
            continue
        # A group steps up together, and to make room for one of them alone is of no use.
        own = [size for one in group for size in _own_size(one.shown)]
        if own and max(own) <= per_skill:
            yield (sum(own),)
        for one in group:
            if one.shown.left_out or one.shown.readouts:
                yield from (tuple(size for size in sizes if size <= per_skill) for sizes in _sizes_beside(one.shown))


def _own_size(shown: Shown) -> Iterator[int]:
    # An outline is what there is room for at all: dropping other texts would not make its instructions fit.
    own = shown.instructions_left_out
    if own is not None and shown.rung is not Rung.OUTLINE:
        yield own.tokens if own.outline is None else own.outline


def _sizes_beside(shown: Shown) -> Iterator[tuple[int, ...]]:
    """Of documents and entity context, and of what was asked to be read: whole, or else its table of contents."""
    if shown.rung is not Rung.OUTLINE:
        yield from ((one.tokens,) for one in shown.left_out if one is not shown.instructions_left_out)
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


def _droppable(admission: Admission, context: Reconciled) -> Iterator[Drop]:
    """Outdated texts first, then what was read by itself and skills that have left, then those longest without a match.

    What a pinned skill brought into the conversation stays, and what is there of a text that was asked for now.
    """
    carriers = context.tokens_by_carrier()
    live = sorted(context.records.values(), key=lambda record: record.at)
    present = [r for r in live if context.presence[r.key] is Presence.PRESENT]
    # Where one text of a block was evicted, the others in it still stand there.
    shown = {record.carrier for record in present}
    outdated = [old.record for old in context.state.superseded if old.record.carrier not in shown]
    yield from _once_each([r for r in outdated if skill_of(r.key) is not None], carriers)
    readouts = [readout for one in admission.skills for readout in one.shown.readouts]
    asked = {leaf.key for readout in readouts for leaf in readout.reading.leaves if leaf.there}
    needed = {record.carrier for record in present if record.key in asked}
    pinned = _with_pinned(admission)
    present = [r for r in present if skill_of(r.key) not in pinned]
    read = [r for r in present if is_read_apart(r.key) and r.carrier not in needed]
    yield from _once_each(read, carriers)
    wanted = {skill_key(one.skill.id) for one in admission.skills}
    left = [r for r in present if r.key.startswith(SKILL) and r.key not in wanted and r.carrier not in needed]
    yield from _once_each(left, carriers)
    for entry in sorted(admission.engaged, key=lambda entry: -entry.idle):
        record = context.record(skill_key(entry.skill_id), Presence.PRESENT)
        if record is not None and entry.idle > 0 and entry.skill_id not in pinned:
            yield Drop(entry.skill_id, record.carrier, carriers[record.carrier])


def _with_pinned(admission: Admission) -> set[str]:
    pinned = {entry.skill_id for entry in admission.engaged if entry.lifecycle is Lifecycle.PINNED}
    groups = ({wanted.skill.id for wanted in group} for group in admission.groups)
    return {skill_id for group in groups if group & pinned for skill_id in group}


def _once_each(records: Sequence[Record], carriers: Mapping[str, int]) -> Iterator[Drop]:
    for carrier, record in {record.carrier: record for record in records}.items():
        yield Drop(skill_of(record.key) or "", carrier, carriers[carrier])
