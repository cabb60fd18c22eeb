"""From a plan and the fetched contents to the Injection and the State after; pure but for remembered prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from skillweave.compose.force import InForce, policy_of
from skillweave.conversation import Message, Placement, Role
from skillweave.decisions import Decision
from skillweave.disclose.block import carrier_of
from skillweave.disclose.catalog import NO_CATALOG, Catalog
from skillweave.disclose.escape import REPLACES
from skillweave.disclose.fit import Passage, Shown, Want, fit
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Extras, Inlined
from skillweave.disclose.rung import Rung
from skillweave.disclose.shelf import Shelf
from skillweave.injection import Block, Fallback, Injection
from skillweave.knowledge.context import EntityContext
from skillweave.ledger.entries import Giving, records_of
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import Delivery, Record, State, context_key, skill_key
from skillweave.ledger.transitions import adopt, claim
from skillweave.plan import CatalogMode, FileAccess, Plan, Wanted
from skillweave.select.questions import Question
from skillweave.settle.explain import decisions_of
from skillweave.settle.fallback import documents_for, fallback_for
from skillweave.settle.report import cache_report, checkpoints_of, drops, prefix_after, token_report
from skillweave.skill import Skill

SEPARATOR_TOKENS = 3
"""What joining one more block into the instructions of a call can cost at most: a blank line, and a broken merge."""


def _no_artifacts() -> Mapping[str, tuple[Inlined, ...]]:
    return MappingProxyType({})


def _no_contexts() -> Mapping[str, EntityContext]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fetched:
    """Contents by skill id, and a decision for each that could not be had in time."""

    artifacts: Mapping[str, tuple[Inlined, ...]] = field(default_factory=_no_artifacts)
    contexts: Mapping[str, EntityContext] = field(default_factory=_no_contexts)
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer, and the State after it; the same State when nothing is to be written."""

    injection: Injection
    state: State


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A wanted skill with what is shown of it."""

    wanted: Wanted
    shown: Shown
    adopted: Record | None


def settle(plan: Plan, fetched: Fetched, shelf: Shelf, *, question: Question | None, delivery: Delivery) -> Settled:
    """Fill the budget, render what is new, and say what became of every considered skill.

    `delivery` is `given` for a turn that counts as delivered on return, `claimed` for one that is confirmed later.
    """
    catalog = shelf.catalog if plan.settings.catalog is CatalogMode.ALWAYS else NO_CATALOG
    giving = Giving(plan.turn.id, plan.now, delivery)
    in_history = plan.turn.placement is Placement.HISTORY
    room = plan.settings.budget.usable - catalog.tokens - (plan.reconciled.occupied() if in_history else 0)
    if not in_history:
        room -= SEPARATOR_TOKENS * (len(plan.wanted) + 2)
    fallback = fallback_for(plan, question, shelf, room)
    outcomes = _shown(plan, fetched, shelf.pricing, catalog, giving, room - _tokens_of(fallback, shelf.pricing))
    blocks = tuple(block for outcome in _in_order(outcomes, plan) for block in _blocks(outcome.shown, giving))
    injected = sum(block.tokens for block in blocks)
    state = _state_after(plan, outcomes, giving, shelf.pricing) if in_history else plan.reconciled.state
    adopted = [outcome.adopted for outcome in outcomes if outcome.adopted is not None]
    room -= injected + sum(record.tokens for record in adopted)
    # Full documents are long: they take what the skills that the message calls for leave, not the other way round.
    fallback = documents_for(plan, question, shelf, room) or fallback
    fallback_tokens = _tokens_of(fallback, shelf.pricing)
    prefix = prefix_after(plan, catalog, adopted, blocks)
    after = _written(plan, replace(state, engaged=plan.engaged, prefix=prefix))
    texts = [block.text for block in blocks]
    instructions = [catalog.text, *([] if in_history else texts), fallback.text if fallback else ""]
    in_force = _in_force(outcomes)
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
        drop=drops(plan, [outcome.shown for outcome in outcomes]),
        tools=policy_of(in_force, grant=plan.turn.tools, enforce=plan.settings.enforce),
        checkpoints=checkpoints_of(in_force, plan.before.approvals),
        decisions=(*_decisions(outcomes), *fetched.decisions, *plan.decisions),
        tokens=token_report(
            [outcome.shown for outcome in outcomes if outcome.adopted is None],
            shelf,
            catalog=catalog.tokens + fallback_tokens,
            left=max(0, room - fallback_tokens),
        ),
        cache=cache_report(plan.before.prefix, prefix),
        diagnostics=tuple(
            diagnostic
            for outcome in outcomes
            if outcome.shown.block is not None
            for diagnostic in outcome.shown.block.diagnostics
        ),
    )
    return Settled(injection, after)


def _tokens_of(fallback: Fallback | None, pricing: Pricing) -> int:
    return 0 if fallback is None else pricing.count(fallback.text)


def _shown(
    plan: Plan, fetched: Fetched, pricing: Pricing, catalog: Catalog, giving: Giving, left: int
) -> tuple[_Outcome, ...]:
    adopted: dict[str, Record] = {}
    placed: set[str] = set()
    groups: list[list[Want]] = []
    for group in plan.groups:
        wants = []
        for wanted in group:
            want = _want(wanted, plan, fetched, placed)
            record = _found(want, plan, pricing, giving)
            if record is not None:
                adopted[wanted.skill.id] = record
                left -= record.tokens
                want = replace(want, present=record.rung)
            wants.append(want)
        groups.append(wants)
    shown = fit(
        groups,
        left=left,
        per_skill=plan.settings.budget.per_skill,
        pricing=pricing,
        catalog_shows=catalog.shown,
    )
    return tuple(
        _Outcome(wanted, piece, adopted.get(wanted.skill.id)) for wanted, piece in zip(plan.wanted, shown, strict=True)
    )


def _want(wanted: Wanted, plan: Plan, fetched: Fetched, placed: set[str]) -> Want:
    skill = wanted.skill
    held = wanted.held
    return Want(
        skill=skill,
        present=wanted.present,
        replaces=wanted.outdated or wanted.present is not None,
        artifacts=() if held else fetched.artifacts.get(skill.id, ()),
        passages=() if held else tuple(_passages(plan, fetched.contexts.get(skill.id), placed)),
        base_directory=base_directory(skill) if plan.settings.files is FileAccess.LOCAL else None,
    )


def _passages(plan: Plan, context: EntityContext | None, placed: set[str]) -> list[Passage]:
    if context is None:
        return []
    passages = []
    for section in context.sections:
        key = context_key(context.entity, section.name)
        record = plan.reconciled.state.record(key) if plan.turn.placement is Placement.HISTORY else None
        there = record is not None and plan.reconciled.standing[key] is not Standing.MINE
        if key not in placed and not (there and record is not None and record.digest == section.digest):
            placed.add(key)
            passages.append(Passage(key, context.entity, section.text, section.digest))
    return passages


def base_directory(skill: Skill) -> str | None:
    """The folder that a block names for a skill's files; None for a skill without files, or not from a folder."""
    folder, separator, name = skill.origin.location.rpartition("/") if skill.origin else ("", "", "")
    return folder if separator and skill.artifacts and name.lower() == "skill.md" else None


