"""From a plan and the fetched contents to the Injection and the State after; pure but for remembered prices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillweave.compose.force import InForce
from skillweave.conversation import Message, Placement, Role
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.catalog import NO_CATALOG
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.rung import Rung
from skillweave.disclose.shelf import Shelf
from skillweave.injection import Fallback, Injection
from skillweave.ledger.approvals import digests_shown
from skillweave.ledger.entries import Giving, records_of
from skillweave.ledger.state import Delivery, State, skill_of
from skillweave.ledger.transitions import adopt, claim
from skillweave.plan import Plan
from skillweave.select.questions import Question
from skillweave.settings import CatalogMode
from skillweave.settle.blocks import blocks_of
from skillweave.settle.explain import decisions_of
from skillweave.settle.fallback import documents_for, fallback_for, onward_for
from skillweave.settle.fetched import Fetched
from skillweave.settle.report import cache_report, checkpoints_of, drops, prefix_after, token_report
from skillweave.settle.showing import ShownSkill, show
from skillweave.settle.tools import kept_out_skills, tools_in

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
