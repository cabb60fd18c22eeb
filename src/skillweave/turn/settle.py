"""Settle: put the Injection together, say why it is as it is, and write the State after it (spec 2.3, 2.5, 5.3 to 5.5).

The tail is what stands at the end of one call only: the shortlist, or an answer about the skills.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from skillweave.compose.policy import ToolPolicy
from skillweave.decisions import Decision, Outcome, evidence_in_words
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import Message, Placement, Role
from skillweave.disclose import render
from skillweave.disclose.block import Rung, digest_in, text_digest
from skillweave.disclose.catalog import NO_CATALOG, Catalog, PricedCatalog
from skillweave.disclose.fit import Shown
from skillweave.disclose.sections import READ, Readout
from skillweave.frozen import FrozenDict
from skillweave.injection import Block, CacheReport, Fallback, Injection, PendingCheckpoint, TokenReport
from skillweave.select.candidates import Candidate, Selection
from skillweave.select.questions import Question, question_in
from skillweave.settings import CatalogMode, Settings
from skillweave.state.approvals import kept_out, user_spoke
from skillweave.state.state import (
    SKILL,
    Delivery,
    FallbackKind,
    Fragment,
    Record,
    State,
    Told,
    adopt,
    claim,
    skill_key,
)
from skillweave.turn.admit import SkillInTurn
from skillweave.turn.disclose import Disclosed, given_texts
from skillweave.turn.fetch import Contents
from skillweave.turn.library import Inputs
from skillweave.turn.make_room import drops
from skillweave.turn.move import Position
from skillweave.turn.policy import rejected_texts
from skillweave.turn.reconcile import said_in


def decisions_of(wanted: SkillInTurn) -> Iterator[Decision]:
    """What became of the skill, then of what was asked to be read of it, then what of it did not fit."""
    shown, adopted = wanted.shown, wanted.adopted
    whole = any(record.key == skill_key(wanted.skill.id) for record in adopted)
    outcome, reason, tokens = _verdict(wanted, shown, adopted=whole)
    candidate = wanted.candidate
    yield Decision(
        skill_id=wanted.skill.id,
        outcome=outcome,
        stage="disclose",
        reason=f"{_why_wanted(wanted)}; {reason}",
        score=None if candidate is None else candidate.score,
        matcher=wanted.engaged_by if candidate is None else candidate.matcher,
        evidence=() if candidate is None else candidate.evidence,
        tokens=tokens,
        probability=None if candidate is None else candidate.probability,
    )
    yield from (_of_readout(wanted, readout, adopted) for readout in shown.readouts)
    if shown.context is not None:
        sections = ", ".join(passage.key for passage in shown.apart)
        reason = f"entity context that was not there yet: {sections}"
        yield Decision(wanted.skill.id, Outcome.INJECTED, "disclose", reason, tokens=shown.context.tokens)
    for left_out in shown.left_out:
        if left_out is not shown.instructions_left_out:
            reason = f"{left_out.what} would have cost {left_out.tokens:,} tokens more than are left; it is only listed"
        elif shown.rung is Rung.OUTLINE:
            reason = f"its instructions have {left_out.tokens:,} tokens, more than are left: they are read in sections"
        else:
            continue  # this is the verdict on the skill itself
        yield Decision(wanted.skill.id, Outcome.OVER_BUDGET, "disclose", reason, tokens=left_out.tokens)
    yield from wanted.unknown


def _verdict(wanted: SkillInTurn, shown: Shown, *, adopted: bool) -> tuple[Outcome, str, int | None]:
    if wanted.held:
        return Outcome.HELD, "another turn is giving it at this moment", None
    if adopted:
        return Outcome.ADOPTED, "the transcript holds its text, which nothing had recorded", None
    missing = shown.instructions_left_out
    if missing is not None and shown.rung is not Rung.OUTLINE:
        return Outcome.OVER_BUDGET, _what_is_left(wanted, shown, missing.tokens), missing.tokens
    if shown.block is None:
        if wanted.present is not None and wanted.carrier is None:
            return Outcome.ALREADY_PRESENT, "another program entered it as given, in words that nobody recorded", None
        place = f" in message {wanted.carrier}" if wanted.carrier else ""
        return Outcome.ALREADY_PRESENT, f"its text is in the context already{place}", None
    tokens = shown.block.tokens
    how = "with its documents" if shown.inlined else "in full" if shown.rung is Rung.FULL else "instructions only"
    if shown.rung is Rung.OUTLINE:
        how = "as an outline, to be read in sections"
    if wanted.present is not None:
        return Outcome.UPGRADED, f"more of it fits now than the {wanted.present.label}: given {how}", tokens
    if wanted.carrier is None and not wanted.outdated:
        return Outcome.INJECTED, f"given {how}", tokens
    return Outcome.REFRESHED, f"given {how}, in place of an earlier text", tokens


def _of_readout(wanted: SkillInTurn, readout: Readout, adopted: Sequence[Record]) -> Decision:
    outcome, reason = _readout_verdict(readout, adopted)
    tokens = readout.cost if readout.block is None else readout.block.tokens
    return Decision(wanted.skill.id, outcome, READ, reason, matcher=wanted.engaged_by, tokens=tokens)


def _readout_verdict(readout: Readout, adopted: Sequence[Record]) -> tuple[Outcome, str]:
    what = readout.reading.what
    if readout.cost is not None:
        return Outcome.OVER_BUDGET, f"{what} needs {readout.cost:,} tokens, {_way_out(readout)}"
    if readout.block is not None:
        return Outcome.INJECTED, f"{what} was asked for and is given"
    if any(leaf.key in {record.key for record in adopted} for leaf in readout.reading.leaves):
        return Outcome.ADOPTED, f"the transcript holds {what}, which nothing had recorded"
    return Outcome.ALREADY_PRESENT, f"{what} is in the context already"


def _way_out(readout: Readout) -> str:
    if readout.block is not None:
        return "more than are left for it: its table of contents is given, read a part of it"
    if readout.reading.contents.there and readout.reading.section.parts:
        return "more than are left for it: its table of contents is in the context already, read a part of it"
    if readout.too_long and readout.outline is None:
        return "more than the budget allows, and cannot be divided"
    return "more than are left for it, and skill text has to go first to make room"


def _what_is_left(wanted: SkillInTurn, shown: Shown, cost: int) -> str:
    needs = f"its instructions need {cost:,} tokens, more than are left for it"
    if shown.block is not None:
        return f"{needs}: its catalog line is given instead"
    if wanted.outdated:
        return f"{needs}: its earlier text stays"
    if shown.rung is Rung.CATALOG:
        return f"{needs}: the catalog names it"
    return f"{needs}: nothing of it is shown"


def _why_wanted(wanted: SkillInTurn) -> str:
    if wanted.goes_with is not None:
        return f"goes with {wanted.goes_with}"
    if wanted.candidate is None:
        return f"engaged earlier by {wanted.engaged_by}"
    evidence = wanted.candidate.evidence[:3]
    shown = evidence_in_words(piece for piece in evidence if piece.kind != "pattern")
    patterns = "a pattern" if any(piece.kind == "pattern" for piece in evidence) else ""
    words = ", ".join(part for part in (shown, patterns) if part) or "matched"
    return f"{wanted.candidate.matcher}: {words}"


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer, and the State after it; the State before, the very object, when nothing is to be written."""

    injection: Injection
    state: State


