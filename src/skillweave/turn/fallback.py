"""What stands in for a skill when nothing matched, or when the user asks what there is (spec 2.3)."""

from skillweave.conversation import Role, Turn
from skillweave.disclose.catalog import PricedCatalog
from skillweave.disclose.render import hint, onward
from skillweave.injection import Fallback, FallbackKind
from skillweave.select.questions import Question
from skillweave.settings import CatalogMode, Settings
from skillweave.turn.disclose import skill_tools_in
from skillweave.turn.move import Position


def fallback_for(
    turn: Turn,
    settings: Settings,
    catalog: PricedCatalog,
    question: Question | None,
    position: Position | None,
    room: int,
    *,
    matched: bool,
) -> Fallback | None:
    """The text for this call only, if one is due that fits into `room` tokens; it never hides a match.

    A user who asks for everything gets full documents, one who asks what there is gets the catalog. Where nothing
    `matched`, a line says that there are skills; in a skill graph, where the conversation may go from here.
    """
    if settings.catalog is CatalogMode.NEVER:
        return None
    leads_on = position is not None and bool(position.reachable)
    if catalog.skills and turn.message.role is Role.USER:
        everything = catalog.in_full(room) if question is Question.ALL_SKILLS else ""
        if everything:
            return Fallback(FallbackKind.ALL, everything)
        found = None
        if settings.catalog is not CatalogMode.FALLBACK:
            pass  # the catalog stands in every call already
        elif question is not None and catalog.catalog.text:
            found = Fallback(FallbackKind.CATALOG, catalog.catalog.text)
        elif not matched and not leads_on:
            found = Fallback(FallbackKind.HINT, hint(len(catalog.skills)))
        if found is not None and catalog.pricing.count(found.text) <= room:
            return found
    if position is None or not leads_on or turn.reads:
        return None
    text = onward(position.skill, position.reachable, skill_tools_in(turn, settings))
    return Fallback(FallbackKind.REACHABLE, text) if catalog.pricing.count(text) <= room else None
