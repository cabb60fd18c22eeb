"""Settle: put the Injection together, and write the State after it (spec 5.3, 5.4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillweave.compose.policy import ToolPolicy
from skillweave.conversation import Message, Placement, Role, Turn
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.block import digest_in, text_digest
from skillweave.disclose.catalog import Catalog, PricedCatalog
from skillweave.frozen import FrozenDict
from skillweave.injection import Block, CacheReport, Fallback, Injection, PendingCheckpoint, TokenReport
from skillweave.settings import Settings
from skillweave.state.state import SKILL, Delivery, Fragment, Record, State, skill_of
from skillweave.state.transitions import adopt, claim
from skillweave.turn.admit import Admission, SkillInTurn
from skillweave.turn.explain import decisions_of
from skillweave.turn.library import Library
from skillweave.turn.make_room import drops, tokens_by_carrier
from skillweave.turn.move import Position
from skillweave.turn.policy import rejected_texts
from skillweave.turn.reconcile import Reconciled
from skillweave.turn.records import RecordContext, given_texts


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer, and the State after it; the State before, the very object, when nothing is to be written."""

    injection: Injection
    state: State


def settle(
    turn: Turn,
    settings: Settings,
    library: Library,
    before: State,
    context: Reconciled,
    position: Position | None,
    admission: Admission,
    recording: RecordContext,
    catalog: Catalog,
    fallback: Fallback | None,
    policy: tuple[ToolPolicy, tuple[PendingCheckpoint, ...]],
    decisions: Sequence[Decision],
    room: int,
) -> Settled:
    """The Injection of what the steps before decided, and the State with its records.

    `admission` holds what is shown of each skill, `catalog` is what stands in this call, `room` are the tokens that
    there were for skills, and `decisions` those that no wanted skill carries.
    """
    in_history = turn.placement is Placement.HISTORY
    skills = admission.skills
    pricing = library.catalog.pricing
    ordered = _in_order(admission, turn.placement)
    given = [text for one in ordered for text in given_texts(one.shown, one.digest, recording, pricing)]
    blocks = tuple(block for block, _ in given)
    adopted = [record for one in skills for record in one.adopted]
    fallback_tokens = 0 if fallback is None else pricing.count(fallback.text)
    left = max(0, room - sum(block.tokens for block in blocks) - sum(r.tokens for r in adopted) - fallback_tokens)
    state = context.state
    if in_history:
        for one in skills:
            for record in one.adopted:
                state = adopt(state, record)
        state = claim(state, [row for _, rows in given for row in rows])
    prefix = _prefix_after(turn.placement, before, context, catalog, adopted, blocks)
    after = replace(
        state,
        engaged=admission.engaged,
        prefix=prefix,
        cursor=before.cursor if position is None else position.cursor,
        in_call=before.in_call if in_history else tuple(one.skill.id for one in skills if one.binds_at(one.shown.rung)),
        last_turn=before.last_turn,
    )
    after = before if after == before else replace(after, last_turn=turn.id)
    texts = [] if in_history else [block.text for block in blocks]
    instructions = (catalog.text, *texts, "" if fallback is None else fallback.text)
    tools, checkpoints = policy
    injection = Injection(
        turn_id=turn.id,
        conversation=turn.conversation,
        placement=turn.placement,
        generation=library.snapshot.generation,
        messages=tuple(Message(Role.SYSTEM, block.text, block.id) for block in blocks) if in_history else (),
        instructions="\n\n".join(part for part in instructions if part),
        catalog=catalog.text,
        fallback=fallback,
        blocks=blocks,
        drop=drops(turn, admission, context, settings.budget.per_skill, left),
        tools=tools,
        checkpoints=checkpoints,
        decisions=(*(decision for one in skills for decision in decisions_of(one)), *decisions),
        tokens=_token_report(skills, library.catalog, catalog.tokens + fallback_tokens, left),
        cache=_cache_report(before.prefix, prefix),
        diagnostics=tuple(_diagnostics(position, skills)),
        move=None if position is None else position.move,
        reachable=() if position is None else position.reachable,
        revision=before.revision if after is before else before.revision + 1,
        present=_present_in(after),
        rejected=rejected_texts(after, library.snapshot),
    )
    return Settled(injection, after)