def settle(
    inputs: Inputs,
    disclosed: Disclosed,
    position: Position | None,
    selection: Selection,
    contents: Contents,
    policy: tuple[ToolPolicy, tuple[PendingCheckpoint, ...]],
    hindered: tuple[Diagnostic, ...],
) -> Settled:
    """Returns the Injection of what the steps before decided, and the State with its records.

    `selection` is what the turn called for; `hindered` says what kept matchers from it.
    """
    turn, before, library = inputs.turn, inputs.before, inputs.library
    in_history = turn.placement is Placement.HISTORY
    admission, skills, catalog = disclosed.admission, disclosed.skills, disclosed.catalog
    ordered = skills if in_history else _in_order(disclosed)
    given = [text for one in ordered for text in given_texts(one.shown, one.digest, inputs)]
    blocks = tuple(block for block, _ in given)
    adopted = [record for one in skills for record in one.adopted]
    left = disclosed.room - sum(block.tokens for block in blocks) - sum(record.tokens for record in adopted)
    # It takes what the skills leave, not the other way round: one that did not fit would lose its tool rules too.
    tail = tail_of(inputs, disclosed, selection, position, left)
    left = max(0, left - tail.tokens)
    state = disclosed.context.state
    if (state.asked or state.approvals) and turn.message.role is Role.USER and not inputs.again:
        state = user_spoke(state)
    if in_history:
        for record in adopted:
            state = adopt(state, record)
        state = claim(state, [row for _, rows in given for row in rows])
    prefix, cached = _prefix_after(inputs, disclosed, adopted, blocks)
    after = replace(
        state,
        engaged=admission.engaged,
        restraining=admission.restraining,
        prefix=prefix,
        cursor=before.cursor if position is None else position.cursor,
        in_call=before.in_call if in_history else tuple(one.skill.id for one in disclosed.active),
        last_turn=before.last_turn,
        said=before.said,
        told=tail.told,
        entity=before.entity if contents.entity is None else contents.entity,
    )
    after = before if after == before else replace(after, last_turn=turn.id, said=said_in(turn))
    texts = [] if in_history else [block.text for block in blocks]
    tools, checkpoints = policy
    there = ((record.key, record.state is Delivery.GIVEN) for record in after.records)
    unclear = () if contents.subject is None or contents.subject.problem is None else (contents.subject.problem,)
    unmoved = () if position is None else position.diagnostics
    escaped = (found for one in skills if one.shown.block for found in one.shown.block.diagnostics)
    verdicts = (decision for one in skills for decision in decisions_of(one))
    injection = Injection(
        turn_id=turn.id,
        conversation=turn.conversation,
        placement=turn.placement,
        generation=library.snapshot.generation,
        messages=tuple(Message(Role.SYSTEM, block.text, block.id) for block in blocks) if in_history else (),
        instructions="\n\n".join(part for part in (catalog.text, *texts) if part),
        catalog=catalog.text,
        fallback=tail.fallback,
        blocks=blocks,
        drop=disclosed.suggested or (drops(after, turn.id) if after.superseded else ()),
        tools=tools,
        checkpoints=checkpoints,
        decisions=(*verdicts, *tail.decisions, *contents.decisions, *admission.decisions),
        tokens=_token_report(skills, library.catalog, catalog.tokens, tail.tokens, left),
        cache=cached,
        diagnostics=(*hindered, *unclear, *contents.incomplete, *unmoved, *escaped),
        move=None if position is None else position.move,
        reachable=() if position is None else position.reachable,
        revision=before.revision if after is before else before.revision + 1,
        present=tuple(key.removeprefix(SKILL) for key, given in there if given and key.startswith(SKILL)),
        rejected=rejected_texts(after, library.snapshot) if after.approvals else (),
        tail=tail.text,
        offered=tail.offered,
    )
    return Settled(injection, after)


