"""What stands in for a skill when nothing matched, or when the user asks what there is (spec 2.3)."""

from skillweave.conversation import Role
from skillweave.disclose.catalog import PricedCatalog
from skillweave.disclose.render import hint, onward
from skillweave.injection import Fallback, FallbackKind
from skillweave.select.questions import Question
from skillweave.settings import CatalogMode
from skillweave.turn.admit import Plan


def fallback_for(plan: Plan, question: Question | None, shelf: PricedCatalog, room: int) -> Fallback | None:
    """The hint or the catalog, if it fits into `room` tokens; it lasts one call and never hides a match.

    Where a skill graph leads on, `onward_for` says more than the hint.
    """
    if plan.settings.catalog is not CatalogMode.FALLBACK or not _may_answer(plan, shelf):
        return None
    fallback = None
    if question is not None and shelf.catalog.text:
        fallback = Fallback(FallbackKind.CATALOG, shelf.catalog.text)
    elif not plan.matched and not _leads_on(plan):
        fallback = Fallback(FallbackKind.HINT, hint(len(shelf.skills)))
    if fallback is None or shelf.pricing.count(fallback.text) > room:
        return None
    return fallback


def documents_for(plan: Plan, question: Question | None, shelf: PricedCatalog, room: int) -> Fallback | None:
    """Full documents for a user who asks for all, in what the skills of this turn leave; None for any other message."""
    if (
        question is not Question.ALL_SKILLS
        or plan.settings.catalog is CatalogMode.NEVER
        or not _may_answer(plan, shelf)
    ):
        return None
    text = shelf.in_full(room)
    return Fallback(FallbackKind.ALL, text) if text else None


def onward_for(plan: Plan, shelf: PricedCatalog, room: int) -> Fallback | None:
    """Where the model may go from its place in the skill graph, if that fits; it stands behind all that is cached."""
    position = plan.position
    if position is None or not _leads_on(plan) or plan.settings.catalog is CatalogMode.NEVER or plan.turn.reads:
        return None
    text = onward(position.skill, position.reachable, plan.skill_tools)
    return Fallback(FallbackKind.REACHABLE, text) if shelf.pricing.count(text) <= room else None


def _leads_on(plan: Plan) -> bool:
    return plan.position is not None and bool(plan.position.reachable)


def _may_answer(plan: Plan, shelf: PricedCatalog) -> bool:
    return bool(shelf.skills) and plan.turn.message.role is Role.USER
