"""What stands in for a skill when nothing matched, or when the user asks what there is (spec 2.3)."""

from skillweave.conversation import Role
from skillweave.disclose.render import hint
from skillweave.disclose.shelf import Shelf
from skillweave.injection import Fallback, FallbackKind
from skillweave.plan import CatalogMode, Plan
from skillweave.select.questions import Question


def fallback_for(plan: Plan, question: Question | None, shelf: Shelf, room: int) -> Fallback | None:
    """The fallback that fits into `room` tokens; it lasts one call and never hides a match."""
    mode = plan.settings.catalog
    if not shelf.skills or mode is CatalogMode.NEVER or plan.turn.message.role is not Role.USER:
        return None
    fallback = (
        _asked(question, shelf, room) if mode is CatalogMode.FALLBACK or question is Question.ALL_SKILLS else None
    )
    if fallback is None and mode is CatalogMode.FALLBACK and not plan.matched:
        fallback = Fallback(FallbackKind.HINT, hint(len(shelf.skills)))
    if fallback is None or shelf.pricing.count(fallback.text) > room:
        return None
    return fallback


def _asked(question: Question | None, shelf: Shelf, room: int) -> Fallback | None:
    if question is Question.ALL_SKILLS:
        text = shelf.in_full(room)
        if text:
            return Fallback(FallbackKind.ALL, text)
    if question is not None and shelf.catalog.text:
        return Fallback(FallbackKind.CATALOG, shelf.catalog.text)
    return None
