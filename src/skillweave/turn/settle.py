"""Settle: the blocks, the records, the reports, and the State after the turn (spec 5.3, 5.4)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from skillweave.compose.force import InForce
from skillweave.conversation import Message, Placement, Role
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.block import digest_in, text_digest
from skillweave.disclose.catalog import NO_CATALOG, Catalog
from skillweave.disclose.fit import Shown
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.rung import Rung
from skillweave.disclose.shelf import Shelf
from skillweave.frozen import FrozenDict
from skillweave.injection import Block, CacheReport, Drop, Fallback, Injection, PendingCheckpoint, TokenReport
from skillweave.select.questions import Question
from skillweave.settings import CatalogMode
from skillweave.skill import Skill
from skillweave.state.approvals import decided, digests_shown, guards, undecided
from skillweave.state.state import (
    SKILL,
    Approval,
    Delivery,
    Fragment,
    Lifecycle,
    Record,
    State,
    is_read_apart,
    skill_key,
    skill_of,
)
from skillweave.state.transitions import adopt, claim
from skillweave.turn.admit import Plan
from skillweave.turn.disclose import ShownSkill, show
from skillweave.turn.explain import decisions_of
from skillweave.turn.fallback import documents_for, fallback_for, onward_for
from skillweave.turn.fetch import Fetched
from skillweave.turn.policy import kept_out_skills, tools_in
from skillweave.turn.reconcile import Standing
from skillweave.turn.records import Giving, readout_records, records_of


def blocks_of(shown: Shown, giving: Giving) -> list[Block]:
    """The skill's own block, what was read of it, and entity context that stands apart, in this order."""
    blocks = []
    skill_id = shown.want.skill.id
    keys = [passage.key for passage in shown.apart]
    if shown.block is not None and shown.rung is not None:
        own = (skill_key(skill_id), *(passage.key for passage in shown.within))
        carrier = shown.block.carrier(giving.turn_id)
        blocks.append(Block(carrier, skill_id, shown.rung, own, shown.block.text, shown.block.tokens))
    for readout in shown.readouts:
        rows = readout_records(readout, giving)
        if readout.block is not None:
            block = readout.block
            keys_read = tuple(row.key for row in rows)
            blocks.append(Block(rows[0].carrier, skill_id, rows[0].rung, keys_read, block.text, block.tokens))
    if shown.context is not None:
        carrier = shown.context.carrier(giving.turn_id)
        blocks.append(Block(carrier, skill_id, Rung.FULL, tuple(keys), shown.context.text, shown.context.tokens))
    return blocks


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
        by_tier=FrozenDict(tiers),
        by_skill=FrozenDict(by_skill),
        left=left,
        encoding=shelf.pricing.counter.encoding,
        exact=shelf.pricing.counter.exact,
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


SEPARATOR_TOKENS = 3
"""What joining one more block into the instructions of a call can cost at most: a blank line, and a broken merge."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer, and the State after it; the same State when nothing is to be written."""

    injection: Injection
    state: State