def _found(want: Want, plan: Plan, pricing: Pricing, giving: Giving) -> Record | None:
    in_call = plan.turn.placement is Placement.CALL
    if in_call or not plan.reconciled.unrecorded or want.present is not None:
        return None
    for rung in (Rung.FULL, Rung.INSTRUCTIONS, Rung.CATALOG):
        for replaces in ("", REPLACES):
            inlined = want.artifacts if rung is Rung.FULL else ()
            extras = Extras(inlined, (), want.base_directory, "" if rung is Rung.CATALOG else replaces)
            block = pricing.skill(want.skill, rung, extras)
            carrier = carrier_of(block.text, giving.turn_id)
            if plan.reconciled.shows(carrier):
                key = skill_key(want.skill.id)
                return giving.record(key, want.skill.digest, rung, carrier, block.tokens)
    return None


def _blocks(shown: Shown, giving: Giving) -> list[Block]:
    blocks = []
    skill_id = shown.want.skill.id
    keys = [passage.key for passage in shown.apart]
    if shown.block is not None and shown.rung is not None:
        own = (skill_key(skill_id), *(passage.key for passage in shown.within))
        carrier = carrier_of(shown.block.text, giving.turn_id)
        blocks.append(Block(carrier, skill_id, shown.rung, own, shown.block.text, shown.block.tokens))
    if shown.context is not None:
        carrier = carrier_of(shown.context.text, giving.turn_id)
        blocks.append(Block(carrier, skill_id, Rung.FULL, tuple(keys), shown.context.text, shown.context.tokens))
    return blocks


def _in_order(outcomes: Sequence[_Outcome], plan: Plan) -> Sequence[_Outcome]:
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

    def place(outcome: _Outcome) -> tuple[int, int, str]:
        skill_id = outcome.wanted.skill.id
        return groups[skill_id], engaged.get(skill_id, last), skill_id

    return sorted(outcomes, key=place)


def _state_after(plan: Plan, outcomes: Sequence[_Outcome], giving: Giving, pricing: Pricing) -> State:
    state = plan.reconciled.state
    for outcome in outcomes:
        if outcome.adopted is not None:
            state = adopt(state, outcome.adopted)
        state = claim(state, records_of(outcome.shown, giving, pricing))
    return state


def _written(plan: Plan, after: State) -> State:
    if replace(after, last_turn=plan.before.last_turn) == plan.before:
        return plan.before
    return replace(after, last_turn=plan.turn.id)


def _in_force(outcomes: Sequence[_Outcome]) -> tuple[InForce, ...]:
    return tuple(
        InForce(outcome.wanted.skill, outcome.wanted.engaged_by)
        for outcome in outcomes
        if outcome.wanted.outdated or (outcome.shown.rung is not None and outcome.shown.rung >= Rung.INSTRUCTIONS)
    )


def _decisions(outcomes: Sequence[_Outcome]) -> list[Decision]:
    return [
        decision
        for outcome in outcomes
        for decision in decisions_of(outcome.wanted, outcome.shown, adopted=outcome.adopted is not None)
    ]
