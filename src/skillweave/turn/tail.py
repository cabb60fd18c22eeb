"""The tail: what stands at the end of one call only, the shortlist or an answer about the skills (spec 2.3, 2.5)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from skillweave.conversation import Role
from skillweave.decisions import Decision, Outcome
from skillweave.disclose import render
from skillweave.disclose.catalog import NO_CATALOG, Catalog
from skillweave.injection import Fallback
from skillweave.select.candidates import Candidate, Selection
from skillweave.select.questions import Question, question_in
from skillweave.settings import CatalogMode, Settings
from skillweave.state.approvals import kept_out
from skillweave.state.state import FallbackKind, Told
from skillweave.turn.disclose import Disclosed
from skillweave.turn.library import Inputs
from skillweave.turn.move import Position


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
    if turn.message.role is Role.USER:
        told = _told(inputs, selection, offers, standing, leads_on=bool(way))
    shown, fallback = (NO_CATALOG, None) if told is None else _shown(told, inputs, room)
    text = "\n\n".join(part for part in (shown.text, way) if part)
    tokens = catalog.pricing.count(text) if text else 0
    if tokens > room:
        text, tokens, way = shown.text, shown.tokens, ""
    if way and not shown.text:
        fallback = Fallback(FallbackKind.REACHABLE, way)
    listed = () if told is None or told.kind is not None else tuple(one for one in told.skills if one in shown.shown)
    decisions = tuple(_decisions(offers, listed, standing, settings)) if offers else ()
    return Tail(text, tokens, listed, fallback, told, decisions)


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
    catalog, budget = inputs.library.catalog, inputs.library.settings.budget
    if told.kind is None:
        return catalog.shortlist(told.skills, min(room, budget.shortlist)), None
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
        one.skill_id, outcome, "disclose", likely + reason, score=one.score, matcher=one.matcher, evidence=one.evidence
    )