def _in_order(disclosed: Disclosed) -> Sequence[SkillInTurn]:
    # What lasts one call is rendered again in every call: in the order of first engagement its bytes stay the same.
    admission = disclosed.admission
    engaged = {entry.skill_id: place for place, entry in enumerate(admission.engaged)}
    last = len(engaged)
    places = {
        one.skill.id: (min(engaged.get(member.skill.id, last) for member in group), engaged.get(one.skill.id, last))
        for group in admission.groups
        for one in group
    }
    return sorted(disclosed.skills, key=lambda one: (*places[one.skill.id], one.skill.id))


def _prefix_after(
    inputs: Inputs, disclosed: Disclosed, adopted: Sequence[Record], blocks: Sequence[Block]
) -> tuple[tuple[Fragment, ...], CacheReport]:
    """What skillweave has in the prompt after this turn, in its order, and how far that begins as the turn before."""
    before, catalog = inputs.before.prefix, disclosed.catalog
    now = [Fragment(text_digest(catalog.text), catalog.tokens)] if catalog.text else []
    if inputs.turn.placement is Placement.CALL:
        now += (Fragment(digest_in(block.id), block.tokens) for block in blocks)
    else:
        there = disclosed.context.tokens_by_carrier(adopted)
        known = [fragment for fragment in before if fragment.digest in there]
        names = {fragment.digest for fragment in known}
        now += known
        now += (Fragment(carrier, tokens) for carrier, tokens in there.items() if carrier not in names)
        now += (Fragment(block.id, block.tokens) for block in blocks)
    stable = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        stable += old.tokens
    return tuple(now), CacheReport(sum(fragment.tokens for fragment in before), stable)


