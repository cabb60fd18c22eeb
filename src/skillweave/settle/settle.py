"""From a plan and the fetched contents to the Injection and the State after; pure but for remembered prices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from skillweave.compose.force import InForce
from skillweave.conversation import Message, Placement, Role
from skillweave.decisions import Decision
from skillweave.disclose.catalog import NO_CATALOG, Catalog
from skillweave.disclose.escape import REPLACES
from skillweave.disclose.fit import Passage, Shown, Want, fit
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Extras, Inlined
from skillweave.disclose.rung import Rung
from skillweave.disclose.shelf import Shelf
from skillweave.disclose.skill_tools import SkillTools
from skillweave.formats.arguments import digest_in_use
from skillweave.injection import Block, Fallback, Injection
from skillweave.knowledge.context import EntityContext
from skillweave.ledger.entries import Giving, readout_records, records_of
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import Delivery, Record, State, context_key, skill_key
from skillweave.ledger.transitions import adopt, claim
from skillweave.plan import Plan, Wanted
from skillweave.select.questions import Question
from skillweave.settings import CatalogMode, FileAccess
from skillweave.settle.explain import decisions_of
from skillweave.settle.fallback import documents_for, fallback_for
from skillweave.settle.reading import readings_of
from skillweave.settle.report import cache_report, checkpoints_of, drops, prefix_after, token_report
from skillweave.settle.tools import kept_out_skills, tools_in
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

    @property
    def documents(self) -> Mapping[tuple[str, str], Inlined]:
        """The artifacts by skill and id."""
        return {(skill, inlined.ref.id): inlined for skill, found in self.artifacts.items() for inlined in found}


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
    adopted: tuple[Record, ...]
    unknown: tuple[Decision, ...] = ()


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
    adopted = [record for outcome in outcomes for record in outcome.adopted]
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
        tools=tools_in(plan, in_force),
        checkpoints=checkpoints_of([one.skill for one in in_force], plan.before.approvals, kept_out_skills(plan)),
        decisions=(*_decisions(outcomes), *fetched.decisions, *plan.decisions),
        tokens=token_report(
            [outcome.shown for outcome in outcomes],
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
    adopted: list[tuple[Record, ...]] = []
    unknown: list[tuple[Decision, ...]] = []
    placed: set[str] = set()
    groups: list[list[Want]] = []
    for group in plan.groups:
        wants = []
        for wanted in group:
            want = _want(wanted, plan, fetched, placed)
            record = _found(want, plan, pricing, giving)
            if record is not None:
                want = replace(want, present=record.rung)
            found = readings_of(wanted, plan, fetched.documents, pricing, giving)
            adopted.append((*([] if record is None else [record]), *found.adopted))
            unknown.append(found.decisions)
            left -= sum(record.tokens for record in adopted[-1])
            wants.append(replace(want, readings=found.readings) if found.readings else want)
        groups.append(wants)
    shown = fit(
        groups,
        left=left,
        per_skill=plan.settings.budget.per_skill,
        pricing=pricing,
        catalog_shows=catalog.shown,
        tools=plan.skill_tools,
    )
    return tuple(map(_Outcome, plan.wanted, shown, adopted, unknown))


def _want(wanted: Wanted, plan: Plan, fetched: Fetched, placed: set[str]) -> Want:
    skill = wanted.skill
    held = wanted.held
    return Want(
        skill=skill,
        present=wanted.present,
        replaces=wanted.outdated or wanted.present is not None,
        artifacts=() if held else _to_inline(wanted, fetched),
        passages=() if held else tuple(_passages(plan, fetched.contexts.get(skill.id), placed)),
        base_directory=base_directory(skill) if plan.settings.files is FileAccess.LOCAL else None,
        arguments=wanted.arguments,
        highest=Rung.OUTLINE if wanted.in_sections else Rung.FULL,
    )


def _to_inline(wanted: Wanted, fetched: Fetched) -> tuple[Inlined, ...]:
    asked = {read.artifact for read in wanted.reads}
    found = fetched.artifacts.get(wanted.skill.id, ())
    return tuple(inlined for inlined in found if inlined.ref.id not in asked) if asked else found


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
    for rung in _adoptable(want, plan, pricing):
        for replaces in ("", REPLACES):
            inlined = want.artifacts if rung is Rung.FULL else ()
            extras = Extras(inlined, (), want.base_directory, replaces, want.arguments)
            extras = Extras(base_directory=want.base_directory) if rung is Rung.CATALOG else extras
            block = pricing.skill(want.skill, rung, extras)
            carrier = block.carrier(giving.turn_id)
            if plan.reconciled.shows(carrier):
                key = skill_key(want.skill.id)
                return giving.record(key, digest_in_use(want.skill, want.arguments), rung, carrier, block.tokens)
    return None


def _adoptable(want: Want, plan: Plan, pricing: Pricing) -> Iterator[Rung]:
    yield from (Rung.FULL, Rung.INSTRUCTIONS)
    if plan.skill_tools is SkillTools.OFFERED and pricing.outlined(
        want.skill, Extras(base_directory=want.base_directory, arguments=want.arguments)
    ):
        yield Rung.OUTLINE
    yield Rung.CATALOG


def _blocks(shown: Shown, giving: Giving) -> list[Block]:
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
        for record in outcome.adopted:
            state = adopt(state, record)
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
        if outcome.wanted.outdated or (outcome.shown.rung is not None and outcome.shown.rung >= Rung.OUTLINE)
    )


def _decisions(outcomes: Sequence[_Outcome]) -> list[Decision]:
    return [
        decision
        for outcome in outcomes
        for decision in (*decisions_of(outcome.wanted, outcome.shown, adopted=outcome.adopted), *outcome.unknown)
    ]
