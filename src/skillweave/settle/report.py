"""The figures and lists that go with an Injection: tokens, cache, what to drop, what waits for a person."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from skillweave.conversation import Placement
from skillweave.disclose.block import digest_in, text_digest
from skillweave.disclose.catalog import Catalog
from skillweave.disclose.fit import Shown
from skillweave.disclose.rung import Rung
from skillweave.disclose.shelf import Shelf
from skillweave.injection import Block, CacheReport, Drop, PendingCheckpoint, TokenReport
from skillweave.ledger.approvals import decided, guards, undecided
from skillweave.ledger.lifecycle import Lifecycle
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import SKILL, Approval, Fragment, Record, is_read_apart, skill_key, skill_of
from skillweave.plan import Plan
from skillweave.skill import Skill


def token_report(shown: Sequence[Shown], shelf: Shelf, *, catalog: int, left: int) -> TokenReport:
    """What this turn adds, by tier and by skill; the shares of one block add up to the block."""
    tiers = {"1": catalog, "2": 0, "3": 0, "3.5": 0}
    by_skill: dict[str, int] = {}
    for piece in shown:
        if piece.added == 0:
            continue
        by_skill[piece.want.skill.id] = piece.added
        context = piece.context.tokens if piece.context else 0
        documents = sum(out.block.tokens for out in piece.readouts if out.block and out.reading.artifact is not None)
        tiers["3"] += documents
        rest = piece.added - context - documents
        artifacts = min(rest, sum(shelf.pricing.count(inlined.content) for inlined in piece.inlined))
        within = min(rest - artifacts, sum(shelf.pricing.count(passage.text) for passage in piece.within))
        tiers["3"] += artifacts
        tiers["3.5"] += context + within
        tiers["2"] += rest - artifacts - within
    return TokenReport(
        catalog=catalog,
        injected=sum(by_skill.values()),
        by_tier=tiers,
        by_skill=by_skill,
        left=left,
        encoding=shelf.pricing.counter.encoding,
        exact=shelf.pricing.counter.exact,
        count_everything=lambda: shelf.everything,
    )


def prefix_after(
    plan: Plan, catalog: Catalog, adopted: Sequence[Record], blocks: Sequence[Block]
) -> tuple[Fragment, ...]:
    """What skillweave has in the prompt after this turn, in the order in which it stands there."""
    head = [Fragment(text_digest(catalog.text), catalog.tokens)] if catalog.text else []
    if plan.turn.placement is Placement.CALL:
        return (*head, *(Fragment(digest_in(block.id), block.tokens) for block in blocks))
    there = _tokens_by_carrier(plan, adopted)
    known = [fragment for fragment in plan.before.prefix if fragment.digest in there]
    names = {fragment.digest for fragment in known}
    others = [Fragment(carrier, tokens) for carrier, tokens in there.items() if carrier not in names]
    return (*head, *known, *others, *(Fragment(block.id, block.tokens) for block in blocks))


def cache_report(before: Sequence[Fragment], now: Sequence[Fragment]) -> CacheReport:
    """Compare the prefix of the turn before with what stands there now, up to the first difference."""
    stable = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        stable += old.tokens
    return CacheReport(sum(fragment.tokens for fragment in before), stable)


def _tokens_by_carrier(plan: Plan, adopted: Sequence[Record] = ()) -> dict[str, int]:
    state = plan.reconciled.state
    present = [r for r in state.records if plan.reconciled.standing[r.key] is not Standing.MINE]
    carriers: dict[str, int] = {}
    for record in (*(old.record for old in state.superseded), *present, *adopted):
        carriers[record.carrier] = carriers.get(record.carrier, 0) + record.tokens
    return carriers


def drops(plan: Plan, shown: Sequence[Shown], left: int) -> tuple[Drop, ...]:
    """What the host may remove so that what was left out fits: outdated texts, then skills longest without a match.

    `left` are the tokens that are still free. Nothing goes for a text that would not fit even then, and in answer to a
    model's call nothing for other skills than those that it is about.
    """
    missing = [sizes for sizes in _left_out(plan, shown) if sizes]
    asked = {leaf.key for piece in shown for out in piece.readouts for leaf in out.reading.leaves if leaf.there}
    candidates = list(_droppable(plan, asked)) if missing else []
    needed = _fitting(missing, left + sum(drop.tokens for drop in candidates)) - left
    chosen: list[Drop] = []
    for candidate in candidates:
        if sum(drop.tokens for drop in chosen) >= needed:
            break
        chosen.append(candidate)
    return tuple(chosen)


def _left_out(plan: Plan, shown: Sequence[Shown]) -> Iterator[tuple[int, ...]]:
    """The tokens of each text that did not fit, in the forms that would do, the best first."""
    most = plan.settings.budget.per_skill
    pieces = iter(shown)
    for group in plan.groups:
        members = [next(pieces) for _ in group]
        if not plan.turn.reads or any(one.reads for one in group):
            # A group steps up together, and to make room for one of them alone is of no use.
            own = [size for piece in members for size in _own_size(piece)]
            if own and max(own) <= most:
                yield (sum(own),)
            for piece in members:
                yield from (tuple(size for size in sizes if size <= most) for sizes in _sizes_beside(piece))


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


def _droppable(plan: Plan, asked: Collection[str]) -> Iterable[Drop]:
    """Outdated texts first, then what was read by itself and skills that have left, then those longest without a match.

    What a pinned skill brought into the conversation stays.
    """
    carriers = _tokens_by_carrier(plan)
    live = sorted(plan.reconciled.state.records, key=lambda record: record.at)
    present = [r for r in live if plan.reconciled.standing[r.key] is Standing.PRESENT]
    # Where one text of a block was evicted, the others in it still stand there.
    shown = {record.carrier for record in present}
    outdated = [old.record for old in plan.reconciled.state.superseded if old.record.carrier not in shown]
    yield from _once_each([r for r in outdated if skill_of(r.key) is not None], carriers)
    needed = {record.carrier for record in present if record.key in asked}
    pinned = _with_pinned(plan)
    present = [r for r in present if skill_of(r.key) not in pinned]
    read = [r for r in present if is_read_apart(r.key) and r.carrier not in needed]
    yield from _once_each(read, carriers)
    wanted = {skill_key(one.skill.id) for one in plan.wanted}
    left = [r for r in present if r.key.startswith(SKILL) and r.key not in wanted and r.carrier not in needed]
    yield from _once_each(left, carriers)
    for entry in sorted(plan.engaged, key=lambda entry: -entry.idle):
        record = plan.reconciled.record(skill_key(entry.skill_id), Standing.PRESENT)
        if record is not None and entry.idle > 0 and entry.skill_id not in pinned:
            yield Drop(entry.skill_id, record.carrier, carriers[record.carrier])


def _with_pinned(plan: Plan) -> set[str]:
    pinned = {entry.skill_id for entry in plan.engaged if entry.lifecycle is Lifecycle.PINNED}
    groups = ({wanted.skill.id for wanted in group} for group in plan.groups)
    return {skill_id for group in groups if group & pinned for skill_id in group}


def _once_each(records: Sequence[Record], carriers: Mapping[str, int]) -> Iterable[Drop]:
    for carrier, record in {record.carrier: record for record in records}.items():
        yield Drop(skill_of(record.key) or "", carrier, carriers[carrier])


def checkpoints_of(
    in_force: Iterable[Skill],
    approvals: Sequence[Approval],
    kept_out: Iterable[Skill] = (),
    shown: Mapping[str, str] = MappingProxyType({}),
) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that nobody has decided for the skills as they are now.

    Of the skills that a person rejected, `kept_out`, those that still guard a tool. `shown` are, by skill id, the
    digests of texts with arguments in them.
    """
    let_through = decided(approvals)
    of_those = ((one, checkpoint) for one in in_force for checkpoint in undecided(one, let_through, shown.get(one.id)))
    still = ((one, checkpoint) for one in kept_out for checkpoint in guards(one, approvals, shown.get(one.id)))
    return tuple(
        PendingCheckpoint(
            skill_id=skill.id,
            name=checkpoint.name,
            before=checkpoint.before,
            blocking=checkpoint.blocking,
            reviewer=checkpoint.reviewer,
            asks=checkpoint.asks,
            digest=shown.get(skill.id, skill.digest),
        )
        for skill, checkpoint in (*of_those, *still)
    )