def _token_report(
    skills: Sequence[SkillInTurn], library: PricedCatalog, catalog: int, tail: int, left: int
) -> TokenReport:
    """What this turn adds, by tier and by skill; the shares of one block add up to the block."""
    pricing = library.pricing
    tiers = {"1": catalog + tail, "2": 0, "3": 0, "3.5": 0}
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
        catalog=catalog + tail,
        injected=sum(by_skill.values()),
        by_tier=FrozenDict(tiers),
        by_skill=FrozenDict(by_skill),
        left=left,
        encoding=pricing.counter.encoding,
        exact=pricing.counter.exact,
        tail=tail,
    )


@dataclass(frozen=True, slots=True)
class Tail:
    """What the tail of a call says, what it costs in tokens, and what became of the skills that were to be offered.

    `told` is what the next call of a tool loop needs to say the same.
    """

    text: str = ""
    tokens: int = 0
    offered: tuple[str, ...] = ()
    fallback: Fallback | None = None
    told: Told | None = None
    decisions: tuple[Decision, ...] = ()


def tail_of(inputs: Inputs, disclosed: Disclosed, selection: Selection, position: Position | None, room: int) -> Tail:
    """The tail of this call, if one is due that fits into `room` tokens.

    A user message decides what it says, and the calls after it say the same until the next one.
    """
    turn, before, library, standing = inputs.turn, inputs.before, inputs.library, disclosed.catalog
    settings, catalog = library.settings, library.catalog
    if settings.catalog is CatalogMode.NEVER:
        return Tail(decisions=tuple(_not_told(selection.offered, "the catalog is turned off (`never`)")))
    offers: list[Candidate] = []
    if selection.offered:
        apart = {one.skill.id for one in disclosed.skills}.union(
            kept_out(before.approvals, library.snapshot) if before.approvals else ()
        )
        offers = [one for one in selection.offered if one.skill_id in catalog.by_id and one.skill_id not in apart]
    way = ""
    if position is not None and position.reachable and not turn.reads:
        way = render.onward(position.skill, position.reachable, inputs.skill_tools)
    told = before.told
    decided: tuple[Decision, ...] = ()
    if turn.message.role is Role.USER and selection.goes_on and (kept := _kept(before)) is not None:
        decided = tuple(_not_told(offers, "the message asks for nothing new, and what was offered before it stands"))
        told, offers = kept, []
    elif turn.message.role is Role.USER:
        told = _told(inputs, selection, offers, standing, leads_on=bool(way))
    shown, fallback = (NO_CATALOG, None) if told is None else _shown(told, inputs, room)
    text = "\n\n".join(part for part in (shown.text, way) if part)
    tokens = catalog.pricing.count(text) if text else 0
    if tokens > room:
        text, tokens, way = shown.text, shown.tokens, ""
    if way and not shown.text:
        fallback = Fallback(FallbackKind.REACHABLE, way)
    listed = () if told is None or told.kind is not None else tuple(one for one in told.skills if one in shown.shown)
    decisions = tuple(_decisions(offers, listed, standing, settings)) if offers else decided
    return Tail(text, tokens, listed, fallback, told, decisions)