def settle(plan: Plan, fetched: Fetched, shelf: Shelf, *, question: Question | None, delivery: Delivery) -> Settled:
    """Fill the budget, render what is new, and say what became of every considered skill.

    `delivery` is `given` for a turn that counts as delivered on return, `claimed` for one that is confirmed later.
    """
    catalog = shelf.catalog if plan.settings.catalog is CatalogMode.ALWAYS else NO_CATALOG
    giving = Giving(plan.turn.id, plan.now, delivery, plan.told)
    in_history = plan.turn.placement is Placement.HISTORY
    # In call placement too: what the model read with our tools stands in the history.
    room = plan.settings.budget.usable - catalog.tokens - plan.reconciled.occupied()
    if not in_history:
        room -= SEPARATOR_TOKENS * (len(plan.wanted) + 2)
    outcomes = show(plan, fetched, shelf.pricing, catalog, giving, room)
    blocks = tuple(block for outcome in _in_order(outcomes, plan) for block in blocks_of(outcome.shown, giving))
    injected = sum(block.tokens for block in blocks)
    state = _state_after(plan, outcomes, giving, shelf.pricing) if in_history else plan.reconciled.state
    adopted = [record for outcome in outcomes for record in outcome.adopted]
    room -= injected + sum(record.tokens for record in adopted)
    # It takes what the skills leave, not the other way round: one that did not fit would lose its tool rules too.
    fallback = (
        documents_for(plan, question, shelf, room)
        or fallback_for(plan, question, shelf, room)
        or onward_for(plan, shelf, room)
    )
    fallback_tokens = _tokens_of(fallback, shelf.pricing)
    prefix = prefix_after(plan, catalog, adopted, blocks)
    after = _written(plan, replace(state, engaged=plan.engaged, prefix=prefix, cursor=plan.cursor))
    texts = [block.text for block in blocks]
    instructions = [catalog.text, *([] if in_history else texts), fallback.text if fallback else ""]
    in_force = _in_force(outcomes, plan)
    injection = Injection(
        turn_id=plan.turn.id,
        conversation=plan.turn.conversation,
        placement=plan.turn.placement,
        generation=plan.snapshot.generation,
        messages=tuple(Message(Role.SYSTEM, block.text, block.id) for block in blocks) if in_history else (),
        instructions="\n\n".join(part for part in instructions if part),
        catalog=catalog.text,
        fallback=fallback,
        blocks=blocks,
        drop=drops(plan, [outcome.shown for outcome in outcomes], max(0, room - fallback_tokens)),
        tools=tools_in(plan, in_force),
        checkpoints=checkpoints_of(
            [one.skill for one in in_force],
            plan.before.approvals,
            kept_out_skills(plan),
            digests_shown(plan.engaged, plan.snapshot),
        ),
        decisions=(*_decisions(outcomes), *fetched.decisions, *plan.decisions),
        tokens=token_report(
            [outcome.shown for outcome in outcomes],
            shelf,
            catalog=catalog.tokens + fallback_tokens,
            left=max(0, room - fallback_tokens),
        ),
        cache=cache_report(plan.before.prefix, prefix),
        diagnostics=tuple(_diagnostics(plan, outcomes)),
        move=None if plan.position is None else plan.position.move,
        reachable=() if plan.position is None else plan.position.reachable,
    )
    return Settled(injection, after)


def _diagnostics(plan: Plan, outcomes: Sequence[ShownSkill]) -> Iterator[Diagnostic]:
    yield from () if plan.position is None else plan.position.diagnostics
    for outcome in outcomes:
        if outcome.shown.block is not None:
            yield from outcome.shown.block.diagnostics


def _tokens_of(fallback: Fallback | None, pricing: Pricing) -> int:
    return 0 if fallback is None else pricing.count(fallback.text)


def _in_order(outcomes: Sequence[ShownSkill], plan: Plan) -> Sequence[ShownSkill]:
    if plan.turn.placement is Placement.HISTORY:
        return outcomes
    # What lasts one call is rendered again in every call: in the order of first engagement its bytes stay the same.
    engaged = {entry.skill_id: place for place, entry in enumerate(plan.engaged)}
    last = len(engaged)
    groups = {
        wanted.skill.id: min(engaged.get(member.skill.id, last) for member in group)
        for group in plan.groups
        for wanted in group
    }

    def place(outcome: ShownSkill) -> tuple[int, int, str]:
        skill_id = outcome.wanted.skill.id
        return groups[skill_id], engaged.get(skill_id, last), skill_id

    return sorted(outcomes, key=place)


def _state_after(plan: Plan, outcomes: Sequence[ShownSkill], giving: Giving, pricing: Pricing) -> State:
    state = plan.reconciled.state
    for outcome in outcomes:
        for record in outcome.adopted:
            state = adopt(state, record)
        state = claim(state, records_of(outcome.shown, giving, pricing))
    return state


def _written(plan: Plan, after: State) -> State:
    if replace(after, last_turn=plan.before.last_turn) == plan.before:
        return plan.before
    return replace(after, last_turn=plan.turn.id)


def _in_force(outcomes: Sequence[ShownSkill], plan: Plan) -> tuple[InForce, ...]:
    # A text that was evicted may still be there: it binds until a transcript shows that it is gone.
    old = (superseded.record for superseded in plan.reconciled.state.superseded)
    lingering = {skill_of(record.key) for record in old if record.rung >= Rung.OUTLINE}
    return tuple(
        InForce(outcome.wanted.skill, outcome.wanted.engaged_by)
        for outcome in outcomes
        if outcome.wanted.outdated
        or outcome.wanted.read_apart
        or (outcome.shown.rung is not None and outcome.shown.rung >= Rung.OUTLINE)
        or (plan.turn.placement is Placement.HISTORY and outcome.wanted.skill.id in lingering)
    )


def _decisions(outcomes: Sequence[ShownSkill]) -> list[Decision]:
    return [
        decision
        for outcome in outcomes
        for decision in (*decisions_of(outcome.wanted, outcome.shown, adopted=outcome.adopted), *outcome.unknown)
    ]
