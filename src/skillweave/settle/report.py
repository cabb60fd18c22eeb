"""The figures and lists that go with an Injection: tokens, cache, what to drop, what waits for a person."""

from collections.abc import Iterable, Sequence

from skillweave.compose.force import InForce
from skillweave.conversation import Placement
from skillweave.disclose.block import text_digest
from skillweave.disclose.catalog import Catalog
from skillweave.disclose.fit import Shown
from skillweave.disclose.shelf import Shelf
from skillweave.injection import Block, CacheReport, Drop, PendingCheckpoint, TokenReport
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import Approval, Fragment, Record, skill_key
from skillweave.plan import Plan


def token_report(shown: Sequence[Shown], shelf: Shelf, *, catalog: int, left: int) -> TokenReport:
    """What this turn adds, by tier and by skill; the shares of one block add up to the block."""
    tiers = {"1": catalog, "2": 0, "3": 0, "3.5": 0}
    by_skill: dict[str, int] = {}
    for piece in shown:
        if piece.added == 0:
            continue
        by_skill[piece.want.skill.id] = piece.added
        context = piece.context.tokens if piece.context else 0
        rest = piece.added - context
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
        return (*head, *(Fragment(text_digest(block.text), block.tokens) for block in blocks))
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


def drops(plan: Plan, shown: Sequence[Shown]) -> tuple[Drop, ...]:
    """What the host may remove so that what was left out fits: outdated texts, then skills longest without a match."""
    missing = sum(left_out.tokens for piece in shown for left_out in piece.left_out)
    if missing == 0 or plan.turn.placement is Placement.CALL:
        return ()
    chosen: list[Drop] = []
    for candidate in _droppable(plan):
        if sum(drop.tokens for drop in chosen) >= missing:
            break
        chosen.append(candidate)
    return tuple(chosen)


def _droppable(plan: Plan) -> Iterable[Drop]:
    for old in plan.reconciled.state.superseded:
        if old.record.key.startswith("skill:"):
            yield Drop(old.record.key.removeprefix("skill:"), old.record.carrier, old.record.tokens)
    carriers = _tokens_by_carrier(plan)
    for entry in sorted(plan.engaged, key=lambda entry: -entry.idle):
        record = plan.reconciled.record(skill_key(entry.skill_id), Standing.PRESENT)
        if record is not None and entry.idle > 0:
            yield Drop(entry.skill_id, record.carrier, carriers[record.carrier])


def checkpoints_of(in_force: Sequence[InForce], approvals: Sequence[Approval]) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints of the skills in force that nobody has approved for their present content."""
    approved = {(a.skill_id, a.checkpoint, a.digest) for a in approvals if a.verdict == "approved"}
    return tuple(
        PendingCheckpoint(
            skill_id=member.skill.id,
            name=checkpoint.name,
            before=checkpoint.before,
            blocking=checkpoint.blocking,
            reviewer=checkpoint.reviewer,
            asks=checkpoint.asks,
        )
        for member in in_force
        for checkpoint in member.skill.checkpoints
        if (member.skill.id, checkpoint.name, member.skill.digest) not in approved
    )