def _present_in(state: State) -> tuple[str, ...]:
    """The ids of the skills that count as given, in the order of their records."""
    given = (one.key for one in state.records if one.key.startswith(SKILL) and one.state is Delivery.GIVEN)
    return tuple(skill_id for key in given if (skill_id := skill_of(key)))


def _diagnostics(position: Position | None, skills: Sequence[SkillInTurn]) -> Iterator[Diagnostic]:
    yield from () if position is None else position.diagnostics
    for one in skills:
        if one.shown.block is not None:
            yield from one.shown.block.diagnostics


def _in_order(admission: Admission, placement: Placement) -> Sequence[SkillInTurn]:
    if placement is Placement.HISTORY:
        return admission.skills
    # What lasts one call is rendered again in every call: in the order of first engagement its bytes stay the same.
    engaged = {entry.skill_id: place for place, entry in enumerate(admission.engaged)}
    last = len(engaged)
    places = {
        one.skill.id: (min(engaged.get(member.skill.id, last) for member in group), engaged.get(one.skill.id, last))
        for group in admission.groups
        for one in group
    }
    return sorted(admission.skills, key=lambda one: (*places[one.skill.id], one.skill.id))


def _prefix_after(
    placement: Placement,
    before: State,
    context: Reconciled,
    catalog: Catalog,
    adopted: Sequence[Record],
    blocks: Sequence[Block],
) -> tuple[Fragment, ...]:
    """What skillweave has in the prompt after this turn, in the order in which it stands there."""
    head = [Fragment(text_digest(catalog.text), catalog.tokens)] if catalog.text else []
    if placement is Placement.CALL:
        return (*head, *(Fragment(digest_in(block.id), block.tokens) for block in blocks))
    there = tokens_by_carrier(context, adopted)
    known = [fragment for fragment in before.prefix if fragment.digest in there]
    names = {fragment.digest for fragment in known}
    others = [Fragment(carrier, tokens) for carrier, tokens in there.items() if carrier not in names]
    return (*head, *known, *others, *(Fragment(block.id, block.tokens) for block in blocks))


def _cache_report(before: Sequence[Fragment], now: Sequence[Fragment]) -> CacheReport:
    """Compare the prefix of the turn before with what stands there now, up to the first difference."""
    stable = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        stable += old.tokens
    return CacheReport(sum(fragment.tokens for fragment in before), stable)


def _token_report(skills: Sequence[SkillInTurn], library: PricedCatalog, catalog: int, left: int) -> TokenReport:
    """What this turn adds, by tier and by skill; the shares of one block add up to the block."""
    pricing = library.pricing
    tiers = {"1": catalog, "2": 0, "3": 0, "3.5": 0}
    by_skill: dict[str, int] = {}
    for one in skills:
        shown, added = one.shown, one.shown.added
        if added == 0:
            continue
        by_skill[one.skill.id] = added
        context = shown.context.tokens if shown.context else 0
        documents = sum(out.block.tokens for out in shown.readouts if out.block and out.reading.artifact is not None)
        rest = added - context - documents
        artifacts = min(rest, sum(pricing.count(inlined.content) for inlined in shown.inlined))
        within = min(rest - artifacts, sum(pricing.count(passage.text) for passage in shown.within))
        tiers["3"] += documents + artifacts
        tiers["3.5"] += context + within
        tiers["2"] += rest - artifacts - within
    return TokenReport(
        catalog=catalog,
        injected=sum(by_skill.values()),
        by_tier=FrozenDict(tiers),
        by_skill=FrozenDict(by_skill),
        left=left,
        encoding=pricing.counter.encoding,
        exact=pricing.counter.exact,
    )