MOST_KEPT = 3
"""For so many messages that ask for nothing new a shortlist stands."""


def _kept(before: State) -> Told | None:
    """The shortlist of the message before, where it still stands: none of its skills was opened, nor is it old."""
    told = before.told
    if told is None or told.kind is not None or told.kept >= MOST_KEPT:
        return None
    return None if any(one.skill_id in told.skills for one in before.engaged) else replace(told, kept=told.kept + 1)


def _told(
    inputs: Inputs, selection: Selection, offers: Sequence[Candidate], standing: Catalog, *, leads_on: bool
) -> Told | None:
    """What the tail is to say about a user's message; None for nothing."""
    catalog = inputs.library.catalog
    if not catalog.skills:
        return None
    all_shown = len(standing.shown) == len(catalog.skills)
    question = None if all_shown else question_in(inputs.turn.message.text)
    if question is not None:
        ranked = (*selection.chosen, *selection.offered, *(one.candidate for one in selection.rejected))
        ids = tuple(dict.fromkeys(one.skill_id for one in ranked))
        if question is Question.ABOUT and ids:
            return Told(ids)
        return Told(ids, FallbackKind.ALL if question is Question.ALL_SKILLS else FallbackKind.CATALOG)
    if inputs.library.settings.catalog is CatalogMode.FALLBACK:
        return None if selection.chosen or leads_on else Told(kind=FallbackKind.HINT)
    ids = tuple(one.skill_id for one in offers if one.skill_id not in standing.shown)
    return Told(ids) if ids else None


def _shown(told: Told, inputs: Inputs, room: int) -> tuple[Catalog, Fallback | None]:
    """The text of what is to be told, where it fits, with what it costs; and the same as a fallback if it is one."""
    catalog, budget, words = inputs.library.catalog, inputs.library.settings.budget, inputs.library.settings.offer_words
    if told.kind is None:
        return catalog.shortlist(told.skills, min(room, budget.shortlist), words), None
    if told.kind is FallbackKind.HINT:
        line = render.hint(len(catalog.skills), inputs.skill_tools)
        shown = Catalog(line, catalog.pricing.count(line))
    else:
        shown = catalog.overview(told.skills, min(room, budget.catalog_limit))
    if not shown.text or shown.tokens > room:
        return NO_CATALOG, None
    return shown, Fallback(told.kind, shown.text)


def _decisions(
    offers: Sequence[Candidate], listed: Collection[str], standing: Catalog, settings: Settings
) -> Iterator[Decision]:
    """What became of each skill that is likely enough to be offered."""
    for one in offers:
        if one.skill_id in listed:
            yield _decision(one, Outcome.OFFERED, "listed at the end of the call, for the model to open")
        elif one.skill_id in standing.shown:
            yield _decision(one, Outcome.OFFERED, "the catalog in the call lists it, for the model to open")
        elif settings.catalog is CatalogMode.FALLBACK:
            yield from _not_told([one], "the catalog is shown only when it is asked for (`fallback`)")
        else:
            yield _decision(one, Outcome.OVER_BUDGET, "likely enough to be offered, but its line has no room")


def _not_told(offers: Sequence[Candidate], why: str) -> Iterator[Decision]:
    return (_decision(one, Outcome.BELOW_THRESHOLD, f"likely enough to be offered, but {why}") for one in offers)


def _decision(one: Candidate, outcome: Outcome, reason: str) -> Decision:
    likely = "" if one.probability is None else f"{one.probability:.0%} likely: "
    return Decision(
        one.skill_id,
        outcome,
        "disclose",
        likely + reason,
        score=one.score,
        matcher=one.matcher,
        evidence=one.evidence,
        probability=one.probability,
    )
